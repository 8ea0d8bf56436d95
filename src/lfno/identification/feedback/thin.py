"""Reduce the sampling rate of records that are sampled much faster than the system moves, for the search for a structure.

A servo axis at 1 kHz moves little in 1 ms. A window of 1000 samples then contains one second, too short to see slow poles,
drift and friction. The thinned record keeps every second, fourth, … sample, so a window covers a longer time. A model with
feedback is continuous in time. So a model that was found on thinned records also describes the original records.

Each input of the thinned record is a weighted mean of neighbouring inputs. The weights form a triangle, so the straight lines
between the thinned inputs have the same integral as the original input.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lfno.data.stretches import PERIODIC, Stretch

#: factors by which the sampling rate may be reduced
FACTORS = (2, 4, 8, 16, 32)
#: records with at most this number of samples are searched at their full rate
ENOUGH = 10_000
#: smallest number of samples that must remain of all stretches together
REMAINING = 2000
#: largest error of linear interpolation between thinned outputs, relative to the standard deviation of the output
STRAIGHT = 2e-3
#: largest noise of an output, relative to its standard deviation; stronger noise may in fact be fast motion
NOISE = 0.1
#: variance of fourth differences of white noise with variance 1
FOURTH = 70.0


def thinning(stretches: Sequence[Stretch]) -> int:
    """Return the largest of FACTORS by which the sampling rate can be reduced; 1 if no factor is suitable.

    The factor is 1 for few samples (ENOUGH), because the search can use all of them. It is also 1 if a stretch has gaps or is a
    period of a steady state, and for much noise (NOISE). Between the remaining samples the outputs must be straight lines plus
    white noise. Fourth differences of the outputs give the variance of the noise.

    >>> time = np.arange(16000) / 1000
    >>> thinning([Stretch(np.sin(time)[None], np.sin(2 * time)[None])])
    8
    """
    total = sum(len(stretch) for stretch in stretches)
    if total <= ENOUGH or any(stretch.mask is not None or stretch.start == PERIODIC for stretch in stretches):
        return 1
    spread = np.concatenate([stretch.outputs for stretch in stretches], axis=1).std(axis=1)
    fourth = np.concatenate([np.diff(stretch.outputs, 4) for stretch in stretches], axis=1)
    noise = (fourth**2).mean(1) / FOURTH
    if not (np.sqrt(noise) < NOISE * spread).all():
        return 1
    best = 1
    for factor in FACTORS:
        if total < REMAINING * factor:
            break
        bend = np.concatenate([second_difference(stretch.outputs, factor // 2) for stretch in stretches], axis=1)
        if not ((bend**2).mean(1) / 4 < (STRAIGHT * spread) ** 2 + 2 * noise).all():
            break
        best = factor
    return best


def second_difference(values: np.ndarray, lag: int) -> np.ndarray:
    """Return y[k + lag] − 2 y[k] + y[k − lag] along the last axis."""
    return values[:, 2 * lag :] - 2 * values[:, lag:-lag] + values[:, : -2 * lag]


def thinned(stretch: Stretch, factor: int) -> Stretch:
    """Return every `factor`-th sample of a stretch without gaps. Inputs are averaged with triangular weights.

    >>> thinned(Stretch(np.arange(9.0)[None], np.arange(9.0)[None]), 4).inputs
    array([[1., 4., 7.]])
    """
    if factor == 1:
        return stretch
    weights = 1 - np.abs(np.arange(1 - factor, factor)) / factor
    norm = np.convolve(np.ones(len(stretch)), weights, "same")
    mean = np.stack([np.convolve(row, weights, "same") / norm for row in stretch.inputs.astype(float)])
    return Stretch(mean[:, ::factor], stretch.outputs[:, ::factor], start=stretch.start, name=stretch.name)
