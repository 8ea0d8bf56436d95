"""The range of validity of a model: the range of its training inputs, and the distance of a new input from it.

Each window of the inputs has four kinds of features: the peak of each channel, its root mean square (RMS), the two frequencies
below which 50 % and 95 % of its energy lie, and the ratio of neighbouring channels. The range of a feature goes from its
smallest to its largest value over the training windows. The bounds are widened slightly, because a new sample exceeds the
largest of n samples with the probability 1/(n + 1). The bounds of a ratio of channels are also widened by a factor of 2.

The distance of an input is computed for each feature: 0 is the median of the training windows, and 1 is the bound of the range.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from lfno.core.grid import Grid, frequency_unit
from lfno.core.short import Short

QUANTILES = (0.5, 0.95)  # shares of the energy: a feature is the frequency below which this share of the energy lies
SLACK = 0.05  # every bound is widened by the factor 1 + SLACK + 1/√n for n training windows
RESOLUTION = 2.0  # bins of the spectrum: tolerance of a frequency bound
FAINT = 1e-3  # share of the largest training RMS: the spectrum of a channel with a smaller RMS is ignored


@dataclass(frozen=True)
class Excess:
    """One feature of an input that is out of range.

    feature: "amplitude" (peak or RMS), "band" (frequency) or "channels" (ratio of channels).
    times: the value of the feature divided by its largest value in training, or the smallest value in training divided by the
        value if the value is too small.
    message: a sentence for the user.
    """

    feature: str
    times: float
    message: str


@dataclass(frozen=True, repr=False)
class Coverage(Short):
    """Bounds of the features of the training windows.

    peak, rms: (channels,) the largest value of each channel.
    band: (quantiles, channels, 2) the lowest and the highest frequency, in 1/unit.
    balance: (channels − 1, 2) the lowest and the highest logarithm of the ratio of neighbouring channels.
    duration: the duration of a training window, in `unit`.
    unit: the unit of time.
    count: the number of training windows.
    medians: the medians of peak, rms, band and balance, in this order; empty in files of older models.
    """

    peak: list[float]
    rms: list[float]
    band: list[list[list[float]]]
    balance: list[list[float]]
    duration: float
    unit: str
    count: int
    medians: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, inputs: np.ndarray, grid: Grid) -> Coverage:
        """Return the bounds of training inputs (samples, channels, *space, time).

        >>> t = np.arange(100) * 0.1
        >>> force = np.random.default_rng(0).uniform(1, 2, (50, 1, 1)) * np.sin(2 * np.pi * t)
        >>> range_ = Coverage.of(force, Grid.line(100, 0.1))
        >>> range_.excesses(force[:5], Grid.line(100, 0.1))
        []
        >>> [excess.feature for excess in range_.excesses(5 * force[:1], Grid.line(100, 0.1))]
        ['amplitude']
        """
        axis = grid.axes[-1]
        flat = _flat(inputs)
        found = [_features(window, axis.step) for window in flat]
        peak, rms = (np.max([one[k] for one in found], 0) for k in (0, 1))
        strong = [one[1] > FAINT * rms for one in found]
        bands = np.array([np.where(on, one[2], np.nan) for one, on in zip(found, strong, strict=True)])
        bands = np.where(np.isnan(bands).all(0), 0.0, bands)  # a channel that is zero in all windows has no frequencies
        band = np.stack([np.nanmin(bands, 0), np.nanmax(bands, 0)], -1)
        ratios = np.array([_balance(one[1], rms) for one in found]).reshape(len(found), -1)
        balance = np.stack([ratios.min(0), ratios.max(0)], -1)
        amplitudes = (np.median([one[k] for one in found], 0) for k in (0, 1))
        medians = [value.tolist() for value in (*amplitudes, np.nanmedian(bands, 0), np.median(ratios, 0))]
        bounds = (peak.tolist(), rms.tolist(), band.tolist(), balance.tolist())
        return cls(*bounds, axis.length, axis.unit, len(found), medians)

    def excesses(self, inputs: np.ndarray, grid: Grid) -> list[Excess]:
        """Return the features that are out of range, only the worst of each kind. The list is empty for inputs in range.

        inputs: (samples, channels, *space, time). Long inputs are cut into windows as long as the training windows.
        """
        worst: dict[str, Excess] = {}
        for sample in _flat(inputs):
            for distance, excess in self._of_sample(sample, grid):
                if distance > 1 and (excess.feature not in worst or excess.times > worst[excess.feature].times):
                    worst[excess.feature] = excess
        return sorted(worst.values(), key=lambda excess: -excess.times)

    def distances(self, inputs: np.ndarray, grid: Grid) -> np.ndarray:
        """Return the distance of each sample from the median of the training inputs, (samples,).

        inputs: (samples, channels, *space, time).

        The distance 1 is the bound of the range: `excesses` reports the samples with larger distances. The distance of a sample
        is the largest one over its features and windows. If a file has no medians, samples in range have the distance 0.

        >>> t = np.arange(100) * 0.1
        >>> force = np.linspace(1, 2, 50)[:, None, None] * np.sin(2 * np.pi * t)
        >>> range_ = Coverage.of(force, Grid.line(100, 0.1))
        >>> range_.distances(np.concatenate([force[24:25], force[-1:], 5 * force[-1:]]), Grid.line(100, 0.1)).round(1)
        array([0. , 0.6, 4.1])
        """
        rows = [[distance for distance, _ in self._of_sample(sample, grid)] for sample in _flat(inputs)]
        return np.array([max(0.0, *row) for row in rows])

    def _of_sample(self, sample: np.ndarray, grid: Grid) -> Iterator[tuple[float, Excess]]:
        """Yield (distance, excess) for each feature of each window of a sample (channels, time).

        The excess is valid only if the distance is larger than 1.
        """
        step = grid.axes[-1].step
        for window in _windows(sample, max(8, round(self.duration / step))):
            peak, rms, bands = _features(window, step)
            yield from self._of_amplitudes(peak, rms)
            yield from self._of_bands(rms, bands, RESOLUTION / (window.shape[-1] * step))
            yield from self._of_balance(rms)

    @property
    def _slack(self) -> float:
        """The factor by which every bound is widened."""
        return 1 + SLACK + 1 / math.sqrt(self.count)

    def _middle(self, kind: int, shape: tuple[int, ...]) -> np.ndarray:
        """The medians of one kind of feature (an index of `medians`); NaN if the file has none."""
        return np.asarray(self.medians[kind], dtype=float) if self.medians else np.full(shape, np.nan)

    def _of_amplitudes(self, peak: np.ndarray, rms: np.ndarray) -> Iterator[tuple[float, Excess]]:
        """Yield (distance, excess) for the peak and the RMS of each channel of a window."""
        for kind, (values, bounds, word) in enumerate(((peak, self.peak, "peak"), (rms, self.rms, "rms"))):
            for value, bound, middle in zip(values, bounds, self._middle(kind, values.shape), strict=True):
                times = float(value / max(bound, 1e-300))
                logs = (math.log(max(number, 1e-300)) for number in (value, bound * self._slack, middle))
                message = f"the {word} of the input is {times:.3g} times the largest {word} in training"
                yield _distance(*logs), Excess("amplitude", times, message)

    def _of_bands(self, rms: np.ndarray, bands: np.ndarray, margin: float) -> Iterator[tuple[float, Excess]]:
        """Yield (distance, excess) for the frequencies of each channel of a window. margin: tolerance of a frequency."""
        on, middles = rms > FAINT * np.array(self.rms), self._middle(2, bands.shape)
        unit = frequency_unit(self.unit)
        for share, values, limits, medians in zip(QUANTILES, bands, self.band, middles, strict=True):
            for value, (low, high), middle in zip(values[on], np.array(limits)[on], medians[on], strict=True):
                above = _distance(value, high * self._slack + margin, middle)
                below = _distance(-value, margin - low / self._slack, -middle)
                times = value / max(high, margin) if above > below else low / max(value, margin)
                # the frequency 0 stands for the lowest bin of the spectrum, which ends at one cycle per window
                here, least, most = (max(number, margin / RESOLUTION) for number in (value, low, high))
                where = f"{here:.3g} {unit}, in training {least:.3g} to {most:.3g} {unit}"
                message = f"{100 * share:.0f} % of the energy of the input lies below {where}"
                yield max(above, below), Excess("band", float(times), message)

    def _of_balance(self, rms: np.ndarray) -> Iterator[tuple[float, Excess]]:
        """Yield (distance, excess) for the ratio of each pair of neighbouring channels of a window."""
        values, room = _balance(rms, np.array(self.rms)), math.log(2 * self._slack)
        for value, (low, high), middle in zip(values, self.balance, self._middle(3, values.shape), strict=True):
            times = math.exp(max(value - high, low - value))
            message = f"the ratio of two input channels is outside the range of training by a factor of {times:.3g}"
            distance = max(_distance(value, high + room, middle), _distance(-value, room - low, -middle))
            yield distance, Excess("channels", times, message)

    def to_dict(self) -> dict[str, Any]:
        """Return the coverage as a dictionary of lists and numbers. `from_dict` is the inverse."""
        return asdict(self)

    @classmethod
    def from_dict(cls, tree: dict[str, Any]) -> Coverage:
        """Return the coverage that `to_dict` described."""
        return cls(**tree)


def _flat(inputs: np.ndarray) -> np.ndarray:
    """Return each channel at the point in space where its RMS is largest, (samples, channels, time).

    inputs: (samples, channels, *space, time).
    """
    inputs = np.asarray(inputs, dtype=np.float64)
    if inputs.ndim == 3:
        return inputs
    lines = inputs.reshape(*inputs.shape[:2], -1, inputs.shape[-1])
    place = (lines**2).sum(-1).argmax(-1)
    return np.take_along_axis(lines, place[..., None, None], 2)[:, :, 0]


def _distance(value: float, edge: float, middle: float) -> float:
    """Return (value − middle) / (edge − middle).

    If the middle is NaN or not below the edge, return 0 for a value up to the edge, and more than 1 for a larger value.
    """
    if not middle < edge:
        return 0.0 if value <= edge else 1.0 + value - edge
    return (value - middle) / (edge - middle)


def _windows(sample: np.ndarray, length: int) -> Iterator[np.ndarray]:
    """Yield windows (channels, length) of a sample (channels, time).

    A sample that is shorter than `length` is one window. Of other samples, a remainder at the end is not used.
    """
    for start in range(0, max(sample.shape[-1] - length, 0) + 1, length):
        yield sample[:, start : start + length]


def _features(window: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (peak, RMS, frequencies) of a window (channels, time); shapes (channels,), (channels,), (quantiles, channels).

    step: time step.
    """
    peak, rms = np.abs(window).max(-1), np.sqrt((window**2).mean(-1))
    size = window.shape[-1]
    centred = (window - window.mean(-1, keepdims=True)) * np.hanning(size)
    power = np.cumsum(np.abs(np.fft.rfft(centred)) ** 2, -1)
    total = np.maximum(power[:, -1:], 1e-300)
    places = np.stack([(power < share * total).sum(-1) for share in QUANTILES])
    return peak, rms, places / (size * step)


def _balance(rms: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return the logarithms of the ratios of neighbouring channels, (channels − 1,).

    rms: (channels,) RMS of a window.
    largest: (channels,) largest RMS in training. Each RMS is divided by this value before the ratio is computed.
    """
    relative = np.maximum(rms / np.maximum(largest, 1e-300), FAINT)
    return np.diff(np.log(relative))
