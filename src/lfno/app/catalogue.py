"""The systems that the page lists, with their equations, inputs and shipped models. Nothing here needs torch."""

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

GROUPS = {"Oscillators": ODES, "Fields in one dimension": LINES, "Flows": FLOWS}
#: kind of model -> suffix of its file name, after the name of the data set
SUFFIXES = {"LFNO": "", "FNO": "-fno", "LNO": "-lno"}
RICH = "-rich"  # suffix of data sets with random inputs, and of the models trained on them
POSITIONS = 200  # approximate number of positions of a field's slider
SEEDS = 20  # number of random inputs that the page offers for a field
PAPER_FREQUENCY = 5 / (2 * math.pi)  # Hz, frequency of the decaying sine that the paper's models were trained on
PAPER_INPUT = {"kind": "decaying sine", "amplitude": 6.0, "frequency": PAPER_FREQUENCY, "seed": 0}
OPENING = ("duffing-c05", "pendulum-c05", "lorenz-rho5")  # the page opens with the first of these that has a rich model


def catalogue() -> dict[str, Any]:
    """Return the list of systems, the system that the page opens with, and the kinds and limits of its inputs."""
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
    """Return the models with shipped weights: key -> name of the file. Models trained on random inputs come first.

    >>> shipped("heat")["FNO"]
    'heat-fno'
    """
    folder = Path(str(resources.files("lfno"))) / "weights"
    keys = {f"{kind} rich": f"{name}{RICH}{suffix}" for kind, suffix in SUFFIXES.items()}
    keys |= {kind: f"{name}{suffix}" for kind, suffix in SUFFIXES.items()}
    found = {key: file for key, file in keys.items() if (folder / f"{file}.safetensors").is_file()}
    return {_key(key, folder / f"{file}.safetensors"): file for key, file in found.items()}


def labels(models: Iterable[str]) -> dict[str, str]:
    """Return the name of each shipped model on the page.

    If a system has models trained on random inputs, its other models are marked "(paper)".

    >>> labels(["LFNO rich", "LFNO"]), labels(["feedback rich"])
    ({'LFNO rich': 'LFNO', 'LFNO': 'LFNO (paper)'}, {'feedback rich': 'feedback model'})
    """
    keys = list(models)
    both = any(key.endswith(" rich") for key in keys)
    names = {key: key.removesuffix(" rich").replace("feedback", "feedback model") for key in keys}
    return {key: f"{name} (paper)" if both and not key.endswith(" rich") else name for key, name in names.items()}


def _key(key: str, file: Path) -> str:
    """Return the key of a model. The header of the file tells whether it has modes with feedback, or goes from frame to frame.
    """
    with file.open("rb") as opened:
        header = opened.read(int.from_bytes(opened.read(8), "little"))
    if b"lfno-feedback" in header:
        return key.replace("LFNO", "feedback")
    return key.replace("LFNO", "marching") if b"Marching" in header else key


def has_random_inputs(name: str) -> bool:
    """Return whether a model trained on random inputs is shipped. The page then offers random inputs too."""
    return any(RICH in file for file in shipped(name).values())


def training_data(name: str) -> str:
    """Return the data set for training on the page: random inputs if a shipped model was trained on them.

    >>> training_data("heat"), training_data("burgers")
    ('heat-rich', 'burgers')
    """
    return name + RICH if has_random_inputs(name) else name


def slider(entry: Entry) -> dict[str, Any]:
    """Return range and step of the parameter that distinguishes the samples. Random samples are numbered instead."""
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
    """Return the data set that a shipped model was trained on, found by the name of the model file."""
    for suffix in ("-fno", "-lno"):
        file = file.removesuffix(suffix)
    return REGISTRY.get(file)


def _start(entry: Entry, models: dict[str, str]) -> dict[str, Any]:
    """Return the first input of a system: random if a model was trained on random inputs, else the paper's."""
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
    if not models:
        return f"No weights are shipped for this system, so the page shows the truth alone; train some with: lfno train {name}"
    missing = [kind for kind in SUFFIXES if not any(key.startswith(kind) for key in models)]
    named = " and ".join([", ".join(missing[:-1]), missing[-1]]) if len(missing) > 1 else "".join(missing)
    return f"No weights of {named} are shipped for this system." if missing else ""
