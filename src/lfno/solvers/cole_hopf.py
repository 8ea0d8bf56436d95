"""Burgers' equation u_t + u u_x = ν u_xx on a periodic line, solved exactly by the transform of Cole and Hopf.

With ψ' = u(·, 0) the solution is a weighted mean of the slopes of straight lines that reach (x, t),

    u(x, t) = ∫ (x − s)/t e^{−G/2ν} ds / ∫ e^{−G/2ν} ds,   G(s) = (x − s)²/2t + ψ(s).

G/2ν runs into the thousands at small viscosity, so every weight is taken relative to the largest one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr, logsumexp

from lfno.core.errors import LfnoError

_NODES = 10  # Gauss points per panel
_GAUSS = np.polynomial.legendre.leggauss(_NODES)
_PANEL = 3.0  # width of a panel in standard deviations of the sharpest peak: with 10 points an error of 4e-12
_MARGIN = 55.0  # panels whose weight is below e^-55 of the largest are left out
_BLOCK = 16  # samples at a time, so that the work stays in the cache


def ramp_solution(
    slope: np.ndarray, points: np.ndarray, times: np.ndarray, viscosity: float, origin: float, length: float
) -> np.ndarray:
    """Closed form for `u0 = U x` on [origin, origin + length), repeated periodically: `(batch, points, times)`.

    On the m-th copy G is a parabola, so both integrals are Gaussians between two limits, and because ψ is continuous
    the terms at the limits cancel between neighbours: with `r = x − m length`,

        u = Σ_m w_m U r/(1 + U t) / Σ_m w_m,   w_m = e^{−U r²/(4ν(1 + U t)) − C_m/2ν} [Φ(β_m) − Φ(α_m)].

    It needs U > 0. At t = 0 the answer is `U x`. Later the jump is a shock; on a domain symmetric about 0 it stays at the
    end of the domain, where u is then 0 by symmetry.
    """
    slope = np.asarray(slope, dtype=np.float64)
    if not (slope > 0).all():
        raise LfnoError(f"the closed form for u0 = U x needs U > 0, found U = {slope.min():g}")
    reach = times[-1] * slope.max() * max(abs(origin), abs(origin + length)) / length
    copies = np.arange(-2 - int(reach), 3 + int(reach))
    answer = np.empty((len(slope), len(points), len(times)))
    rate = slope[:, None, None]
    r = (points[:, None] - length * copies)[None]
    for n, t in enumerate(times):
        if t == 0:
            answer[..., n] = slope[:, None] * points
            continue
        spread = 1 + rate * t
        deviation = np.sqrt(2 * viscosity * t / spread)
        alpha, beta = (origin - r / spread) / deviation, (origin + length - r / spread) / deviation
        constant = copies * rate * length * (origin + length / 2)
        log_weight = -(rate * r**2 / (2 * spread) + constant) / (2 * viscosity) + _log_interval(alpha, beta)
        log_weight -= logsumexp(log_weight, axis=-1, keepdims=True)
        answer[..., n] = (np.exp(log_weight) * rate * r / spread).sum(axis=-1)
    return answer


def _log_interval(alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """log(Φ(β) − Φ(α)) for α < β without cancellation: both limits are reflected to the left tail if they are right."""
    right = alpha > 0
    low, high = np.where(right, -beta, alpha), np.where(right, -alpha, beta)
    top = log_ndtr(high)
    return top + np.log1p(-np.exp(log_ndtr(low) - top))


def periodic_solution(
    initial: Callable[[np.ndarray], np.ndarray],
    points: np.ndarray,
    times: np.ndarray,
    viscosity: float,
    length: float,
) -> np.ndarray:
    """Quadrature for any initial state that is smooth on [points[0], points[0] + length): `(batch, points, times)`.

    `points` divide the period evenly; `initial(s)` answers `(batch, len(s))`. The state may jump where the period closes. Gauss
    panels are as narrow as the sharpest peak of the weight at each time asks for; only panels that count are summed.
    """
    probe = np.linspace(points[0], points[0] + length, 16 * len(points) + 1)[:-1] + 1e-9 * length
    values = initial(probe)
    low, high = float(values.min()), float(values.max())
    steepest = max(0.0, float(np.diff(values, axis=1).max()) / (probe[1] - probe[0]))
    answer = np.empty((len(values), len(points), len(times)))
    potentials: dict[int, np.ndarray] = {}
    for n, t in enumerate(times):
        if t == 0:
            answer[..., n] = initial(points)
            continue
        sharpest = np.sqrt(2 * viscosity / (1 / t + steepest))
        per_point = int(np.ceil(length / len(points) / (_PANEL * sharpest)))
        width = length / len(points) / per_point
        if per_point not in potentials:
            potentials[per_point] = _potential(initial, points[0], width, per_point * len(points))
        reach = 10 * np.sqrt(2 * viscosity * t)
        first, last = int(np.floor((-t * high - reach) / width)), int(np.ceil((reach - t * low) / width))
        for begin in range(0, len(values), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            answer[block, :, n] = _weighted_slope(
                potentials[per_point][block], per_point, np.arange(first, last), width, t, viscosity
            )
    return answer


def _gauss(width: float) -> tuple[np.ndarray, np.ndarray]:
    return (_GAUSS[0] + 1) * width / 2, _GAUSS[1] * width / 2


def _potential(initial: Callable[[np.ndarray], np.ndarray], start: float, width: float, panels: int) -> np.ndarray:
    """ψ at the Gauss nodes of every panel of one period, and in the last column its increase over a panel: summed up.

    Shape `(batch, panels, nodes + 1)`; the last column is ψ at the right edge of the panel.
    """
    nodes, weights = _gauss(width)
    slopes = initial((start + width * np.arange(panels)[:, None] + nodes).ravel()).reshape(-1, panels, _NODES)
    # ∫ from the left edge to node i of the interpolating polynomial, from its Legendre series
    series = np.linalg.inv(np.polynomial.legendre.legvander(2 * nodes / width - 1, _NODES - 1))
    integrals = np.polynomial.legendre.legint(series, lbnd=-1, axis=0) * width / 2
    inside = slopes @ np.polynomial.legendre.legval(2 * nodes / width - 1, integrals)
    edges = np.cumsum(slopes @ weights, axis=1)
    inside[:, 1:] += edges[:, :-1, None]
    return np.concatenate([inside, edges[..., None]], axis=-1)


def _weighted_slope(
    potential: np.ndarray, per_point: int, window: np.ndarray, width: float, t: float, viscosity: float
) -> np.ndarray:
    """u at one time from the panels `window` about each point; (batch, points)."""
    batch, panels, _ = potential.shape
    nodes, weights = _gauss(width)
    index = per_point * np.arange(panels // per_point)[:, None] + window
    offset = (index // panels)[None] * potential[:, -1, -1][:, None, None]  # ψ gains this much with every period
    index %= panels
    displacement = window[:, None] * width + nodes  # s − x, the same for every x
    fit = displacement**2 / (2 * t)
    middle = _NODES // 2
    coarse = potential[:, :, middle][:, index]
    coarse += offset + fit[:, middle]
    least = coarse.min(axis=-1, keepdims=True)
    b, j, k = np.nonzero(coarse < least + _MARGIN * 2 * viscosity)
    excess = potential.reshape(batch * panels, -1)[b * panels + index[j, k], :_NODES]
    excess += (offset[b, j, k] - least[b, j, 0])[:, None]
    excess += fit[k]
    excess *= -1 / (2 * viscosity)
    mass = np.exp(excess, out=excess) @ np.stack([weights, weights * nodes], axis=1)
    place = b * len(index) + j
    total = np.bincount(place, mass[:, 0], minlength=batch * len(index))
    moment = np.bincount(place, window[k] * width * mass[:, 0] + mass[:, 1], minlength=batch * len(index))
    return (-moment / (t * total)).reshape(batch, -1)
