"""Linear modes with a curved sensor: the search for the characteristic of the sensor (a Wiener system).

    x′ = A x + B u,   z = E x,   y = C x + K φ(z) + offset

The sensor has a nonlinear characteristic and does not act on the motion. Examples are a pH electrode, a thermistor, and an
amplifier that saturates. The docstring of `law` has the symbols. The states follow a linear equation, so a simulation needs no
sub-steps.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import Bench, Candidate, extended
from lfno.identification.feedback.families import Report, told
from lfno.identification.feedback.knees import with_knee
from lfno.identification.feedback.terms import Terms

#: degrees of the polynomial of each output; higher degrees would extrapolate badly
DEGREES = (2, 3)
#: a further knee is tried as long as the training error falls below this part of the old error
ANOTHER = 0.9
#: largest number of knees for each output
MOST_KNEES = 6
#: places of a further knee that are compared, as quantiles of z
PLACES = (0.1, 0.35, 0.65, 0.9)
#: initial steepness v of a further knee, in 1 / standard deviation of z
STEEP = 2.0
#: number of Gauss–Newton steps for the comparison of places
FEW = 8
#: largest number of Gauss–Newton steps of a fit
MANY = 60
#: relative decrease of the squared error below which a fit stops; the error falls slowly in some directions
PRECISE = 1e-4


def sensors(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return fitted candidates with curved sensors: a cubic polynomial of each output, then knees, added one by one.

    The list is empty for motions whose initial state is fitted.
    """
    if linear.structure.free_start:
        return []
    flat = with_sensor(bench, linear)
    signals = flat.structure.terms.signals
    powers = tuple(tuple(degree * entry for entry in row) for row in np.eye(signals, dtype=int).tolist() for degree in DEGREES)
    found = [with_terms(bench, flat, Terms(signals, powers=powers))]
    told(found[0], report)
    last, best = linear, flat
    while len(best.structure.terms.knees) < MOST_KNEES * signals and not bench.finished(found[-1]):
        best = another_knee(bench, best)
        found.append(best)
        told(best, report)
        # a curve that is symmetric about zero needs two knees, so the first one alone may not help
        if len(best.structure.terms.knees) > 1 and not best.cost < ANOTHER**2 * last.cost:
            break
        last = best
    return found


def with_sensor(bench: Bench, linear: Candidate) -> Candidate:
    """Return the linear candidate with a sensor without nonlinear terms. The signals z are the outputs, scaled to rms one."""
    law, terms = linear.law, Terms(len(linear.law.read))
    z = bench.trajectory(linear) @ law.read.T
    size = np.sqrt((z**2).mean((0, 1)))
    pick = law.read / np.where(size > 0, size, 1.0)[:, None]
    flat = np.zeros((len(law.read), 0))
    law = replace(law, terms=terms, pick=pick, sensor=flat, gains=np.zeros((law.states, 0)))
    return replace(linear, law=law, structure=replace(linear.structure, terms=terms, sensor=True))


def with_terms(bench: Bench, parent: Candidate, terms: Terms) -> Candidate:
    """Return the parent with other terms, with the hold of the input that has the smallest training error."""
    law = extended(parent.law, terms, parent.law.pick, bench.trajectory(parent) @ parent.law.pick.T)
    structure, label = replace(parent.structure, terms=terms), f"curved sensor with {', '.join(terms.names)}"
    found = [bench.fit(label, law, structure, hold, parent.starts, iterations=MANY, tolerance=PRECISE)
             for hold in dict.fromkeys((parent.hold, *bench.holds))]  # fmt: skip
    return min(found, key=lambda candidate: candidate.cost)


def another_knee(bench: Bench, parent: Candidate) -> Candidate:
    """Return the parent with one more knee, of the signal and at the place that lower the training error most."""
    z = bench.trajectory(parent) @ parent.law.pick.T
    tried = [
        bench.fit("", law, replace(parent.structure, terms=law.terms), parent.hold, parent.starts, iterations=FEW)
        for laws in with_knee(parent.law, z, STEEP, PLACES) for law in laws
    ]  # fmt: skip
    best = min(tried, key=lambda candidate: candidate.cost)
    return with_terms(bench, best, best.structure.terms)
