"""Physics of a model beside the truth: transient and steady part, and the nonlinear frequency response."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.app.bench import Bench
from lfno.app.json_values import jsonable, packed
from lfno.app.oscillator import Oscillator
from lfno.app.values import Query
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.evaluation.caveat import WHOLE

#: frequencies of a sweep, in Hz
SWEEP = np.round(np.geomspace(0.04, 0.8, 36), 4)
POINTS = 128  # samples in one cycle
SETTLED = 2e-3  # relative change of the amplitude from one piece to the next; below it the response is steady
PIECES = 14  # pieces at one frequency, at most; a response that is not steady by then is NaN
LASTING = 8.0  # s, shortest length of a piece


def split(bench: Bench, query: Query, key: str) -> dict[str, Any]:
    """Return transient and steady part of a model's prediction, and the true parts if the system has them.

    A model without poles has no such parts; then the answer has the reason only.
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
    between the two steady parts, relative to the larger norm of the true response and of the true steady part.

    Args:
        bench: The system.
        given: The input.
        own: "steady" -> the model's steady part, (*grid).
        grid: The grid of the model.
    """
    state = bench.steady(given)
    if state.reason:
        return {"reason": f"There is no true steady part: {state.reason}."}
    if not state.reached[0]:
        return {"reason": "There is no true steady part: with this input the response never repeats itself."}
    steady = state.values[0, 0]
    with bench.lock:
        response = bench.pair(given, bench.grid)[1][0, 0]
    drawn = bench.resampled(own["steady"], grid)
    size = max(float(np.linalg.norm(one)) for one in (steady, response)) or 1.0
    return {
        "true_steady": packed(steady),
        "true_transient": packed(response - steady),
        "split_error": float(np.linalg.norm(drawn - steady) / size),
        "reason": "",
    }


def true_sweep(bench: Oscillator, amplitude: float) -> dict[str, Any]:
    """Return the steady amplitudes of a stepped sine sweep, with rising and with falling frequency.

    The simulation at each frequency starts from the last state of the frequency before, as on a test bench. Where the two
    directions differ, the system has more than one steady response.
    """
    reason = bench.system.unsettled
    if reason:
        raise LfnoError(f"there is no frequency response: {reason}")
    up = _sweep(bench, amplitude, SWEEP)
    down = _sweep(bench, amplitude, SWEEP[::-1])[::-1]
    return jsonable({"frequency": packed(SWEEP, double=True), "up": packed(up), "down": packed(down)})


def model_sweep(bench: Bench, key: str, amplitude: float) -> dict[str, Any]:
    """Return the steady amplitudes of a model over frequency, by its steady pass.

    Raises LfnoError for a model that cannot compute a steady response beyond its window.
    """
    found = bench.model(key).response(SWEEP, [amplitude], warn=False)
    return jsonable({"frequency": packed(SWEEP, double=True), "amplitude": packed(found.amplitude[0, :, 0])})


def _sweep(bench: Oscillator, amplitude: float, frequencies: np.ndarray) -> np.ndarray:
    """Return the amplitude of the fundamental at each frequency; NaN where the response does not become steady."""
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
    return lambda t: amplitude * np.cos(2 * np.pi * frequency * t)
