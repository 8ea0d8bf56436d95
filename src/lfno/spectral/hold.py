"""One pole as a recurrence in time: x′ = μ x + u, solved exactly for an input that is a polynomial between samples.

With z = μ dt and taps b_j,

    x[n+1] = e^z x[n] + Σ_j b_j u[n+1−j],        x[0] = 0.

A hold says how the input runs between the samples n and n+1:

| hold   | input on the interval                          | taps | error for smooth inputs |
|--------|------------------------------------------------|------|-------------------------|
| linear | the line through u[n+1], u[n]                  | 2    | O(dt²)                  |
| cubic  | the cubic through u[n+1], u[n], u[n−1], u[n−2] | 4    | O(dt⁴)                  |

Both holds are causal: x[n] depends on u[0] … u[n] only. Before its first sample the input continues as the line through
its first two samples. The cubic hold is therefore linear on the first interval and reaches O(dt⁴) where u″ = 0 at the start.

Poles have any shape. Coefficients are computed in double precision: in single precision the closed formula
b_0 = dt (e^z − 1 − z)/z² loses four digits at |z| = 0.01.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

#: hold → the samples that define the polynomial, as places on an interval that runs from 0 to 1
HOLDS: dict[str, tuple[int, ...]] = {"linear": (1, 0), "cubic": (1, 0, -1, -2)}



def _weights(nodes: tuple[int, ...]) -> list[list[float]]:
    """Row j: p! times the coefficients of the polynomial Σ_p c_p s^p that is one at node j and zero at the others."""
    lagrange = np.linalg.inv(np.vander(nodes, increasing=True)).T
    weights = lagrange * [math.factorial(p) for p in range(len(nodes))]
    return np.where(np.abs(weights) < 1e-12, 0.0, weights).tolist()


#: hold → W with b_j = dt Σ_p W_jp φ_{p+1}(z), because ∫₀¹ e^{z(1−s)} s^p ds = p! φ_{p+1}(z)
WEIGHTS = {hold: _weights(nodes) for hold, nodes in HOLDS.items()}

#: |z| below which φ functions are summed as series, and the number of terms that reach double precision there
SERIES_RADIUS = 1.0
SERIES_TERMS = 20


def phi_functions(z: Tensor, count: int) -> Tensor:
    """φ_k(z) = ∫₀¹ e^{z(1−s)} s^{k−1}/(k−1)! ds for k = 1 … count, in double precision: (…) → complex128 (count, …)."""
    return _Phi.apply(z.to(torch.complex128), count)[:count]


class _Phi(torch.autograd.Function):
    """φ_1 … φ_{count+1}. The last one is needed for the gradient, dφ_k/dz = φ_k − k φ_{k+1}."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, count: int) -> Tensor:
        small = z.abs() < SERIES_RADIUS
        safe = torch.where(small, torch.ones_like(z), z)
        # upwards, φ_{k+1} = (φ_k − 1/k!)/z, which is stable for large z
        large = [torch.expm1(safe) / safe]
        for k in range(1, count + 1):
            large.append((large[-1] - 1 / math.factorial(k)) / safe)
        # downwards, φ_k = z φ_{k+1} + 1/k!, from the series of the last one, which is stable for small z
        series = torch.zeros_like(z)
        for j in reversed(range(SERIES_TERMS)):
            series = series * z + 1 / math.factorial(j + count + 1)
        near = [series]
        for k in range(count, 0, -1):
            near.append(near[-1] * z + 1 / math.factorial(k))
        return torch.where(small, torch.stack(near[::-1]), torch.stack(large))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, int], output: Tensor) -> None:
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx: Any, g: Tensor) -> tuple[Tensor, None]:
        (phi,) = ctx.saved_tensors
        k = torch.arange(1, phi.shape[0], device=phi.device).reshape(-1, *(1,) * (phi.ndim - 1))
        return (g[:-1] * (phi[:-1] - k * phi[1:]).conj()).sum(0), None


def taps(poles: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """b_j with x[n+1] = e^z x[n] + Σ_j b_j u[n+1−j]: poles (…) → complex128 (taps, …).

    >>> z = torch.tensor(-2.0 + 3.0j, dtype=torch.complex128)
    >>> b0, b1 = taps(z, dt=1.0)
    >>> torch.allclose(b0, (z.exp() - 1 - z) / z**2), torch.allclose(b1, (z.exp() * (z - 1) + 1) / z**2)
    (True, True)
    """
    phi = phi_functions(poles.to(torch.complex128) * dt, len(HOLDS[hold])).unbind()
    # Python numbers instead of a matrix, because a CUDA graph cannot copy a matrix to the device
    rows = [[dt * weight * part for weight, part in zip(row, phi, strict=True) if weight] for row in WEIGHTS[hold]]
    return torch.stack([reduce(torch.add, row) for row in rows])


def powers(poles: Tensor, dt: float, counts: Tensor) -> Tensor:
    """e^{jz} for integers j: (…), (size,) → complex128 (…, size). Every entry has full precision."""
    return torch.exp(poles.to(torch.complex128)[..., None] * (dt * counts.to(torch.float64)))


def impulse_response(poles: Tensor, dt: float, hold: str, size: int) -> Tensor:
    """h with x[n] = Σ_k h[k] u[n−k] for an input without a start: (…) → complex128 (…, size).

    h[0] = b_0 and h[k+1] = e^z h[k] + b_{k+1}. After the last tap, h is an exponential.
    """
    given, step = taps(poles, dt, hold), torch.exp(poles.to(torch.complex128) * dt)
    response = [given[0]]
    for tap in given[1:size]:
        response.append(step * response[-1] + tap)
    tail = torch.arange(1, max(1, size - len(response) + 1), device=poles.device)
    return torch.cat((torch.stack(response, -1), response[-1][..., None] * powers(poles, dt, tail)), -1)[..., :size]


def discrete_resolvent(poles: Tensor, frequencies: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """The steady response of a recurrence to e^{iωt}, divided by e^{iωt}: (…), (L,) → complex128 (…, L).

    Σ_j b_j e^{−ijω dt} / (1 − e^{z − iω dt}), which tends to 1/(iω − μ) for a small dt. Frequencies may differ from pole to
    pole, (…, L).
    """
    turn = 1j * dt * frequencies.to(torch.float64)
    given = taps(poles, dt, hold)
    numerator = sum(tap[..., None] * torch.exp(-j * turn) for j, tap in enumerate(given))
    return numerator / -torch.expm1((poles.to(torch.complex128) * dt)[..., None] - turn)
