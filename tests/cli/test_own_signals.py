"""The commands on the page docs/how-to/own-signals.md run as they are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.cli.rig import call
from tests.data.laboratory import periods, run

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-signals.md"
COMMANDS = [
    line.removeprefix("lfno ")
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for line in block.splitlines()
    if line.startswith("lfno ")
]


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files that the page names."""
    folder = tmp_path_factory.mktemp("bench")
    rows = []
    for k, size in enumerate((900, 700, 800), 1):
        one = run(size, k)
        table = np.stack([np.full(size, float(k)), one.grid.axes[-1].points, one.inputs[0], one.outputs[0]], 1)
        np.savetxt(folder / f"run{k}.csv", table[:, 1:], delimiter=",", header="t,force,x", comments="")
        rows.append(table)
    np.savetxt(folder / "runs.csv", np.concatenate(rows), delimiter=",", header="run,t,force,x", comments="")
    realisations = [periods(400, 4, seed, noise=0.01) for seed in range(3)]
    signals = {"force": "inputs", "x": "outputs"}
    arrays = {
        name: np.stack([getattr(one, role)[0].reshape(4, 400).T for one in realisations], 1)[:, None]
        for name, role in signals.items()
    }
    np.savez(folder / "multisine.npz", fs=20.0, **arrays)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page(command: str, bench: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fit finds the noise floor if its file is periodic and `--periodic no` is not given."""
    monkeypatch.chdir(bench)
    words = command.split()
    if words[0] == "inspect":
        assert "3 runs of unequal length" in call(*words)
        return
    call(*words, "--out", tmp_path / "run")
    notes = json.loads((tmp_path / "run" / "metrics.json").read_text())["notes"]
    found = any("noise floor" in note for note in notes)
    assert found == ("multisine.npz" in words and words[-1] != "no")
