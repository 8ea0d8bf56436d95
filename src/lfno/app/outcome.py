"""The results of a run, stored as files: errors of model and baselines, test signals, modes and frequency response."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from lfno.app.curves import MOST_POINTS, curves
from lfno.app.json_values import jsonable, packed
from lfno.app.workspace import read_json, write_json
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid

MODEL = "model.safetensors"  # file of the model
OUTCOME = "outcome.json"  # file of errors, modes and frequency response
REPORT = "report.html"  # file of the page about the model
SIGNALS = ("input", "truth", "prediction", "linear", "transient", "steady")  # each is stored in a file NAME.npy
MOST_SAMPLES = 64  # largest number of test trajectories that are stored
MOST_VALUES = 20_000_000  # largest number of values of a signal that are stored
FAINTEST = 1e-4  # smallest input power relative to its peak; at frequencies with less power there is no frequency response
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
    axis = data.grid.axes[-1]
    grid = data.grid.change(axis.name, size=contest.truth.shape[-1])
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
        "places": -(-grid.shape[-1] // SPAN) if record and grid.ndim == 1 else len(signals["truth"]),
        "parameters": count_parameters(surrogate.members[0]),
        "choices": list(fitted.choices),
        "caveat": surrogate.split_caveat or ("" if transient is None else lasting_caveat(transient, signals["truth"])),
        "no_split": reason,
        "modes": modes,
        "no_modes": no_modes,
        "bode": _bode(signals, axis.step) if grid.ndim == 1 else None,
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
    return jsonable(curves(grid, {name: np.asarray(values[place]) for name, values in found.items()}))


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


def _bode(signals: dict[str, np.ndarray], step: float) -> dict[str, Any] | None:
    """Return the frequency responses of the measured and of the predicted outputs, and the coherence of the measurement.

    Return None if the test data are too short or the inputs excite too few frequencies.
    """
    from lfno.identification.frequency import measure_response
    from lfno.plots.bode import segment_length

    inputs, truth = np.asarray(signals["input"], np.float64), np.asarray(signals["truth"], np.float64)
    truth = np.where(np.isnan(truth), signals["prediction"], truth)  # replace missing values by predicted values
    try:
        length = segment_length(*inputs.shape)
        measured = measure_response(inputs, truth, step, length, FAINTEST)
        model = measure_response(inputs, np.asarray(signals["prediction"], np.float64), step, length, FAINTEST)
    except LfnoError:
        return None
    seen = np.flatnonzero(np.isfinite(measured.response).all((0, 1)))
    keep = slice(1, min(seen[-1] + 1 if len(seen) else 0, MOST_POINTS))  # a logarithmic axis has no place for 0 Hz
    if keep.stop - 1 < 4:
        return None
    return {
        "frequency": packed(measured.frequencies[keep], double=True),
        "coherence": packed(measured.coherence[:, keep]),
        "measured": _polar(measured.response[..., keep]),
        "model": _polar(model.response[..., keep]),
    }


def _polar(response: np.ndarray) -> dict[str, Any]:
    """Return magnitude and unwrapped phase (degrees) of a response (outputs, inputs, frequencies)."""
    phase = np.full(response.shape, np.nan)
    for index in np.ndindex(response.shape[:2]):
        seen = np.isfinite(response[index])
        phase[index][seen] = np.degrees(np.unwrap(np.angle(response[index][seen])))
    return {"magnitude": packed(np.abs(response)), "phase": packed(phase)}
