"""Decide whether the differences between repeated periods of an input are measurement noise.

An input can nearly repeat although it is not periodic: a sum of sines returns close to its values after some time, if this time
is almost a whole number of cycles of every sine. The system responds to such a difference: it is no measurement noise.
"""

from __future__ import annotations

import numpy as np

EXACT = 1e-3  # relative RMS difference: periods that differ by less are equal; text files and resampling round the values
EXCITED = 0.99  # share of the power of the input: the strongest frequencies with this share are the excited ones
EXCESS = 0.25  # share of the power of the difference: at excited frequencies, it may exceed the share of white noise by this
BALANCE = 0.25  # share of the power: noise has at least this share in phase with the input, and also in quadrature
SURE = 3.0  # standard deviations: limits are at least so wide, because the power of noise at few frequencies is random


def is_noise(periods: np.ndarray) -> bool:
    """Return whether neighbouring periods differ by noise, or by so little that the difference has no effect.

    periods: (channels, periods, time), with at least two periods. Every channel must pass the test.

    Let U_j be the spectrum of period j, E = U_{j+1} − U_j and M = U_{j+1} + U_j. Noise passes two tests:

    1. If the excited frequencies are the share b of all frequencies, white noise has the share b of its power there. Hum and
       drift have less. If the input itself changes, nearly all of |E|² is there. The limit is b + EXCESS.
    2. At the excited frequencies, E has a random phase relative to M: half of its power is in phase with the input. A sine that
       completes m + ε cycles in a period has E = i tan(πε) M, in quadrature; a sine that grows or decays has E in phase. This
       test decides if the input covers the whole spectrum.

    >>> rng, t = np.random.default_rng(0), np.arange(2000)
    >>> noisy = np.tile(rng.normal(size=1000), 2) + 0.1 * rng.normal(size=2000)
    >>> returning = np.sin(2 * np.pi * 3.02 * t / 1000) + np.sin(2 * np.pi * 7.98 * t / 1000)
    >>> is_noise(noisy.reshape(1, 2, 1000)), is_noise(returning.reshape(1, 2, 1000))
    (True, False)
    """
    centred = periods - periods.mean((-2, -1), keepdims=True)
    return all(_is_noise(channel) for channel in centred if channel.any())


def _is_noise(periods: np.ndarray) -> bool:
    """Return `is_noise` of one channel (periods, time) with mean 0."""
    if np.diff(periods, axis=0).std() <= EXACT * periods.std():
        return True
    spectrum = np.fft.rfft(periods)[:, 1:]
    error, mean = np.diff(spectrum, axis=0), spectrum[1:] + spectrum[:-1]
    on = strongest((np.abs(mean) ** 2).sum(0))
    power = np.abs(error) ** 2
    excess = power[:, on].sum() / power.sum() - on.mean()
    if excess > max(EXCESS, SURE * np.sqrt(on.mean() * (1 - on.mean()) / power.size)):
        return False
    turned = error[:, on] * mean[:, on].conj() / np.maximum(np.abs(mean[:, on]), 1e-300)
    power = power[:, on]
    in_phase = (turned.real**2).sum() / max(power.sum(), 1e-300)
    # the share in phase is beta-distributed. (Σ P)² / Σ P² is the number of frequencies that have most of the power
    count = power.sum() ** 2 / max((power**2).sum(), 1e-300)
    return bool(abs(in_phase - 0.5) <= max(0.5 - BALANCE, SURE / (2 * np.sqrt(count + 1))))


def strongest(power: np.ndarray) -> np.ndarray:
    """Return True at the fewest frequencies that have the share EXCITED of a power spectrum, (frequencies,).

    >>> strongest(np.array([0.001, 5.0, 0.002, 3.0]))
    array([False,  True, False,  True])
    """
    order = np.argsort(power)[::-1]
    total = np.cumsum(power[order])
    chosen = np.zeros(power.shape, bool)
    chosen[order[: int((total < EXCITED * total[-1]).sum()) + 1]] = True
    return chosen
