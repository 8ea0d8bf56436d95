"""The table of training times, summed over groups of runs."""

from __future__ import annotations

from lfno.paper.report.selection import Runs, ordered
from lfno.paper.report.tables import DASH, Table, counted
from lfno.systems import titles

#: name of a group -> its data sets
PARTS = {
    "ODEs": tuple(titles.ODES),
    "1-D PDEs": tuple(titles.LINES),
    "flows": tuple(titles.FLOWS),
    "random inputs": tuple(f"{task}-rich" for task in titles.ALL),
}


def time_table(runs: Runs) -> Table:
    """Return the table of training times.

    Its rows: each preset and group of data sets of the main study, each other study, and all runs.
    """
    labels = runs.main.labels
    table = Table("Training time", ["", *labels, "sum", "runs", "epochs", "trained together", "hardware"])
    for preset in runs.main.presets:
        own = runs.main.where(preset=preset)
        named = {task for tasks in PARTS.values() for task in tasks}
        for part, tasks in (PARTS | {"other": tuple(task for task in own.tasks if task not in named)}).items():
            group = Runs(r for r in own.all if r.task in tasks)
            if len(group):
                _row(table, f"{part}, {preset} preset", group, labels)
    for study in ordered({r.study for r in runs.all} - {r.study for r in runs.main.all}, ()):
        _row(table, f"study “{study}”", runs.study(study), labels)
    _row(table, "all", runs, labels)
    table.note = (
        "Sums over data sets, seeds and folds. Runs that were trained together as one stack have equal parts of its time. The "
        "time includes the short trial runs that choose the initial weights and the weight decay of R (a channel matrix for "
        "each low Fourier mode). It does not include making the data sets."
    )
    return table


def _row(table: Table, name: str, runs: Runs, labels: list[str]) -> None:
    """Add a row with the sums over the runs. The columns `labels` hold only times of the main study."""
    main = runs.main
    times = [duration(sum(r.seconds for r in main.where(label=label).all)) for label in labels]
    epochs = runs.error("l2")
    where = ", ".join(sorted({r.environment.get("hardware", "unknown") for r in runs.all}))
    cells = duration(sum(r.seconds for r in runs.all)), str(len(runs)), counted(epochs.epochs if epochs else ())
    table.add(name, *times, *cells, counted([r.stacked for r in runs.all]), where or DASH)


def duration(seconds: float) -> str:
    """Return a time as text in seconds, minutes or hours; a dash for 0. `seconds` is the time in seconds.

    >>> duration(0), duration(4.2), duration(90), duration(9000)
    ('–', '4.2 s', '1.5 min', '2.5 h')
    """
    for size, unit in ((3600, "h"), (60, "min"), (1, "s")):
        if seconds >= size:
            return f"{seconds / size:.{1 if seconds < 100 * size else 0}f} {unit}"
    return DASH if seconds == 0 else f"{seconds:.1g} s"
