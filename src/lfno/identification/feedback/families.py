"""Families beyond polynomials of one signal: sine, saturation (friction), memory (hysteresis), products of the states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lfno.identification.feedback.candidate import Bench, Candidate, extended
from lfno.identification.feedback.internal import with_decay, with_memory
from lfno.identification.feedback.law import Law
from lfno.identification.feedback.structure import Structure
from lfno.identification.feedback.terms import Terms, monomials

Report = Callable[[str], None]
Family = Callable[[Bench, Candidate, Report], list[Candidate]]

#: samples of the horizon over which candidates are compared
HORIZON = 256
#: states of a law whose products are all tried
MOST_STATES = 3
#: share of the stiffness and rate of forgetting that a memory starts with
MEMORIES = ((0.5, 0.1), (0.3, 0.1), (0.5, 0.3))
#: slope at zero of the tanh that a saturation starts with, for a signal of rms one
STEEPNESS = (1.0, 6.0)
#: largest |z| in radians that a sine starts with
ANGLES = (1.0, 3.0)


def families(linear: Candidate) -> Sequence[Family]:
    """The families to try, cheapest first. Motions that start away from equilibrium have tried products of states already."""
    if linear.structure.free_start:
        return ()
    few = linear.law.states == 2  # products of two states have few parameters
    return (products, saturation, memory, generic_memory) if few else (saturation, memory, generic_memory, products)


def told(candidate: Candidate, report: Report) -> None:
    """Report one candidate."""
    report(f"{candidate.label}: validation error {candidate.error:.3g}, {candidate.size} parameters")


def staged(
    bench: Bench, label: str, laws: Sequence[Law], structure: Structure, like: Candidate, horizons: Sequence[int]
) -> Candidate:
    """Fit each law over growing horizons, and the best of them over whole windows."""
    found = []
    for law in laws:
        starts, substeps = like.starts if like.starts.shape[1] == structure.states else None, like.substeps
        for horizon in horizons:
            short = replace(bench, train=bench.train.until(horizon))
            reached = short.fit(label, law, structure, like.hold, starts, substeps, iterations=12, tolerance=1e-2)
            law, starts, substeps = reached.law, reached.starts, reached.substeps
        found.append(reached)
    best = min(found, key=lambda candidate: candidate.cost)
    return bench.fit(label, best.law, structure, like.hold, best.starts, best.substeps)


def sine(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """The sine of each output, as in a pendulum."""
    states, terms, found = bench.trajectory(linear), Terms(1, sines=(0,)), []
    for output, row in enumerate(linear.law.read):
        z = states @ row
        scales = [angle / np.abs(z).max() for angle in ANGLES]
        laws = [extended(linear.law, terms, scale * row[None], scale * z[..., None]) for scale in scales]
        structure = replace(linear.structure, terms=terms)
        found.append(staged(bench, f"sine of output {output + 1}", laws, structure, linear, (HORIZON,)))
        told(found[-1], report)
    return found


def saturation(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """A tanh of an output or of its rate of change, as in Coulomb friction; the best one over a short horizon."""
    states, terms = bench.trajectory(linear), Terms(1, units=1)
    structure = replace(linear.structure, terms=terms)
    rows = [row for output in linear.law.read for row in (output, output @ linear.law.matrix)]
    laws = []
    for row in rows:
        z = states @ row
        size = float(np.sqrt((z**2).mean())) or 1.0
        law = extended(linear.law, terms, row[None] / size, z[..., None] / size)
        laws += [replace(law, shape=np.array([steep, 0.0])) for steep in STEEPNESS]
    best = staged(bench, "saturation", laws, structure, linear, (HORIZON,))
    told(best, report)
    return [best]


def memory(bench: Bench, linear: Candidate, report: Report) -> list[Candidate]:
    """Hysteresis of Bouc–Wen form beside a cubic spring: y³, |v| ξ and v |ξ|."""
    if not linear.structure.pairs:
        return []
    linear = without_decays(bench, linear)
    terms = Terms(3, powers=((3, 0, 0),), moduli=((1, 2), (2, 1)))
    laws = []
    for share, forget in MEMORIES:
        law, rows = with_memory(linear.law, share, forget)
        laws.append(scaled(bench, law, linear, terms, rows))
    structure = replace(linear.structure, decays=laws[0].decays, terms=terms, rank_one=False)
    best = staged(bench, "memory of Bouc–Wen form", laws, structure, linear, (HORIZON // 4, HORIZON // 2, HORIZON))
    told(best, report)
    return [best]


def without_decays(bench: Bench, linear: Candidate) -> Candidate:
    """The linear candidate with its oscillations only. A linear model imitates a memory by decays; the memory replaces them."""
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
    """Hysteresis by an extra state and all cubic products of it with the velocity."""
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
    """All quadratic products of the states."""
    n = linear.law.states
    if not 1 < n <= MOST_STATES:
        return []
    terms = Terms(n, powers=monomials(n, (2,)))
    law = extended(linear.law, terms, np.eye(n), bench.trajectory(linear))
    structure = replace(linear.structure, terms=terms, rank_one=False, all_states=True)
    horizons = (HORIZON // 4, HORIZON // 2, HORIZON, 2 * HORIZON)
    best = staged(bench, "all quadratic products of the states", [law], structure, linear, horizons)
    told(best, report)
    return [best]


def scaled(bench: Bench, law: Law, like: Candidate, terms: Terms, rows: np.ndarray) -> Law:
    """The law with terms of the signals `rows`, scaled to an rms of one on the training windows."""
    structure = replace(like.structure, decays=law.decays, terms=law.terms, rank_one=True)
    starts = like.starts if like.starts.shape[1] == law.states else np.zeros((len(bench.train), law.states))
    plain = replace(like, law=law, structure=structure, starts=starts)
    z = bench.trajectory(plain) @ rows.T
    size = np.sqrt((z**2).mean((0, 1)))
    size[size == 0] = 1.0
    return extended(law, terms, rows / size[:, None], z / size)
