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
#: kind of model -> what its file name adds to that of the data set
SUFFIXES = {"LFNO": "", "FNO": "-fno", "LNO": "-lno"}
RICH = "-rich"  # models trained on random inputs
POSITIONS = 200  # of the slider of a field, about
SEEDS = 20  # inputs of a field that are drawn at random
PAPER_FREQUENCY = 5 / (2 * math.pi)  # Hz, of the decaying sine that the paper's models were trained on
OPENING = ("duffing-c05", "pendulum-c05", "lorenz-rho5")  # the page opens on the first of these with a rich model


def catalogue() -> dict[str, Any]:
    """What the page lists, the system it opens on, and the kinds of inputs of its playground."""
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
                    "trained_on": "random inputs" if has_random_inputs(name) else "the inputs of the paper",
                }
            )
    opening = next((name for name in OPENING if has_random_inputs(name)), OPENING[0])
    kinds = {kind: {"formula": formula, "frequency": f, "seed": s} for kind, (formula, f, s) in KINDS.items()}
    limits = {"amplitude": LARGEST, "frequency": FASTEST, "duration": DURATION}
    return jsonable({"systems": rows, "opening": opening, "kinds": kinds, "limits": limits})


def shipped(name: str) -> dict[str, str]:
    """The models with shipped weights: key -> name of the file, models of random inputs first.

    >>> shipped("heat")["FNO"]
    'heat-fno'
    """
    folder = Path(str(resources.files("lfno"))) / "weights"
    keys = {f"{kind} rich": f"{name}{RICH}{suffix}" for kind, suffix in SUFFIXES.items()}
    keys |= {kind: f"{name}{suffix}" for kind, suffix in SUFFIXES.items()}
    found = {key: file for key, file in keys.items() if (folder / f"{file}.safetensors").is_file()}
    return {_key(key, folder / f"{file}.safetensors"): file for key, file in found.items()}


def labels(models: Iterable[str]) -> dict[str, str]:
    """The names of shipped models on the page. Beside models of random inputs, the others are marked as the paper's.

    >>> labels(["LFNO rich", "LFNO"]), labels(["feedback rich"])
    ({'LFNO rich': 'LFNO', 'LFNO': 'LFNO (paper)'}, {'feedback rich': 'feedback model'})
    """
    keys = list(models)
    both = any(key.endswith(" rich") for key in keys)
    names = {key: key.removesuffix(" rich").replace("feedback", "feedback model") for key in keys}
    return {key: f"{name} (paper)" if both and not key.endswith(" rich") else name for key, name in names.items()}


def _key(key: str, file: Path) -> str:
    """The key of a model, "feedback rich" for modes with feedback: the header of a model file tells its kind."""
    with file.open("rb") as opened:
        header = opened.read(int.from_bytes(opened.read(8), "little"))
    return key.replace("LFNO", "feedback") if b'"lfno-feedback"' in header else key


def has_random_inputs(name: str) -> bool:
    """Whether a model of random inputs is shipped, so that a field is shown with such inputs too."""
    return any(RICH in file for file in shipped(name).values())


def training_data(name: str) -> str:
    """The data set that models of a system are trained on here: random inputs where models of such are shipped.

    >>> training_data("heat"), training_data("burgers")
    ('heat-rich', 'burgers')
    """
    return name + RICH if has_random_inputs(name) else name


def slider(entry: Entry) -> dict[str, Any]:
    """Range and step of what tells the samples of a field apart; a random set is a list of numbered draws."""
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
    """The data set that a shipped model was trained on, by the name of its file."""
    for suffix in ("-fno", "-lno"):
        file = file.removesuffix(suffix)
    return REGISTRY.get(file)


def _start(entry: Entry, models: dict[str, str]) -> dict[str, Any]:
    """The input that a system opens with: random where a model knows random inputs, else the paper's."""
    random = any(RICH in file for file in models.values())
    if entry.grid.ndim > 1:
        return {"family": "random", "value": 0} if random else {"family": "paper", "value": slider(entry)["value"]}
    if random:
        return {"kind": "multisine", "amplitude": 4.0, "frequency": 0.6, "seed": 1}
    return {"kind": "decaying sine", "amplitude": 6.0, "frequency": PAPER_FREQUENCY, "seed": 0}


def _round(value: float) -> float:
    """1, 2 or 5 times a power of ten, the nearest."""
    power = 10.0 ** math.floor(math.log10(value))
    return min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / value)))


def _note(name: str, models: dict[str, str]) -> str:
    if not models:
        return f"No weights are shipped for this system, so the page shows the truth alone; train some with: lfno train {name}"
    missing = [kind for kind in SUFFIXES if not any(key.startswith(kind) for key in models)]
    return f"No weights of {' and '.join(missing)} are shipped for this system." if missing else ""
