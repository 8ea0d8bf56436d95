"""Where each model wins and loses, in plain sentences computed from the records."""

from __future__ import annotations

from lfno.paper.report import paper
from lfno.paper.report.baselines import Scores
from lfno.paper.report.selection import OUTSIDE, Runs
from lfno.paper.report.tables import number
from lfno.paper.report.verdicts import factor, mean_error, ratio
from lfno.systems import titles

GROUPS: dict[str, tuple[str, ...]] = {
    "the ODEs": tuple(titles.ODES),
    "the PDEs": tuple(titles.PDES),
    "the rich sets": tuple(f"{task}-rich" for task in titles.ALL),
    "inputs out of family": tuple(f"{task}{kind}{OUTSIDE}" for kind in ("-rich", "") for task in titles.ALL),
}
WORDS = {"interpolation": "interpolating between the training samples", "linear": "the best linear model"}


def summarise(runs: Runs, baselines: dict[str, Scores]) -> list[str]:
    """One sentence or two for each preset and group of tasks that was run; none at all when nothing was."""
    lines = []
    for preset in runs.main.presets:
        own = runs.main.where(preset=preset)
        own = Runs([*own.all, *own.outside.all])
        for group, tasks in GROUPS.items():
            shown = [task for task in tasks if len(_errors(own, task)) > 1]
            if shown:
                lines.append(_ranking(own, preset, group, shown))
                lines += _simple(own, group, shown, baselines)
    return lines


def _errors(runs: Runs, task: str) -> dict[str, float]:
    """Mean L2 of the three models that were run on a task."""
    return {label: e for label in paper.MODELS if (e := mean_error(runs, task, label)) is not None}


def _ranking(runs: Runs, preset: str, group: str, tasks: list[str]) -> str:
    won: dict[str, list[str]] = {}
    for task in tasks:
        errors = _errors(runs, task)
        order = sorted(errors, key=lambda label: errors[label])
        gain = factor(ratio(errors[order[1]], errors[order[0]]))
        won.setdefault(order[0], []).append(f"{titles.title(task)} ({gain} below {order[1]})")
    parts = [f"{label} has the lowest L2 error on {len(places)}: {', '.join(places)}" for label, places in won.items()]
    never = [m for m in paper.MODELS if m not in won and any(m in _errors(runs, task) for task in tasks)]
    end = f" {' and '.join(never)} {'win' if len(never) > 1 else 'wins'} nowhere." if never else ""
    return f"{preset.capitalize()} preset, {group} ({len(tasks)} run). {'; '.join(parts)}.{end}"


def _simple(runs: Runs, group: str, tasks: list[str], baselines: dict[str, Scores]) -> list[str]:
    """Where something that is no network at all is better than every network."""
    beaten: dict[str, list[str]] = {}
    for task in tasks:
        best = min(_errors(runs, task).values())
        scores = {name: row["l2"] for name, row in baselines.get(task, {}).items() if "l2" in row}
        name = min(scores, key=lambda key: scores[key], default=None)
        if name is not None and scores[name] < best:
            beaten.setdefault(name, []).append(f"{titles.title(task)} ({number(scores[name])} against {number(best)})")
    return [
        f"On {group}, {WORDS.get(name, name)} is better than every network on {', '.join(places)}."
        for name, places in beaten.items()
    ]


def flip_sentences(runs: Runs, nearest: int = 4) -> list[str]:
    """Lorenz ρ = 10: the share of the test error that comes from the samples next to the sign flip."""
    lines = []
    main = runs.main.where(task="lorenz-rho10")
    for preset in main.presets:
        for label in main.where(preset=preset).labels:
            shares = [s for r in main.where(preset=preset, label=label).all if (s := flip_share(r, nearest)) is not None]
            if shares:
                count = len(main.where(preset=preset, label=label).all[0].samples["l2"])
                lines.append(
                    f"{label}, {preset} preset: the {nearest} test samples nearest to A* (of {count}, "
                    f"{nearest / count:.0%} of the set) make up {sum(shares) / len(shares):.0%} of the mean L2 error."
                )
    return lines


def flip_share(record: object, nearest: int = 4) -> float | None:
    """Σ of the errors of the samples nearest to A* over Σ of all errors."""
    samples = getattr(record, "samples", {})
    amplitudes, errors = samples.get("A", []), samples.get("l2", [])
    if not errors or len(amplitudes) != len(errors) or sum(errors) == 0:
        return None
    order = sorted(range(len(errors)), key=lambda k: abs(amplitudes[k] - paper.LORENZ_FLIP))
    return sum(errors[k] for k in order[:nearest]) / sum(errors)
