"""Choose the size of a model from the data: steady modes, poles and their initial range, and the number of epochs.

Steady modes are the Fourier modes that a layer keeps (the option `modes`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lfno.core.grid import frequency_unit
from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.spectral.axes import max_modes

ENERGY = 0.999  # share of the energy of a signal that must lie below the highest mode
STEPS = 1500  # steps of the optimiser in a run on measured signals
RATE = 1e-2  # learning rate for measured signals: half the rate of the preset is better for runs of so few steps
#: largest number of modes along an axis of a field: the Fourier weights have one channel matrix for each combination of modes
MOST_IN_FIELDS = 8
LOOKED_AT = 64  # largest number of samples whose spectrum is computed


@dataclass(frozen=True)
class Sizing:
    """The chosen size of a model.

    fields: name -> value of options of the model and of the training.
    reasons: (name of an option, sentence that explains its value).
    """

    fields: dict[str, Any]
    reasons: list[tuple[str, str]]

    def sentences(self, given: Iterable[str] = ()) -> list[str]:
        """Return the sentences that explain the values, without the options that the user gave (`given`)."""
        return [sentence for name, sentence in self.reasons if name not in set(given)]


def choose_size(dataset: Dataset, split: Split, model: str = "lfno", unscored: int = 0) -> Sizing:
    """Choose the size of a model from the training samples.

    dataset, split: the samples.
    model: "lfno", "lno" or "fno".
    unscored: the number of time steps at the start of each sample that the loss ignores (the warm-up).

    The highest frequency of a signal is the frequency below which 99.9 % of its energy lies. The steady modes reach 10 % beyond
    the highest frequencies of input and output. There are at least 4 modes along each axis, and at most MOST_IN_FIELDS for
    fields. The number of poles is 8 for fields. For signals it is N/2, at least 8 and at most 32, where a window contains N
    periods of the highest output frequency. The initial frequencies of the poles are below the highest
    output frequency.

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
        unit = frequency_unit(axis.unit or axis.name)
        where = f"{modes[-1]} of {most} steady modes along {axis.name}"
        edges = f"{ins / axis.length:.3g} {unit} (input) and {outs / axis.length:.3g} {unit} (output)"
        why = f"{100 * ENERGY:g} % of the energy lies below {edges}"
        reasons.append(("modes", f"{where}: {why}"))
        if axis.time:
            swings = max(outs, 4.0)
    fields: dict[str, Any] = {"modes": tuple(modes)}
    if model.lower() != "fno":
        count = min(max(math.ceil(swings / 2), 8), 32) if grid.ndim == 1 else 8
        fields |= {"n_poles": count, "cycles": float(swings)}
        span = grid.axes[last]
        fastest = f"{swings / span.length:.3g} {frequency_unit(span.unit or span.name)}"
        where = f"{count} poles per layer, initialised at frequencies below {fastest}"
        reasons.append(("n_poles", f"{where}: {100 * ENERGY:g} % of the energy of the output lies below this frequency"))
    samples = len(split.train)
    batch = min(max(samples // 8, 4), 32)
    epochs = min(max(math.ceil(STEPS / math.ceil(samples / batch)), 20), 1000)
    fields |= {"batch": batch, "epochs": epochs, "validate_every": max(1, epochs // 50)}
    why = f"about {epochs * math.ceil(samples / batch)} steps over {samples} training sample{'s' if samples > 1 else ''}"
    reasons.append(("epochs", f"{epochs} epochs in batches of {batch}: {why}"))
    if grid.ndim == 1:
        # measured signals have noise, and derivatives amplify it: use a loss without slopes
        fields |= {"learning_rate": RATE, "loss": "l2"}
    if unscored:
        fields["unscored"] = unscored
    return Sizing(fields, reasons)


def highest_mode(values: np.ndarray, axis: int, energy: float = ENERGY) -> float:
    """Return the lowest mode such that the share `energy` of the energy lies in this and lower modes; 0 for constant values.

    values: an array; the energy is summed over all other axes.
    axis: the index of the axis.

    The values are first multiplied by a taper. Otherwise the jump from the end of a window to its beginning would add high
    frequencies.
    """
    lines = np.moveaxis(np.asarray(values, dtype=np.float64), axis, -1)
    size = lines.shape[-1]
    lines = (lines - lines.mean(-1, keepdims=True)) * np.hanning(size)
    power = (np.abs(np.fft.rfft(lines)) ** 2).reshape(-1, size // 2 + 1).sum(0)
    total = power.sum()
    if not total > 0:
        return 0.0
    return float(np.searchsorted(np.cumsum(power), energy * total))
