"""Training of one model in several processes: losses equal those of one process, and a run survives a killed process."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lfno import load
from tests.faults import victims
from tests.parallel import ranks


def losses(folder: Path) -> list[float]:
    """Return all losses in the log of a run."""
    lines = [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == sorted({line["epoch"] for line in lines}), "more than one process has written"
    return [value for line in lines for value in (*line["train"], *line["validation"])]


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """Train in one process. Return the folder of the run."""
    folder = tmp_path_factory.mktemp("alone") / "run"
    assert victims.finish(victims.train, folder, math.inf) == 0  # one checkpoint, at the end
    return folder


@pytest.mark.parametrize("count", [2, 3])
def test_losses_equal_those_of_one_process(alone, tmp_path, count):
    """17 samples in batches of 5 cannot be shared evenly. Of the last batch of 2 samples, the third process gets none."""
    processes = ranks.launch(count, tmp_path / "run", save_every=math.inf)
    for process in processes:
        process.join(victims.HANG)
    assert [process.exitcode for process in processes] == [0] * count
    assert losses(tmp_path / "run") == pytest.approx(losses(alone), rel=1e-5, abs=1e-5)
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names == {path.name for path in alone.iterdir()}


def test_if_a_process_dies_the_run_ends_and_one_process_can_resume_it(alone, tmp_path):
    folder = tmp_path / "run"
    processes = ranks.launch(2, folder, dies_in=5)
    processes[0].join(victims.HANG)
    assert processes[0].exitcode == 2
    sentence = (tmp_path / "run.0").read_text()
    assert "lost the other processes" in sentence
    assert "--resume" in sentence
    assert victims.finish(victims.train, folder) == 0
    assert losses(folder) == pytest.approx(losses(alone), rel=1e-5, abs=1e-5)
    load(folder / "model.safetensors")


@pytest.mark.long
def test_torchrun(tmp_path):
    """Runs with torchrun give the losses of one process, and print one result. A run with a killed process can be resumed."""
    small = ["--set", "width=2", "--set", "modes=4", "--set", "n_poles=2", "--set", "batch=50", "--epochs", "12"]
    work = ["-m", "lfno", "train", "duffing-c05", *small, "--set", "validate_every=1", "--json", "--device", "cpu"]
    clean = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE")}
    environment = clean | {"OMP_NUM_THREADS": "1", "LFNO_CACHE": str(tmp_path / "cache")}

    def command(count: int, name: str, *more: str) -> list[str]:
        port = f"--master-port={ranks.free_port()}"
        launcher = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={count}", port]
        return [*launcher, *work, "--out", str(tmp_path / name), *more]

    one = subprocess.run([sys.executable, *work, "--out", str(tmp_path / "one")], env=environment, timeout=victims.HANG)
    assert one.returncode == 0
    done = subprocess.run(command(2, "two"), env=environment, timeout=victims.HANG, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line.startswith("{")]) == 1
    assert losses(tmp_path / "two") == pytest.approx(losses(tmp_path / "one"), rel=1e-5, abs=1e-5)

    log = tmp_path / "killed" / "log.jsonl"
    process = subprocess.Popen(command(2, "killed"), env=environment, stderr=subprocess.PIPE, text=True)
    while not log.exists() or len(log.read_text().splitlines()) < 3:
        assert process.poll() is None
        time.sleep(0.02)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[-1]), 9)
    process.communicate(timeout=victims.HANG)
    assert process.returncode != 0
    again = subprocess.run(command(3, "killed", "--resume"), env=environment, timeout=victims.HANG)
    assert again.returncode == 0
    assert losses(tmp_path / "killed") == pytest.approx(losses(tmp_path / "one"), rel=1e-5, abs=1e-5)
