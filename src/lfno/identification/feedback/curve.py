"""The static characteristic: the constant input that holds the system at z. An example is the restoring force of a spring.

The model is x′ = A x + B u + Γ φ(z) with one signal z = E x (see `law`). At rest x = −A⁻¹ (B u + Γ φ(z)). With G = −E A⁻¹ B and
H(z) = −E A⁻¹ Γ φ(z) this gives z = G u + H(z), so

    u(z) = (z − H(z)) / G.

The characteristic of a curved sensor is the first output y as a function of a constant input u. The characteristic of a curved
actuator is the effective input v as a function of the input u (see `actuator_curve`).

If z is a velocity, every constant input leads to z = 0. Then the characteristic is the input u(z) that cancels the feedback:
B u(z) ≈ −Γ φ(z), by least squares.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lfno.core.errors import LfnoError
from lfno.identification.feedback.law import Law, split
from lfno.identification.feedback.structure import Structure
from lfno.identification.uncertainty import NORMAL_95

#: cosine of the angle between E and a row of C above which z follows that output
ALIGNED = 0.9
#: cosine of the angle between E and A⁻¹B below which z counts as zero under a constant input
STATIC = 0.02
#: the ends of a curve have almost the same value if they differ by less than this part of the range of the values
FLAT = 0.1
#: relative change of a parameter for a derivative by central differences
NUDGE = 1e-5


def aligned_output(law: Law) -> int | None:
    """Return the index of the output that z follows; None if z is another combination of states."""
    rows = law.read / np.linalg.norm(law.read, axis=1, keepdims=True)
    cosines = np.abs(rows @ law.pick[0]) / np.linalg.norm(law.pick[0])
    best = int(cosines.argmax())
    return best if cosines[best] > ALIGNED else None


def restoring_curve(
    law: Law, structure: Structure, covariance: np.ndarray, visited: np.ndarray, count: int
) -> tuple[np.ndarray, ...]:
    """Return four arrays (count,): z, the input u(z), and the lower and upper end of the 95 % interval of u(z).

    For a curved sensor, the arrays are the input u, the first output y(u), and the interval of y(u).

    If z follows an output, z has the unit of this output and is measured from equilibrium. Otherwise z has its own unit.
    Raises LfnoError for a linear model and for feedback of several signals.

    covariance: covariance of the parameters.
    visited: (signals, 2), the range of z in the training data. The curve covers this range.
    count: number of points.
    """
    if not law.terms.count:
        raise LfnoError("a linear model has no nonlinear characteristic")
    if len(law.pick) != 1:
        raise LfnoError(f"a characteristic needs feedback of one signal; this model has {len(law.pick)}")
    output = aligned_output(law)
    channel, static = _channel(law)
    unit = _unit(law, output, channel, static) if law.sensor is None else float(law.pick[0] @ _still(law, channel))
    low, high = sorted(float(end) for end in visited[0] / unit)
    place = np.linspace(low, high, count)

    def curve(vector: np.ndarray) -> np.ndarray:
        own = structure.unpack(vector, law)
        if own.sensor is not None:
            return _measured(own, place, channel)
        return _force(own, place * _unit(own, output, channel, static), channel, static)

    return place, *_with_interval(curve, structure.pack(law), covariance)


def _with_interval(
    curve: Callable[[np.ndarray], np.ndarray], vector: np.ndarray, covariance: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a function of the parameters, (points,), and the ends of its 95 % interval, to first order in the parameters."""
    size = np.sqrt(np.maximum(np.diag(covariance), 0))
    slopes = []
    for n in range(len(vector)):
        step = max(NUDGE * abs(vector[n]), 1e-3 * size[n], 1e-12)
        change = step * np.eye(len(vector))[n]
        slopes.append((curve(vector + change) - curve(vector - change)) / (2 * step))
    matrix = np.array(slopes)
    half = NORMAL_95 * np.sqrt(np.maximum(np.einsum("nc,nm,mc->c", matrix, covariance, matrix), 0.0))
    middle = curve(vector)
    return middle, middle - half, middle + half


def curved_channels(law: Law) -> list[int]:
    """Return the indices of the inputs with a curved actuator."""
    return [] if law.actuator is None else sorted(set(law.terms.signal_of.tolist()))


def actuator_curve(
    law: Law, structure: Structure, covariance: np.ndarray, visited: np.ndarray, count: int, channel: int
) -> tuple[np.ndarray, ...]:
    """Return four arrays (count,): the input u of a curved actuator, v(u), and the ends of the 95 % interval of v(u).

    The outputs determine v up to a factor and a constant. Here v = u at both ends of the range of u in the training data. So v
    has the unit of u, and a linear actuator gives v = u. If both ends have almost the same effect, v = u at the lower end, and
    the range of v is as wide as the range of u.

    channel: the index of the input. The other arguments are those of `restoring_curve`.
    """
    low, high = visited[channel] / law.pick[channel, channel]
    place = np.linspace(low, high, count)

    def curve(vector: np.ndarray) -> np.ndarray:
        bent = structure.unpack(vector, law).effective(place[:, None] * np.eye(law.drive.shape[1])[channel])[:, channel]
        rise = bent[-1] - bent[0]
        rise = rise if abs(rise) > FLAT * np.ptp(bent) else np.ptp(bent)
        return np.asarray(low + (bent - bent[0]) * (high - low) / rise)

    return place, *_with_interval(curve, structure.pack(law), covariance)


def _unit(law: Law, output: int | None, channel: int, static: bool) -> float:
    """Return the value of z for one unit of the output that z follows; 1 if z follows no output.

    static: use the ratio of z to the output at rest under a constant input. Otherwise use the projection of E on the row of C.
    """
    if output is None:
        return 1.0
    along = _still(law, channel) if static else law.read[output]
    return float(law.pick[0] @ along / (law.read[output] @ along))


def _channel(law: Law) -> tuple[int, bool]:
    """Return the index of an input, and whether a constant input moves z at all.

    The index belongs to the input whose constant value moves z most. If no constant input moves z, the index belongs to the
    input whose column of B has the largest scalar product with the first column of Γ.
    """
    inward = split(law.drive.T, law.decays).T
    still = np.linalg.solve(law.matrix, inward)
    gains = np.abs(law.pick[0] @ still)
    cosines = gains / (np.linalg.norm(law.pick[0]) * np.linalg.norm(still, axis=0))
    best = int(gains.argmax())
    if cosines[best] > STATIC:
        return best, True
    return int(np.abs(law.gains[:, 0] @ inward).argmax()), False


def _force(law: Law, z: np.ndarray, channel: int, static: bool) -> np.ndarray:
    """Return the static characteristic u(z), (points,), for z (points,)."""
    inward = split(law.drive.T, law.decays).T[:, channel]
    fed = law.feedback(z[:, None]) @ law.gains.T
    if not static:
        return -(fed @ inward) / (inward @ inward)
    back = -np.linalg.solve(law.matrix.T, law.pick[0])
    return (z - fed @ back) / (back @ inward)


def _still(law: Law, channel: int) -> np.ndarray:
    """Return the state at rest (n,) under a constant unit input of one channel, without feedback: −A⁻¹ B."""
    return -np.linalg.solve(law.matrix, split(law.drive.T, law.decays).T[:, channel])


def _measured(law: Law, force: np.ndarray, channel: int) -> np.ndarray:
    """Return the first output at rest, (points,), of a law with a curved sensor.

    force: constant inputs of one channel, (points,).
    """
    inputs = force[:, None] * np.eye(law.direct.shape[1])[channel]
    return law.outputs(force[:, None] * _still(law, channel), inputs)[:, 0]
