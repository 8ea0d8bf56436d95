"""Linear models of long records whose signals occupy a small part of the sampled band, for example a vibration test.

A structure with many lightly damped modes rings for thousands of samples. For such a structure, a search for one pole after the
other on short pieces of the records fails. Instead, all records are filtered and decimated to their band, and scaled to the
same level. One finite impulse response is fitted to all records. The eigensystem realisation algorithm gives the poles of this
impulse response, and the modal identification refines the poles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import firwin, oaconvolve

from lfno.challenges.protocol import Record
from lfno.core.grid import Grid
from lfno.identification.fir import NormalEquations
from lfno.identification.identify import Modes, identify
from lfno.identification.realisation import realise

#: part of the power of every signal that must lie inside the band
POWER = 0.99
#: ratio of the new Nyquist frequency to the highest frequency of the band
MARGIN = 1.25
#: length of the low-pass filter, in decimated samples
FILTER = 20
#: cut-off frequency of the low-pass filter, relative to the new Nyquist frequency
CUTOFF = 0.85
#: smallest decimation for which this method is used
DECIMATION = 4
#: largest length of the impulse response, in decimated samples; a quarter of the shortest record is a further limit
TAPS = 800
#: ridge parameter of the impulse response, relative to the mean energy of the inputs
RIDGE = 1e-4
#: number of decimated samples, of all records together, for the refinement of the poles
REFINED = 20_000
#: smallest contribution of a mode: the RMS of its response, relative to the RMS of the outputs
WEAK = 0.01
#: smallest number of time constants of a mode in one piece of the records
CONSTANTS = 2.0


def decimation(records: Sequence[Record]) -> int:
    """Return the factor by which all signals can be decimated. The decimated signals keep 99 % of the power (`POWER`)."""
    highest = 0.0
    for record in records:
        for signal in (*record.inputs, *record.outputs):
            power = np.abs(np.fft.rfft((signal - signal.mean()) * np.hanning(len(signal)))) ** 2
            share = np.cumsum(power) / max(float(power.sum()), 1e-300)
            highest = max(highest, np.searchsorted(share, POWER) / len(power))
    return int(1 / max(MARGIN * highest, 1e-3))


def decimated(signals: np.ndarray, factor: int) -> np.ndarray:
    """Return every `factor`-th sample of low-pass filtered signals (channels, time). Each end loses half a filter length."""
    weights = firwin(FILTER * factor + 1, CUTOFF / factor)
    return np.asarray(oaconvolve(signals, weights[None], mode="valid", axes=-1)[:, ::factor])


def band_modes(records: Sequence[Record], step: float, factor: int, most: int) -> tuple[Modes, np.ndarray, np.ndarray]:
    """Fit linear modes to records after decimation.

    Args:
        records: The records; the means of their signals are zero.
        step: The sampling interval in seconds.
        factor: The decimation.
        most: Largest number of modes.

    Returns:
        The modes, and pieces of the decimated inputs and outputs, each (records, channels, time).
    """
    pairs = [(decimated(record.inputs, factor), decimated(record.outputs, factor)) for record in records]
    size = min(inputs.shape[-1] for inputs, _ in pairs)
    # all records get the same level; otherwise the strongest motion would dominate the fit
    levels = [float(outputs.std()) or 1.0 for _, outputs in pairs]
    force = np.stack([inputs[:, :size] / level for (inputs, _), level in zip(pairs, levels, strict=True)])
    motion = np.stack([outputs[:, :size] / level for (_, outputs), level in zip(pairs, levels, strict=True)])
    length = min(TAPS, size // 4)
    taps = NormalEquations(force, motion, length, rest=False).solve(length, RIDGE).taps
    poles = realise(taps, factor * step, order=2 * most).poles
    poles = poles[(poles.real < 0) & (poles.imag < CUTOFF * np.pi / (factor * step))]
    strong = np.argsort(poles.real)[::-1][:most]
    window = min(size, max(REFINED // len(pairs), 2 * length))
    starts = np.linspace(0, size - window, len(pairs)).astype(int)
    x, y = (np.stack([one[:, s : s + window] for one, s in zip(part, starts, strict=True)]) for part in (force, motion))
    line, warmup = Grid.line(window, factor * step), min(length, window // 4)
    modes = identify(x, y, line, poles[strong], warmup=warmup)
    # a weak pole, or a pole that rings longer than a piece of the records, describes noise
    real = (modes.contributions > WEAK) & (-modes.poles.real * factor * step * window > CONSTANTS)
    if not real.all() and real.any():
        modes = identify(x, y, line, modes.poles[real], warmup=warmup)
    scale = np.array(levels)[:, None, None]
    return modes, x * scale, y * scale
