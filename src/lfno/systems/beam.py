"""The Euler–Bernoulli beam: undamped bending waves between two supports."""

from __future__ import annotations

from typing import ClassVar, cast

import numpy as np

from lfno.core.grid import Grid
from lfno.solvers.modes import Ends
from lfno.solvers.series import beam_shapes
from lfno.systems.base import Channel, Parameter
from lfno.systems.families import Curve
from lfno.systems.interval import DISCRETISATION, IntervalSystem, interval_families, interval_grid
from lfno.systems.signals import Signal

#: f = −99 A e^(−x) sin 10t, A evenly spaced in [0.05, 10]
DECAYING_LOAD = Curve("A", lambda A, x, t: -99 * A * np.exp(-x) * np.sin(10 * t), 0.05, 10.0)
# number of modes of the reference solution
_TERMS = 600
# number of modes of the reference solution whose oscillation is resolved in time
_RESOLVED = 120
# number of panels of ten Gauss points between two outputs of the reference solution
_PANELS = 20


class Beam(IntervalSystem):
    """EI y⁗ + ρA ÿ = f(x, t) from rest, y = 0 at both ends. EI is the bending stiffness, ρA the mass per length.

    The equation needs two conditions at each end: `ends="supported"` adds y″ = 0 (hinges), `ends="clamped"` adds y′ = 0. For
    the paper's load, the norm of the difference of the two responses is 33 % of the norm of the response of the supported beam.
    The system is linear, and the paper's loads are multiples of one function. All samples of the paper's family are therefore
    multiples of one field. With the paper's parameters, the first mode of a supported beam has 0.6 rad/s, and the load has
    10 rad/s.

    >>> Beam(ends="clamped").solve(lambda x, t: 10 * np.exp(-x) * np.sin(3 * t)).shape
    (1, 1, 50, 50)
    """

    title = "Euler–Bernoulli beam"
    equation = "EI ∂⁴y/∂x⁴ + ρA ∂²y/∂t² = f(x, t)"
    conditions = "y = ∂²y/∂x² = 0 (supported) or y = ∂y/∂x = 0 (clamped) at both ends, y = ∂y/∂t = 0 at t = 0"
    parameters = (
        Parameter("EI", 1.334, "bending stiffness", "N m²", above=0),
        Parameter("rho", 7850.0, "density", "kg/m³", above=0),
        Parameter("area", 0.01, "cross-section (not the amplitude A of the load)", "m²", above=0),
        Parameter("ends", "supported", "what holds the ends", choices=("supported", "clamped")),
        DISCRETISATION,
    )
    inputs = (Channel("f", "N/m"),)
    outputs = (Channel("y", "m"),)
    grid = interval_grid(0.03, 0.02)
    solver = "polynomial Galerkin modes, exponential quadrature in time"
    accuracy = 1e-9
    resolution = 224
    sets: ClassVar = {"beam": {}}
    accuracies: ClassVar = {"beam-out": 1e-7}  # noise is a cubic spline, whose third derivative jumps
    families: ClassVar = interval_families(grid, DECAYING_LOAD, (50.0, 800.0), (2.0, 40.0))
    EI: float
    rho: float
    area: float

    @property
    def damped(self) -> bool:
        return False

    def boundary(self) -> Ends:
        return cast(Ends, self.values["ends"])

    def integrate(self, signal: Signal, grid: Grid) -> np.ndarray:
        modes = self.modes(grid)
        mass = self.rho * self.area
        frequencies = np.sqrt(self.EI / mass * modes.eigenvalues)
        # a mode q with q″ + ω² q = load: z = q′ + iω q satisfies z′ = iω z + load, and Im z / ω is the deflection
        z = self.linear_response(signal, grid, modes, 1j * frequencies)
        return ((modes.sample / (mass * frequencies)) @ z.imag)[:, None]

    def linearised_poles(self, operating: float = 0.0) -> np.ndarray:
        frequencies = np.sqrt(self.EI / (self.rho * self.area) * self.modes(self.grid).eigenvalues)
        return np.sort_complex(self.field_poles(1j * frequencies, operating))

    def reference(self, signal: Signal, grid: Grid) -> np.ndarray:
        """Solve with analytic mode shapes, and Duhamel's integral ∫ sin ω(t − s) p(s) ds for each mode by Gauss quadrature.

        p is the load of a mode with the frequency ω. The modes after the first `_RESOLVED` modes are much faster than the load.
        They follow it quasi-statically: ω² q = p(t) − p(0) cos ωt, with an error of order 1/ω.
        """
        x, t = grid.axes
        mass, length = self.rho * self.area, (x.size - 1) * x.step
        if self.discretisation == "semi":
            modes = self.modes(grid)
            nodes, project, shapes = modes.nodes, modes.project, modes.sample
            frequencies = np.sqrt(self.EI / mass * modes.eigenvalues)
        else:
            nodes, weights = np.polynomial.legendre.leggauss(3 * _TERMS)
            nodes = (nodes + 1) * length / 2
            waves, at_nodes = beam_shapes(nodes, length, self.boundary(), _TERMS)
            project = (at_nodes * (weights * length / 2)[:, None]).T
            _, shapes = beam_shapes(x.points - x.origin, length, self.boundary(), _TERMS)
            frequencies = np.sqrt(self.EI / mass) * waves**2
        places, weights = np.polynomial.legendre.leggauss(10)
        panel = t.step / _PANELS
        moments = (panel * (np.arange((t.size - 1) * _PANELS)[:, None] + (places + 1) / 2)).ravel()
        low, high = frequencies[:_RESOLVED], frequencies[_RESOLVED:, None]
        turning = np.exp(-1j * np.outer(low, moments)) * np.tile(weights, len(moments) // 10) * panel / 2
        elapsed = t.points - t.origin

        def solve(one: Signal) -> np.ndarray:
            load = project[:_RESOLVED] @ one((nodes + x.origin)[:, None], (moments + t.origin)[None])[0]
            gained = (load * turning).reshape(len(low), t.size - 1, -1).sum(axis=-1)
            sums = np.concatenate([np.zeros((len(low), 1)), np.cumsum(gained, axis=1)], axis=1)
            followed = project[_RESOLVED:] @ one((nodes + x.origin)[:, None], t.points[None])[0]
            q = np.concatenate(
                [
                    (np.exp(1j * np.outer(low, elapsed)) * sums).imag / low[:, None],
                    (followed - followed[:, :1] * np.cos(high * elapsed)) / high**2,
                ]
            )
            return shapes @ q / mass

        return np.stack([solve(signal[i : i + 1]) for i in range(signal.count)])[:, None]
