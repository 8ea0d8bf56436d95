"""Poles as physical quantities: frequency, damping ratio and time constant of a mode."""

from __future__ import annotations

import math

import numpy as np


def describe_poles(poles: np.ndarray) -> dict[str, np.ndarray]:
    """Return four properties of poles μ (in 1/s), each as an array in the shape of `poles`.

    | key                 | formula        | meaning                                                                  |
    |---------------------|----------------|--------------------------------------------------------------------------|
    | `frequency`         | abs(Im μ) / 2π | frequency of the damped oscillation in Hz; 0 for a pure decay            |
    | `natural_frequency` | abs(μ) / 2π    | frequency without damping in Hz                                          |
    | `damping_ratio`     | −Re μ / abs(μ) | 1 for a pure decay, 0 without damping, < 0 for growth                    |
    | `time_constant`     | −1 / Re μ      | time to fall to 1/e in s; infinite without damping, < 0 for growth       |

    >>> {name: float(value[0].round(4)) for name, value in describe_poles(np.array([-0.1 + 2.0j])).items()}
    {'frequency': 0.3183, 'natural_frequency': 0.3187, 'damping_ratio': 0.0499, 'time_constant': 10.0}
    """
    poles = np.asarray(poles, dtype=np.complex128)
    magnitude, decay = np.abs(poles), -poles.real
    infinite = np.full(poles.shape, math.inf)
    return {
        "frequency": np.abs(poles.imag) / (2 * math.pi),
        "natural_frequency": magnitude / (2 * math.pi),
        "damping_ratio": np.divide(decay, magnitude, out=np.zeros(poles.shape), where=magnitude > 0),
        "time_constant": np.divide(1.0, decay, out=infinite, where=decay != 0),
    }
