"""Models outside Python: C99 and FMI 2.0 give the answers of the model itself."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import torch

import lfno
from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate import Surrogate
from lfno.surrogate.deploy.c_code import write_c

GRID = Grid.line(300, dt=0.02)
SIGNALS = {"inputs": [["force", "N"], ["flow", "m³/s"]], "outputs": [["x", "m"], ["dx*/dt", "m/s"]]}
STRICT = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def linear() -> Surrogate:
    rng = np.random.default_rng(0)
    poles = np.array([-0.4 + 6j, -1.0 + 20j, -3.0 + 0j])
    residues = rng.normal(size=(2, 2, 3)) + 1j * rng.normal(size=(2, 2, 3))
    modes = Modes(poles, residues, rng.normal(size=(2, 2)), np.ones(3), 0.0, "linear")
    return Surrogate([ModalModel(modes, np.array([0.3, -1.0]), np.array([2.0, 0.0]), GRID, {"data": {"signals": SIGNALS}})])


def network(gate: bool = True, activation: str = "gelu") -> Surrogate:
    torch.manual_seed(0)
    fields = {"width": 5, "modes": 8, "n_poles": 3, "share_poles": True, "projection": 7, "transient_layers": 3}
    model = lfno.LFNO(
        GRID, steady="exact", in_channels=2, out_channels=2, gate=gate, activation=activation, **fields
    ).double()
    model.normalise([0.3, -1.0], [2.0, 0.5], [1.0, 0.0], [3.0, 0.1])
    model.provenance = {"data": {"signals": SIGNALS}}
    return Surrogate([model])


def forces(size: int = 300) -> np.ndarray:
    return np.cumsum(np.random.default_rng(1).normal(size=(2, size)), -1) * 0.2


MODELS = {"linear": linear, "gated": network, "plain": lambda: network(gate=False), "tanh": lambda: network(activation="tanh")}


def run_c(model: Surrogate, folder: Path, inputs: np.ndarray, precision: str) -> np.ndarray:
    """Compile the exported source with every warning as an error, and feed it the inputs sample by sample."""
    write_c(model.program(), folder / "rig.c", precision)
    (folder / "main.c").write_text(
        """
        #include "rig.h"
        #include <stdio.h>
        int main(void)
        {
            rig_state first, second;
            rig_real input[rig_INPUTS], output[rig_OUTPUTS], other[rig_OUTPUTS];
            double value;
            int i, k;
            rig_reset(&first);
            rig_reset(&second);
            for (k = 0; k < rig_TEST; k++) rig_step(&second, rig_test_input[k], other);
            for (;;) {
                for (i = 0; i < rig_INPUTS; i++) {
                    if (scanf("%lf", &value) != 1) return 0;
                    input[i] = (rig_real)value;
                }
                rig_step(&first, input, output);
                rig_step(&second, input, other);
                for (i = 0; i < rig_OUTPUTS; i++) printf("%.17g ", (double)output[i]);
                printf("\\n");
            }
        }
        """
    )
    command = ["cc", *STRICT, "rig.c", "main.c", "-o", "rig", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = "\n".join(" ".join(f"{value:.17g}" for value in row) for row in inputs.T)
    told = subprocess.run([folder / "rig"], input=text, capture_output=True, text=True, check=True).stdout
    return np.array([[float(word) for word in line.split()] for line in told.splitlines()]).T


@needs_compiler
@pytest.mark.parametrize("kind", MODELS)
def test_c_gives_the_answer_of_the_model(kind: str, tmp_path: Path) -> None:
    model, inputs = MODELS[kind](), forces()
    expected = model.predict(inputs)
    peak = np.abs(expected).max()
    assert np.abs(run_c(model, tmp_path, inputs, "double") - expected).max() < 1e-9 * peak
    assert np.abs(run_c(model, tmp_path, inputs, "float") - expected).max() < 1e-4 * peak


def run_fmu(file: Path, inputs: np.ndarray, dt: float, every: int, slopes: bool, folder: Path) -> np.ndarray:
    """Drive an FMU by the calls of the standard, with input derivatives or without, `every` model steps at a time."""
    import ctypes

    import fmpy
    from fmpy.fmi2 import FMU2Slave

    description = fmpy.read_model_description(str(file))
    unzipped = fmpy.extract(str(file), str(folder / "unzipped"))
    slave = FMU2Slave(
        guid=description.guid, unzipDirectory=unzipped, instanceName="one",
        modelIdentifier=description.coSimulation.modelIdentifier,
    )  # fmt: skip
    references = list(range(len(description.modelVariables)))
    ins = references[: len(inputs)]
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.setReal(ins, inputs[:, 0].tolist())
    slave.exitInitializationMode()
    answers = [slave.getReal(references[len(inputs) :])]
    for k in range(0, inputs.shape[1] - every, every):
        slave.setReal(ins, inputs[:, k].tolist())
        if slopes:
            rates = (inputs[:, k + every] - inputs[:, k]) / (every * dt)
            count = len(ins)
            which, orders = (ctypes.c_uint * count)(*ins), (ctypes.c_int * count)(*[1] * count)
            slave.fmi2SetRealInputDerivatives(slave.component, which, count, orders, (ctypes.c_double * count)(*rates))
        slave.doStep(currentCommunicationPoint=k * dt, communicationStepSize=every * dt)
        answers.append(slave.getReal(references[len(inputs) :]))
    with pytest.raises(Exception, match="DoStep failed"):
        slave.doStep(currentCommunicationPoint=0.0, communicationStepSize=0.7 * dt)
    slave.terminate()
    slave.freeInstance()
    return np.array(answers).T


@needs_compiler
@pytest.mark.parametrize("kind", ["linear", "gated"])
def test_an_fmu_gives_the_answer_of_the_model(kind: str, tmp_path: Path) -> None:
    """With input derivatives it is exact; with held inputs it differs, as for every first-order hold."""
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    model, inputs = MODELS[kind](), forces()
    unit = model.export("fmu", tmp_path / "rig.fmu")
    assert unit.binary
    assert validate_fmu(str(unit.path)) == []
    expected, peak = model.predict(inputs), np.abs(model.predict(inputs)).max()
    assert np.abs(run_fmu(unit.path, inputs, 0.02, 1, True, tmp_path) - expected).max() < 1e-9 * peak
    wrong = np.abs(run_fmu(unit.path, inputs, 0.02, 1, False, tmp_path) - expected).max() / peak
    assert 1e-6 < wrong < 0.5
    knots = inputs[:, ::4]
    lines = np.repeat(knots, 4, -1) + np.tile(np.arange(4) / 4, 75) * np.repeat(np.diff(knots, append=0), 4, -1)
    coarse = run_fmu(unit.path, lines[:, :297], 0.02, 4, True, tmp_path)
    assert np.abs(coarse - model.predict(lines)[:, :297:4]).max() < 1e-9 * peak, "four model steps in one communication step"
    table = np.rec.fromarrays([GRID.axes[0].points, *inputs], names=["time", "force", "flow"])
    told = fmpy.simulate_fmu(str(unit.path), input=table, stop_time=1.0, output_interval=0.02)
    assert np.isfinite(told["x"]).all()


def test_what_cannot_be_exported_says_why(tmp_path: Path) -> None:
    weighted = Surrogate([lfno.LFNO(GRID, width=4, modes=8, n_poles=2)])
    for model, words in [(weighted, "free weights R"), (Surrogate([lfno.FNO(GRID, width=4, modes=8)]), "whole window at once")]:
        for target in ("c", "fmu"):
            with pytest.raises(lfno.LfnoError, match=words):
                model.export(target, tmp_path / f"rig.{target}")
    for name, words in [("2rig.c", "cannot be a name in C"), ("gone/rig.c", "no folder")]:
        with pytest.raises(lfno.LfnoError, match=words):
            linear().export("c", tmp_path / name)
    with pytest.raises(lfno.LfnoError, match="positive"):
        linear().export("c", tmp_path / "rig.c", dt=0.0)
    with pytest.raises(lfno.LfnoError, match="cannot be exported to 'tar'"):
        linear().export("tar", tmp_path / "rig.tar")
    assert not list(tmp_path.iterdir()), "nothing half-written is left"
