"""Families of nonlinearities beyond polynomials of one signal: sine, tanh, products of states, memory (hysteresis).

Words and symbols: see the docstring of `lfno.identification.feedback`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import Bench, Candidate, extended
from lfno.identification.feedback.internal import with_decay, with_memory
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms, monomials

#: a function that receives one line of text for every choice of the search
Report = Callable[[str], None]
#: a function that fits one family. Arguments: the windows, the linear candidate, and a report. Result: the fitted candidates
Family = Callable[[Bench, Candidate, Report], list[Candidate]]

#: length, in samples, of the simulations with which initial laws are compared
HORIZON = 256
#: growing horizons, in samples, for a fit with many terms
HORIZONS = (HORIZON // 4, HORIZON // 2, HORIZON)
#: initial slopes of a tanh, in units of 1 / rms of the signal
STEEP = (0.5, 3.0)
#: largest number of states for which all products of states are tried
MOST_STATES = 3
#: initial parameters of a hysteresis: pairs (share, forget), the arguments of `internal.with_memory`
MEMORIES = ((0.5, 0.1), (0.3, 0.1), (0.5, 0.3))
#: standard deviations of random initial states of a motion away from equilibrium, in units of the rms of the states
STARTS = (1.0, 1.0, 2.0)
#: largest |z|, in radians, at the initialisation of a sine
ANGLES = (1.0, 3.0)


def families(linear: Candidate) -> Sequence[Family]:
    """Return the families to try, cheapest first.

    For motions that start away from equilibrium, the search tries products of states earlier (`search.nonlinear`).
    """
    if linear.structure.free_start:
        return (bounded,)
    few = linear.law.states == 2  # products of two states have few parameters
    if few:
        return (products, bounded, position_and_rate, memory, generic_memory)
    return (bounded, position_and_rate, memory, generic_memory, products)


def told(candidate: Candidate, report: Report) -> None:
    """Report the validation error and the size of one candidate."""
    report(f"{candidate.label}: validation error {candidate.error:.3g}, {candidate.size} parameters")


def staged(
    bench: Bench, label: str, laws: Sequence[Law], structure: Structure, like: Candidate, horizons: Sequence[int]
) -> Candidate:
    """Return the best of several initial laws as a candidate that is fitted to whole windows.

    All laws are first fitted over growing horizons: only the first samples of each window. After each horizon the worse half of
    the laws is dropped.

    label, structure: the label and the free parameters of the result.
    like: a candidate whose hold and sub-steps are used. Its initial states are used if `structure` has equally many states.
    horizons: numbers of samples.
    """
    starts = like.starts if like.starts.shape[1] == structure.states else None
    found: list[tuple[Law, np.ndarray | None, int]] = [(law, starts, like.substeps) for law in laws]
    for horizon in horizons:
        short = replace(bench, train=bench.train.until(horizon))
        reached = [short.fit(label, law, structure, like.hold, starts, substeps, iterations=12, tolerance=1e-2)
                   for law, starts, substeps in found]  # fmt: skip
        reached = sorted(reached, key=lambda candidate: candidate.cost)[: -(-len(reached) // 2)]
        found = [(candidate.law, candidate.starts, candidate.substeps) for candidate in reached]
    law, starts, substeps = found[0]
    return bench.fit(label, law, structure, like.hold, starts, substeps)


def sine(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return one candidate for each output, with the sine of this output as feedback, as in a pendulum."""
    states, terms, found = bench.trajectory(linear), Terms(1, sines=(0,)), []
    for output, row in enumerate(linear.law.read):
        z = states @ row
        scales = [angle / np.abs(z).max() for angle in ANGLES]
        laws = [extended(linear.law, terms, scale * row[None], scale * z[..., None]) for scale in scales]
        structure = replace(linear.structure, terms=terms)
        found.append(staged(bench, f"sine of output {output + 1}", laws, structure, linear, (HORIZON,)))
        told(found[-1], report)
    return found


