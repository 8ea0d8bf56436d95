"""The search for a structure: number of modes, nonlinear signal, terms and hold of the input.

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import Bench, Candidate, choose, extended, standard_error
from lfno.identification.feedback.cascade import cascades
from lfno.identification.feedback.families import HORIZON, Report, families, products, sine, told
from lfno.identification.feedback.friction import friction
from lfno.identification.feedback.initial import LINEAR, linear_law
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.sensor import sensors
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms
from lfno.identification.identify import Modes

#: a further mode or term of a nonlinear model is accepted if the validation error falls below this part of the old one
WORTH = 0.9
#: a further mode of a linear model is accepted if the validation error falls below this part of the old one
WORTH_MODE = 0.95
#: a candidate ends the search if its error is below this part of the error of all simpler candidates
CLEARLY = 0.5
#: another hold must lower the mean squared training error by this many standard errors; fewer can be chance
SURE = 2.0
#: for motions that begin away from equilibrium, modes are added until the linear model has this number of states, because
#: products of states are then tried first
PRODUCTS = 3
#: degrees of the terms of a polynomial, step by step; a polynomial begins with a cubic term
DEGREES = ((3, 2), (3, 5), (3, 2, 4, 5), (3, 5, 7), (3, 2, 4, 5, 6, 7))


def search(
    bench: Bench, path: Iterable[Modes], time: float, free_start: bool, hold: str, report: Report,
    actuated: Callable[[], tuple[list[Candidate], bool]] = lambda: ([], False),
) -> Candidate:  # fmt: skip
    """Return the best candidate.

    The search begins with at most as many modes as the linear model needs. If the residual is then not white noise, one more
    mode is tried.

    bench: the windows for fits and validation, with the deadline of the search.
    path: linear models with 1, 2, … modes.
    time: time unit of the windows in seconds.
    free_start: whether motions begin away from equilibrium, so that the initial state is fitted.
    hold: initial hold of the input.
    report: a function that receives one line of text for every choice.
    actuated: a function that fits candidates with curved actuators and dead times (`actuator.actuators`).
    """
    linear: list[Candidate] = []
    more = iter(path)

    def next_linear() -> Candidate | None:
        modes = next(more, None)
        if modes is None:
            return None
        law = linear_law(modes, len(modes.poles), time)
        structure = Structure(law.decays, len(law.poles) - law.decays, LINEAR, free_start=free_start)
        found = bench.fit(f"linear, {len(law.poles)} mode{'s' * (len(law.poles) > 1)}", law, structure, hold)
        told(found, report)
        return found

    while (found := next_linear()) is not None:
        linear.append(found)
        few = free_start and found.law.states < PRODUCTS
        if free_start and not few:
            break
        if len(linear) > 1 and not few and not found.error < WORTH_MODE * linear[-2].error:
            break
    if len(linear) > 1 and not free_start and not linear[-1].error < WORTH_MODE * linear[-2].error:
        enough = linear[:-1]
    else:
        enough = linear
    bent, enough_bent = ([], False) if free_start or any(bench.finished(one) for one in linear) else actuated()
    if enough_bent:
        return choose([*linear, *bent])
    rubbed = [] if bench.finished(linear[-1]) else friction(bench, linear[0], report)
    if rubbed and explained_by(rubbed[0], linear):
        return rubbed[0]
    curved = curved_sensors(bench, linear, report)
    needed, cubic = (len(linear) - 1, []) if free_start else fewest_modes(bench, enough, report)
    best = choose([*linear, *curved, *cubic])
    if best.structure.sensor and bench.finished(best):
        return choose([best, *bent])
    best = nonlinear(bench, linear[needed], report, cubic, curved)
    if needed + 1 < len(linear) and not bench.finished(best):
        wider = nonlinear(bench, linear[needed + 1], report, rivals=curved)
        best = wider if wider.error < WORTH * best.error else best
    return choose([*linear, best, *rubbed, *bent])  # if the time is over, a linear candidate may be the best one


def curved_sensors(bench: Bench, linear: Sequence[Candidate], report: Report) -> list[Candidate]:
    """Return the candidates of `sensors` for each linear candidate, until the search can stop (`Bench.finished`).

    A linear model imitates a curved sensor by additional modes. So the sensor is tried with each number of modes.
    """
    found: list[Candidate] = []
    for one in linear:
        if bench.finished(one) or (found and bench.finished(min(found, key=lambda candidate: candidate.error))):
            break
        found += sensors(bench, one, report)
    return found


def explained_by(found: Candidate, linear: Sequence[Candidate]) -> bool:
    """Return whether a candidate is clearly better than the linear candidates that have at most as many parameters.

    The training errors are compared. A single validation window may contain few reversals of the motion, so its error is less
    reliable. The validation error must only be smaller than that of the first linear candidate.
    """
    simple = [one.cost for one in linear if one.size <= max(found.size, linear[0].size)]
    return found.cost < CLEARLY**2 * min(simple) and found.error < linear[0].error


def fewest_modes(bench: Bench, linear: Sequence[Candidate], report: Report) -> tuple[int, list[Candidate]]:
    """Return the index of the linear candidate with the fewest useful modes, and its `cubics` if they were fitted.

    A linear model imitates a nonlinearity by additional modes. The nonlinear model does not need these modes. So each candidate
    gets a cubic term. The search stops as soon as one more mode hardly lowers the error.
    """
    best, kept = len(linear) - 1, list[Candidate]()
    if len(linear) == 1 or bench.finished(linear[-1]):
        return best, kept
    for place, one in enumerate(linear):
        found = cubics(bench, one)
        if kept and not found[-1].error < WORTH * kept[-1].error:
            break
        best, kept = place, found
        if bench.finished(found[-1]):
            break
    report(f"modes to begin with: {len(linear[best].law.poles)}")
    return best, kept


def cubics(bench: Bench, linear: Candidate) -> list[Candidate]:
    """Return candidates with a cubic term, and with a cubic and a quadratic term. The best candidate is the last one.

    The quadratic term is fitted only if the residual of the cubic term is not white noise. A cubic spring has a quadratic term
    if its working point is not its point of symmetry.
    """
    found = [lead(bench, linear, signals(linear.law)[0], 3)]
    if not bench.finished(found[0]):
        both = grow(bench, found[0], Terms(1, powers=((3,), (2,))))
        found += [both] if both.error < WORTH * found[0].error else []
    return found


def nonlinear(
    bench: Bench, linear: Candidate, report: Report, known: Sequence[Candidate] = (), rivals: Sequence[Candidate] = ()
) -> Candidate:
    """Return the best nonlinear candidate with the modes of a linear candidate.

    known: the `cubics` of the linear candidate, if they are already fitted.
    rivals: further candidates, which take part in the choice.
    """
    if bench.finished(linear):
        return linear
    if linear.structure.free_start:
        best = choose([linear, *products(bench, linear, report)])
        if best is not linear:
            return best_hold(bench, best, report)
    places, rates = signals(linear.law)
    *simpler, best = known or cubics(bench, linear)
    for one in (*simpler, best):
        told(one, report)
    best = best_hold(bench, best, report)
    tried = [linear, *simpler, best]
    if not bench.finished(best):
        for degree, rows in ((2, places), (3, rates)):
            tried.append(lead(bench, replace(linear, hold=best.hold), rows, degree))
            told(tried[-1], report)
    # A sine has as many parameters as a cubic. So we always try the sine, even if the residual of the cubic is white noise.
    tried += sine(bench, replace(linear, hold=best.hold), report)
    # polynomials of higher degree cost little time, so they come before the other families
    best = polynomial(bench, tried, report)
    simple, tried = best, [*tried, *rivals]
    best = choose(tried)
    if not bench.finished(best):
        tried += cascades(bench, linear, best, report)
        best = choose(tried)
    if best.error < CLEARLY * simple.error:
        return best
    for family in families(linear):
        if not bench.finished(best):
            tried += family(bench, replace(linear, hold=best.hold), report)
            best = choose(tried)
    return best


def polynomial(bench: Bench, tried: list[Candidate], report: Report) -> Candidate:
    """Add terms of other degrees to the cubic term, step by step. Return the best of all candidates.

    The new candidates are appended to `tried`. No more terms are added after two steps with little gain. A sine resembles a
    cubic term, so a sine with the same error does not stop the search.
    """
    grows = [one for one in tried if one.structure.terms.powers[:1] == ((3,),)]
    best, failures = choose(grows or tried), 0
    for degrees in DEGREES if grows else ():
        if failures == 2 or bench.finished(best):
            break
        if not {(degree,) for degree in degrees} > {*best.structure.terms.powers}:
            continue  # a step must keep all present terms
        grown = grow(bench, best, Terms(1, powers=tuple((degree,) for degree in degrees)))
        told(grown, report)
        tried.append(grown)
        grows.append(grown)
        failures = 0 if grown.error < WORTH * best.error else failures + 1
        best = choose(grows)
    return choose(tried)


def signals(law: Law) -> tuple[list[tuple[str, np.ndarray]], list[tuple[str, np.ndarray]]]:
    """Return two lists of signals for the nonlinearity, as pairs of a name and a row of E.

    The first list has every output, and for several modes the part of each mode in the strongest output. The part of one mode
    helps if the nonlinearity acts at a point that no output measures. The second list has the rate of every output.
    """
    names = [f"output {n + 1}" for n in range(len(law.read))]
    places = list(zip(names, law.read, strict=True))
    rates = [(f"rate of {name}", row @ law.matrix) for name, row in places]
    owner = np.concatenate([np.arange(law.decays), np.repeat(np.arange(law.decays, len(law.poles)), 2)])
    if len(law.poles) > 1:
        lead = np.argmax(np.abs(law.read).sum(1))
        places += [(f"mode {m + 1} in output {lead + 1}", law.read[lead] * (owner == m)) for m in range(len(law.poles))]
    return places, rates


def lead(bench: Bench, linear: Candidate, rows: Sequence[tuple[str, np.ndarray]], degree: int) -> Candidate:
    """Return a candidate with one term of the given degree, of the best signal.

    First, one candidate for each signal is fitted over a short horizon. The best one is then fitted to whole windows.

    rows: pairs of the name of a signal and its row of E, from `signals`.
    """
    states = bench.trajectory(linear)
    short = replace(bench, train=bench.train.until(HORIZON))
    terms = Terms(1, powers=((degree,),))
    structure = replace(linear.structure, terms=terms)
    found = []
    for name, row in rows:
        z = states @ row
        size = float(np.sqrt((z**2).mean())) or 1.0
        law = extended(linear.law, terms, row[None] / size, z[..., None] / size)
        label = f"degree {degree} of {name}"
        found.append(
            short.fit(label, law, structure, linear.hold, linear.starts, linear.substeps, iterations=10, tolerance=1e-2)
        )
    best = min(found, key=lambda candidate: candidate.cost)
    return bench.fit(best.label, best.law, structure, best.hold, best.starts, best.substeps)


def grow(bench: Bench, parent: Candidate, terms: Terms) -> Candidate:
    """Return the candidate `parent`, fitted again with other terms of the same signal."""
    z = bench.trajectory(parent) @ parent.law.pick.T
    law = extended(parent.law, terms, parent.law.pick, z)
    of = parent.label.split(" of ", 1)[-1]
    label = f"{', '.join(terms.names)} of {of}"
    structure = replace(parent.structure, terms=terms)
    return bench.fit(label, law, structure, parent.hold, parent.starts, parent.substeps)


def best_hold(bench: Bench, parent: Candidate, report: Report) -> Candidate:
    """Return the candidate `parent`, fitted with the permitted hold of the input that has the smallest training error.

    Every hold, also the hold of the parent, gets a complete fit: after few iterations, the errors would show which fit is
    finished. The parent keeps its hold unless the mean squared training error falls by more than SURE standard errors.
    """

    def refitted(hold: str) -> Candidate:
        return bench.fit(parent.label, parent.law, parent.structure, hold, parent.starts, parent.substeps)

    if bench.late:
        return parent
    own = refitted(parent.hold)
    best = own = own if own.cost <= parent.cost else parent
    for hold in bench.holds:
        if hold == parent.hold or bench.late:
            continue
        other = refitted(hold)
        with np.errstate(over="ignore", invalid="ignore"):
            missed = (bench.residual(own) ** 2).mean(1)
            gap = missed - (bench.residual(other) ** 2).mean(1)
        if other.cost < best.cost and gap.mean() > SURE * standard_error(gap, float(missed.mean())):
            best = other
    report(f"input between samples: {best.hold} (training error {np.sqrt(best.cost):.3g})")
    return best
