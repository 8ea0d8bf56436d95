"""The time step of a model with feedback as a program, in sub-steps of a Runge–Kutta method.

See `lfno.identification.feedback.law` for the equations and the symbols. All terms that are linear in the input become one
matrix. This matrix acts on the samples that the interpolation of the input uses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lfno.identification.feedback.dead_time import lags
from lfno.identification.feedback.hold import HOLDS, hold_matrix, shifted
from lfno.identification.feedback.law import Law, Substep, forced
from lfno.identification.feedback.model import FeedbackModel
from lfno.identification.feedback.terms import Terms
from lfno.surrogate.deploy.program import Builder


class Group(NamedTuple):
    """A register that holds some of the basis functions φ(z), and the indices of these functions among all functions."""

    register: int
    places: slice


def feedback_step(build: Builder, model: FeedbackModel, dt: float) -> int:
    """Add a model with feedback to the program and return the register of its output."""
    law, count = model.law, model.substeps(dt)
    centred = _delayed(build, model, build.scale(0, model.input_offset, np.ones(model.channels[0])), dt)
    depth = max(1 - min(HOLDS[model.hold]), 1)
    seen = build.past(_effective(build, law, centred), depth)
    place = build.reserve(law.states)
    ones = np.ones(law.states)
    x = build.scale(build.load(place, law.states), -law.start, ones)  # the stored state is relative to the initial state
    rule = Substep.of(law, dt / count)
    for j in range(count):
        full, half = (_driven(model, dt, j, span, depth) for span in (rule.span, rule.span / 2))
        x = _substep(build, law, rule, x, seen, full, half)
    x = build.scale(build.update(build.scale(x, law.start, ones), place), -law.start, ones)
    y = build.affine(x, law.read, law.offset)
    if law.sensor is not None:
        y = build.plus(y, _mixed(build, feedback_terms(build, law, build.affine(x, law.pick)), law.sensor.T))
    return build.plus(y, build.affine(centred, law.direct)) if np.any(law.direct) else y


def _delayed(build: Builder, model: FeedbackModel, centred: int, dt: float) -> int:
    """Return the register of the delayed inputs. They are zero before the first sample of the inputs has passed the dead time.

    centred: the register of u − input_offset.
    """
    if not np.any(model.delays):
        return centred
    inputs, (whole, part) = model.channels[0], lags(model.delays / dt)
    depth = int(whole.max()) + 1
    lag = np.concatenate([whole, whole + 1])
    place = build.reserve(1)
    ones = np.ones(1)
    count = build.clip(build.scale(build.load(place, 1), -ones, ones), 0 * ones, depth * ones)
    # the index of the present sample, at most `depth`: the first sample leaves the state at zero
    count = build.update(count, place)
    known = build.clip(build.affine(count, np.ones((2 * inputs, 1)), 1.0 - lag), np.zeros(2 * inputs), np.ones(2 * inputs))
    chosen = np.eye((1 + depth) * inputs)[lag * inputs + np.tile(np.arange(inputs), 2)]
    samples = build.times(known, build.affine(build.past(centred, depth), chosen))
    return build.affine(samples, np.concatenate([np.diag(1 - part), np.diag(part)], axis=1))


def _effective(build: Builder, law: Law, inputs: int) -> int:
    """Return the register of the effective inputs v = H (u, φ(E u)). `inputs`: the register of u."""
    if law.actuator is None:
        return inputs
    count = law.drive.shape[1]
    bent = _mixed(build, feedback_terms(build, law, build.affine(inputs, law.pick)), law.actuator[:, count:].T)
    return build.plus(build.affine(inputs, law.actuator[:, :count]), bent)


def _driven(model: FeedbackModel, dt: float, j: int, span: float, depth: int) -> np.ndarray:
    """Return the matrix (states, (1 + depth) · inputs) that maps samples, newest first, to a part of the new state.

    This part is the response to the input over the first `span` seconds of sub-step j.
    """
    places, inputs = HOLDS[model.hold], model.channels[0]
    unit = np.eye((1 + depth) * inputs).reshape(-1, 1 + depth, inputs)
    read = np.stack([unit[:, 1 - place] for place in places], -1)  # (samples, inputs, places)
    pieces = shifted(read @ hold_matrix(dt, model.hold).T, dt * j / model.substeps(dt))
    return forced(model.law, span, pieces).T


def _substep(
    build: Builder, law: Law, rule: Substep, x: int, seen: int, full: np.ndarray, half: np.ndarray
) -> int:
    """Add one sub-step, and return the register of the states after the sub-step.

    x: the register of the states before the sub-step.
    seen: the register of the present sample and earlier samples.
    full, half: matrices from `_driven`, for the response to the input at the end and in the middle of the sub-step.
    """
    after = build.plus(build.affine(x, rule.full), build.affine(seen, full))
    if not law.gains.any():
        return after
    m, pick = len(law.pick), law.pick
    middle = build.plus(build.affine(x, rule.inner[:, m : 2 * m].T), build.affine(seen, pick @ half))
    last = build.plus(build.affine(x, rule.inner[:, 2 * m : 3 * m].T), build.affine(seen, pick @ full))
    z = build.affine(x, rule.inner[:, :m].T)
    q, stages = law.terms.count, []
    for base, matrix in ((middle, rule.first), (middle, rule.second), (last, rule.third)):
        stages.append(feedback_terms(build, law, z))
        z = build.plus(base, _mixed(build, stages[-1], matrix))
    stages.append(feedback_terms(build, law, z))
    for k, groups in enumerate(stages):
        after = build.plus(after, _mixed(build, groups, rule.close[k * q : (k + 1) * q]))
    return after


def _mixed(build: Builder, groups: list[Group], matrix: np.ndarray) -> int:
    """Return the register of φ · matrix (q, k), where φ is split into groups."""
    parts = [build.affine(group.register, matrix[group.places].T) for group in groups]
    total = parts[0]
    for part in parts[1:]:
        total = build.plus(total, part)
    return total


def feedback_terms(build: Builder, law: Law, z: int) -> list[Group]:
    """Add φ(z) to the program, and return the registers of its parts.

    Beyond the limits of z, φ of one signal continues as a straight line, and φ of several signals stays constant.

    z: the register of the signals.
    """
    inside, beyond = z, None
    if np.isfinite(law.limits).any():
        inside = build.clip(z, law.limits[:, 0], law.limits[:, 1])
        beyond = build.minus(z, inside) if law.terms.signals == 1 else None
    terms, groups, place = law.terms, [], 0
    sizes = len(terms.powers), len(terms.sines), len(terms.moduli), terms.units, len(terms.knees)
    for size, add in zip(sizes, (_powers, _sines, _moduli, _units, _knees), strict=True):
        if size:
            groups.append(Group(add(build, terms, law.shape, inside, beyond), slice(place, place + size)))
        place += size
    return groups


def _powers(build: Builder, terms: Terms, shape: np.ndarray, z: int, beyond: int | None) -> int:
    """Return the register of the monomials z₁^α₁ z₂^α₂ …, as products of factors.

    Factor k of a monomial is one of the signals, or 1 if the monomial has fewer factors.

    z: the register of the signals, limited to the range in which φ is evaluated.
    beyond: the register of the distance of the signals from this range; None if φ stays constant beyond the range.
    """
    lists = [[i for i, e in enumerate(row) for _ in range(e)] for row in terms.powers]
    matrices = []
    for k in range(max(map(len, lists))):
        matrix = np.zeros((len(lists), terms.signals))
        for n, factors in enumerate(lists):
            if k < len(factors):
                matrix[n, factors[k]] = 1.0
        matrices.append(matrix)
    factors = [build.affine(z, matrix, 1.0 - matrix.sum(1)) for matrix in matrices]
    value = _product(build, factors)
    for k, matrix in enumerate(matrices if beyond is not None else []):
        assert beyond is not None
        slope = [*factors[:k], build.affine(beyond, matrix), *factors[k + 1 :]]
        value = build.plus(value, _product(build, slope))
    return value


def _product(build: Builder, factors: list[int]) -> int:
    """Return the register of the product of several registers, entry by entry."""
    total = factors[0]
    for factor in factors[1:]:
        total = build.times(total, factor)
    return total


def _sines(build: Builder, terms: Terms, shape: np.ndarray, z: int, beyond: int | None) -> int:
    """Return the register of sin z − z."""
    pick = np.eye(terms.signals)[list(terms.sines)]
    own = build.affine(z, pick)
    value = build.minus(build.apply("sin", own), own)
    if beyond is None:
        return value
    slope = build.scale(build.apply("cos", own), np.ones(len(pick)), np.ones(len(pick)))
    return build.plus(value, build.times(slope, build.affine(beyond, pick)))


def _moduli(build: Builder, terms: Terms, shape: np.ndarray, z: int, beyond: int | None) -> int:
    """Return the register of abs(zᵢ) zⱼ."""
    first, second = (np.eye(terms.signals)[[pair[k] for pair in terms.moduli]] for k in (0, 1))
    a, b = build.affine(z, first), build.affine(z, second)
    size = build.apply("abs", a)
    value = build.times(size, b)
    if beyond is None:
        return value
    turned = build.times(build.times(build.apply("sign", a), b), build.affine(beyond, first))
    return build.plus(build.plus(value, turned), build.times(size, build.affine(beyond, second)))


def _units(build: Builder, terms: Terms, shape: np.ndarray, z: int, beyond: int | None) -> int:
    """Return the register of tanh(v z₁ + d) − tanh(d)."""
    steep, shift = np.split(shape[: 2 * terms.units], 2)
    matrix = np.zeros((terms.units, terms.signals))
    matrix[:, 0] = steep
    bent, ones = build.apply("tanh", build.affine(z, matrix, shift)), np.ones(terms.units)
    value = build.scale(bent, np.tanh(shift), ones)
    if beyond is None:
        return value
    slope = build.scale(build.times(bent, bent), ones, -ones)
    return build.plus(value, build.times(slope, build.affine(beyond, matrix)))


def _knees(build: Builder, terms: Terms, shape: np.ndarray, z: int, beyond: int | None) -> int:
    """Return the register of (ln cosh(v z + d) − ln cosh d) / v, with ln cosh x = x + softplus(−2x) − ln 2."""
    steep, shift = np.split(shape[2 * terms.units :], 2)
    matrix = steep[:, None] * np.eye(terms.signals)[list(terms.knees)]
    bent, ones = build.affine(z, matrix, shift), np.ones(len(steep))
    over = build.apply("softplus", build.scale(bent, 0 * ones, -2 * ones))
    value = build.scale(build.plus(bent, over), shift + np.logaddexp(-2 * shift, 0.0), 1 / steep)
    if beyond is None:
        return value
    return build.plus(value, build.times(build.apply("tanh", bent), build.affine(beyond, matrix / steep[:, None])))
