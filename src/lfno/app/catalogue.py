"""The systems on the page, with their equations, inputs and shipped models. This module does not import torch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

from lfno.app.inputs import DURATION, FASTEST, KINDS, LARGEST
from lfno.app.json_values import jsonable
from lfno.systems.families import Curve
from lfno.systems.registry import REGISTRY, Entry, find
from lfno.systems.titles import FLOWS, LINES, ODES

#: heading on the page -> its systems
GROUPS = {"Oscillators": ODES, "Fields in one dimension": LINES, "Flows": FLOWS}
#: kind of model -> suffix of its file name, after the name of the data set
SUFFIXES = {"LFNO": "", "FNO": "-fno", "LNO": "-lno"}
NAMES = {"feedback": "feedback model", "equation": "identified equation"}
BESIDE = "-lfno"  # suffix of an LFNO if the file with the name of its data set holds a model of another kind
MARKS = {b"lfno-feedback": "feedback", b"lfno-equation": "equation", b"Marching": "marching"}
RICH = "-rich"  # ending of the names of data sets with random inputs, and of models trained on these data sets
POSITIONS = 200  # approximate number of positions of the slider of a field
SEEDS = 20  # number of random inputs that the page offers for a field
PAPER_FREQUENCY = 5 / (2 * math.pi)  # Hz; frequency of the decaying sines in the paper's training data
PAPER_INPUT = {"kind": "decaying sine", "amplitude": 6.0, "frequency": PAPER_FREQUENCY, "seed": 0}
#: candidates for the first system on the page; the page shows the first candidate with a model trained on random inputs
OPENING = ("duffing-c05", "pendulum-c05", "lorenz-rho5")


def catalogue() -> dict[str, Any]:
    """Return the list of systems, the first system to show, and the kinds and limits of inputs."""
    rows = []
    for group, names in GROUPS.items():
        for name, title in names.items():
            entry = find(name)
            system = entry.system(**entry.parameters)
            models = shipped(name)
            rows.append(
                {
                    "name": name,
                    "title": title,
                    "group": group,
                    "equation": entry.system.equation,
                    "conditions": entry.system.conditions,
                    "values": system.values,
                    "input": [[channel.name, channel.unit] for channel in entry.system.inputs],
                    "output": [[channel.name, channel.unit] for channel in entry.system.outputs],
                    "grid": entry.grid.to_dict()["axes"],
                    "models": [{"key": key, "label": label} for key, label in labels(models).items()],
                    "note": _note(name, models),
                    "unsettled": system.unsettled,
                    "slider": slider(entry),
                    "draws": SEEDS if entry.grid.ndim > 1 and has_random_inputs(name) else 0,
                    "start": _start(entry, models),
                    "paper": PAPER_INPUT,
                    "trained_on": "random inputs" if has_random_inputs(name) else "the inputs of the paper",
                }
            )
    opening = next((name for name in OPENING if has_random_inputs(name)), OPENING[0])
    kinds = {kind: {"formula": formula, "frequency": f, "seed": s} for kind, (formula, f, s) in KINDS.items()}
    limits = {"amplitude": LARGEST, "frequency": FASTEST, "duration": DURATION}
    return jsonable({"systems": rows, "opening": opening, "kinds": kinds, "limits": limits})


def shipped(name: str) -> dict[str, str]:
    """Return the shipped models of a system: key -> name of the file. Models trained on random inputs come first.

    >>> shipped("heat")["FNO"]
    'heat-fno'
    """
    folder = Path(str(resources.files("lfno"))) / "weights"
    keys = {f"{kind} rich": f"{name}{RICH}{suffix}" for kind, suffix in SUFFIXES.items()}
    keys |= {kind: f"{name}{suffix}" for kind, suffix in SUFFIXES.items()}
    found = {key: file for key, file in keys.items() if (folder / f"{file}.safetensors").is_file()}
    models = {_key(key, folder / f"{file}.safetensors"): file for key, file in found.items()}
    beside = f"{name}{RICH}{BESIDE}"
    return models | ({"LFNO rich": beside} if (folder / f"{beside}.safetensors").is_file() else {})


def labels(models: Iterable[str]) -> dict[str, str]:
    """Return the name of each shipped model on the page.

    If a system has models trained on random inputs, its other models are marked "(paper)".

    >>> labels(["LFNO rich", "LFNO"]), labels(["feedback rich"])
    ({'LFNO rich': 'LFNO', 'LFNO': 'LFNO (paper)'}, {'feedback rich': 'feedback model'})
    """
    keys = list(models)
    both = any(key.endswith(" rich") for key in keys)
    names = {key: key.removesuffix(" rich")for key in keys}
    names = {key: NAMES.get(name, name) for key, name in names.items()}
    return {key: f"{name} (paper)" if both and not key.endswith(" rich") else name for key, name in names.items()}


def _key(key: str, file: Path) -> str:
    """Return the key of a model. The header of the file tells whether it holds an LFNO, or another kind of model."""
    with file.open("rb") as opened:
        header = opened.read(int.from_bytes(opened.read(8), "little"))
    kind = next((kind for mark, kind in MARKS.items() if mark in header), "LFNO")
    return key.replace("LFNO", kind)


def has_random_inputs(name: str) -> bool:
    """Return True if a model trained on random inputs is shipped. The page then offers random inputs, too."""
    return any(RICH in file for file in shipped(name).values())


def training_data(name: str) -> str:
    """Return the data set for training on the page. It has random inputs if a shipped model was trained on random inputs.

    >>> training_data("heat"), training_data("burgers")
    ('heat-rich', 'burgers')
    """
    return name + RICH if has_random_inputs(name) else name


def slider(entry: Entry) -> dict[str, Any]:
    """Return name, range and step of the parameter of the inputs, for the slider. Random inputs are numbered from 0."""
    family = entry.family
    if not isinstance(family, Curve):
        return {"name": "sample", "low": 0, "high": SEEDS - 1, "step": 1, "value": 0, "least": 0, "most": SEEDS - 1}
    span = family.high - family.low
    step = _round(span / POSITIONS)
    value = step * round((family.low + 0.6 * span) / step)
    least, most = family.low - span, family.high + span
    return {"name": family.name, "low": family.low, "high": family.high, "step": step, "value": round(value, 6),
            "least": round(least, 6), "most": round(most, 6)}  # fmt: skip


def training_set(file: str) -> Entry | None:
    """Return the data set that a shipped model was trained on, by the name of the model file; None if it is unknown."""
    for suffix in ("-fno", "-lno", BESIDE):
        file = file.removesuffix(suffix)
    return REGISTRY.get(file)


def _start(entry: Entry, models: dict[str, str]) -> dict[str, Any]:
    """Return the first input that the page shows: a random input if a model was trained on such, else an input of the paper."""
    random = any(RICH in file for file in models.values())
    if entry.grid.ndim > 1:
        return {"family": "random", "value": 0} if random else {"family": "paper", "value": slider(entry)["value"]}
    if random:
        return {"kind": "multisine", "amplitude": 4.0, "frequency": 0.6, "seed": 1}
    return PAPER_INPUT


def _round(value: float) -> float:
    """Return the number nearest to `value` that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / value)))


def _note(name: str, models: dict[str, str]) -> str:
    """Return a sentence about missing models of a system; "" if none is missing."""
    if not models:
        return f"lfno has no trained model of this system, so only the truth is shown. Train a model with: lfno train {name}"
    missing = [kind for kind in SUFFIXES if not any(key.startswith(kind) for key in models)]
    return f"lfno has no trained {' or '.join(missing)} of this system." if missing else ""
