"""Training records of the Bouc–Wen benchmark. The benchmark has test records only, so every author simulates training data.

    m y'' + c y' + k y + z = u,        z' = α y' − β (γ |y'| |z|^(ν−1) z + δ y' |z|^ν)

with ν = 1. y is the displacement, u is the force, and z is the hysteretic force. m, c and k are mass, damping and stiffness.
The parameters are from the description of the benchmark (doi:10.4121/12967592).
"""

from __future__ import annotations

from functools import cache

import numpy as np

#: mass m in kg
MASS = 2.0
#: damping c in N s/m
DAMPING = 10.0
#: stiffness k in N/m
STIFFNESS = 5e4
#: α in N/m
ALPHA = 5e4
#: β in 1/m
BETA = 1e3
#: γ, without unit
GAMMA = 0.8
#: δ, without unit
DELTA = -1.1
#: sampling rate in Hz
RATE = 750.0
#: number of steps of the integrator in one sampling interval
SUBSTEPS = 4
#: lowest and highest frequency of the random-phase multisines, in Hz
BAND = (5.0, 150.0)
#: standard deviation of the multisines, in N
LEVEL = 50.0
#: standard deviation of the noise on the displacement, in m
NOISE = 8e-6
#: number of training records
RECORDS = 20
#: number of samples in each record
SAMPLES = 4096


@cache
def training_records(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return forces and noisy displacements of a system that starts at rest, each (records, 1, samples).

    >>> force, motion = training_records()
    >>> force.shape, bool(45 < force.std() < 55)
    ((20, 1, 4096), True)
    """
    rng = np.random.default_rng(seed)
    spectrum = multisine_spectra(rng)
    force = np.fft.irfft(spectrum, SAMPLES)
    motion = simulate(spectrum)
    motion = motion + NOISE * rng.standard_normal(motion.shape)
    for values in (force, motion):
        values.setflags(write=False)  # all callers share these cached arrays
    return force[:, None], motion[:, None]


def multisine_spectra(rng: np.random.Generator, records: int = RECORDS, samples: int = SAMPLES) -> np.ndarray:
    """Return spectra of random-phase multisines with equal amplitudes in the band, (records, samples / 2 + 1)."""
    frequencies = np.fft.rfftfreq(samples, 1 / RATE)
    excited = (frequencies >= BAND[0]) & (frequencies <= BAND[1])
    phases = rng.uniform(0, 2 * np.pi, (records, excited.sum()))
    spectrum = np.zeros((records, len(frequencies)), dtype=np.complex128)
    spectrum[:, excited] = LEVEL * samples / np.sqrt(2 * excited.sum()) * np.exp(1j * phases)
    return spectrum


def simulate(spectrum: np.ndarray, substeps: int = SUBSTEPS) -> np.ndarray:
    """Return the displacement at the sampling times, (records, samples), of a system that starts at rest.

    The integrator is the classical Runge–Kutta method. The spectrum gives the exact force between the samples.

    Args:
        spectrum: Spectra of the forces, (records, samples / 2 + 1).
        substeps: Steps of the integrator in one sampling interval.
    """
    samples = 2 * (spectrum.shape[-1] - 1)
    fine = 2 * substeps * np.fft.irfft(spectrum, 2 * substeps * samples)  # the force at every half step
    step = 1 / (RATE * substeps)
    state = np.zeros((3, len(spectrum)))
    found = np.zeros((len(spectrum), samples))
    for k in range((samples - 1) * substeps):
        u0, u1, u2 = fine[:, 2 * k], fine[:, 2 * k + 1], fine[:, 2 * k + 2]
        a = _slope(state, u0)
        b = _slope(state + step / 2 * a, u1)
        c = _slope(state + step / 2 * b, u1)
        d = _slope(state + step * c, u2)
        state = state + step / 6 * (a + 2 * b + 2 * c + d)
        if (k + 1) % substeps == 0:
            found[:, (k + 1) // substeps] = state[0]
    return found


def _slope(state: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Return the time derivative of the state (y, y', z), (3, records), under the force (records,)."""
    y, v, z = state
    hysteresis = ALPHA * v - BETA * (GAMMA * np.abs(v) * z + DELTA * v * np.abs(z))
    return np.stack([v, (force - DAMPING * v - STIFFNESS * y - z) / MASS, hysteresis])
