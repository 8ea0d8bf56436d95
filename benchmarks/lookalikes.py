"""Simulate circuits and machines that resemble public benchmarks. Write the data in the file formats of these benchmarks.

    python benchmarks/lookalikes.py FOLDER [NAME …]
    lfno benchmark wiener-hammerstein --data FOLDER/wiener-hammerstein

The nonlinearities were not chosen to fit the models in `lfno`. The circuits have diodes with an implicit equation. The drive
`emps` has friction with a Stribeck peak and another level in each direction, a quantised position sensor, and an input from a
feedback loop.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.io import savemat
from scipy.signal import bilinear, cheby1, cheby2, lfilter

#: time steps of the simulated analogue circuits per recorded sample
OVER = 8


def multisine(rng: np.random.Generator, shape: tuple[int, ...], size: int, low: int, high: int) -> np.ndarray:
    """Return multisines (*shape, size) with random phases, an rms of one, and equal amplitudes at the harmonics low … high."""
    spectrum = np.zeros((*shape, size // 2 + 1), complex)
    spectrum[..., low : high + 1] = np.exp(2j * np.pi * rng.random((*shape, high + 1 - low)))
    values = np.fft.irfft(spectrum, size)
    return values / values.std(-1, keepdims=True)


def oversampled(values: np.ndarray) -> np.ndarray:
    """Return the band-limited interpolation of periodic signals, with OVER samples for each given sample."""
    spectrum = np.fft.rfft(values)
    return OVER * np.fft.irfft(spectrum, OVER * values.shape[-1])


def analogue(filter_: tuple[np.ndarray, np.ndarray], values: np.ndarray, rate: float) -> np.ndarray:
    """Return the response of an analogue filter (numerator, denominator) to signals with a high sampling rate."""
    return lfilter(*bilinear(*filter_, rate), values, axis=-1)


def diode(volts: np.ndarray, series: float = 1.0, threshold: float = 0.05, leak: float = 2e-4) -> np.ndarray:
    """Return the voltage v over a diode behind a resistor: volts = v + series · leak (e^{v / threshold} − 1)."""
    v = np.minimum(volts, threshold * np.log1p(np.maximum(volts, 0) / (series * leak)))
    for _ in range(50):
        current = series * leak * np.expm1(v / threshold)
        v = v - (v + current - volts) / (1 + (current + series * leak) / threshold)
    return v


def wiener_hammerstein(folder: Path, rng: np.random.Generator) -> None:
    """Simulate a Chebyshev filter, a diode, and an inverse Chebyshev filter with a zero in the stop band. Noise: 0.2 mV."""
    rate, size = 51200.0, 188000
    force = 0.65 * multisine(rng, (), size, 1, size // 5)
    fast = np.tile(oversampled(force), 2)[-OVER * (size + 20000) :]
    front = cheby1(3, 0.5, 2 * np.pi * 4400, analog=True)
    back = cheby2(3, 40, 2 * np.pi * 5000, analog=True)
    answer = analogue(back, diode(analogue(front, fast, OVER * rate)), OVER * rate)[-OVER * size :: OVER]
    noisy = answer + 2e-4 * rng.normal(size=size)
    savemat(folder / "WienerHammerBenchMark.mat", {"uBenchMark": force[:, None], "yBenchMark": noisy[:, None], "fs": rate})


def parallel(folder: Path, rng: np.random.Generator) -> None:
    """Simulate two parallel branches, each with a filter, diodes and a low-pass filter. Noise: 0.1 mV.

    The first branch has a low-pass filter and two diodes, one for each sign. The second has a resonance and one diode.
    """
    rate, size = 78125.0, 16384
    low = (cheby1(3, 0.5, 2 * np.pi * 6000, analog=True), cheby2(3, 35, 2 * np.pi * 12000, analog=True))
    frequency = 2 * np.pi * 9000
    ringing = (np.array([frequency**2]), np.array([1, 0.5 * frequency, frequency**2]))
    other = (ringing, cheby1(2, 1, 2 * np.pi * 15000, analog=True))
    arrays: dict[str, object] = {"fs": rate, "amp": np.linspace(0.1, 1, 5)}
    for kind, count in (("Est", 20), ("Val", 1)):
        level = np.linspace(0.1, 1, 5)[:, None, None]
        force = level * multisine(rng, (5, count), size, 1, size // 4)
        answer = np.zeros_like(force)
        for place in np.ndindex(5, count):
            fast = np.tile(oversampled(force[place]), 2)
            first = analogue(low[0], fast, OVER * rate)
            first = analogue(low[1], -diode(-diode(first, 0.5, 0.06), 0.8, 0.08), OVER * rate)
            second = analogue(other[1], 0.7 * diode(analogue(other[0], fast, OVER * rate), 2.0, 0.05), OVER * rate)
            answer[place] = (first + second)[OVER * size :: OVER]
        pair = [np.repeat(values[:, :, None], 2, axis=2) for values in (force, answer)]
        pair[1] = pair[1] + 1e-4 * rng.normal(size=pair[1].shape)
        arrays |= {f"{name}{kind}": values.transpose(3, 2, 1, 0) for name, values in zip("uy", pair, strict=True)}
    savemat(folder / "ParWHData.mat", arrays)


def trapezoids(rng: np.random.Generator, size: int, step: float) -> np.ndarray:
    """Return positions of a drive that moves to and fro with limited speed and acceleration, (size,)."""
    speed, now, target = 0.0, 0.0, 0.2
    found, wait = np.zeros(size), 0
    top, push = 0.25, 1.0
    for k in range(size):
        gap = target - now
        if wait:
            wait -= 1
        elif abs(gap) < 1e-3 and abs(speed) < 0.02:
            speed, wait = 0.0, int(0.2 / step)
            target = float(rng.uniform(0.0, 0.25)) if target > 0.1 else float(rng.uniform(0.1, 0.25))
            top, push = rng.uniform(0.05, 0.4), rng.uniform(0.5, 3.0)
        else:
            wish = np.sign(gap) * min(top, np.sqrt(2 * push * abs(gap)))
            speed += float(np.clip(wish - speed, -push * step, push * step))
        now += speed * step
        found[k] = now
    return found


def emps(folder: Path, rng: np.random.Generator) -> None:
    """Simulate a drive of 95 kg with Stribeck friction in a position loop: 1 kHz, 25 s. The test adds pulses of the voltage."""
    step, size, inner = 1e-3, 24841, 10
    for file, pulsed in (("DATA_EMPS.mat", False), ("DATA_EMPS_PULSES.mat", True)):
        wish = trapezoids(rng, size, step)
        q = v = 0.0
        place, volts, pulses = np.zeros(size), np.zeros(size), np.zeros(size)
        if pulsed:
            for start in rng.integers(1000, size - 500, 8):
                pulses[start : start + 300] += rng.choice([-1, 1]) * rng.uniform(1, 3)
        for k in range(size):
            place[k] = q
            u = float(np.clip(243.45 * (160.18 * (wish[k] - q) - v) / 35.15 * 0.4 + pulses[k], -10, 10))
            volts[k] = u
            for _ in range(inner):
                smooth = np.tanh(v / 2e-4)
                dry = 20.4 + 6 * np.exp(-((v / 0.02) ** 2)) + (2.0 if v < 0 else 0.0)
                rubbed = dry * smooth + 203.5 * v - 40 * v * abs(v)
                v += step / inner * (35.15 * u - rubbed - 3.16 + 1.5 * np.sin(40 * q)) / 95.1
                q += step / inner * v
        seen = np.round(place / 1e-6) * 1e-6
        noisy = volts + 0.01 * rng.normal(size=size)
        columns = {"t": step * np.arange(size), "vir": noisy, "qm": seen, "qg": wish}
        savemat(folder / file, {name: values[:, None] for name, values in columns.items()} | {"gtau": 35.15})


def aircraft(folder: Path, rng: np.random.Generator) -> None:
    """Simulate ten modes of a structure from 2 to 15 Hz with one joint that has play and dry friction, at seven force levels.

    The outputs are three accelerations at 400 Hz.
    """
    rate = 400.0
    hertz = np.array([2.4, 3.6, 5.2, 6.1, 7.3, 8.8, 9.9, 11.2, 12.4, 14.1])
    omega, ratio = 2 * np.pi * hertz, np.array([8, 12, 10, 6, 9, 15, 10, 12, 8, 10]) * 1e-3
    push, seen = rng.normal(size=10), rng.normal(size=(3, 10))
    joint = 0.15 * rng.normal(size=10)
    joint[4] = 1.0

    def solve(force: np.ndarray) -> np.ndarray:
        """Return accelerations (3, time) for a force, with two semi-implicit steps for each sample."""
        fine = np.repeat(force, 2)
        h, q, v = 0.5 / rate, np.zeros(10), np.zeros(10)
        found = np.zeros((3, len(force)))
        for k, u in enumerate(fine):
            gap, slide = joint @ q, joint @ v
            back = 900 * (gap - min(max(gap, -2e-3), 2e-3)) + 0.25 * np.tanh(slide / 5e-3)
            a = push * u - omega**2 * q - 2 * ratio * omega * v - joint * back
            if not k % 2:
                found[:, k // 2] = seen @ a
            v = v + h * a
            q = q + h * v
        return found

    place = folder / "BenchmarkData"
    place.mkdir(exist_ok=True)
    time = np.arange(108477) / rate
    sweep = np.sin(2 * np.pi * (15 * time - 0.5 * (13 / time[-1]) * time**2))
    for level in range(1, 8):
        size = (1.0, 2.0, 4.0, 6.0, 7.5, 9.0, 10.0)[level - 1]
        for kind in ("FullMSine", "SineSw"):
            test = level in (2, 4, 6)
            wave = np.tile(multisine(rng, (), 8192, 41, 307), 10) if kind == "FullMSine" else sweep
            found = solve(size * wave)
            force, motion = size * wave, found
            if kind == "FullMSine":
                force, motion = force[8192:], motion[:, 8192:]
            motion = motion + 2e-3 * motion.std(-1, keepdims=True) * rng.normal(size=motion.shape)
            name = f"F16Data_{kind}_Level{level}{'_Validation' if test else ''}"
            savemat(place / f"{name}.mat", {"Force": force[None], "Voltage": force[None], "Acceleration": motion, "Fs": rate})


WRITERS: dict[str, Callable[[Path, np.random.Generator], None]] = {
    "wiener-hammerstein": wiener_hammerstein,
    "parallel-wiener-hammerstein": parallel,
    "emps": emps,
    "f-16": aircraft,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the files are written here, in one folder for each benchmark")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(WRITERS)}")
    given = parser.parse_args()
    for name in given.names or WRITERS:
        folder = given.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        WRITERS[name](folder, np.random.default_rng(0))
        print(folder)


if __name__ == "__main__":
    main()
