"""Tables of test errors: the paper's four tables with our errors, rich and out-of-family inputs, and comparisons with FNOs."""

from __future__ import annotations

from lfno.paper.report import paper
from lfno.paper.report.baselines import NAMES, Scores
from lfno.paper.report.selection import LABELS, OUTSIDE, Figure, Runs, lowest, ordered
from lfno.paper.report.tables import DASH, Table, TableCell, counted, number, show
from lfno.systems import titles

FAIR = ("FNO", "FNO deep", "FNO long", "LFNO")  # models of the fair comparisons
#: metric of a record -> its name in tables
METRICS = {"l2": "relative L2", "linf": "relative L∞"}


def error_table(published: paper.ErrorTable, runs: Runs, baselines: dict[str, Scores]) -> Table:
    """Return a table of the paper with our errors.

    Its rows are the published errors, our errors (a block of rows for each preset), and the errors of the baselines.
    """
    tasks = list(published.epochs)
    table = Table(published.name, ["", *(titles.title(task) for task in tasks)])
    table.heading("Published")
    table.add("epochs", *(f"{published.epochs[task]:,}" for task in tasks))
    for model in paper.MODELS:
        best = {task: published.best(task)[1] for task in tasks}
        row = published.errors[model]
        table.add(model, *(TableCell(f"{row[task]:.4f}", bold=row[task] == best[task]) for task in tasks))
    for preset in ordered(["paper", "default", *runs.main.presets], ("paper", "default")):
        own = Runs(r for r in runs.main.where(preset=preset).all if r.task in published.epochs)
        # with the paper's preset, the errors belong to the paper's numbers of epochs; otherwise to the end of training
        epochs = published.epochs if preset == "paper" else {}
        _block(table, preset, own, tasks, published.metric, epochs)
    _baselines(table, tasks, published.metric, baselines)
    table.note = (
        "Mean ± standard deviation over seeds on the test samples. Bold: the lowest mean of a block. Dash: not run, or not "
        "possible (interpolation needs one parameter per sample). In small print or in brackets: the published error of the "
        "same model."
    )
    return table


def _block(table: Table, preset: str, runs: Runs, tasks: list[str], metric: str, epochs: dict[str, int]) -> None:
    """Add the rows of one preset: numbers of epochs and of seeds, and the errors of each model."""
    if not len(runs):
        table.heading(f"Ours, {preset} preset: not run (lfno reproduce --preset {preset})")
        return
    table.heading(f"Ours, {preset} preset")
    labels = ordered([*paper.MODELS, *runs.labels], LABELS)
    figures = {
        task: {label: runs.where(task=task, label=label).error(metric, epochs.get(task)) for label in labels}
        for task in tasks
    }
    table.add("epochs", *(counted([n for f in figures[t].values() if f for n in f.epochs]) for t in tasks))
    count = "seeds × folds" if len({r.fold for r in runs.all}) > 1 else "seeds"
    table.add(count, *(counted([f.value.count for f in figures[task].values() if f]) for task in tasks))
    best = {task: lowest(figures[task]) for task in tasks}
    for label in labels:
        cells = []
        for task in tasks:
            theirs = paper.published(metric, task, label)
            aside = "" if theirs is None else f"paper {theirs:.4f}"
            cells.append(show(figures[task][label], aside, bold=label in best[task]))
        table.add(label, *cells)


def _baselines(table: Table, tasks: list[str], metric: str, baselines: dict[str, Scores]) -> None:
    """Add the rows of the baselines. A baseline without any number has no row."""
    table.heading("Baselines without a network, on the same split")
    for name, words in NAMES.items():
        rows = [baselines.get(task, {}).get(name, {}) for task in tasks]
        if any(metric in row for row in rows):
            table.add(words, *(number(row[metric]) if metric in row else DASH for row in rows))


def rich_table(metric: str, runs: Runs, baselines: dict[str, Scores]) -> Table:
    """Return the table of errors on random inputs."""
    return _sets("Rich inputs", metric, runs.main, baselines, "-rich")


def outside_table(metric: str, runs: Runs, baselines: dict[str, Scores]) -> Table:
    """Return the table of errors on kinds of input that no training set has."""
    table = _sets("Out of family", metric, runs.main.outside, baselines, OUTSIDE)
    table.note = (
        "The heading of a column names the training data. The test data are all samples of the out-of-family data set of the "
        "same system."
    )
    return table


def _sets(what: str, metric: str, runs: Runs, baselines: dict[str, Scores], suffix: str) -> Table:
    """Return the table of errors on the data sets whose names end with `suffix`."""
    known = [f"{task}{kind}{suffix}" for kind in ("-rich", "") for task in titles.ALL]
    tasks = [task for task in ordered(runs.tasks, known) if task.endswith(suffix)]
    table = Table(f"{what}, {METRICS[metric]}", ["", *(titles.title(task.removesuffix(suffix)) for task in tasks)])
    if not tasks:
        return table
    own = Runs(r for r in runs.all if r.task in tasks)
    for preset in own.presets:
        _block(table, preset, own.where(preset=preset), tasks, metric, {})
    _baselines(table, tasks, metric, baselines)
    return table


def fair_table(metric: str, runs: Runs) -> Table:
    """Return the table that compares LFNO with three FNOs.

    FNO has the same width and epochs as LFNO, FNO deep at least as many parameters, and FNO long the same training time.
    """
    fair = Runs(r for r in runs.main.all if r.label in FAIR and r.preset != "paper")
    tasks = ordered(fair.tasks, list(titles.ALL))
    columns = ["", "FNO, same width and epochs", "FNO deep, at least as many parameters", "FNO long, same time", "LFNO"]
    table = Table(f"Fair comparisons, {METRICS[metric]}", columns)
    for preset in fair.presets:
        table.heading(f"{preset} preset")
        for task in tasks:
            own = fair.where(preset=preset, task=task)
            figures: dict[str, Figure | None] = {label: own.where(label=label).error(metric) for label in FAIR}
            best = lowest(figures)
            table.add(titles.title(task), *(show(figures[k], _cost(own.where(label=k)), k in best) for k in FAIR))
    table.note = (
        "In small print or in brackets: the number of parameters p (a complex number counts once), the number of epochs ep, "
        "and the training time of one run."
    )
    return table


def _cost(runs: Runs) -> str:
    """Return parameters, epochs and training time as text."""
    if not len(runs):
        return ""
    first, figure = runs.all[0], runs.error("l2")
    seconds = sum(r.seconds for r in runs.all) / len(runs)
    epochs = counted(figure.epochs) if figure else DASH
    return f"{first.parameters.get('complex_once', 0):,} p, {epochs} ep, {seconds:.3g} s"
