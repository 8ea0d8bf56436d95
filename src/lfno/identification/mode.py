"""`Mode`: the frequency, damping ratio and time constant of a mode, each with its 95 % interval."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from lfno.identification.identify import Modes
from lfno.identification.uncertainty import NORMAL_95, deviations
from lfno.spectral.physics import describe_poles

Interval = tuple[float, float]

#: two poles count as equal if their distance is below this part of |Re μ|
SAME = 0.05
#: two poles count as equal if their distance is below this part of the smaller of their two standard deviations
INDISTINCT = 0.1
#: two residues cancel if the norm of their sum is below this part of the larger norm; such modes are merged only by `SAME`
CANCELLING = 0.5
#: contribution below which a mode with an uncertain pole (standard deviation above |μ|) is not listed
WEAK = 0.05
#: ratio of the second to the first singular value of the summed residue, above which two modes have different shapes
OTHER_SHAPE = 0.3


@dataclass(frozen=True, repr=False)
class Mode:
    """One mode of a linear system, or of a nonlinear system in small motion.

    The unit of time is the unit of the time axis of the data. It is written as s below, and 1/s as Hz.

    pole: μ = Re + i Im in 1/s, with Im μ ≥ 0.
    frequency: |Im μ|/2π in Hz; 0 for a pure decay.
    damping_ratio: −Re μ/|μ|; 1 for a pure decay.
    time_constant: −1/Re μ in s, the time in which the motion falls to 1/e.
    contribution: rms of the response of this mode, relative to the rms of the whole response.
    shape: relative motion of the output channels, one entry for each output; the largest entry is 1.
    …_interval: 95 % intervals as (lower end, upper end). The upper end of the time constant is infinite if the interval of the
        decay rate −Re μ contains zero: the data then do not show that the motion decays.
    """

    pole: complex
    frequency: float
    damping_ratio: float
    time_constant: float
    contribution: float
    shape: tuple[complex, ...]
    frequency_interval: Interval
    damping_interval: Interval
    time_constant_interval: Interval

    def __repr__(self) -> str:
        motion = f"frequency {self.frequency:.4g}, damping ratio {self.damping_ratio:.3g}" if self.frequency else "decay"
        return f"Mode({motion}, time constant {self.time_constant:.3g}, contribution {self.contribution:.3g})"

    def to_dict(self) -> dict[str, Any]:
        """Return the mode as numbers and lists for JSON. A complex number becomes [real, imaginary], an infinite end None."""
        tree = asdict(self)
        tree["pole"] = [self.pole.real, self.pole.imag]
        tree["shape"] = [[value.real, value.imag] for value in self.shape]
        for name in ("frequency_interval", "damping_interval", "time_constant_interval"):
            tree[name] = [end if math.isfinite(end) else None for end in tree[name]]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in tree.items()}


def merge_coinciding(modes: Modes) -> Modes:
    """Merge modes with equal poles into one mode, whose residue is the sum of their residues.

    Two poles count as equal in one of two cases:
    - their distance is a small part of |Re μ|, the half-width of the resonance;
    - their distance is a small part of their standard deviations, and their residues do not cancel.
    Modes with equal poles but different shapes stay separate. A symmetric structure has two such modes at one frequency.
    """
    spread = _spread(modes)
    keep: list[int] = []  # the first mode of each group
    residues: list[np.ndarray] = []
    share: list[float] = []
    for n in range(len(modes.poles)):
        into = next((k for k, m in enumerate(keep) if _same(modes, spread, m, n)), None)
        if into is not None:
            both = residues[into] + modes.residues[..., n]
            sizes = np.linalg.svd(both, compute_uv=False)
            if len(sizes) < 2 or sizes[1] < OTHER_SHAPE * sizes[0]:
                alone = np.linalg.norm(modes.residues[..., keep[into]])
                share[into] = modes.contributions[keep[into]] * np.linalg.norm(both) / max(alone, 1e-300)
                residues[into] = both
                continue
        keep.append(n)
        residues.append(modes.residues[..., n])
        share.append(modes.contributions[n])
    if len(keep) == len(modes.poles):
        return modes
    order = np.argsort(-np.array(share))
    kept = np.array(keep)[order]
    return replace(
        modes, poles=modes.poles[kept], residues=np.stack(residues, axis=-1)[..., order],
        contributions=np.array(share)[order], covariance=modes.covariance[kept],
    )  # fmt: skip


def _spread(modes: Modes) -> np.ndarray:
    """Return the standard deviation of each pole in the complex plane, (modes,); 0 if the covariance is unknown."""
    if len(modes.covariance) != len(modes.poles):
        return np.zeros(len(modes.poles))
    return np.sqrt(np.maximum(np.trace(modes.covariance, axis1=1, axis2=2), 0.0))


def _same(modes: Modes, spread: np.ndarray, m: int, n: int) -> bool:
    """Return whether the poles of modes m and n count as equal. `spread` is the standard deviation of each pole, (modes,)."""
    apart = abs(modes.poles[n] - modes.poles[m])
    if apart < SAME * abs(modes.poles[m].real):
        return True
    sizes = [np.linalg.norm(modes.residues[..., k]) for k in (m, n)]
    together = np.linalg.norm(modes.residues[..., m] + modes.residues[..., n])
    return bool(apart < INDISTINCT * min(spread[m], spread[n]) and together > CANCELLING * max(sizes))


def mode_list(modes: Modes, least: float = 0.0, stable: bool = True) -> list[Mode]:
    """Return the modes of a fit with a contribution of at least `least`, strongest first. Modes with equal poles are merged.

    If `least` is above zero, a weak mode is also left out if the standard deviation of its pole exceeds |μ|.

    stable: whether the fit only has poles that decay. The intervals of the damping ratios then contain no negative values.

    >>> fit = Modes(np.array([-0.2 + 3j]), np.full((1, 1, 1), -0.3j), np.zeros((1, 1)), np.ones(1), 0.0, "linear",
    ...             covariance=np.full((1, 2, 2), 1e-6))
    >>> [mode] = mode_list(fit)
    >>> round(mode.frequency, 4), round(mode.damping_ratio, 4)
    (0.4775, 0.0665)
    """
    modes = merge_coinciding(modes)
    told, wide, shapes = describe_poles(modes.poles), deviations(modes.poles, modes.covariance), modes.shapes
    unsure = _spread(modes) > np.abs(modes.poles)

    def interval(name: str, n: int, least: float, most: float) -> Interval:
        middle, half = float(told[name][n]), NORMAL_95 * float(wide[name][n])
        return max(middle - half, min(least, middle)), min(middle + half, max(most, middle))

    def times(n: int) -> Interval:
        """Return the interval of the time constant that follows from the interval of the decay rate."""
        rate, half = -float(modes.poles[n].real), NORMAL_95 * float(wide["decay_rate"][n])
        if abs(rate) > half:
            return 1 / (rate + half), 1 / (rate - half)
        return (1 / (rate + half) if rate + half else math.inf, math.inf) if rate >= 0 else (-math.inf, 1 / (rate - half))

    return [
        Mode(
            complex(pole),
            float(told["frequency"][n]),
            float(told["damping_ratio"][n]),
            float(told["time_constant"][n]),
            float(modes.contributions[n]),
            tuple(complex(value) for value in shapes[:, n]),
            interval("frequency", n, 0.0, math.inf),
            interval("damping_ratio", n, 0.0 if stable else -1.0, 1.0),
            times(n),
        )
        for n, pole in enumerate(modes.poles)
        if modes.contributions[n] >= least and not (least > 0 and modes.contributions[n] < WEAK and unsure[n])
    ]
