"""Measure deployed models on one CPU thread: time per sample, size of the C source, and memory to predict a long record.

    python benchmarks/deploy.py [MODEL] [--samples N]

The models are a linear model with 6 modes, a network (8 gated layers, width 16, 8 poles, no trained Fourier weights), and the
file MODEL, if it is given. The time is measured in Python and, if there is the C compiler `cc`, also in C. The memory is
measured in a new process for each model, because the operating system counts the peak of a whole process.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import lfno
from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate import Surrogate

DT = 0.01  # sampling step of the models in s
STEPS = 100_000  # time steps of the C program
SINGLE = 500  # samples that the Python stream gets one by one
BLOCK = 100_000  # samples that the Python stream gets as one block

MAIN = """
#include "rig.h"
#include <stdio.h>
#include <time.h>
int main(void)
{
    static rig_state state;
    rig_real input[rig_INPUTS], output[rig_OUTPUTS], sum = 0;
    long k;
    int i;
    clock_t start = clock();
    rig_reset(&state);
    for (k = 0; k < %d; k++) {
        for (i = 0; i < rig_INPUTS; i++) input[i] = rig_test_input[k %% rig_TEST][i];
        rig_step(&state, input, output);
        sum += output[0];
    }
    printf("%%g %%g %%zu", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / %d, (double)sum, sizeof state);
    return 0;
}
"""


def linear() -> Surrogate:
    rng = np.random.default_rng(0)
    poles = np.array([-0.2 + 3j, -0.3 + 8j, -0.5 + 14j, -0.8 + 25j, -1.0 + 40j, -2.0 + 60j])
    residues = rng.normal(size=(1, 1, 6)) + 1j * rng.normal(size=(1, 1, 6))
    modes = Modes(poles, residues, np.zeros((1, 1)), np.ones(6), 0.0, "linear")
    return Surrogate([ModalModel(modes, np.zeros(1), np.zeros(1), Grid.line(2048, DT))])


def network() -> Surrogate:
    fields = {"width": 16, "modes": 32, "n_poles": 8, "share_poles": True, "transient_layers": 8, "gate": True}
    return Surrogate([lfno.LFNO(Grid.line(2048, DT), steady="exact", **fields).eval()])


def in_c(model: Surrogate, precision: str) -> tuple[float, float, float]:
    """Return the time per sample in µs (compiled with -O2), the size of the source in KB, and the size of one state in KB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = model.export("c", folder / "rig.c", precision=precision)
        (folder / "main.c").write_text(MAIN % (STEPS, STEPS))
        subprocess.run(["cc", "-std=c99", "-O2", "rig.c", "main.c", "-o", "rig", "-lm"], cwd=folder, check=True)
        told = subprocess.run([folder / "rig"], capture_output=True, text=True, check=True).stdout.split()
        return float(told[0]), sum(file.stat().st_size for file in files) / 1e3, int(told[2]) / 1e3


def in_python(model: Surrogate) -> tuple[float, float]:
    """Return the time per sample in ms: samples given one by one, and samples given as one block."""
    force = np.random.default_rng(0).normal(size=(model.channels[0], max(SINGLE, BLOCK)))
    stream, start = model.stream(), time.perf_counter()
    for k in range(SINGLE):
        stream.step(force[:, k])
    single = time.perf_counter() - start
    start = time.perf_counter()
    stream.step(force[:, :BLOCK])
    return 1e3 * single / SINGLE, 1e3 * (time.perf_counter() - start) / BLOCK


def peak() -> float:
    """Return the largest resident memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def model_of(name: str) -> Surrogate:
    """Return one of the models in MADE, or the model of a file."""
    return MADE[name]() if name in MADE else lfno.load(name)


def long_record(name: str, samples: int) -> tuple[float, float]:
    """Return the peak memory in MB beyond inputs and outputs, and the seconds, of one prediction. Call it in a new process."""
    model = model_of(name)
    force = np.random.default_rng(0).normal(size=(model.channels[0], samples))
    model.predict(force[:, :1000])  # the first prediction loads packages; their memory and time are not measured
    before, start = peak(), time.perf_counter()
    answer = model.predict(force)
    return peak() - before - answer.nbytes / 1e6, time.perf_counter() - start


MADE = {"linear, 6 modes": linear, "LFNO, 8 layers": network}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", help="a model file, besides the two built-in ones")
    parser.add_argument("--samples", type=int, default=10**7, help="number of samples of the long record")
    given = parser.parse_args()
    for name in [*MADE, *([given.model] if given.model else [])]:
        model = model_of(name)
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            memory, seconds = pool.apply(long_record, (name, given.samples))
        single, block = in_python(model)
        print(f"{name}: Python {single:.3f} ms per sample, {block:.4f} ms in one block")
        for precision in ("double", "float") if shutil.which("cc") else ():
            micro, size, state = in_c(model, precision)
            print(f"{name}: C {precision} {micro:.2f} µs per sample, source {size:.0f} KB, one state {state:.1f} KB")
        print(f"{name}: a record of {given.samples:.0e} samples in {seconds:.0f} s, {memory:.0f} MB beyond input and output")


if __name__ == "__main__":
    main()
