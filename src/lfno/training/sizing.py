"""The size of a model from the data: how many steady modes and poles, where the poles start, how long to train."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.spectral.axes import max_modes

#: the share of a signal's energy that must lie below the highest mode
ENERGY = 0.999
#: gradient steps that train a model well on the signals we know, and their rate: runs as short as this one, on batches as
#: small, like half of what the preset has (seen on two records of oscillators)
STEPS, RATE = 1500, 1e-2
MOST_IN_FIELDS = 8  # modes along an axis of a field: R has one matrix for each combination
LOOKED_AT = 64  # samples whose spectrum is taken


@dataclass(frozen=True)
class Sizing:
    """Fields of the model's and the training's configuration, and for the important ones a sentence that says why."""

    fields: dict[str, Any]
    reasons: list[tuple[str, str]]

    def sentences(self, given: Iterable[str] = ()) -> list[str]:
        """Why each field is what it is, but for those that the user gave."""
        return [sentence for name, sentence in self.reasons if name not in set(given)]


def choose_size(dataset: Dataset, split: Split, model: str = "lfno", unscored: int = 0) -> Sizing:
    """What the training samples themselves say.

    Steady modes reach up to the frequency below which 99.9 % of the energy of input and output lies; poles start
    anywhere below that frequency of the output, one for every two swings of it in a window (8 to 32).

    >>> t = np.arange(512) * 0.1
    >>> data = Dataset(np.sin([[t], [t]]), np.cos([[t], [t]]), lfno.Grid.line(512, 0.1))
    >>> choose_size(data, Split([0], [], [1])).fields["modes"]
    (11,)
    """
    chosen = split.train[:: max(1, len(split.train) // LOOKED_AT)][:LOOKED_AT]
    force, motion = dataset.inputs[chosen], dataset.outputs[chosen]
    grid, last = dataset.grid, dataset.grid.ndim - 1
    modes: list[int] = []
    reasons: list[tuple[str, str]] = []
    swings = 4.0
    for d, axis in enumerate(grid.axes):
        most = max_modes(axis.size, half=d == last)
        ins, outs = (highest_mode(values, 2 + d) for values in (force, motion))
        wanted = math.ceil(1.1 * max(ins, outs)) + 1
        modes.append(min(max(wanted, 4), most, MOST_IN_FIELDS if last else most))
        unit = "Hz" if axis.unit == "s" else f"1/{axis.unit or axis.name}"
        where = f"{modes[-1]} of {most} steady modes along {axis.name}"
        edges = f"{ins / axis.length:.3g} {unit} and {outs / axis.length:.3g} {unit}"
        why = f"{100 * ENERGY:g} % of the energy of input and output lies below {edges}"
        reasons.append(("modes", f"{where}: {why}"))
        if axis.time:
            swings = max(outs, 4.0)
    fields: dict[str, Any] = {"modes": tuple(modes)}
    if model.lower() != "fno":
        count = min(max(math.ceil(swings / 2), 8), 32) if grid.ndim == 1 else 8
        fields |= {"n_poles": count, "cycles": float(swings)}
        span = grid.axes[last]
        fastest = f"{swings / span.length:.3g} {'Hz' if span.unit == 's' else '1/' + (span.unit or span.name)}"
        where = f"{count} poles per layer, at first anywhere below {fastest}"
        reasons.append(("n_poles", f"{where}: where the output has its energy"))
    samples = len(split.train)
    batch = min(max(samples // 8, 4), 32)
    epochs = min(max(math.ceil(STEPS / math.ceil(samples / batch)), 20), 1000)
    fields |= {"batch": batch, "epochs": epochs, "validate_every": max(1, epochs // 50)}
    why = f"about {epochs * math.ceil(samples / batch)} steps over {samples} training samples"
    reasons.append(("epochs", f"{epochs} epochs in batches of {batch}: {why}"))
    if grid.ndim == 1:
        # measured signals have noise, which slopes magnify
        fields |= {"learning_rate": RATE, "loss": "l2"}
    if unscored:
        fields["unscored"] = unscored
    return Sizing(fields, reasons)


def highest_mode(values: np.ndarray, axis: int, energy: float = ENERGY) -> float:
    """The mode number below which `energy` of the variation along `axis` lies, averaged over everything else.

    Signals are tapered, so that a window's jump from its end to its beginning does not pass for high frequencies; a
    constant has mode 0.
    """
    lines = np.moveaxis(np.asarray(values, dtype=np.float64), axis, -1)
    size = lines.shape[-1]
    lines = (lines - lines.mean(-1, keepdims=True)) * np.hanning(size)
    power = (np.abs(np.fft.rfft(lines)) ** 2).reshape(-1, size // 2 + 1).sum(0)
    total = power.sum()
    if not total > 0:
        return 0.0
    return float(np.searchsorted(np.cumsum(power), energy * total))
