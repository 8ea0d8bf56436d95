"""ETDRK4: fourth-order exponential time differencing for w′ = λ w + N(w) with a diagonal matrix λ (Cox and Matthews, 2002)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from lfno.solvers.exponential import phi


class ETDRK4:
    """A time step of length `dt`. Call it with w and the function N; it returns w one step later.

    linear: the diagonal of λ, in a shape that broadcasts to w.

    The linear part is exact. N is evaluated four times, as in the classical Runge–Kutta method. The coefficients are φ
    functions (`lfno.solvers.exponential.phi`). They are accurate near λ dt = 0, where the formulas of textbooks lose digits.

    >>> step = ETDRK4(torch.tensor([-1.0], dtype=torch.float64), 0.1)
    >>> float(step(torch.ones(1, dtype=torch.float64), lambda w: 0 * w)[0])  # e^-0.1
    0.9048374180359595
    """

    def __init__(self, linear: torch.Tensor, dt: float) -> None:
        z = dt * linear.detach().cpu().numpy()

        def like(values: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(linear.device)

        one, two, three = (phi(k, z) for k in (1, 2, 3))
        self.half, self.full = like(np.exp(z / 2)), like(np.exp(z))
        self.stage = like(dt / 2 * phi(1, z / 2))
        self.first = like(dt * (one - 3 * two + 4 * three))
        self.middle = like(dt * (2 * two - 4 * three))
        self.last = like(dt * (4 * three - two))

    def __call__(self, w: torch.Tensor, nonlinear: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
        now = nonlinear(w)
        relaxed = self.half * w
        a = torch.addcmul(relaxed, self.stage, now)
        at_a = nonlinear(a)
        at_b = nonlinear(torch.addcmul(relaxed, self.stage, at_a))
        at_c = nonlinear(torch.addcmul(self.half * a, self.stage, at_b.mul(2).sub_(now)))
        new = self.full * w
        new.addcmul_(self.first, now).addcmul_(self.middle, at_a.add_(at_b)).addcmul_(self.last, at_c)
        return new
