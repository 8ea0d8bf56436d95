"""Training records, number of samples for the initial state, figure of merit and its unit, for every benchmark.

The expected training records are read from the files with independent code.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat

from lfno.challenges import CHALLENGES, bouc_wen, load
from lfno.challenges.protocol import Question, figures
from tests.challenges.layouts import WRITERS, write

Pairs = list[tuple[np.ndarray, np.ndarray]]


def mat(folder: Path, name: str) -> dict[str, np.ndarray]:
    """Return the arrays of the only MATLAB file with this name in a folder."""
    (path,) = folder.rglob(name)
    return loadmat(path)


def mirror(folder: Path) -> Pairs:
    """Return inputs and outputs of every realisation. The second period follows the first period in time."""
    arrays = np.load(folder / "combined_data.npz")
    pairs = []
    for level in ("100mV", "200mV", "300mV"):
        u, y = (arrays[f"{side}_{level}_train"] for side in "uy")
        for r in range(6):
            pairs.append(tuple(np.concatenate([v[:, :, r, 0].T, v[:, :, r, 1].T], axis=1) for v in (u, y)))
    return pairs


def silverbox(folder: Path) -> Pairs:
    data = mat(folder, "SNLS80mV.mat")
    stop = 40650 + (127400 - 40650) * 3 // 4
    return [(data["V1"][:, 40650:stop], data["V2"][:, 40650:stop])]


def wiener_hammerstein(folder: Path) -> Pairs:
    data = mat(folder, "WienerHammerBenchMark.mat")
    return [(data["uBenchMark"][5200:105200].T, data["yBenchMark"][5200:105200].T)]


def tanks(folder: Path) -> Pairs:
    data = mat(folder, "dataBenchmark.mat")
    return [(data["uEst"].T, data["yEst"].T)]


def emps(folder: Path) -> Pairs:
    data = mat(folder, "DATA_EMPS.mat")
    return [(data["vir"].T, data["qm"].T)]


def drives(folder: Path) -> Pairs:
    data = mat(folder, "DATAUNIF.MAT")
    return [(data[f"u{k}"][:400].T, data[f"z{k}"][:400].T) for k in ("11", "12")]


def aircraft(folder: Path) -> Pairs:
    names = [f"F16Data_{kind}_Level{level}.mat" for kind in ("FullMSine", "SineSw") for level in (1, 3, 5, 7)]
    files = [mat(folder, name) for name in names]
    return [(data["Force"], data["Acceleration"][:1]) for data in files]


def branches(folder: Path) -> Pairs:
    data = mat(folder, "ParWHData.mat")
    return [
        (data["uEst"][:, :, r, a].T.reshape(1, -1), data["yEst"][:, :, r, a].T.reshape(1, -1))
        for a in range(5) for r in range(20)
    ]  # fmt: skip


def hysteresis(folder: Path) -> Pairs:
    return list(zip(*bouc_wen.training_records(), strict=True))


TRAINING: dict[str, Callable[[Path], Pairs]] = {
    "fine-steering-mirror": mirror, "silverbox": silverbox, "wiener-hammerstein": wiener_hammerstein, "bouc-wen": hysteresis,
    "cascaded-tanks": tanks, "emps": emps, "coupled-drives": drives, "f-16": aircraft, "parallel-wiener-hammerstein": branches,
}  # fmt: skip
#: (number of samples for the initial state, unit of the figure, factor from the unit of the data to this unit)
TERMS = {
    "fine-steering-mirror": (100, "µm", 1e6), "silverbox": (50, "mV", 1e3), "wiener-hammerstein": (50, "mV", 1e3),
    "bouc-wen": (0, "m", 1.0), "cascaded-tanks": (50, "V", 1.0), "emps": (20, "mm", 1e3),
    "coupled-drives": (10, "ticks/s", 1.0), "f-16": (50, "m/s²", 1.0), "parallel-wiener-hammerstein": (50, "mV", 1e3),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_training_part_samples_metric_and_unit(name: str, tmp_path: Path):
    write(name, tmp_path)
    data, (skip, unit, scale) = load(name, tmp_path), TERMS[name]
    assert (data.challenge.skip, data.challenge.unit) == (skip, unit)
    pairs = TRAINING[name](tmp_path)
    assert len(data.training.records) == len(pairs)
    for record, (inputs, outputs) in zip(data.training.records, pairs, strict=True):
        np.testing.assert_array_equal(record.inputs, inputs)
        np.testing.assert_array_equal(record.outputs, outputs)

    class Late:
        """A model with known errors: 100 at the samples that are not scored, then 3, 4, 3, 4, … with an RMS of about √12.5."""

        description = "known errors"

        def simulate(self, question: Question) -> np.ndarray:
            assert question.first_outputs.shape[-1] == skip
            record = next(record for record in data.test if record.inputs is question.inputs)
            wrong = np.where(np.arange(len(record) - skip) % 2, 4.0, 3.0)
            return record.outputs + np.concatenate([np.full(skip, 100.0), wrong])

    for key, value in figures(Late(), data.test, CHALLENGES[name].skip, CHALLENGES[name].scale).items():
        count = len(next(record for record in data.test if record.figure == key)) - skip
        squares = 9 * ((count + 1) // 2) + 16 * (count // 2)
        assert value == pytest.approx(scale * np.sqrt(squares / count), rel=1e-9)
