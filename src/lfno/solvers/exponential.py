"""Exponential collocation in time for q′ = λ q + p(t) + N(q): the linear part is exact, p + N is a polynomial in each step.

q are modal coordinates, λ their eigenvalues, p a load and N a nonlinear function.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from lfno.core.errors import LfnoError

# number of terms of the Taylor series of φ functions
_TAYLOR_TERMS = 40
# largest number of fixed-point iterations in a step
_MOST_ITERATIONS = 30
# largest number of times that a step is halved
_MOST_HALVINGS = 12
# largest number of times that a step is halved if `give_up` is True
_FEW_HALVINGS = 3


def phi(order: int, z: np.ndarray) -> np.ndarray:
    """Return φ_k(z) = ∫₀¹ e^{(1−θ)z} θ^{k−1}/(k−1)! dθ of order k, in the shape of z. φ_0 is e^z.

    The result is accurate for all z with Re z ≤ 0. For large z we use the recurrence φ_{k+1} = (φ_k − 1/k!)/z. Near zero the
    recurrence loses digits, and we use the Taylor series.
    """
    z = np.asarray(z)
    far = np.abs(z) > 3.0 + order
    safe = np.where(far, z, 1.0)
    recurrence = np.exp(safe)
    for k in range(order):
        recurrence = (recurrence - 1 / math.factorial(k)) / safe
    close = np.where(far, 0.0, z)
    term = np.full_like(close, 1 / math.factorial(order))
    series = term.copy()
    for n in range(1, _TAYLOR_TERMS):
        term = term * close / (order + n)
        series = series + term
    return np.where(far, recurrence, series)


def gauss_nodes(stages: int) -> np.ndarray:
    """Return the Gauss–Legendre nodes on (0, 1), (stages,). They lie inside a step, so that p may jump at its end."""
    return (np.polynomial.legendre.leggauss(stages)[0] + 1) / 2


def collocation_weights(eigenvalues: np.ndarray, step: float, stages: int) -> np.ndarray:
    """Return ∫₀^{c_i h} e^{λ(c_i h − τ)} ℓ_j(τ/h) dτ, (stages + 1, stages, modes), for the step h.

    c_i are the Gauss nodes, followed by 1 (the end of the step). ℓ_j is the Lagrange polynomial of node j. λ are the
    eigenvalues.
    """
    nodes = gauss_nodes(stages)
    ends = np.append(nodes, 1.0)
    monomials = np.linalg.inv(np.vander(nodes, increasing=True))  # [k, j]: coefficient of θ^k in ℓ_j
    weights = np.zeros((stages + 1, stages, len(eigenvalues)), dtype=np.asarray(eigenvalues).dtype)
    for i, c in enumerate(ends):
        for k in range(stages):
            moment = step * c ** (k + 1) * math.factorial(k) * phi(k + 1, c * step * eigenvalues)
            weights[i] += monomials[k][:, None] * moment
    return weights


def exponential_collocation(
    eigenvalues: np.ndarray,
    load: Callable[[np.ndarray], np.ndarray],
    reaction: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    times: np.ndarray,
    *,
    stages: int = 5,
    substeps: int = 1,
    tolerance: float = 1e-12,
    give_up: bool = False,
    name: str = "the system",
) -> np.ndarray:
    """Solve q′ = λ q + p(t) + N(q) for a batch of samples. Return q at `times`, (times, batch, modes).

    eigenvalues: λ, (modes,).
    load: a function of (stages,) times that returns p, (stages, batch, modes).
    reaction: the function N of q (stages, batch, modes), in the same shape.
    start: q at the first time, (batch, modes).
    stages: the number of Gauss nodes c_i in a step.
    substeps: the number of steps between two times.
    tolerance: the tolerance of the fixed-point iteration, relative to the largest q.
    give_up: whether a sample whose solution blows up becomes NaN at all times. If False, LfnoError is raised. If True, a step
        is halved at most _FEW_HALVINGS times and without a warning.
    name: the name of the system in messages.

    The values at the nodes solve q_i = e^{λ c_i h} q + Σ_j a_ij(λh) (p_j + N(q_j)) for the step h. We solve these equations by
    fixed-point iteration. The iteration converges if h |∂N/∂q| is small, also for stiff λ. If the iteration does not converge,
    the step is halved, and a warning says so at the end. The method interpolates p + N and not q. Unlike ETDRK4, it therefore
    keeps its order if p + N does not vanish at the boundary.

    >>> still = np.zeros((5, 1, 1))
    >>> q = exponential_collocation(
    ...     np.array([-1.0]), lambda t: still, lambda q: 0 * q, np.ones((1, 1)), np.array([0.0, 1.0])
    ... )
    >>> float(q[1, 0, 0].round(12))  # e^-1
    0.367879441171
    """
    nodes = gauss_nodes(stages)
    tables: dict[float, tuple[np.ndarray, np.ndarray]] = {}

    def table(step: float) -> tuple[np.ndarray, np.ndarray]:
        key = float(f"{step:.12e}")  # steps that differ only by rounding errors share a table
        if key not in tables:
            with np.errstate(over="ignore", invalid="ignore"):  # large positive eigenvalues; the step then fails
                decay = np.exp(np.append(nodes, 1.0)[:, None] * key * eigenvalues)
                tables[key] = decay[:, None, :], collocation_weights(eigenvalues, key, stages)
        return tables[key]

    q = np.array(start, dtype=np.result_type(start, eigenvalues))
    lost = np.zeros(len(q), dtype=bool)

    def advance(q: np.ndarray, t: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after a step, and which samples did not converge."""
        decay, weights = table(step)
        known = load(t + nodes * step)
        with np.errstate(over="ignore", invalid="ignore"):
            linear = decay * q
        linear[:, lost] = 0.0
        stage = linear[:-1]
        for _ in range(_MOST_ITERATIONS):
            with np.errstate(over="ignore", invalid="ignore"):  # overflow is detected below; the step is then halved
                new = linear + np.einsum("ijm,jbm->ibm", weights, known + reaction(stage))
            new[:, lost] = 0.0
            change = np.abs(new[:-1] - stage).max(axis=(0, 2))
            if not np.isfinite(change).all():
                return new[-1], ~np.isfinite(change)
            stage = new[:-1]
            failed = change > tolerance * (1e-3 + float(np.max(np.abs(stage))))
            if not failed.any():
                break
        return new[-1], failed

    answer = np.empty((len(times), *q.shape), dtype=q.dtype)
    answer[0] = q
    pieces = substeps
    for n, (begin, end) in enumerate(pairwise(times)):
        done = 0
        while done < pieces:
            step = (end - begin) / pieces
            new, failed = advance(q, begin + done * step, step)
            if not failed.any():
                q, done = new, done + 1
                continue
            pieces, done = 2 * pieces, 2 * done
            if give_up and pieces > substeps * 2**_FEW_HALVINGS:
                lost |= failed
                q[lost] = 0.0
                pieces, done = pieces // 2, done // 2
            elif pieces > substeps * 2**_MOST_HALVINGS:
                raise LfnoError(
                    f"{name}: the solution blows up at t = {begin + done * step / 2:.6g}, where even the smallest time step "
                    "fails; use a smaller input, a shorter time or other parameters"
                )
        answer[n + 1] = q
        pieces = substeps if give_up else pieces
    answer[:, lost] = np.nan
    if pieces > substeps:
        warnings.warn(
            f"{name}: a time step of {(times[1] - times[0]) / substeps:.3g} is too long; it was refined {pieces // substeps} "
            "times",
            stacklevel=3,
        )
    return answer


