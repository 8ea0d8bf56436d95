"""Transient and steady part, and nonlinear frequency response, of a model and of the equation."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.app.bench import Bench
from lfno.app.json_values import packed
from lfno.app.oscillator import Oscillator
from lfno.app.values import Query
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import jsonable
from lfno.evaluation.caveat import WHOLE

SWEEP = np.round(np.geomspace(0.04, 0.8, 36), 4)  # Hz; frequencies of a sweep
POINTS = 128  # time steps in one cycle
#: s; shortest duration of a piece. At each frequency, we simulate pieces of whole cycles until the response is steady
LASTING = 8.0
SETTLED = 2e-3  # largest relative change of the amplitude between two pieces of a steady response
PIECES = 14  # largest number of pieces at one frequency; without a steady response until then, the amplitude is NaN


def split(bench: Bench, query: Query, key: str) -> dict[str, Any]:
    """Return the transient and the steady part of a model's prediction, and the true parts if the system has a steady state.

    A model without poles has no such parts. Then the answer has the reason in place of the parts.
    """
    given, label = bench.given(query), bench.labels[key]
    with bench.lock:
        model = bench.model(key)
        inputs, _ = bench.pair(given, model.grid)
    if WHOLE in model.split_caveat:
        return {"label": label, "caveat": "", "reason": f"{label} has no poles and so no transient part: there is no split."}
    transient, steady = model.decompose(np.ascontiguousarray(inputs), grid=model.grid, warn=False)
    own = {"transient": transient[0, 0], "steady": steady[0, 0]}
    told = {name: bench.drawn(values, model.grid) for name, values in own.items()}
    return jsonable(
        {**told, **true_split(bench, given, own, model.grid), "caveat": model.split_caveat, "label": label}
    )


def true_split(bench: Bench, given: Any, own: dict[str, np.ndarray], grid: Grid) -> dict[str, Any]:
    """Return the true transient and steady part, and the error of the model's steady part.

    The steady part is the response to the input repeated for ever. The entry `split_error` is the norm of the difference
    between the two steady parts, relative to the larger norm of the true response and of the true steady part. It is None if
    both norms are zero.

    Args:
        bench: The system.
        given: The input.
        own: Name of a part -> this part of the model's prediction, (*grid). Only "steady" is used.
        grid: The grid of the model.
    """
    state = bench.steady(given)
    if state.reason:
        return {"reason": f"There is no true steady part: {state.reason}."}
    if not state.reached[0]:
        return {"reason": "There is no true steady part: if this input is repeated, the response does not become periodic."}
    steady = state.values[0, 0]
    with bench.lock:
        response = bench.pair(given, bench.grid)[1][0, 0]
    drawn = bench.resampled(own["steady"], grid)
    size = max(float(np.linalg.norm(one)) for one in (steady, response))
    return {
        "true_steady": packed(steady),
        "true_transient": packed(response - steady),
        "split_error": float(np.linalg.norm(drawn - steady) / size) if size else None,
        "reason": "",
    }


def true_sweep(bench: Oscillator, amplitude: float) -> dict[str, Any]:
    """Return the steady amplitudes of a stepped sine sweep with increasing frequency ("up") and decreasing frequency ("down").

    The simulation at each frequency starts from the last state at the previous frequency, as on a test bench. At frequencies
    where the two directions differ, the system has more than one steady response.
    """
    reason = bench.system.unsettled
    if reason:
        raise LfnoError(f"there is no frequency response: {reason}")
    up = _sweep(bench, amplitude, SWEEP)
    down = _sweep(bench, amplitude, SWEEP[::-1])[::-1]
    return jsonable({"frequency": packed(SWEEP, double=True), "up": packed(up), "down": packed(down)})


def model_sweep(bench: Bench, key: str, amplitude: float) -> dict[str, Any]:
    """Return the steady amplitudes of a model over frequency. Raise LfnoError if the model has no such steady response."""
    found = bench.model(key).response(SWEEP, [amplitude], warn=False)
    return jsonable({"frequency": packed(SWEEP, double=True), "amplitude": packed(found.amplitude[0, :, 0])})


def _sweep(bench: Oscillator, amplitude: float, frequencies: np.ndarray) -> np.ndarray:
    """Return the amplitude of the fundamental at each frequency, or NaN if the response does not become steady."""
    single = bench.single
    state, found = np.array(single.system.start), []
    for frequency in frequencies:
        cycles = int(np.ceil(LASTING * frequency))
        piece = Grid.line(POINTS * cycles + 1, dt=1 / (frequency * POINTS))
        wave = np.exp(-2j * np.pi * np.arange(POINTS * cycles) / POINTS)
        force = _tone(amplitude, frequency)
        before = np.inf
        for _ in range(PIECES):
            # a piece has whole cycles, so the time of the next piece can start at zero
            states = single.states(force, piece, state)
            state = states[-1]
            size = 2 * abs((states[:-1, single.system.observed] * wave).mean())
            if abs(size - before) < SETTLED * size:
                break
            before = size
        else:
            size = np.nan
        found.append(size)
    return np.array(found)


def _tone(amplitude: float, frequency: float) -> Any:
    """Return a cosine as a function of time."""
    return lambda t: amplitude * np.cos(2 * np.pi * frequency * t)
