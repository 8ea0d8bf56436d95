"""Modes from the response to a pulse and the free decay after it, for systems whose modes depend on the amplitude."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.short import Short
from lfno.identification.identify import Modes, identify
from lfno.identification.pairs import LARGEST
from lfno.identification.probe import Respond
from lfno.identification.realisation import choose_order, realise

#: numbers of states that the search compares
STATES = (1, 2, 3, 4, 6, 8, 12, 16, 24)
#: largest ratio of the new error to the old error for which more states are accepted
WORTH = 0.7
#: contribution above which modes cancel each other; a contribution is the rms of one mode relative to the whole response
CANCELLING = 3.0
#: default length of a pulse, relative to the window
WIDTH = 1 / 50


@dataclass(frozen=True, repr=False)
class PulseResponse(Short):
    """The response to a unit pulse on each input in turn. Time begins with the pulse.

    pulses: (inputs, inputs, time).
    responses: (inputs, outputs, time), one row for each driven input.
    length: steps of the pulse. The response after the pulse is a free decay.
    step: sampling step in seconds.
    """

    pulses: np.ndarray
    responses: np.ndarray
    length: int
    step: float

    @property
    def decay(self) -> np.ndarray:
        """Return the free decay after the pulse, (outputs, inputs, time), the shape that `realise` needs."""
        return np.moveaxis(self.responses[..., self.length :], 0, 1)


def pulse_response(
    respond: Respond, grid: Grid, amplitude: float, channels: int = 1, operating: float = 0.0, width: float | None = None
) -> PulseResponse:
    """Return the response to raised-cosine pulses that are added to a constant input.

    The response is half the difference of the outputs for +pulse and −pulse, divided by the height. All even powers of the
    nonlinearity cancel in this difference. If the constant input is zero, the pulse begins at the first sample. Otherwise the
    input first rises to the constant over a quarter of the window, and the pulse begins in the middle of the window.

    respond: a function from inputs (batch, channels, time) to outputs (batch, outputs, time) from rest, in physical units.
    grid: the time grid.
    amplitude: the height of the pulse.
    channels: number of input channels.
    operating: the constant input.
    width: length of the pulse in seconds; default 1/50 of the window. A pulse has at least 8 steps. The spectrum of the pulse
        ends near 2/width Hz. A wide pulse keeps a network inside the frequency band of its training data.

    Raises LfnoError for several axes, for a pulse that does not fit into the window, and for answers that are zero, not finite
    or of a wrong shape.
    """
    if grid.ndim != 1:
        raise LfnoError(f"small-signal modes need a grid of time alone, not the axes {list(grid.names)}")
    size, step = grid.shape[0], grid.steps[0]
    wide = size * WIDTH if width is None else width / step
    length = max(8, math.ceil(wide)) if 0 <= wide <= size else size
    start = 0 if operating == 0 else size // 2
    if not (0 < amplitude <= LARGEST and abs(operating) <= LARGEST) or start + 4 * length > size:
        raise LfnoError(
            f"a pulse of height {amplitude} and {length} of {size} steps at the constant input {operating} cannot show modes: "
            "give a positive amplitude, and a width below an eighth of the window"
        )
    ramp = 0.5 - 0.5 * np.cos(math.pi * np.minimum(np.arange(size) / (size / 4), 1))
    pulse = np.zeros(size)
    pulse[start : start + length + 1] = 0.5 - 0.5 * np.cos(2 * math.pi * np.arange(length + 1) / length)
    pulses = np.eye(channels)[:, :, None] * pulse
    level = np.broadcast_to(operating * ramp, pulses.shape)
    answers = real_array(respond(np.concatenate([level + amplitude * pulses, level - amplitude * pulses])), "the answers")
    if answers.ndim != 3 or not answers.shape[1] or (len(answers), answers.shape[-1]) != (2 * channels, size):
        raise LfnoError(f"the answers have shape {answers.shape}; ({2 * channels}, outputs, {size}) is needed")
    response = (answers[:channels] - answers[channels:])[..., start:] / (2 * amplitude)
    found = PulseResponse(pulses[..., start:], response, length, step)
    if not (np.isfinite(found.decay).all() and np.abs(found.decay).max() > 0):
        raise LfnoError("the response to the pulse is zero or not finite and shows no modes: change the amplitude")
    return found


def small_signal_modes(
    respond: Respond,
    grid: Grid,
    amplitude: float,
    channels: int = 1,
    *,
    operating: float = 0.0,
    width: float | None = None,
    order: int | None = None,
    tolerance: float = 0.01,
    accuracy: float = 0.0,
) -> Modes:
    """Return the modes of a nonlinear system, or of a network, from its response to a pulse of height `amplitude`.

    After the pulse the response is a free decay. The realisation of this decay gives initial poles, independent of the pulse.
    `identify` then refines the poles and fits the residues to the response to the pulse. `Modes.error` is the relative L2 error
    of this fit.

    A large amplitude gives the modes of large motion. The frequency of such a mode drifts as the motion decays. `order=2` then
    returns one oscillation with the mean frequency.

    respond, grid, amplitude, channels, operating, width: arguments of `pulse_response`.
    order: number of states. By default, more states are tried until the error of the fit falls below `accuracy`. A larger
        number of states is kept only if the error falls clearly (`WORTH`). So `Modes.error` may stay above `accuracy`.
    tolerance: singular values below this part of the largest singular value are ignored. Used only without `order`.
    accuracy: relative L2 error of the outputs of `respond`: 0 if they are exact, or the error of a network. Modes weaker than
        this error cannot be found.
    """
    seen = pulse_response(respond, grid, amplitude, channels, operating, width)
    rest = Grid.line(seen.pulses.shape[-1], seen.step)

    def explain(states: int) -> Modes:
        poles = realise(seen.decay, seen.step, states).poles
        modes = identify(seen.pulses, seen.responses, rest, poles=poles, hold="cubic")
        missed = modes.simulate(seen.pulses, seen.step) - seen.responses
        return replace(modes, error=float(np.linalg.norm(missed) / np.linalg.norm(seen.responses)))

    if order is not None:
        return explain(order)
    return _fewest(explain, choose_order(realise(seen.decay, seen.step, 0).singular_values, tolerance), accuracy)


def _fewest(explain: Callable[[int], Modes], most: int, accuracy: float) -> Modes:
    """Return the fit with the fewest useful states.

    More states are accepted if the error falls clearly (`WORTH`) and no large modes cancel each other.

    explain: a function from the number of states to the fitted modes.
    most: largest number of states.
    accuracy: relative error at which the search stops.
    """
    best = None
    for states in sorted({*(count for count in STATES if count < most), most}):
        modes = explain(states)
        if best is None or (modes.error < WORTH * best.error and modes.contributions.max(initial=0) < CANCELLING):
            best = modes
        if best.error <= accuracy:
            break
    assert best is not None
    return best
