"""Measure the time to make every data set. For ODEs, compare it with a plain loop over `solve_ivp` of equal accuracy.

    python benchmarks/data.py [NAME …]

The loop solves a few samples of the data set, and its time is scaled to all samples. The tolerance of the loop is the largest
power of ten at which the loop is as accurate as our solver. Without names, the program solves all data sets except the long
ones. Then it measures `lfno data make` in an empty folder: first for the same data sets, then for the long data set, whose
memory is measured, too. The times of single data sets are CPU times, because other processes hardly change CPU times. The last
two lines have wall-clock times.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from lfno.data.check import relative_error
from lfno.data.make import plan
from lfno.data.plan import Plan
from lfno.systems import REGISTRY, ForcedODE, Signal
from lfno.systems.families import Curve, FamilySignal

LONG = "navier-stokes-nu1e-3"  # the long data set; its variants -rich and -out are long, too
SAMPLES = 4  # samples of a data set that the loop solves
FINE = 32  # points of the spline of the force per point of the grid; the error of the spline is then about 1e-12
TARGET = 20  # promised ratio of the time of the loop to our time
TOGETHER = 40  # promised seconds for all data sets except the long ones, on two cores
ALONE = 360  # promised seconds for the long data set, on two cores
MEMORY = 4.0  # promised GB of memory for the long data set


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU seconds and the result of a function."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def force_of(signal: Signal, points: np.ndarray) -> Callable[[float], Any]:
    """Return one force as a function of time: the formula if the family has one, otherwise a fine spline."""
    if isinstance(signal, FamilySignal) and isinstance(signal.family, Curve):
        return partial(signal.family.function, float(signal.draws[signal.family.name][0]))
    fine = np.linspace(points[0], points[-1], FINE * len(points))
    return CubicSpline(fine, signal(fine)[0])


def loop(what: Plan, signals: list[Signal], tolerance: float) -> np.ndarray:
    """Return the outputs (samples, 1, time) of the signals, solved one after the other with `solve_ivp`."""
    system, points = what.system, what.entry.grid.axes[-1].points
    assert isinstance(system, ForcedODE)

    def one(signal: Signal) -> np.ndarray:
        force = force_of(signal, points)

        def rate(t: float, y: np.ndarray) -> Any:
            return system.rate(y.tolist(), force(t))

        span = (points[0], points[-1])
        solution = solve_ivp(rate, span, system.start, "RK45", points, rtol=tolerance, atol=tolerance, max_step=0.1)
        return solution.y[system.observed]

    return np.stack([one(signal) for signal in signals])[:, None]


def beside_the_loop(what: Plan, outputs: np.ndarray) -> tuple[float, float, float]:
    """Return the CPU seconds of the loop for the whole data set, the error of the loop, and the error of `outputs`.

    The tolerance of the loop is 1e-6, 1e-7, … until the loop is as accurate as `outputs`, or 1e-12. An error is the largest
    relative L2 error of SAMPLES samples.
    """
    chosen = np.linspace(0, what.signal.count - 1, SAMPLES).astype(int).tolist()
    signals = [what.signal[i : i + 1] for i in chosen]
    truth = np.concatenate([what.system.reference(signal, what.entry.grid) for signal in signals])

    def worst(found: np.ndarray) -> float:
        return max(relative_error(a, b) for a, b in zip(found, truth, strict=True))

    ours = worst(outputs[chosen])
    for power in range(6, 13):
        seconds, found = timed(lambda power=power: loop(what, signals, 10.0**-power))  # type: ignore[misc]
        error = worst(found)
        if error <= ours:
            break
    return seconds * what.signal.count / SAMPLES, error, ours


def made(*names: str) -> tuple[float, float]:
    """Run `lfno data make NAME…` with an empty cache. Return wall-clock seconds and peak memory in GB.

    The memory is the largest memory of one process.
    """
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "lfno", "data", "make", *names, "--json"]
        start = time.perf_counter()
        process = subprocess.Popen(command, env=os.environ | {"LFNO_CACHE": folder}, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return seconds, usage.ru_maxrss / 1e6


def main() -> None:
    short = [name for name in REGISTRY if not name.startswith(LONG)]
    print(f"{'data set':28} {'CPU s':>8} {'error':>8} {'loop':>8} {'error':>8} {'ratio':>7}")
    for name in sys.argv[1:] or short:
        what = plan(name, dtype="float64")
        seconds, data = timed(what.build)
        line = f"{name:28} {seconds:8.2f}"
        if isinstance(what.system, ForcedODE):
            theirs, error, ours = beside_the_loop(what, data.outputs)
            line += f" {ours:8.0e} {theirs:8.1f} {error:8.0e} {theirs / seconds:6.0f}×"
            line += "" if theirs / seconds >= TARGET else f"  below the target of {TARGET}×"
        print(line, flush=True)
    if sys.argv[1:]:
        return
    cores = len(os.sched_getaffinity(0))
    seconds, _ = made(*short)
    print(f"{len(short)} data sets by `lfno data make`, {cores} cores: {seconds:.1f} s (target {TOGETHER} on two)", flush=True)
    seconds, memory = made(LONG)
    print(f"{LONG}: {seconds:.0f} s, {memory:.2f} GB (targets {ALONE} s on two cores, {MEMORY:g} GB)")


if __name__ == "__main__":
    main()