def modal_response(
    eigenvalues: np.ndarray,
    load: Callable[[np.ndarray], np.ndarray],
    times: np.ndarray,
    *,
    stages: int = 6,
    substeps: int = 2,
) -> np.ndarray:
    """Solve q′ = λ q + p(t) from rest for a batch of samples. Return q at `times`, (batch, modes, times).

    eigenvalues: λ, (modes,).
    load: a function of times t that returns p, (batch, modes, len(t)).
    times: equally spaced times.
    stages: the number of Gauss nodes in a step.
    substeps: the number of steps between two times.

    λ may be complex. An oscillator q″ + ω² q = p, for example, becomes z′ = iω z + p with z = q′ + iω q.
    """
    steps = (len(times) - 1) * substeps
    step = (times[-1] - times[0]) / max(steps, 1)
    moments = times[0] + step * (np.arange(steps)[:, None] + gauss_nodes(stages))
    weights = collocation_weights(eigenvalues, step, stages)[-1]
    loads = load(moments.ravel())
    gained = np.einsum("sm,bmns->nbm", weights, loads.reshape(*loads.shape[:2], steps, stages))
    state = np.zeros((len(loads), len(eigenvalues)), dtype=gained.dtype)
    answer = np.zeros((*state.shape, len(times)), dtype=gained.dtype)
    decay = np.exp(eigenvalues * step)
    for n in range(steps):
        state = decay * state + gained[n]
        if (n + 1) % substeps == 0:
            answer[..., (n + 1) // substeps] = state
    return answer
