"""Modes of anything that answers a pulse: the eigensystem realisation algorithm, and a network's small-signal modes.

An impulse response h_k = C Aᵏ B fills a Hankel matrix H⁰ᵢⱼ = h_{i+j} whose rank is the number of states. With
H⁰ ≈ U Σ Vᵀ and its neighbour H¹ᵢⱼ = h_{i+j+1}, A = Σ^{−½} Uᵀ H¹ V Σ^{−½}; its eigenvalues are e^{μ dt}.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes, identify
from lfno.identification.pairs import LARGEST

# rows and columns of the Hankel matrix: its singular values cost the cube of this
_HANKEL = 600
# numbers of states that are tried, the error a larger one must reach, and contributions beyond which modes cancel each other
STATES, WORTH, CANCELLING = (1, 2, 3, 4, 6, 8, 12, 16, 24), 0.7, 3.0


@dataclass(frozen=True)
class Realisation:
    """h_oi(t) = Re Σ_n residues[o, i, n] e^{poles[n] t} with Im μ ≥ 0, and the Hankel singular values behind it."""

    poles: np.ndarray
    residues: np.ndarray
    singular_values: np.ndarray


def realise(markov: np.ndarray, step: float, order: int | None = None, tolerance: float = 1e-6) -> Realisation:
    """Eigensystem realisation of impulse responses `(outputs, inputs, time)`, the first one at t = 0.

    `order` is the number of states (two for an oscillation); by default what `choose_order` sees above `tolerance`.

    >>> decay = np.exp(-0.5 * 0.1 * np.arange(100))
    >>> realise(decay[None, None], 0.1).poles.real.round(6)
    array([-0.5])
    """
    markov = real_array(markov, "the impulse responses", "(outputs, inputs, time)", 3, finite=True).astype(np.float64)
    if not 1e-100 < step < 1e100:
        raise LfnoError(f"the step between the samples is {step:g}; a positive number of a sensible size is needed")
    if not np.abs(markov).max() < 1e100:
        raise LfnoError("the impulse responses reach beyond 1e100; use other units")
    if markov.ndim != 3 or markov.shape[-1] < 4:
        raise LfnoError(f"a realisation needs impulse responses (outputs, inputs, time ≥ 4), not {markov.shape}")
    outputs, inputs = markov.shape[:2]
    stride = _stride(markov)
    coarse = np.moveaxis(markov[..., ::stride], -1, 0)
    rows = min(len(coarse) // 2, max(_HANKEL // outputs, 2))
    columns = min(len(coarse) - rows, max(_HANKEL // inputs, 2))

    def hankel(start: int) -> np.ndarray:
        blocks = coarse[start + np.arange(rows)[:, None] + np.arange(columns)]
        return blocks.transpose(0, 2, 1, 3).reshape(rows * outputs, columns * inputs)

    left, values, right = np.linalg.svd(hankel(0)[:, : (columns - 1) * inputs], full_matrices=False)
    count = min(choose_order(values, tolerance) if order is None else order, int((values > 1e-14 * values[0]).sum()))
    if count == 0:
        return Realisation(np.zeros(0, complex), np.zeros((outputs, inputs, 0), complex), values)
    # the neighbour needs one sample more than the matrix itself: both leave the last block column out
    columns -= 1
    root = np.sqrt(values[:count])
    matrix = (left[:, :count].T @ hankel(1) @ right[:count].T) / np.outer(root, root)
    factors = np.linalg.eigvals(matrix)
    factors = factors[(factors.imag >= 0) & (np.abs(factors) > 1e-12)]
    poles = np.log(factors.astype(np.complex128)) / (stride * step)
    return Realisation(poles, _residues(markov, poles, step), values)


def choose_order(singular_values: np.ndarray, tolerance: float) -> int:
    """How many singular values stand out: above `tolerance` of the first and above the floor that noise makes.

    The floor is 2.858 medians, the optimal hard threshold for a square matrix with white noise of unknown size.
    """
    if not singular_values[0] > 0:
        return 0
    floor = max(tolerance * singular_values[0], 2.858 * float(np.median(singular_values)))
    return int((singular_values > floor).sum())


def _stride(markov: np.ndarray) -> int:
    """Samples to skip: few enough to keep four per period of the fastest content (above 1 % of the spectrum's peak).

    Neighbouring samples of a slow response are nearly equal, so their difference, which holds the poles, is noise.
    """
    size = markov.shape[-1]
    taper = np.cos(0.5 * math.pi * np.arange(size) / size) ** 2
    spectrum = np.abs(np.fft.rfft(markov * taper, axis=-1)).max((0, 1))
    highest = int(np.flatnonzero(spectrum >= 0.01 * spectrum.max())[-1])
    return max(1, min(size // (4 * max(highest, 1)), size // 40))


def _residues(markov: np.ndarray, poles: np.ndarray, step: float) -> np.ndarray:
    """Least squares of the whole response on the modes, which uses every sample and not only the Hankel factors."""
    outputs, inputs, size = markov.shape
    modes = np.exp(np.outer(step * np.arange(size), poles))
    matrix = np.concatenate([modes.real, -modes.imag], axis=1)
    solution = np.linalg.lstsq(matrix, markov.reshape(-1, size).T, rcond=1e-12)[0]
    residues = solution[: len(poles)] + 1j * solution[len(poles) :]
    return residues.T.reshape(outputs, inputs, len(poles))


def small_signal_modes(
    respond: Callable[[np.ndarray], np.ndarray],
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
    """Modes that a nonlinear system, or a network, shows to a pulse of height `amplitude` about `operating`.

    `respond` maps inputs (batch, channels, time) to outputs (batch, outputs, time), both in physical units, from rest.
    Each input channel gets a raised-cosine pulse of `width` seconds (default 1/50 of the window, at least 8 steps):
    its spectrum ends near 2/width Hz, so a network is asked about little that it was not trained on. The answer is
    half the difference of the responses to +pulse and −pulse, in which all even powers of the nonlinearity cancel.
    About rest the pulse comes at once; about an `operating` level that level is first approached over a quarter of the
    window, and the pulse comes at its middle. With a large amplitude the modes are those of that amplitude's motion,
    whose frequency drifts as it decays: `order=2` then gives its mean as one oscillation.

    After the pulse the response is a free decay, so its realisation gives the poles whatever the pulse; they are then
    refined, and residues found, against the exact response to the pulse. `error` is the relative L2 error of that.
    Without an `order` there are as few modes as explain the response to `accuracy` (relative L2): a network that is wrong
    by that says nothing about what is weaker. Where even many do not explain it, a few are given, and their `error`.
    """
    if grid.ndim != 1:
        raise LfnoError(f"small-signal modes need a grid of time alone, not the axes {list(grid.names)}")
    size, step = grid.shape[0], grid.steps[0]
    wide = size / 50 if width is None else width / step
    length = max(8, math.ceil(wide)) if 0 <= wide <= size else size
    start = 0 if operating == 0 else size // 2
    if not (0 < amplitude <= LARGEST and abs(operating) <= LARGEST) or start + 4 * length > size:
        raise LfnoError(
            f"a pulse of height {amplitude} about {operating} over {length} of {size} steps cannot show modes: give a "
            "positive amplitude and a width below an eighth of the window"
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
    free = np.moveaxis(response[..., length:], 0, 1)
    if not (np.isfinite(free).all() and np.abs(free).max() > 0):
        raise LfnoError("the response to the pulse is zero or not finite and shows no modes: change the amplitude")
    rest, force = Grid.line(size - start, step), pulses[..., start:]

    def explain(states: int) -> Modes:
        modes = identify(force, response, rest, poles=realise(free, step, states).poles, hold="cubic")
        missed = modes.simulate(force, step) - response
        return replace(modes, error=float(np.linalg.norm(missed) / np.linalg.norm(response)))

    if order is not None:
        return explain(order)
    return _fewest(explain, choose_order(realise(free, step, 0).singular_values, tolerance), accuracy)


def _fewest(explain: Callable[[int], Modes], most: int, accuracy: float) -> Modes:
    """As few states as will do: more of them must explain much more, and not by large modes that cancel each other."""
    best = None
    for states in sorted({*(count for count in STATES if count < most), most}):
        modes = explain(states)
        if best is None or (modes.error < WORTH * best.error and modes.contributions.max(initial=0) < CANCELLING):
            best = modes
        if best.error <= accuracy:
            break
    assert best is not None
    return best
