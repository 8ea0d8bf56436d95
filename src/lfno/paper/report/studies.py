"""Tables apart from the main errors: ablations, layers, training size, hyper-parameters, environment."""

from __future__ import annotations

from typing import Any

from lfno.paper.report import paper
from lfno.paper.report.selection import Runs, lowest, ordered
from lfno.paper.report.tables import DASH, Table, TableCell, counted, show
from lfno.paper.studies import STUDIES
from lfno.systems import titles

LAYERS = ((4, 2), (3, 3), (2, 4), (6, 0), (0, 6))


def ablation_table(runs: Runs) -> Table:
    """Return one row per variant and one column per task: L2 errors, with L∞ in small print."""
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
        f"Each variant changes one thing{_effort(own)}. The pilot chooses R for each variant; the number of "
        "parameters shows where it chose no R. R: the Fourier weights of a layer beside its poles; untamed: R is "
        "trained without the pilot."
    )
    return table


def gate_table(runs: Runs) -> Table:
    """Compare LFNO without gates with the same runs of the main tables."""
    own = runs.study("gate").where(label="LFNO")
    table = _beside(own, [runs.main.where(preset="default")], "Gates: none, or the default's", "gated")
    table.note = (
        f"LFNO without gates{_effort(own)}; small print: the default with gates. On the "
        "rich sets neither has R. Bold: the variant without gates is better."
    )
    return table


def padding_table(runs: Runs) -> Table:
    """Compare runs without padding with the same runs with padding. LFNO is taken from the study of gates, so that one thing
    changes.
    """
    others = [runs.study("gate"), runs.main.where(preset="default")]
    table = _beside(runs.study("padding"), others, "Padding: none, or the default's", "padded")
    table.note = (
        f"Without padding{_effort(runs.study('padding'))}; small print: with zeros "
        "appended for half the length of every axis that is not periodic. LFNO without gates on signals, and the deepened "
        "FNO with as many parameters as that. Bold: the run without padding is better."
    )
    return table


def loss_table(runs: Runs) -> Table:
    """Compare signals trained on values alone with the same runs trained on values and slopes, both without padding."""
    others = [runs.study("padding"), runs.study("gate"), runs.main.where(preset="default")]
    table = _beside(runs.study("loss"), others, "Loss: values alone, or values and slopes", "with slopes")
    table.note = (
        f"Trained on values alone{_effort(runs.study('loss'))}; small print: on values and slopes. All without "
        "gates and padding. Bold where values alone are better."
    )
    return table


def _beside(own: Runs, others: list[Runs], title: str, word: str) -> Table:
    """Return the table of a study with one variant. Small print gives the error of the first of `others` with such runs."""
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
    """Return epochs and seeds of a study, as the end of a sentence."""
    figure, seeds = runs.error("l2"), len({r.seed for r in runs.all})
    return "" if figure is None else f"; {counted(figure.epochs)} epochs, {seeds} seed{'s' if seeds > 1 else ''}"


def variants(runs: Runs, study: str) -> list[str]:
    """Return the labels of a study in their order."""
    return ordered((r.label for r in runs.all), [variant.label for variant in STUDIES[study].variants])


def layers_of(record: Any) -> tuple[int, int]:
    """Return the numbers of transient and steady layers of a record."""
    return int(record.config.get("transient_layers", -1)), int(record.config.get("steady_layers", -1))


def layers_table(runs: Runs) -> Table:
    """Return the errors for six layers, divided between transient and steady branch."""
    own = runs.study("layers")
    tasks = ordered(own.tasks, list(titles.ALL))
    table = Table("Layers, transient + steady: relative L2", ["", "parameters", *(titles.title(task) for task in tasks)])
    groups = {f"{a}+{b}": Runs(r for r in own.all if layers_of(r) == (a, b)) for a, b in LAYERS}
    figures = {task: {k: group.where(task=task).error("l2") for k, group in groups.items()} for task in tasks}
    for key, group in groups.items():
        cells = (show(figures[task][key], bold=key in lowest(figures[task])) for task in tasks)
        table.add(key, _parameters(group), *cells)
    table.note = f"The paper's network, its six layers divided between the two branches{_effort(own)}."
    return table


def samples_table(runs: Runs) -> Table:
    """Error against the number of training samples."""
    own = runs.study("samples")
    sizes = sorted({r.train_samples for r in own.all})
    table = Table("Training samples: relative L2", ["", *map(str, sizes)])
    for task in ordered(own.tasks, list(titles.ALL)):
        table.heading(titles.title(task))
        part = own.where(task=task)
        figures = {n: {m: part.where(train_samples=n).of(m).error("l2") for m in part.models} for n in sizes}
        for model in part.models:
            table.add(model, *(show(figures[n][model], bold=model in lowest(figures[n])) for n in sizes))
    table.note = f"The same validation and test samples, and as many steps for every size{_effort(own)}."
    return table


def _parameters(runs: Runs) -> str:
    counts = sorted({int(r.parameters["complex_once"]) for r in runs.all if "complex_once" in r.parameters})
    return DASH if not counts else " / ".join(f"{count:,}" for count in counts)


def _depth(config: dict[str, Any]) -> str:
    if config.get("layout") in ("branches", "sequence"):
        return f"{config.get('transient_layers')}+{config.get('steady_layers')}"
    return str(config.get("layers", config.get("transient_layers", DASH)))


def _schedule(training: dict[str, Any]) -> str:
    if training.get("schedule") == "step":
        return f"×{training.get('gamma')} / {training.get('step_size')}"
    return str(training.get("schedule", DASH))


def hyper_parameter_table(runs: Runs) -> Table:
    """Return the paper's hyper-parameters, and those of our runs below."""
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
        "Layers of the paper's LFNO: 4 transient and 2 steady. Its weight decay is read as decoupled from the "
        "gradient. The published FNO has 7,537 parameters, which is width 16 with 4 modes, not the 4 and 16 stated."
    )
    return table


def _setting(name: str, record: Any) -> str:
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
    """Return where the numbers were measured, and where this page was written."""
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
