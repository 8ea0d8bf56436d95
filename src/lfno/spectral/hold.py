"""One pole as a recurrence in time: x′ = μ x + u, solved exactly for an input that is a polynomial between samples.

μ is the pole, x its state and u the input. With the sampling step dt, z = μ dt and coefficients b_j (taps),

    x[n+1] = e^z x[n] + Σ_j b_j u[n+1−j],        x[0] = 0.

A hold is an interpolation of the input between the samples n and n+1:

| hold   | input on the interval                          | taps | error for smooth inputs |
|--------|------------------------------------------------|------|-------------------------|
| linear | the line through u[n+1], u[n]                  | 2    | O(dt²)                  |
| cubic  | the cubic through u[n+1], u[n], u[n−1], u[n−2] | 4    | O(dt⁴)                  |

Both holds are causal: x[n] depends on u[0] … u[n] only. The cubic hold needs two samples before u[0]. We take them from the
line through u[0] and u[1]. The interpolation on the first interval is therefore a line, and the error is O(dt⁴) only if u″ = 0
at the start.

Poles have any shape. Coefficients are computed in double precision, because single precision loses digits: the closed formula
b_0 = dt (e^z − 1 − z)/z² loses four digits at |z| = 0.01.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

#: hold → positions of the samples that define the polynomial; 0 is sample n, and 1 is sample n+1
HOLDS: dict[str, tuple[int, ...]] = {"linear": (1, 0), "cubic": (1, 0, -1, -2)}


def _weights(nodes: tuple[int, ...]) -> list[list[float]]:
    """Return the matrix with the rows p! c_p. In row j, Σ_p c_p s^p is one at node j and zero at the other nodes."""
    lagrange = np.linalg.inv(np.vander(nodes, increasing=True)).T
    weights = lagrange * [math.factorial(p) for p in range(len(nodes))]
    return np.where(np.abs(weights) < 1e-12, 0.0, weights).tolist()


#: hold → matrix W with b_j = dt Σ_p W_jp φ_{p+1}(z), because ∫₀¹ e^{z(1−s)} s^p ds = p! φ_{p+1}(z)
WEIGHTS = {hold: _weights(nodes) for hold, nodes in HOLDS.items()}

#: below this |z|, the φ functions are computed by their power series
SERIES_RADIUS = 1.0
#: number of terms of the series; enough for double precision if |z| < SERIES_RADIUS
SERIES_TERMS = 20


def phi_functions(z: Tensor, count: int) -> Tensor:
    """Return φ_k(z) = ∫₀¹ e^{z(1−s)} s^{k−1}/(k−1)! ds for k = 1 … count, complex128 (count, …) for z (…)."""
    return _Phi.apply(z.to(torch.complex128), count)[:count]


class _Phi(torch.autograd.Function):
    """Return φ_1 … φ_{count+1}. The gradient dφ_k/dz = φ_k − k φ_{k+1} needs one function more than the result."""

    generate_vmap_rule = True

    @staticmethod
    def forward(z: Tensor, count: int) -> Tensor:
        small = z.abs() < SERIES_RADIUS
        safe = torch.where(small, torch.ones_like(z), z)
        # large z: φ_{k+1} = (φ_k − 1/k!)/z from k = 1 upwards
        large = [torch.expm1(safe) / safe]
        for k in range(1, count + 1):
            large.append((large[-1] - 1 / math.factorial(k)) / safe)
        # small z: the series of φ_{count+1}, then φ_k = z φ_{k+1} + 1/k! downwards
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
    """Return the coefficients b_j of x[n+1] = e^z x[n] + Σ_j b_j u[n+1−j], complex128 (taps, …) for poles (…).

    >>> z = torch.tensor(-2.0 + 3.0j, dtype=torch.complex128)
    >>> b0, b1 = taps(z, dt=1.0)
    >>> torch.allclose(b0, (z.exp() - 1 - z) / z**2), torch.allclose(b1, (z.exp() * (z - 1) + 1) / z**2)
    (True, True)
    """
    phi = phi_functions(poles.to(torch.complex128) * dt, len(HOLDS[hold])).unbind()
    # WEIGHTS are Python numbers, because a CUDA graph cannot copy a matrix to the device
    rows = [[dt * weight * part for weight, part in zip(row, phi, strict=True) if weight] for row in WEIGHTS[hold]]
    return torch.stack([reduce(torch.add, row) for row in rows])


def powers(poles: Tensor, dt: float, counts: Tensor) -> Tensor:
    """Return e^{jz}, complex128 (…, size), for poles (…) and integers j in `counts` (size,). Every entry has full precision."""
    return torch.exp(poles.to(torch.complex128)[..., None] * (dt * counts.to(torch.float64)))


def impulse_response(poles: Tensor, dt: float, hold: str, size: int) -> Tensor:
    """Return the impulse response h of the recurrence, complex128 (…, size) for poles (…).

    x[n] = Σ_{k≥0} h[k] u[n−k] for an input u that has no first sample. h[0] = b_0 and h[k+1] = e^z h[k] + b_{k+1}. After the
    last b_j, h decays as e^{kz}.
    """
    given, step = taps(poles, dt, hold), torch.exp(poles.to(torch.complex128) * dt)
    response = [given[0]]
    for tap in given[1:size]:
        response.append(step * response[-1] + tap)
    tail = torch.arange(1, max(1, size - len(response) + 1), device=poles.device)
    return torch.cat((torch.stack(response, -1), response[-1][..., None] * powers(poles, dt, tail)), -1)[..., :size]


def discrete_resolvent(poles: Tensor, frequencies: Tensor, dt: float, hold: str = "linear") -> Tensor:
    """Return the transfer function Σ_j b_j e^{−ijω dt} / (1 − e^{z − iω dt}) of the recurrence, complex128 (…, L).

    The steady response to the input e^{iωt} is this function times e^{iωt}. For a small dt it tends to 1/(iω − μ).

    poles: μ, (…).
    frequencies: ω, (L,) for all poles, or (…, L) with other values for each pole.
    """
    turn = 1j * dt * frequencies.to(torch.float64)
    given = taps(poles, dt, hold)
    numerator = sum(tap[..., None] * torch.exp(-j * turn) for j, tap in enumerate(given))
    return numerator / -torch.expm1((poles.to(torch.complex128) * dt)[..., None] - turn)