def bounded(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return candidates with a tanh of each output and of its rate: a saturating spring or actuator, or dry friction."""
    states, terms, found = bench.trajectory(linear), Terms(1, units=1), []
    structure = replace(linear.structure, terms=terms)
    for output, row in enumerate(linear.law.read):
        for name, signal in ((f"output {output + 1}", row), (f"the rate of output {output + 1}", row @ linear.law.matrix)):
            z = states @ signal
            size = float(np.sqrt((z**2).mean())) or 1.0
            law = extended(linear.law, terms, signal[None] / size, z[..., None] / size)
            laws = [replace(law, shape=np.array([steep, 0.0])) for steep in STEEP]
            found.append(staged(bench, f"tanh of {name}", laws, structure, linear, (HORIZON,)))
            told(found[-1], report)
    return found


def position_and_rate(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return one candidate for each output, with springs, dampers and mixed terms as feedback.

    The terms are all products of the output and its rate, of degree two and three. All terms act as one force. The list is
    empty if the linear candidate has no oscillation.
    """
    if not linear.structure.pairs:
        return []
    terms, found = Terms(2, powers=monomials(2, (3, 2))), []
    structure = replace(linear.structure, terms=terms)
    for output, row in enumerate(linear.law.read):
        law = scaled(bench, linear.law, linear, terms, np.stack([row, row @ linear.law.matrix]))
        found.append(staged(bench, f"products of output {output + 1} and its rate", [law], structure, linear, HORIZONS))
        told(found[-1], report)
    return found


def memory(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return a candidate with a hysteresis of Bouc–Wen form and a cubic spring: the terms y³, |v| ξ and v |ξ|.

    y is the position, v is the velocity, and ξ is the internal state of the hysteresis (see `internal`). The list is empty if
    the linear candidate has no oscillation.
    """
    if not linear.structure.pairs:
        return []
    linear = without_decays(bench, linear)
    terms = Terms(3, powers=((3, 0, 0),), moduli=((1, 2), (2, 1)))
    laws = []
    for share, forget in MEMORIES:
        law, rows = with_memory(linear.law, share, forget)
        laws.append(scaled(bench, law, linear, terms, rows))
    structure = replace(linear.structure, decays=laws[0].decays, terms=terms, rank_one=False)
    best = staged(bench, "memory of Bouc–Wen form", laws, structure, linear, HORIZONS)
    told(best, report)
    return [best]


def without_decays(bench: Bench, linear: Candidate) -> Candidate:
    """Return the linear candidate, fitted again without its decays.

    A linear model imitates a hysteresis by decays. The internal state of the hysteresis replaces these decays.
    """
    law, count = linear.law, linear.structure.decays
    if not count:
        return linear
    law = replace(
        law, poles=law.poles[count:], drive=law.drive[count:], gains=law.gains[count:], pick=law.pick[:, count:],
        read=law.read[:, count:], start=law.start[count:],
    )  # fmt: skip
    structure = replace(linear.structure, decays=0)
    return bench.fit("linear, oscillations only", law, structure, linear.hold, linear.starts[:, count:], iterations=10)


def generic_memory(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return a candidate with a hysteresis: one extra state ξ, and all cubic products of ξ and the rate of output 1."""
    law = with_decay(linear.law)
    structure = replace(linear.structure, decays=law.decays)
    wider = bench.fit("linear with an extra decay", law, structure, linear.hold, iterations=10)
    terms = Terms(2, powers=monomials(2, (3,)))
    rows = np.stack([wider.law.read[0] @ wider.law.matrix, np.eye(law.states)[0]])
    started = scaled(bench, wider.law, wider, terms, rows)
    structure = replace(structure, terms=terms, rank_one=False)
    best = staged(bench, "extra state, cubic", [started], structure, wider, (HORIZON,))
    told(best, report)
    return [best]


def products(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Return a candidate with all quadratic products of the states, if there are two to MOST_STATES states."""
    n = linear.law.states
    if not 1 < n <= MOST_STATES:
        return []
    terms = Terms(n, powers=monomials(n, (2,)))
    states = bench.trajectory(linear)
    law = extended(linear.law, terms, np.eye(n), states)
    structure = replace(linear.structure, terms=terms, rank_one=False, all_states=True)
    laws = [replace(law, start=start) for start in likely_starts(bench, law, states)] if structure.free_start else [law]
    best = staged(bench, "all quadratic products of the states", laws, structure, linear, (*HORIZONS, 2 * HORIZON))
    told(best, report)
    return [best]


def likely_starts(bench: Bench, law: Law, states: np.ndarray) -> list[np.ndarray]:
    """Return initial states to try, each (n,), for motions that begin away from equilibrium.

    All these states reproduce the observed initial output. The first one is the smallest, relative to the rms of the later
    motion. The others are random. The initial state of the fitted linear model is not used: if the beginning of the motion is
    nonlinear, this state is far too large, and a fit that begins with this state ends in a false minimum.

    states: states of the linear model, (sub-steps + 1, windows, n).
    """
    size = np.sqrt((states[len(states) // 2 :] ** 2).mean((0, 1)))
    gap = bench.train.targets[0][bench.train.rest].mean(0) - law.offset
    reach = law.read * size
    draw, found = np.random.default_rng(0), []
    for spread in (0.0, *STARTS):
        start = spread * draw.normal(size=law.states)
        found.append(size * (start + np.linalg.lstsq(reach, gap - reach @ start, rcond=None)[0]))
    return found


def scaled(bench: Bench, law: Law, like: Candidate, terms: Terms, rows: np.ndarray) -> Law:
    """Return the law with new signals and terms. The signals are scaled to an rms of one on the training windows.

    law: the law before the change.
    like: a linear candidate with the hold, the sub-steps and the initial states of the simulation.
    terms: the new terms.
    rows: the rows of E before scaling, (signals, n).
    """
    structure = replace(like.structure, decays=law.decays, terms=law.terms, rank_one=True)
    starts = like.starts if like.starts.shape[1] == law.states else np.zeros((len(bench.train), law.states))
    plain = replace(like, law=law, structure=structure, starts=starts)
    z = bench.trajectory(plain) @ rows.T
    size = np.sqrt((z**2).mean((0, 1)))
    size[size == 0] = 1.0
    return extended(law, terms, rows / size[:, None], z / size)
