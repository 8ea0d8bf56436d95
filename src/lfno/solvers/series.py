"""Exact solutions of the heat equation and the beam equation for one special load each, for checks of the solvers."""

from __future__ import annotations

import numpy as np


def heat_series(
    x: np.ndarray, t: np.ndarray, length: float, wavenumber: float, decay: float, diffusivity: float = 1.0
) -> np.ndarray:
    """Return the solution of y_t = D y_xx + e^{−γt} sin kx with y = 0 at both ends and at t = 0, (x, t).

    wavenumber: k.
    decay: γ.
    diffusivity: D.

    y is e^{−γt} Y(x) minus a sine series. Y = (sin kx − sin kL sin βx / sin βL)/(Dk² − γ) with β² = γ/D solves
    D Y″ + γ Y = −sin kx. e^{−γt} Y satisfies the equation and the boundary conditions, but not y = 0 at t = 0. The sine series
    of Y, in which each mode decays at its own rate, corrects this. For t > 0, its terms decay exponentially with n. The terms
    of the sine series of y itself decay only like n⁻³ if sin kL ≠ 0.
    """
    beta = np.sqrt(decay / diffusivity)
    shape = np.sin(wavenumber * x) - np.sin(wavenumber * length) * np.sin(beta * x) / np.sin(beta * length)
    shape /= diffusivity * wavenumber**2 - decay
    answer = shape[:, None] * np.exp(-decay * t)
    n = np.arange(1, 2001)
    mode = n * np.pi / length
    load = 2 / length * mode * (-1.0) ** n * np.sin(wavenumber * length) / (wavenumber**2 - mode**2)
    coefficient = load / (diffusivity * mode**2 - decay)
    answer -= (coefficient * np.sin(np.outer(x, mode))) @ np.exp(-diffusivity * np.outer(mode**2, t))
    answer[:, t == 0] = 0.0  # the series converges slowly at t = 0, but the solution is zero there
    return answer


def beam_series(
    x: np.ndarray,
    t: np.ndarray,
    length: float,
    ends: str,
    stiffness: float,
    mass: float,
    frequency: float,
    terms: int = 400,
) -> np.ndarray:
    """Return the solution of EI y⁗ + μ ÿ = e^{−x} sin Ωt from rest, (x, t).

    ends: "supported" or "clamped".
    stiffness: EI.
    mass: μ, the mass per length.
    frequency: Ω.
    terms: the number of modes φ_n, with frequencies ω_n.

    The coordinate of mode n is p_n (Ω sin ω_n t − ω_n sin Ωt) / (μ ω_n (Ω² − ω_n²)) with p_n = ∫ e^{−x} φ_n dx. The terms with
    sin Ωt sum to Y(x) sin Ωt, where EI Y⁗ − μΩ² Y = e^{−x} has an exact solution. The other terms decay like n⁻⁷.
    """
    waves, shapes = beam_shapes(x, length, ends, terms)
    nodes, quadrature = np.polynomial.legendre.leggauss(3 * terms)
    _, at_nodes = beam_shapes((nodes + 1) * length / 2, length, ends, terms)
    weights = quadrature * length / 2 * np.exp(-(nodes + 1) * length / 2) @ at_nodes
    natural = np.sqrt(stiffness / mass) * waves**2
    free = weights * frequency / (mass * natural * (frequency**2 - natural**2))
    return np.outer(_forced(x, length, ends, stiffness, mass, frequency), np.sin(frequency * t)) + shapes @ (
        free[:, None] * np.sin(np.outer(natural, t))
    )


def _forced(x: np.ndarray, length: float, ends: str, stiffness: float, mass: float, frequency: float) -> np.ndarray:
    """Return Y with EI Y⁗ − μΩ² Y = e^{−x} and the boundary conditions: a multiple of e^{−x} plus four waves."""
    beta = (mass * frequency**2 / stiffness) ** 0.25
    particular = 1 / (stiffness - mass * frequency**2)

    def waves(x: np.ndarray, order: int) -> np.ndarray:
        angle = order * np.pi / 2
        growing, falling = np.exp(beta * (x - length)), (-1.0) ** order * np.exp(-beta * x)
        trigonometric = np.cos(beta * x + angle), np.sin(beta * x + angle)
        return beta**order * np.stack([*trigonometric, growing, falling], axis=-1)

    where = np.array([0.0, length])
    second = 2 if ends == "supported" else 1
    system = np.concatenate([waves(where, 0), waves(where, second)])
    values = particular * np.concatenate([np.exp(-where), (-1.0) ** second * np.exp(-where)])
    return particular * np.exp(-x) - waves(x, 0) @ np.linalg.solve(system, values)


def beam_shapes(
    x: np.ndarray, length: float, ends: str, terms: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the wavenumbers β_n, (terms,), and the mode shapes φ_n, (x, terms), of a beam: φ⁗ = β⁴ φ with ∫ φ² dx = 1.

    Supported ends: φ = sin βx with βL = nπ. Clamped ends: φ = −cos βx + σ sin βx + a e^{β(x−L)} + b e^{−βx} with
    cos βL cosh βL = 1. We use exponentials in place of cosh and sinh, which would overflow.
    """
    order = np.arange(1, terms + 1)
    if ends == "supported":
        wave = order * np.pi / length
        return wave, np.sqrt(2 / length) * np.sin(np.outer(x, wave))
    root = (order + 0.5) * np.pi
    for _ in range(5):  # Newton's method for cos z − 1/cosh z = 0; the initial values have errors of at most 0.02
        decay = 2 * np.exp(-root) / (1 + np.exp(-2 * root))
        root = root - (np.cos(root) - decay) / (-np.sin(root) + decay * np.tanh(root))
    wave, small = root / length, np.exp(-root)
    growing = (np.cos(root) - np.sin(root) - small) / (1 - small**2 - 2 * small * np.sin(root))
    sigma = 1 - 2 * small * growing
    angle = np.outer(x, wave)
    shapes = -np.cos(angle) + sigma * np.sin(angle) + growing * np.exp(angle - root) + (1 + sigma) / 2 * np.exp(-angle)
    return wave, shapes / np.sqrt(length)
