"""Burgers' equation u_t + u u_x = ν u_xx on a periodic line, solved exactly by the transform of Cole and Hopf.

Let ψ be a primitive of the initial state, ψ′(x) = u(x, 0). The solution is

    u(x, t) = ∫ (x − s)/t e^{−G/2ν} ds / ∫ e^{−G/2ν} ds,   G(s) = (x − s)²/2t + ψ(s).

The solution is a weighted mean of (x − s)/t, the slope of the straight line from (s, 0) to (x, t). The weight is e^{−G/2ν}. For
a small viscosity ν, G/2ν is several thousand, and the weight underflows. All weights are therefore divided by the largest one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr, logsumexp

from lfno.core.errors import LfnoError

# number of Gauss points in a panel; a panel is an interval of integration
_NODES = 10
_GAUSS = np.polynomial.legendre.leggauss(_NODES)
# largest width of a panel, in standard deviations of the sharpest peak of the weight e^{−G/2ν}; the error of the quadrature is
# then 4e-12
_PANEL = 3.0
# panels whose weight is less than e^-55 times the largest weight are left out
_MARGIN = 55.0
# number of samples that are solved together; more samples would not fit into the processor's cache
_BLOCK = 16


def ramp_solution(
    slope: np.ndarray, points: np.ndarray, times: np.ndarray, viscosity: float, origin: float, length: float
) -> np.ndarray:
    """Return the exact solution for u(x, 0) = U x on [origin, origin + length), repeated periodically: (batch, points, times).

    slope: U of each sample, (batch,). U must be positive.
    points: x.
    times: t ≥ 0 in increasing order.

    Let r = x − m · length. On copy m of the period, ψ(s) = U (s − m · length)²/2 + C_m, C_m = m U length (origin + length/2).
    The weight e^{−G/2ν} is then a Gaussian in s with the mean m · length + r/(1 + U t) and the variance σ² = 2νt/(1 + U t).
    Relative to this mean and in units of σ, copy m begins at α_m = (origin − r/(1 + U t))/σ and ends at β_m = α_m + length/σ.
    With the normal distribution function Φ, the integral of the weight over copy m is w_m times a common factor, and

        u = Σ_m w_m U r/(1 + U t) / Σ_m w_m,   w_m = e^{−U r²/(4ν(1 + U t)) − C_m/2ν} [Φ(β_m) − Φ(α_m)].

    At the mean, the factor (x − s)/t of the numerator is U r/(1 + U t). The deviation from this value is a multiple of ∂G/∂s.
    Its integral with the weight over copy m is therefore a multiple of the difference of e^{−G/2ν} at the two ends. These
    differences sum to zero over all copies, because G is continuous.

    The jump at the end of the period becomes a shock. If the domain is symmetric about x = 0, the shock does not move.
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
    """Return log(Φ(β) − Φ(α)) for α < β. If α > 0, we use −β and −α instead, because Φ is accurate on the left side."""
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
    """Return the solution for any smooth initial state by quadrature: (batch, points, times).

    initial: a function of places s that returns (batch, len(s)). It may jump at the end of the period.
    points: x, evenly spaced over one period that begins at points[0].
    times: t ≥ 0.
    length: the length of the period.

    The integrals are sums over panels with Gauss points. At each time, the panels are as narrow as the sharpest peak of the
    weight requires. Panels with a negligible weight are left out.
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
    """Return Gauss points and weights of a panel [0, width]."""
    return (_GAUSS[0] + 1) * width / 2, _GAUSS[1] * width / 2


def _potential(initial: Callable[[np.ndarray], np.ndarray], start: float, width: float, panels: int) -> np.ndarray:
    """Return ψ at the Gauss points and at the right edge of every panel of one period, (batch, panels, Gauss points + 1)."""
    nodes, weights = _gauss(width)
    slopes = initial((start + width * np.arange(panels)[:, None] + nodes).ravel()).reshape(-1, panels, _NODES)
    # integral of the interpolating polynomial from the left edge to each Gauss point, by Legendre series
    series = np.linalg.inv(np.polynomial.legendre.legvander(2 * nodes / width - 1, _NODES - 1))
    integrals = np.polynomial.legendre.legint(series, lbnd=-1, axis=0) * width / 2
    inside = slopes @ np.polynomial.legendre.legval(2 * nodes / width - 1, integrals)
    edges = np.cumsum(slopes @ weights, axis=1)
    inside[:, 1:] += edges[:, :-1, None]
    return np.concatenate([inside, edges[..., None]], axis=-1)


def _weighted_slope(
    potential: np.ndarray, per_point: int, window: np.ndarray, width: float, t: float, viscosity: float
) -> np.ndarray:
    """Return u at one time, (batch, points).

    potential: ψ from `_potential`.
    per_point: the number of panels between two points.
    window: the panels to sum over, relative to the panel of each point.
    """
    batch, panels, _ = potential.shape
    nodes, weights = _gauss(width)
    index = per_point * np.arange(panels // per_point)[:, None] + window
    offset = (index // panels)[None] * potential[:, -1, -1][:, None, None]  # ψ grows by ψ(right end) with every period
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
