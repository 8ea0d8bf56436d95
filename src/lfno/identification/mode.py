"""A mode as an engineer reads it: frequency, damping and time constant, each with its 95 % interval."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lfno.identification.identify import Modes
from lfno.identification.uncertainty import NORMAL_95, deviations
from lfno.spectral.physics import describe_poles

Interval = tuple[float, float]


@dataclass(frozen=True)
class Mode:
    """One mode of a linear system, or of a nonlinear one in small motion.

    pole: μ = Re + i Im in 1/s, with Im μ ≥ 0.
    frequency: |Im μ|/2π in Hz; 0 for a pure decay.
    damping_ratio: −Re μ/|μ|; 1 for a pure decay.
    time_constant: −1/Re μ in s, the time in which the motion falls to 1/e.
    contribution: rms of the mode's own response over the rms of the whole response.
    shape: relative motion of the output channels, the largest being 1.
    …_interval: 95 % intervals.
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

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers that JSON can hold; complex ones as [real, imaginary]."""
        tree = asdict(self)
        tree["pole"] = [self.pole.real, self.pole.imag]
        tree["shape"] = [[value.real, value.imag] for value in self.shape]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in tree.items()}


def mode_list(modes: Modes, least: float = 0.0) -> list[Mode]:
    """The modes of a fit whose contribution is at least `least`, strongest first.

    >>> fit = Modes(np.array([-0.2 + 3j]), np.full((1, 1, 1), -0.3j), np.zeros((1, 1)), np.ones(1), 0.0, "linear",
    ...             covariance=np.full((1, 2, 2), 1e-6))
    >>> [mode] = mode_list(fit)
    >>> round(mode.frequency, 4), round(mode.damping_ratio, 4)
    (0.4775, 0.0665)
    """
    told, wide, shapes = describe_poles(modes.poles), deviations(modes.poles, modes.covariance), modes.shapes

    def interval(name: str, n: int) -> Interval:
        middle, half = float(told[name][n]), NORMAL_95 * float(wide[name][n])
        return middle - half, middle + half

    return [
        Mode(
            complex(pole),
            float(told["frequency"][n]),
            float(told["damping_ratio"][n]),
            float(told["time_constant"][n]),
            float(modes.contributions[n]),
            tuple(complex(value) for value in shapes[:, n]),
            interval("frequency", n),
            interval("damping_ratio", n),
            interval("time_constant", n),
        )
        for n, pole in enumerate(modes.poles)
        if modes.contributions[n] >= least
    ]
