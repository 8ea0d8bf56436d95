"""The results of a run, stored as files: errors of model and baselines, test signals, modes and frequency response."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.app.bode import bode
from lfno.app.curves import curves
from lfno.app.workspace import read_json, write_json
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import jsonable

if TYPE_CHECKING:
    from lfno.data.prepared import Prepared

MODEL = "model.safetensors"  # file of the model
OUTCOME = "outcome.json"  # file of errors, modes and frequency response
REPORT = "report.html"  # file of the page about the model
SIGNALS = ("input", "truth", "prediction", "linear", "transient", "steady")  # each is stored in a file NAME.npy
MOST_SAMPLES = 64  # largest number of test trajectories that are stored
MOST_VALUES = 20_000_000  # largest number of values of a signal that are stored
SPAN = 2048  # time steps of a record that the page draws at a time


def write_outcome(surrogate: Any, folder: Path, name: str, seconds: float) -> None:
    """Write the model, its report, its errors, the test signals, its modes and its frequency response into `folder`."""
    from lfno.evaluation.caveat import lasting_caveat
    from lfno.plots.fit_page import fit_page
    from lfno.plots.page import write_page
    from lfno.surrogate.candidates import count_parameters

    surrogate.save(folder / MODEL)
    fitted = surrogate.fitted
    write_page(fit_page(surrogate, name), folder / REPORT)
    contest, data = fitted.contest, fitted.prepared.dataset
    record = fitted.prepared.record is not None
    keep = max(1, min(MOST_SAMPLES, MOST_VALUES // max(contest.truth[0].size, 1)))
    signals = {"input": contest.inputs, "truth": contest.truth, "prediction": contest.prediction, "linear": contest.linear}
    signals = {name: np.asarray(values[:keep], dtype=np.float32) for name, values in signals.items()}
    if contest.mask is not None:
        signals["truth"] = np.where(contest.mask[:keep], signals["truth"], np.nan)
    prepared, axis = fitted.prepared, data.grid.axes[-1]
    origins, times = test_times(prepared)
    grid = data.grid.change(axis.name, size=contest.truth.shape[-1], origin=origins[0])
    transient, steady, reason = _split(surrogate, keep)
    signals |= {"transient": transient, "steady": steady} if transient is not None else {}
    for name, values in signals.items():
        np.save(folder / f"{name}.npy", np.asarray(values, dtype=np.float32))
    modes, no_modes = _modes(surrogate)
    outcome = {
        **contest.to_dict(),
        "label": next(iter(contest.rows)),
        "kind": surrogate.kind,
        "record": record,
        "input_channels": [[channel.name, channel.unit] for channel in data.input_channels],
        "output_channels": [[channel.name, channel.unit] for channel in data.output_channels],
        "grid": grid.to_dict(),
        "origins": origins[:keep],
        "times": times,
        "places": -(-grid.shape[-1] // SPAN) if record and grid.ndim == 1 else len(signals["truth"]),
        "parameters": count_parameters(surrogate.members[0]),
        "choices": list(fitted.choices),
        "caveat": surrogate.split_caveat or ("" if transient is None else lasting_caveat(transient, signals["truth"])),
        "no_split": reason,
        "modes": modes,
        "no_modes": no_modes,
        "bode": bode(signals, axis.step) if grid.ndim == 1 else None,
        "seconds": seconds,
    }
    write_json(folder / OUTCOME, jsonable(outcome))


def read_outcome(folder: Path) -> dict[str, Any]:
    """Return the results that `write_outcome` wrote, without the signals. Raise LfnoError if the run has no model."""
    told = read_json(folder / OUTCOME)
    if not told:
        raise LfnoError("this run has no model")
    return told


def sample(folder: Path, place: int) -> dict[str, Any]:
    """Return the signals of one test trajectory, or of one piece (SPAN samples) of the test record.

    Signals: input, measured output, prediction, prediction of the linear baseline, transient and steady part.
    """
    told = read_outcome(folder)
    if not 0 <= place < told["places"]:
        raise LfnoError(f"there is no test sample {place}: there are {told['places']} samples, counted from 0")
    grid = Grid.from_dict(told["grid"])
    found = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in SIGNALS if (folder / f"{name}.npy").is_file()}
    axis = grid.axes[-1]
    if told["record"] and grid.ndim == 1:
        start, stop = place * SPAN, min((place + 1) * SPAN, axis.size)
        grid = grid.change(axis.name, size=stop - start, origin=axis.origin + start * axis.step)
        return jsonable(curves(grid, {name: values[0, :, start:stop] for name, values in found.items()}))
    grid = grid.change(axis.name, origin=told["origins"][place] if "origins" in told else axis.origin)
    return jsonable(curves(grid, {name: np.asarray(values[place]) for name, values in found.items()}))


def test_times(prepared: Prepared) -> tuple[list[float], str]:
    """Return the time of the first value of each test sample in `Contest`, and a sentence about the times for the user.

    Times are times of the file, except for the averaged period of a periodic input, which begins at 0.
    """
    data = prepared.dataset
    axis = data.grid.axes[-1]
    warmup = f"{prepared.warmup * axis.step:.3g} {axis.unit}".strip()
    if prepared.test is not None:
        start = prepared.test.grid.axes[-1].origin + prepared.warmup * axis.step
        words = f" The first {warmup} of the test data are the warm-up: they are not scored and not shown."
        return [start], f"Times are those of the file.{words if prepared.warmup else ''}"
    if "start" in data.parameters:
        records, firsts = (data.parameters[name][prepared.split.test].astype(int) for name in ("record", "start"))
        runs = [prepared.records[k].grid.axes[-1].origin for k in records]
        words = f"; the first {warmup} of a window are the warm-up, which is not scored" if prepared.warmup else ""
        return [run + first * axis.step for run, first in zip(runs, firsts, strict=True)], (
            f"Each sample is a window of a run, at its time in the run{words}."
        )
    words = "Each sample is one period of the input: the mean of the steady periods of a run." if prepared.records else ""
    return [axis.origin] * len(prepared.split.test), words


def _split(surrogate: Any, keep: int) -> tuple[np.ndarray | None, np.ndarray | None, str]:
    """Return (transient part, steady part, "") of the first `keep` test samples, or (None, None, reason) without a split."""
    from lfno.plots.parts import parts_of_test

    try:
        transient, steady = parts_of_test(surrogate, keep)
    except LfnoError as error:
        return None, None, str(error)
    return transient, steady, ""


def _modes(surrogate: Any) -> tuple[list[dict[str, Any]], str]:
    """Return the modes, or the reason why there are none."""
    try:
        return [mode.to_dict() for mode in surrogate.modes()], ""
    except LfnoError as error:
        return [], str(error)
