"""The systems on the page, with their equations, inputs and shipped models. This module does not import torch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from lfno.app.inputs import DURATION, FASTEST, KINDS, LARGEST
from lfno.core.json_text import jsonable
from lfno.systems.families import Curve
from lfno.systems.registry import REGISTRY, Entry, find
from lfno.systems.signals import open_mesh
from lfno.systems.titles import FLOWS, LINES, ODES

#: heading on the page -> the systems below it (name of the system -> its title)
GROUPS = {"Oscillators": ODES, "Fields in one dimension": LINES, "Flows": FLOWS}
#: kind of model -> suffix of its file name, after the name of the data set. The suffix "" also stands for the kinds in MARKS
SUFFIXES = {"LFNO": "", "FNO": "-fno", "LNO": "-lno"}
#: kind of model -> its name on the page; other kinds keep their name
NAMES = {"feedback": "feedback model", "equation": "identified equation"}
#: suffix of an LFNO for random inputs if the file NAME-rich holds another kind of model, for example an identified equation
BESIDE = "-lfno"
#: bytes in the header of a model file -> kind of the model. Without any of these bytes, a file with the suffix "" holds an LFNO
MARKS = {b"lfno-feedback": "feedback", b"lfno-equation": "equation", b"Marching": "marching"}
RICH = "-rich"  # NAME-rich is the data set of NAME with random inputs; the files of models trained on it begin with NAME-rich
POSITIONS = 200  # approximate number of positions of the slider of a field
SEEDS = 20  # number of random inputs that the page offers for a field
PAPER_FREQUENCY = 5 / (2 * math.pi)  # Hz; frequency of the decaying sines in the paper's training data
DRAWS = 64  # number of random inputs from which the range of the training inputs is estimated
STARTS = (0.5, 1.0, 2.0, 4.0)  # the first input has the largest of these amplitudes inside the range of the training inputs
#: the paper's input of an oscillator, with one of its amplitudes
PAPER_INPUT = {"kind": "decaying sine", "amplitude": 6.0, "frequency": PAPER_FREQUENCY, "seed": 0}
#: candidates for the first system on the page; the page shows the first candidate with a model trained on random inputs
OPENING = ("duffing-c05", "pendulum-c05", "lorenz-rho5")


def catalogue() -> dict[str, Any]:
    """Return the list of systems, the name of the first system to show, and the kinds and limits of inputs."""
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
    """Return the shipped models of a system: key -> file name. Models trained on random inputs come first.

    A key is the kind of the model. It ends with " rich" if the model was trained on random inputs, for example "LFNO rich".

    >>> shipped("heat")["FNO"]
    'heat-fno'
    """
    folder = Path(str(resources.files("lfno"))) / "weights"
    keys = {f"{kind} rich": f"{name}{RICH}{suffix}" for kind, suffix in SUFFIXES.items()}
    keys |= {kind: f"{name}{suffix}" for kind, suffix in SUFFIXES.items()}
    found = {key: file for key, file in keys.items() if (folder / f"{file}.safetensors").is_file()}
    models = {_key(key, folder / f"{file}.safetensors"): file for key, file in found.items()}
    beside = f"{name}{RICH}{BESIDE}"
    models |= {"LFNO rich": beside} if (folder / f"{beside}.safetensors").is_file() else {}
    return dict(sorted(models.items(), key=lambda model: not model[0].endswith(" rich")))


def labels(models: Iterable[str]) -> dict[str, str]:
    """Return key -> name on the page, for the keys of shipped models (see `shipped`).

    If a system has models trained on random inputs, its other models are marked "(paper)".

    >>> labels(["LFNO rich", "LFNO"]), labels(["feedback rich"])
    ({'LFNO rich': 'LFNO', 'LFNO': 'LFNO (paper)'}, {'feedback rich': 'feedback model'})
    """
    keys = list(models)
    both = any(key.endswith(" rich") for key in keys)
    names = {key: key.removesuffix(" rich") for key in keys}
    names = {key: NAMES.get(name, name) for key, name in names.items()}
    return {key: f"{name} (paper)" if both and not key.endswith(" rich") else name for key, name in names.items()}


def _key(key: str, file: Path) -> str:
    """Return `key` with the kind of the model in `file` in place of "LFNO". The header of the file shows the kind."""
    with file.open("rb") as opened:
        header = opened.read(int.from_bytes(opened.read(8), "little"))
    kind = next((kind for mark, kind in MARKS.items() if mark in header), "LFNO")
    return key.replace("LFNO", kind)


def has_random_inputs(name: str) -> bool:
    """Return True if a model trained on random inputs is shipped. For a field, the page then offers random inputs, too."""
    return any(RICH in file for file in shipped(name).values())


def training_data(name: str) -> str:
    """Return the data set for training on the page. It has random inputs if a shipped model was trained on random inputs.

    >>> training_data("heat"), training_data("duffing-c0")
    ('heat-rich', 'duffing-c0')
    """
    return name + RICH if has_random_inputs(name) else name


def slider(entry: Entry) -> dict[str, Any]:
    """Return the slider of the parameter of the inputs. If all inputs are random, the parameter is the number of an input.

    name, unit: the name and the unit of the parameter.
    low, high, step: the range of the training inputs, which is the range of the slider, and the step of the slider.
    value: the first position of the slider.
    least, most: the range of values that the server accepts.
    """
    family = entry.family
    if not isinstance(family, Curve):
        return {"name": "sample", "unit": "", "low": 0, "high": SEEDS - 1, "step": 1, "value": 0, "least": 0, "most": SEEDS - 1}
    span = family.high - family.low
    step = _round(span / POSITIONS)
    value = step * round((family.low + 0.6 * span) / step)
    least, most = family.low - span, family.high + span
    unit = entry.system.inputs[-1].unit if family.unit is None else family.unit
    return {"name": family.name, "unit": unit, "low": family.low, "high": family.high, "step": step, "value": round(value, 6),
            "least": round(least, 6), "most": round(most, 6)}  # fmt: skip


def training_set(file: str) -> Entry | None:
    """Return the data set that a shipped model was trained on, by the name of the model file; None if it is unknown."""
    for suffix in ("-fno", "-lno", BESIDE):
        file = file.removesuffix(suffix)
    return REGISTRY.get(file)


def _start(entry: Entry, models: dict[str, str]) -> dict[str, Any]:
    """Return the first input on the page. It is random if a model was trained on random inputs, else it is one of the paper."""
    random = any(RICH in file for file in models.values())
    if entry.grid.ndim > 1:
        return {"family": "random", "value": 0} if random else {"family": "paper", "value": slider(entry)["value"]}
    if random:
        trained = find(f"{entry.name}{RICH}")
        drawn = trained.family.signal(trained.family.draw(DRAWS, np.random.default_rng(0)))(*open_mesh(trained.grid))
        largest = np.sqrt(2 * (drawn**2).mean(-1)).max()  # a multisine has the power of a sine of the same amplitude
        return {"kind": "multisine", "amplitude": max(a for a in STARTS if a <= max(largest, STARTS[0])), "frequency": 0.6,
                "seed": 1}  # fmt: skip
    return PAPER_INPUT


def _round(value: float) -> float:
    """Return 1, 2 or 5 times a power of ten: the one whose ratio to `value` is nearest to 1."""
    power = 10.0 ** math.floor(math.log10(value))
    return min((factor * power for factor in (1, 2, 5, 10)), key=lambda step: abs(math.log(step / value)))


def _note(name: str, models: dict[str, str]) -> str:
    """Return a sentence about missing models of a system; "" if none is missing."""
    if not models:
        return f"lfno has no trained model of this system, so only the truth is shown. Train a model with: lfno train {name}"
    missing = [kind for kind in SUFFIXES if not any(key.startswith(kind) for key in models)]
    listed = " and no ".join([", no ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
    return f"lfno has no trained {listed} of this system." if missing else ""
