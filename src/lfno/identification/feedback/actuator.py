"""Linear modes with curved actuators and dead times: the search for dead times, curves and modes (a Hammerstein system).

    x′ = A x + B v,   v = H (u, φ(z)),   z = u after the dead times,   y = C x + offset

A curved actuator has a nonlinear characteristic: its output v, the effective input, is a nonlinear function of the input u.
Examples are a valve, a pump with a dead zone, and a heater that saturates. The docstring of `law` has the symbols. The states
follow a linear equation, so a simulation needs no sub-steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from lfno.identification.feedback.branches import Shape, approximated, approximations
from lfno.identification.feedback.candidate import Bench, Candidate, choose, limits
from lfno.identification.feedback.families import Report, told
from lfno.identification.feedback.initial import linear_law
from lfno.identification.feedback.knees import with_knee
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.plant import Curve, Plant
from lfno.identification.feedback.plant_search import Curves, Fit, curved_inputs, curves, grown, timed
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms

#: a law without curves is fitted too if the held-out error with curves is above this part of the held-out error without curves
CLEARLY = 0.8
#: new curves are rejected if the training error with them is above this multiple of the error with old curves or polynomials
WRONG = 1.5
#: number of further modes without success after which the search ends
PATIENCE = 2
#: largest number of modes
MOST_MODES = 6
#: a further mode, or a further knee, helps if the validation error falls below this part of the old error
WORTH = 0.95
#: further knees are added as long as the training error falls below this part of the old error
ANOTHER = 0.95
#: largest number of knees for each input
MOST_KNEES = 6
#: places of a further knee that are compared, as quantiles of the input
PLACES = (0.1, 0.35, 0.65, 0.9)
#: initial steepness v of a further knee, in 1 / standard deviation of the input
STEEP = 3.0
#: number of Gauss–Newton steps for the comparison of places
FEW = 6
#: largest number of Gauss–Newton steps of a fit
MANY = 60
#: relative decrease of the squared error below which a fit stops
PRECISE = 1e-4
#: relative decrease of the squared error below which a longer fit stops
PRECISER = 1e-6
#: an input counts as constant between samples if more than this part of its samples are equal to the previous sample
CONSTANT = 0.5

#: a function that cuts the windows for dead times in samples, (inputs,)
Benches = Callable[[np.ndarray], Bench]


def actuators(plant: Plant, benches: Benches, time: float, report: Report) -> list[Candidate]:
    """Return fitted candidates with dead times and curved actuators, for 1, 2, … modes as long as the error falls.

    plant: the training data.
    benches: cuts the windows for given dead times.
    time: time unit of the windows in seconds.
    """
    values = [plant.values(i) for i in range(plant.inputs)]
    stays = all((np.diff(one) == 0).mean() > CONSTANT for one in values)
    holds = ("zero",) if stays else ("zero", "linear")
    bases = tuple(plant.polynomial(i) for i in range(plant.inputs))
    fit, found = Fit(plant, holds[0], np.zeros(plant.inputs), np.zeros(0, complex), bases), list[Candidate]()
    least, failures = np.inf, 0
    while len(fit.poles) < MOST_MODES and failures < PATIENCE:
        fit = grown(fit, holds)
        own = list(fitted(fit, benches, time, report))
        found += own
        failures += 1
        if found and benches(fit.delays).finished(choose(found)):
            break
        if not own:
            continue
        best = min(own, key=lambda one: one.error)
        if best.error < WORTH * least:
            failures = 0
        else:
            # one more mode does not help, so the curves of the best candidate may be too simple
            simple = min(found, key=lambda one: one.error)
            found += (finer := with_knees(benches(np.array(simple.delays)), simple, report))
            if finer and finer[-1].error < WORTH * simple.error:
                best, failures = finer[-1], 0
        least = min(best.error, least)
        if best.law.actuator is not None:
            # the fitted curves are more accurate than the first curves, whose errors the next mode would imitate
            bent = tuple(Curve(best.law, i) for i in range(plant.inputs))
            fit = replace(fit, poles=best.law.poles / time, delays=np.array(best.delays), bases=bent)
    return found


def fitted(fit: Fit, benches: Benches, time: float, report: Report) -> Iterator[Candidate]:
    """Yield candidates with the modes and the dead times of a linear fit. Nothing is yielded after the deadline.

    If the linear fit uses the curves of a law, the first candidate begins with these curves and the modes of this fit.
    """
    bench = benches(fit.delays)
    if isinstance(fit.bases[0], Curve):
        law = fit.bases[0].law
        wide = linear_modes(fit, time)
        wide = replace(
            wide, terms=law.terms, shape=law.shape, pick=law.pick, actuator=law.actuator, limits=law.limits,
            gains=np.zeros((wide.states, law.terms.count)),
        )  # fmt: skip
        yield (known := told_fit(bench, name(fit), wide, fit.hold, report))
        if bench.finished(known):
            return
    curved, gain = curved_inputs(fit)
    if curved and not isinstance(fit.bases[0], Curve):
        # known curves make the dead times more certain, unless too few modes make the curves wrong
        known_curves = curves(fit, curved).fit
        fit = timed(known_curves) if known_curves.error < WRONG * fit.error else fit
        bench = benches(fit.delays)
    if (fit.delays.any() or curved) and gain > CLEARLY and not bench.late:
        yield told_fit(bench, name(fit), actuator_law(curves(fit, ()), (None,) * fit.plant.inputs, time), fit.hold, report)
    if not curved:
        return
    own = curves(fit, curved)
    if isinstance(fit.bases[0], Curve) and own.fit.error > WRONG * fit.error:
        return
    for shapes in variants(fit.plant, own, curved):
        if not bench.late:
            yield (known := told_fit(bench, name(fit), actuator_law(own, shapes, time), fit.hold, report))
            if bench.finished(known):
                return


def name(fit: Fit) -> str:
    """Return the number of modes and the dead times of a fit in words."""
    count = len(fit.poles)
    late = ", ".join(f"{delay:g}" for delay in fit.delays)
    return f"{count} mode{'s' * (count > 1)}" + (f", dead times of {late} samples" if fit.delays.any() else "")


def variants(plant: Plant, own: Curves, curved: Sequence[int]) -> Iterator[list[Shape | None]]:
    """Yield approximations of the curves, one for each input; None for a linear input.

    The first variant has as few terms as possible. The second one has knees only.
    """
    options: list[list[Shape | None]] = [[None] for _ in range(plant.inputs)]
    for i in curved:
        z, n = own.places[i], own.values[i]
        if len(z) < 4:  # a parabola passes through three points
            terms = Terms(1, powers=((2,),))
            gains = approximated(terms, np.zeros(0), z, n)[0]
            options[i] = [(terms, np.zeros(0), gains[2:], float(gains[1]))]
        else:
            options[i] = list(approximations(z, n))
    first = [shapes[0] for shapes in options]
    yield first
    bent = [next((one for one in shapes if one is not None and one[0].knees), shapes[0]) for shapes in options]
    if any(one is not other for one, other in zip(first, bent, strict=True)):
        yield bent


def linear_modes(fit: Fit, time: float) -> Law:
    """Return the modes of a linear fit as a law without curves. `time`: time unit of the law in seconds."""
    modes = fit.modes()
    return replace(linear_law(modes, len(modes.poles), time), offset=modes.constant)


def actuator_law(own: Curves, shapes: Sequence[Shape | None], time: float) -> Law:
    """Return the modes of a linear fit with the curves `shapes` as a law.

    time: time unit of the law in seconds.
    """
    law, inputs = linear_modes(own.fit, time), len(shapes)
    known = [(i, shape) for i, shape in enumerate(shapes) if shape is not None]
    if not known:
        return law
    powers = tuple(
        tuple(degree if k == i else 0 for k in range(inputs)) for i, one in known for (degree,) in one[0].powers
    )
    terms = Terms(inputs, powers=powers, knees=tuple(i for i, one in known for _ in one[0].knees))
    halves = [np.split(one[1], 2) for _, one in known]
    shape = np.concatenate([half[side] for side in (0, 1) for half in halves])
    matrix = np.concatenate([np.eye(inputs), np.zeros((inputs, terms.count))], axis=1)
    for i, one in known:
        matrix[i, i] = one[3]
        matrix[i, inputs + np.flatnonzero(terms.signal_of == i)] = one[2]
    z = np.stack([np.quantile(place, (0, 1)) for place in own.places], axis=1)
    return replace(
        law, terms=terms, shape=shape, pick=np.eye(inputs), actuator=matrix, gains=np.zeros((law.states, terms.count)),
        limits=limits(z, terms),
    )  # fmt: skip


def with_knees(bench: Bench, parent: Candidate, report: Report) -> list[Candidate]:
    """Return the parent after a longer fit, then candidates with one more knee each, as long as the training error falls.

    The list is empty without knees. With sharp knees the error falls slowly, so a longer fit may be enough.
    """
    if not parent.law.terms.knees:
        return []
    label = parent.label.split(", curved", 1)[0]
    found = [bench.fit(parent.label, parent.law, parent.structure, parent.hold, parent.starts, 1, MANY, PRECISER)]
    told(found[0], report)
    while not bench.finished(found[-1]):
        more = another_knee(bench, label, found[-1])
        if more is None or not more.cost < ANOTHER**2 * found[-1].cost:
            break
        found.append(more)
        told(more, report)
    return found


def told_fit(bench: Bench, label: str, law: Law, hold: str, report: Report) -> Candidate:
    """Fit the law to the training windows, and report the result.

    label: the number of modes and the dead times in words.
    """
    found = fit_law(bench, label, law, hold)
    told(found, report)
    return found


def fit_law(bench: Bench, label: str, law: Law, hold: str) -> Candidate:
    """Fit the law to the training windows."""
    terms = law.terms
    flags = () if law.actuator is None else (0,) * law.drive.shape[1]
    structure = Structure(law.decays, len(law.poles) - law.decays, terms, actuator=flags)
    what = f", curved actuators with {', '.join(terms.names)}" if terms.count else ""
    return bench.fit(label + what, law, structure, hold, iterations=MANY, tolerance=PRECISE)


def another_knee(bench: Bench, label: str, parent: Candidate) -> Candidate | None:
    """Return the parent with one more knee, of the input and at the place that lower the training error most."""
    knees, z = parent.law.terms.knees, bench.train.inputs @ parent.law.pick.T
    among = [i for i in sorted(set(knees)) if knees.count(i) < MOST_KNEES]
    tried = [
        bench.fit(label, law, replace(parent.structure, terms=law.terms), parent.hold, parent.starts, iterations=FEW)
        for laws in with_knee(parent.law, z, STEEP, PLACES, among) for law in laws
    ]  # fmt: skip
    if not tried:
        return None
    best = min(tried, key=lambda candidate: candidate.cost)
    return fit_law(bench, label, best.law, parent.hold)
