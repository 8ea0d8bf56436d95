"""Write small files in the layout of every benchmark, with data of a known linear system and known noise.

`write(name, folder)` writes the files. It returns the expected test part, and the number of samples that are not scored. For
each figure of merit, the test part is a list of pairs (clean outputs, measured outputs), each (channels, time). This module
follows the published protocol and shares no code with `lfno.challenges`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.io import savemat
from scipy.signal import lfilter

#: a discrete-time resonance at 1/20 of the sampling rate with 20 % damping
POLE = np.exp(2 * np.pi * 0.05 * (-0.2 + 1j))
#: denominator of the transfer function of the system, in powers of z⁻¹
DENOMINATOR = np.array([1.0, -2 * POLE.real, abs(POLE) ** 2])
#: numerator of the transfer function, in powers of z⁻¹; an input acts on the output one sample later
NUMERATOR = np.array([0.0, 0.05, 0.05])
#: standard deviation of the noise
NOISE = 1e-3

Expected = dict[str, list[tuple[np.ndarray, np.ndarray]]]


def respond(u: np.ndarray) -> np.ndarray:
    """Return the response from rest along the last axis."""
    return lfilter(NUMERATOR, DENOMINATOR, u, axis=-1)


def steady(u: np.ndarray) -> np.ndarray:
    """Return the periodic steady state along the last axis."""
    z = np.exp(-2j * np.pi * np.fft.rfftfreq(u.shape[-1]))
    response = np.polyval(NUMERATOR[::-1], z) / np.polyval(DENOMINATOR[::-1], z)
    return np.fft.irfft(response * np.fft.rfft(u), u.shape[-1])


def signal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return noise (*shape) with zero mean and without energy near the Nyquist frequency."""
    spectrum = np.fft.rfft(rng.normal(size=shape))
    spectrum[..., 0] = 0
    spectrum[..., int(0.8 * spectrum.shape[-1]) :] = 0
    return np.fft.irfft(spectrum, shape[-1])


