"""Fast linear fits of a plant with curved actuators and dead times: the search for modes, dead times and curves.

    y = Σᵢ (response of the modes to nᵢ(uᵢ), delayed by dᵢ) + offset

nᵢ is the curve of actuator i, and dᵢ is the dead time of input i. A curve is a sum nᵢ = Σ_j a_ij h_ij of known functions h_ij.
In the fast fit, each h_ij(uᵢ) is an input of a linear model, with its own residues. Then only the poles and the dead times are
nonlinear parameters. Variable projection fits the poles (see `projection`), and a search over a table finds the dead times.
The residues of h_ij are approximated by products of a factor a_ij and residues that all functions of input i share. The
factors a_ij then give the curve nᵢ (`plant_search.curves`).

Words: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfno.data.stretches import REST, Stretch
from lfno.identification.feedback.dead_time import delayed
from lfno.identification.feedback.initial import linear_problem
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.windows import Scales
from lfno.identification.projection import Projection

#: largest number of stretches for which the free motion from unknown initial states is fitted; see `Plant.problem`
MOST_PULSES = 8
#: largest number of samples of each stretch in the search; more samples cost time
SAMPLES = 4000
#: quantiles of an input at which its curve may bend
CORNERS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
#: steepness of the bends, in 1 / standard deviation of the input
STEEP = 3.0
#: two values of an input are different levels if they differ by more than this part of its range
LEVEL = 1e-3
#: number of levels above which a curve counts as known at all values of the input, and not at the levels only
MANY = 12


@dataclass(frozen=True)
class Basis:
    """The functions h of one input: the input itself, bends and powers; or one weighted sum of these functions, a curve.

    A bend consists of two straight lines with a rounded corner between them.

    corners: places of the rounded corners.
    degree: highest power.
    weights: weights of the sum; None for separate functions.
    """

    corners: np.ndarray
    degree: int = 1
    weights: np.ndarray | None = None

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """Return h (functions, …) for values u of the input in units of its standard deviation. All h vanish at u = 0."""
        bends = [(_bend(STEEP * (u - place)) - _bend(np.array(-STEEP * place))) / STEEP for place in self.corners]
        found = np.stack([u, *bends, *(u**k / 2**k for k in range(2, self.degree + 1))])
        return found if self.weights is None else np.tensordot(self.weights, found, 1)[None]

    @property
    def count(self) -> int:
        """Return the number of functions."""
        return len(self.corners) + self.degree if self.weights is None else 1


LINE = Basis(np.zeros(0))


@dataclass(frozen=True)
class Curve:
    """The curve of one input in a law with curved actuators, as the only function h of this input."""

    law: Law
    channel: int
    count: int = 1

    def __call__(self, u: np.ndarray) -> np.ndarray:
        """Return h (1, …) for values u of the input in units of its standard deviation."""
        return self.law.effective(u[..., None] * np.eye(self.law.drive.shape[1])[self.channel])[None, ..., self.channel]


@dataclass(frozen=True)
class Plant:
    """The training data of the search.

    stretches: training stretches.
    step: sampling step in seconds.
    scales: units of the signals.
    """

    stretches: Sequence[Stretch]
    step: float
    scales: Scales

    @property
    def inputs(self) -> int:
        """Return the number of inputs."""
        return len(self.scales.input_scale)

    def values(self, channel: int) -> np.ndarray:
        """Return all values of an input, in units of its standard deviation."""
        whole = np.concatenate([stretch.inputs[channel] for stretch in self.stretches])
        return np.asarray((whole - self.scales.input_offset[channel]) / self.scales.input_scale[channel])

    def levels(self, channel: int) -> np.ndarray:
        """Return the different values of an input in increasing order, at most MANY + 1 of them.

        A curve is known at these values only. With two levels, every curve is a straight line.
        """
        values = np.sort(self.values(channel))
        gaps = np.diff(values) > LEVEL * max(values[-1] - values[0], 1e-300)
        found = values[np.concatenate([[0], np.flatnonzero(gaps) + 1])]
        return np.asarray(found[: MANY + 1])

    def points(self, channel: int, count: int) -> np.ndarray:
        """Return places at which a curve is known: quantiles of an input, or its levels if they are few."""
        levels = self.levels(channel)
        return np.quantile(self.values(channel), np.linspace(0.0005, 0.9995, count)) if len(levels) > MANY else levels

    def polynomial(self, channel: int) -> Basis:
        """Return polynomials up to degree three, or up to a lower degree for an input with few levels."""
        return Basis(np.zeros(0), int(np.clip(len(self.levels(channel)) - 1, 1, 3)))

    def bends(self, channel: int) -> Basis:
        """Return bends at the CORNERS, or at the inner levels of an input with few levels."""
        levels = self.levels(channel)
        return Basis(np.unique(np.quantile(self.values(channel), CORNERS)) if len(levels) > len(CORNERS) + 2 else levels[1:-1])

    def problem(self, delays: np.ndarray, bases: Sequence[Basis | Curve], hold: str, hold_out: bool = False) -> Projection:
        """Return the least-squares problem for dead times in samples, with the functions `bases` of each input.

        If a stretch does not begin at rest and the stretches are few (MOST_PULSES), each stretch has a further input. It is
        a pulse at the last sample of the warm-up. The response to this pulse is the free motion.

        hold_out: whether a fifth of the data is held out, for `Projection.error`.
        """
        def mapped(stretch: Stretch) -> Stretch:
            force = (stretch.inputs[:, :SAMPLES] - self.scales.input_offset[:, None]) / self.scales.input_scale[:, None]
            force = delayed(force, delays, stretch.start)
            mask = None if stretch.mask is None else stretch.mask[:, :SAMPLES]
            wide = np.concatenate([basis(own) for basis, own in zip(bases, force, strict=True)])
            return Stretch(wide, stretch.outputs[:, :SAMPLES], mask, stretch.start)

        count = sum(basis.count for basis in bases)
        scales = replace(self.scales, input_offset=np.zeros(count), input_scale=np.ones(count))
        plain = linear_problem([mapped(stretch) for stretch in self.stretches], self.step, scales)
        inputs, warmup = plain.inputs, plain.warmup
        if any(stretch.start != REST for stretch in self.stretches) and plain.samples <= MOST_PULSES:
            pulses = np.zeros((plain.samples, plain.samples, inputs.shape[-1]))
            pulses[np.arange(plain.samples), np.arange(plain.samples), max(warmup - 1, 0)] = 1.0
            inputs = np.concatenate([inputs, pulses], axis=1)
        return Projection(
            inputs, plain.outputs, self.step, hold, warmup, direct=False, moments=plain.moments, hold_out=hold_out,
            constant=True,
        )  # fmt: skip


def _bend(x: np.ndarray) -> np.ndarray:
    """Return ln cosh x + ln 2, without overflow."""
    return np.asarray(np.logaddexp(x, -x))
