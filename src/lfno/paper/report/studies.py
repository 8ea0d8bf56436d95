"""Tables of the studies, of the hyper-parameters and of the environment."""

from __future__ import annotations

from typing import Any

from lfno.paper.report import paper
from lfno.paper.report.selection import Runs, lowest, ordered
from lfno.paper.report.tables import DASH, Table, TableCell, counted, show
from lfno.paper.studies import STUDIES
from lfno.systems import titles

LAYERS = ((4, 2), (3, 3), (2, 4), (6, 0), (0, 6))  # (transient layers, steady layers) in the order of the table


def ablation_table(runs: Runs) -> Table:
    """Return the table of the study “ablation”, with a row for each variant and a column for each data set."""
    own = runs.study("ablation")
    tasks = ordered(own.tasks, list(titles.ALL))
    labels = variants(own, "ablation")
    table = Table("Ablation: relative L2", ["variant", "parameters", *(titles.title(task) for task in tasks)])
    figures = {t: {k: own.where(task=t, label=k).error("l2") for k in labels} for t in tasks}
    for label in labels:
        rows = own.where(label=label)
        cells = []
        for task in tasks:
            linf = rows.where(task=task).error("linf")
            aside = f"L∞ {show(linf).text}" if linf else ""
            cells.append(show(figures[task][label], aside, label in lowest(figures[task])))
        table.add(label, _parameters(rows), *cells)
    table.note = (
        f"Each variant changes one option of the default{_effort(own)}. R is one trainable channel matrix for each low Fourier "
        "mode of a layer. Short trial runs (the pilot) choose the weight decay of R, except in the rows whose name begins with "
        "R; the number of parameters is smaller if R stays zero. Untamed: R is trained with a small weight decay."
    )
    return table


def gate_table(runs: Runs) -> Table:
    """Return the table that compares LFNO without gates and LFNO with gates (the default)."""
    own = runs.study("gate").where(label="LFNO")
    table = _beside(own, [runs.main.where(preset="default")], "LFNO without and with gates", "gated")
    table.note = (
        f"LFNO without gates{_effort(own)}. In small print or in brackets: LFNO with gates, the default. On the rich data sets "
        "R is zero with and without gates. Bold: without gates is better."
    )
    return table


def padding_table(runs: Runs) -> Table:
    """Return the table that compares runs without padding and with padding (the default).

    LFNO without padding has no gates. It is compared with padded LFNO without gates (study “gate”) where this study has a run.
    """
    others = [runs.study("gate"), runs.main.where(preset="default")]
    table = _beside(runs.study("padding"), others, "Without and with padding", "padded")
    table.note = (
        f"Without padding{_effort(runs.study('padding'))}. In small print or in brackets: with padding, which appends zeros "
        "for half the length of every axis that is not periodic. On signals, LFNO has no gates, and FNO deep has at least as "
        "many parameters as this LFNO. Bold: without padding is better."
    )
    return table


def loss_table(runs: Runs) -> Table:
    """Return the table that compares two losses on signals: values only, and values with slopes (the default).

    The other run is from the first of the studies “padding”, “gate” and “main” that has a run of the same model.
    """
    others = [runs.study("padding"), runs.study("gate"), runs.main.where(preset="default")]
    table = _beside(runs.study("loss"), others, "Loss of values only, and of values and slopes", "with slopes")
    table.note = (
        f"Trained with a loss of values only{_effort(runs.study('loss'))}. In small print or in brackets: with a loss of "
        "values and slopes. All runs have no gates and no padding. Bold: values only are better."
    )
    return table


def _beside(own: Runs, others: list[Runs], title: str, word: str) -> Table:
    """Return a table that compares the runs of a study with other runs.

    own: the runs of the study.
    others: groups of runs. Small print shows the error of the first group with records of the same model and data set.
    word: the word before the error in small print.
    """
    tasks = ordered(own.tasks, [*titles.ALL, *(f"{task}-rich" for task in titles.ALL)])
    table = Table(title, ["", *(titles.title(task) for task in tasks)])
    for metric, words in (("l2", "relative L2"), ("linf", "relative L∞")):
        table.heading(words)
        for label in own.labels:
            cells = []
            for task in tasks:
                found = [part.where(task=task, label=label).error(metric) for part in others]
                pair = {"own": own.where(task=task, label=label).error(metric), "other": next(filter(None, found), None)}
                aside = f"{word} {show(pair['other']).text}" if pair["other"] else ""
                cells.append(show(pair["own"], aside, "own" in lowest(pair)))
            table.add(label, *cells)
    return table


def _effort(runs: Runs) -> str:
    """Return the numbers of epochs and seeds of a study in brackets; "" without records."""
    figure, seeds = runs.error("l2"), len({r.seed for r in runs.all})
    return "" if figure is None else f" ({counted(figure.epochs)} epochs, {seeds} seed{'s' if seeds > 1 else ''})"


def variants(runs: Runs, study: str) -> list[str]:
    """Return the labels of the records of a study, in the order of its variants."""
    return ordered((r.label for r in runs.all), [variant.label for variant in STUDIES[study].variants])


def layers_of(record: Any) -> tuple[int, int]:
    """Return (number of transient layers, number of steady layers) of a record. An unknown number is −1."""
    return int(record.config.get("transient_layers", -1)), int(record.config.get("steady_layers", -1))


