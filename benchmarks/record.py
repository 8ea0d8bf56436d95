"""Fit one long record with one command, and compare the network with the linear baseline.

    python benchmarks/record.py

The record is a solution of x″ + x′ + x + x³ = f, where f is a random multisine of rms 2 in 0–1 Hz: 100,000 samples at 20 Hz in
a CSV file. The lines of the file end in a comma, as in the files of many loggers. The program prints the test RMSE of the
linear baseline divided by the test RMSE of the network, and the time of the command. The promise is a ratio of 5 in ten minutes
on two cores.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SIZE = 100_000  # samples
RATE = 20.0  # sampling rate in Hz
FINE = 8  # points of the force per sample; Runge–Kutta needs the force between samples


def force(seed: int = 0) -> np.ndarray:
    """Return a multisine of all frequencies up to 1 Hz with random phases and rms 2, (FINE · SIZE,)."""
    tones = int(SIZE / RATE)
    spectrum = np.zeros(FINE * SIZE // 2 + 1, dtype=complex)
    spectrum[1 : tones + 1] = np.exp(2j * np.pi * np.random.default_rng(seed).random(tones))
    signal = np.fft.irfft(spectrum, FINE * SIZE)
    return 2 * signal / np.sqrt(np.mean(signal**2))


def respond(fine: np.ndarray) -> np.ndarray:
    """Return the motion x (SIZE,) from rest under the force `fine` (FINE · SIZE,).

    The method is Runge–Kutta of fourth order with FINE / 2 steps per sample; the error is about 1e-8.
    """
    values, step = fine.tolist() + [fine[0]] * 2, 2 / (FINE * RATE)
    x = v = 0.0
    out = []
    for k in range(0, FINE * SIZE, 2):
        if k % FINE == 0:
            out.append(x)
        now, middle, then = values[k], values[k + 1], values[k + 2]
        a1 = now - v - x - x**3
        x2, v2 = x + step / 2 * v, v + step / 2 * a1
        a2 = middle - v2 - x2 - x2**3
        x3, v3 = x + step / 2 * v2, v + step / 2 * a2
        a3 = middle - v3 - x3 - x3**3
        x4, v4 = x + step * v3, v + step * a3
        a4 = then - v4 - x4 - x4**3
        x += step / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v += step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return np.array(out)


def write(path: Path) -> None:
    """Write the record as a CSV file with the columns time, force and motion."""
    fine = force()
    rows = zip(np.arange(SIZE) / RATE, fine[::FINE], respond(fine), strict=True)
    path.write_text("t,f,x,\n" + "".join(f"{t:.2f},{f:.7g},{x:.7g},\n" for t, f, x in rows))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        path, folder = Path(name) / "record.csv", Path(name) / "run"
        write(path)
        start = time.perf_counter()
        command = [sys.executable, "-m", "lfno", "fit", str(path), "--out", str(folder), "--json"]
        told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        seconds = time.perf_counter() - start
    network, linear = (told["test"][name]["rmse"][0] for name in ("LFNO", "linear baseline"))
    print(f"test RMSE: LFNO {network:.4f}, linear baseline {linear:.4f}; ratio {linear / network:.1f} (promised 5)")
    print(f"one command, from file to model, figures and verdict: {seconds:.0f} s (promised 600 on two cores)")


if __name__ == "__main__":
    main()