def record(rng: np.random.Generator, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return input, clean output and measured output, each (size,), of one record that does not start at rest."""
    u = signal(rng, size + 500)
    clean = respond(u)[500:]
    return u[500:], clean, clean + NOISE * rng.normal(size=size)


def write(name: str, folder: Path, seed: int = 0) -> tuple[Expected, int]:
    """Write the files of a benchmark. Return the expected test part and the number of samples that are not scored."""
    folder.mkdir(parents=True, exist_ok=True)
    return WRITERS[name](folder, np.random.default_rng(seed))


def _mirror(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    arrays, expected = {}, {}
    for level in (1, 2, 3):
        for kind, count in (("train", 6), ("test", 3)):
            u = np.repeat(level * signal(rng, 3, count, 1, 2048), 2, axis=2)  # channel, realisation, period, time
            clean = 1e-6 * np.stack([steady(u[0] + u[1]), steady(u[1]), steady(u[2] - u[0])])
            y = clean + 1e-6 * NOISE * rng.normal(size=clean.shape)
            order = (3, 0, 1, 2)
            arrays[f"u_{level}00mV_{kind}"], arrays[f"y_{level}00mV_{kind}"] = u.transpose(order), y.transpose(order)
            if kind == "test":
                pairs = [(clean[:, r, p], y[:, r, p]) for r in range(count) for p in range(2)]
                expected[f"{level}00 mV"] = pairs
    np.savez(folder / "combined_data.npz", **arrays)
    return expected, 100


def _silverbox(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    u, clean, y = record(rng, 131072)
    savemat(folder / "SNLS80mV.mat", {"V1": u[None], "V2": y[None]})
    multisine = slice(40650 + int(0.75 * (127400 - 40650)), 127400)
    parts = {"multisine": multisine, "arrow": slice(100, 40575), "arrow, no extrapolation": slice(100, 32100)}
    return {name: [(clean[None, part], y[None, part])] for name, part in parts.items()}, 50


def _wiener_hammerstein(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    u, clean, y = record(rng, 188000)
    savemat(folder / "WienerHammerBenchMark.mat", {"uBenchMark": u[:, None], "yBenchMark": y[:, None], "fs": 51200.0})
    return {"test": [(clean[None, 105200:184000], y[None, 105200:184000])]}, 50


def _bouc_wen(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    place = folder / "BoucWenFiles" / "Test signals" / "Validation signals"
    place.mkdir(parents=True)
    expected: Expected = {}
    for name, size, answer in (("multisine", 1024, steady), ("sinesweep", 1500, respond)):
        u = signal(rng, size)
        clean = answer(u)
        y = clean + NOISE * rng.normal(size=size)
        savemat(place / f"uval_{name}.mat", {f"uval_{name}": u[None]})
        savemat(place / f"yval_{name}.mat", {f"yval_{name}": y[None]})
        expected[name.replace("sinesweep", "sine sweep")] = [(clean[None], y[None])]
    return expected, 0


def _tanks(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    u, _, y = record(rng, 1024)
    u_test, clean, y_test = record(rng, 1024)
    arrays = {"uEst": u, "yEst": y, "uVal": u_test, "yVal": y_test}
    savemat(folder / "dataBenchmark.mat", {name: values[:, None] for name, values in arrays.items()} | {"Ts": 4.0})
    return {"test": [(clean[None], y_test[None])]}, 50


def _emps(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    expected: Expected = {}
    for file in ("DATA_EMPS.mat", "DATA_EMPS_PULSES.mat"):
        u, clean, y = record(rng, 2000)
        columns = {"t": 1e-3 * np.arange(2000), "vir": u, "qm": y, "qg": y}
        savemat(folder / file, {name: values[:, None] for name, values in columns.items()})
        expected = {"test": [(clean[None], y[None])]}
    return expected, 20


def _drives(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    arrays, expected = {}, {}
    for key, name in (("11", "low amplitude"), ("12", "high amplitude")):
        u, clean, y = record(rng, 500)
        arrays |= {f"u{key}": u[:, None], f"z{key}": y[:, None]}
        expected[name] = [(clean[None, 400:], y[None, 400:])]
    savemat(folder / "DATAUNIF.MAT", arrays)
    return expected, 10


def _f16(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    place = folder / "F16GVT_Files" / "BenchmarkData"
    place.mkdir(parents=True)
    expected: Expected = {}
    for kind in ("FullMSine", "SineSw", "SpecialOddMSine"):
        for level in range(1, 8):
            test = level in (2, 4, 6) and kind != "SpecialOddMSine"
            u, clean, y = record(rng, 600 if kind == "SineSw" else 700)
            name = f"F16Data_{kind}_Level{level}{'_Validation' if test else ''}"
            others = rng.normal(size=(2, len(u)))
            arrays = {"Force": u[None], "Voltage": u[None], "Acceleration": np.stack([y, *others]), "Fs": 400.0}
            savemat(place / f"{name}.mat", arrays)
            if test:
                expected[name] = [(clean[None], y[None])]
    return expected, 50


def _parallel(folder: Path, rng: np.random.Generator) -> tuple[Expected, int]:
    arrays, expected = {"fs": 78125.0, "amp": np.arange(1.0, 6.0)}, {}
    for kind, count in (("Est", 20), ("Val", 1)):
        u = np.repeat(signal(rng, 5, count, 1, 512), 2, axis=2) * np.arange(1, 6)[:, None, None, None]
        clean = steady(u)
        y = clean + NOISE * rng.normal(size=clean.shape)
        arrays |= {f"u{kind}": u.transpose(3, 2, 1, 0), f"y{kind}": y.transpose(3, 2, 1, 0)}
        expected = {f"amplitude {k + 1}": [(clean[k].reshape(1, -1), y[k].reshape(1, -1))] for k in range(5)}
    savemat(folder / "ParWHData.mat", arrays)
    return expected, 50


#: benchmark → function that writes its files
WRITERS = {
    "fine-steering-mirror": _mirror,
    "silverbox": _silverbox,
    "wiener-hammerstein": _wiener_hammerstein,
    "bouc-wen": _bouc_wen,
    "cascaded-tanks": _tanks,
    "emps": _emps,
    "coupled-drives": _drives,
    "f-16": _f16,
    "parallel-wiener-hammerstein": _parallel,
}
#: benchmark → factor from the unit of the data to the unit of the figures; 1 for the other benchmarks
SCALES = {"fine-steering-mirror": 1e6, "silverbox": 1e3, "wiener-hammerstein": 1e3, "emps": 1e3}
SCALES |= {"parallel-wiener-hammerstein": 1e3}


def figure(pairs: list[tuple[np.ndarray, np.ndarray]], skip: int, scale: float) -> float:
    """Return the figure of merit of a model that predicts the clean outputs: the mean RMS error of all records and outputs."""
    errors = []
    for clean, measured in pairs:
        for a, b in zip(clean, measured, strict=True):
            errors.append(scale * np.sqrt(np.mean((a[skip:] - b[skip:]) ** 2)))
    return float(np.mean(errors))