def layers_table(runs: Runs) -> Table:
    """Return the table of the study “layers”: six layers, divided between the transient and the steady branch."""
    own = runs.study("layers")
    tasks = ordered(own.tasks, list(titles.ALL))
    table = Table("Transient + steady layers: relative L2", ["", "parameters", *(titles.title(task) for task in tasks)])
    groups = {f"{a}+{b}": Runs(r for r in own.all if layers_of(r) == (a, b)) for a, b in LAYERS}
    figures = {task: {k: group.where(task=task).error("l2") for k, group in groups.items()} for task in tasks}
    for key, group in groups.items():
        cells = (show(figures[task][key], bold=key in lowest(figures[task])) for task in tasks)
        table.add(key, _parameters(group), *cells)
    table.note = f"The six layers of the paper's network are divided between a transient and a steady branch{_effort(own)}."
    return table


def samples_table(runs: Runs) -> Table:
    """Return the table of errors for different numbers of training samples."""
    own = runs.study("samples")
    sizes = sorted({r.train_samples for r in own.all})
    table = Table("Training samples: relative L2", ["", *map(str, sizes)])
    for task in ordered(own.tasks, list(titles.ALL)):
        table.heading(titles.title(task))
        part = own.where(task=task)
        figures = {n: {m: part.where(train_samples=n).of(m).error("l2") for m in part.models} for n in sizes}
        for model in part.models:
            table.add(model, *(show(figures[n][model], bold=model in lowest(figures[n])) for n in sizes))
    table.note = f"All runs have the same validation and test samples, and equally many optimisation steps{_effort(own)}."
    return table


def _parameters(runs: Runs) -> str:
    """Return the different numbers of parameters of the runs as text."""
    counts = sorted({int(r.parameters["complex_once"]) for r in runs.all if "complex_once" in r.parameters})
    return DASH if not counts else " / ".join(f"{count:,}" for count in counts)


def _depth(config: dict[str, Any]) -> str:
    """Return the number of layers as text; `transient+steady` for a network with both kinds of layers."""
    if config.get("layout") in ("branches", "sequence"):
        return f"{config.get('transient_layers')}+{config.get('steady_layers')}"
    return str(config.get("layers", config.get("transient_layers", DASH)))


def _schedule(training: dict[str, Any]) -> str:
    """Return the schedule of the learning rate as text. `×0.85 / 100` is a factor of 0.85 after every 100 epochs."""
    if training.get("schedule") == "step":
        return f"×{training.get('gamma')} / {training.get('step_size')}"
    return str(training.get("schedule", DASH))


def hyper_parameter_table(runs: Runs) -> Table:
    """Return the table of the paper's hyper-parameters and of the hyper-parameters of our runs."""
    columns = [""] + [f"{model} {kind}" for kind in ("ODEs", "PDEs") for model in paper.MODELS]
    table = Table("Hyper-parameters", columns)
    table.heading("Published")
    for name, row in paper.HYPER_PARAMETERS.items():
        table.add(name, *row)
    main = runs.main
    for preset in main.presets:
        table.heading(f"Ours, {preset} preset")
        groups = [
            next((r for r in main.where(preset=preset, label=model).all if r.task in tasks), None)
            for tasks in (titles.ODES, titles.PDES)
            for model in paper.MODELS
        ]
        for name in (*paper.HYPER_PARAMETERS, "poles", "coordinates", "starts", "parameters"):
            table.add(name, *(_setting(name, record) for record in groups))
    table.note = (
        "The six layers of the paper's LFNO are 4 transient and 2 steady layers. We read the paper's weight decay as decoupled "
        "from the gradient (AdamW). The published FNO has 7,537 parameters. This number belongs to width 16 and 4 modes, but "
        "the paper states width 4 and 16 modes. A schedule ×0.85 / 100 multiplies the learning rate by 0.85 every 100 epochs."
    )
    return table


def _setting(name: str, record: Any) -> str:
    """Return the value of a hyper-parameter of a record as text, or a dash without a record."""
    if record is None:
        return DASH
    config, training = record.config, record.training
    poles = f"{config.get('n_poles')} {config.get('poles')}" if "n_poles" in config else DASH
    found: dict[str, Any] = {
        "layers": _depth(config),
        "batch": training.get("batch", DASH),
        "learning rate": training.get("learning_rate", DASH),
        "weight decay": training.get("weight_decay", DASH),
        "schedule": _schedule(training),
        "poles": poles,
        "coordinates": "yes" if config.get("grid_channels") else "no",
        "starts": training.get("starts", 1),
        "parameters": f"{record.parameters.get('complex_once', 0):,}",
    }
    return str(found.get(name, config.get(name, DASH)))


def environment_table(runs: Runs) -> Table:
    """Return the table of hardware and software versions: of the runs, and of the machine that makes this report."""
    import platform

    import torch

    from lfno.core.version import __version__

    table = Table("Environment", ["", "hardware", "torch", "lfno", "commit", "runs"])
    places: dict[tuple[str, ...], int] = {}
    for record in runs.all:
        key = tuple(record.environment.get(name, "unknown") for name in ("hardware", "torch", "lfno", "commit"))
        places[key] = places.get(key, 0) + 1
    for place, count in places.items():
        table.add("training", *place, str(count))
    hardware = torch.cuda.get_device_name(0) if torch.cuda.is_available() else f"{platform.machine()} CPU"
    here = f"{hardware}, Python {platform.python_version()}"
    table.add("this page", TableCell(here), str(torch.__version__), __version__, DASH, DASH)
    return table
