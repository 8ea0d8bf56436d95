"""C99 code: it compiles without warnings, and its outputs equal the predictions of the model."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.surrogate import Surrogate
from lfno.surrogate.deploy import run
from tests.surrogate.rigs import MODELS, STRICT, forces, linear, needs_compiler

MAIN = """
#include "rig.h"
#include <math.h>
#include <stdio.h>
int main(void)
{
    rig_state first, second;
    rig_real input[rig_INPUTS], output[rig_OUTPUTS], other[rig_OUTPUTS], zero[rig_INPUTS] = {0};
    double value, worst = 0;
    int i, k;
    rig_reset(&first);
    rig_reset(&second);
    for (k = 0; k < rig_TEST; k++) {
        rig_step(&second, rig_test_input[k], other);
        for (i = 0; i < rig_OUTPUTS; i++) worst = fmax(worst, fabs((double)(other[i] - rig_test_output[k][i])));
    }
    fprintf(stderr, "%.17g", worst);
    for (;;) {
        for (i = 0; i < rig_INPUTS; i++) {
            if (scanf("%lf", &value) != 1) return 0;
            input[i] = (rig_real)value;
        }
        rig_step(&first, JUMP ? zero : input, output);
        if (JUMP) rig_jump(&first, input, output);
        rig_step(&second, input, other);
        for (i = 0; i < rig_OUTPUTS; i++) printf("%.17g ", (double)output[i]);
        printf("\\n");
    }
}
"""


def run_c(model: Surrogate, folder: Path, inputs: np.ndarray, precision: str, jump: int = 0) -> tuple[np.ndarray, float]:
    """Export a model as C, compile it with every warning as an error, and run it sample by sample.

    jump: 1 to run every step with zero inputs first, and then replace the inputs by `rig_jump`.
    Returns the outputs, and the largest error on the test inputs in the source.
    """
    model.export("c", folder / "rig.c", precision=precision)
    (folder / "main.c").write_text(MAIN)
    command = ["cc", *STRICT, f"-DJUMP={jump}", "rig.c", "main.c", "-o", "rig", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = "\n".join(" ".join(f"{value:.17g}" for value in row) for row in inputs.T)
    told = subprocess.run([folder / "rig"], input=text, capture_output=True, text=True, check=True)
    return np.array([[float(word) for word in line.split()] for line in told.stdout.splitlines()]).T, float(told.stderr)


@needs_compiler
@pytest.mark.parametrize("kind", MODELS)
def test_c_code_gives_the_predictions_of_the_model(kind: str, tmp_path: Path) -> None:
    model, inputs = MODELS[kind](), forces()
    expected = model.predict(inputs)
    peak = np.abs(expected).max()
    for precision, tolerance in (("double", 1e-9), ("float", 1e-4)):
        answer, test = run_c(model, tmp_path, inputs, precision)
        assert np.abs(answer - expected).max() < tolerance * peak
        assert test < tolerance * peak


@needs_compiler
def test_a_cubic_hold_in_c_equals_the_program(tmp_path: Path) -> None:
    model, inputs = linear("cubic"), forces(50)
    np.testing.assert_allclose(run_c(model, tmp_path, inputs, "double")[0], run.respond(model.program(), inputs), atol=1e-11)


@needs_compiler
def test_an_input_that_jumps_at_a_sample(tmp_path: Path) -> None:
    """The input is a sawtooth: at sample k it jumps from 0 to u[k], and then it falls linearly to 0 until sample k + 1."""
    inputs = forces(50)
    answer, _ = run_c(linear(), tmp_path, inputs, "double", jump=1)
    fine = 400
    teeth = inputs[:, :-1, None] * (1 - np.arange(fine) / fine)
    offset = np.array([[0.3], [-1.0]])
    modes = linear().members[0].modes
    truth = modes.simulate((teeth.reshape(2, -1) - offset)[None], 0.02 / fine)[0][:, ::fine] + np.array([[2.0], [0.0]])
    # on the fine grid, each jump becomes a steep line over one interval; this causes an error of order 1 / fine
    np.testing.assert_allclose(answer[:, :-1], truth, atol=0.01 * np.abs(truth).max())


def test_the_header_names_channels_step_hold_and_range(tmp_path: Path) -> None:
    source, header = linear("zero").export("c", tmp_path / "rig.c")
    text = header.read_text()
    for words in ("force [N]", "flow [m3/s]", "dx* /dt [m/s]", "one step of 0.02 s", "keeps the value", "range of training"):
        assert words in text
    assert "rig_test_output" in source.read_text()


def test_a_model_from_a_file_gives_the_same_source(tmp_path: Path) -> None:
    """The poles from a file are complex128 and must lie at a multiple of 16 bytes in memory."""
    linear().save(tmp_path / "rig.safetensors")
    loaded = lfno.load(tmp_path / "rig.safetensors")
    assert loaded.linear is not None
    assert loaded.linear.modes.poles.ctypes.data % 16 == 0
    sources = [model.export("c", tmp_path / "rig.c")[0].read_bytes() for model in (linear(), loaded)]
    assert sources[0] == sources[1]


def test_an_impossible_export_raises_an_error_and_writes_nothing(tmp_path: Path) -> None:
    for path, fields, words in [
        ("2rig.c", {}, "cannot be a name in C"), ("gone/rig.c", {}, "no folder"), ("rig.c", {"dt": 0.0}, "positive"),
        ("rig.c", {"precision": "half"}, "choose double or float"), ("rig.c", {"member": 3}, "no member 3"),
    ]:  # fmt: skip
        with pytest.raises(lfno.LfnoError, match=words):
            linear().export("c", tmp_path / path, **fields)
    with pytest.raises(lfno.LfnoError, match="cannot be exported to 'tar'"):
        linear().export("tar", tmp_path / "rig.tar")
    assert not list(tmp_path.iterdir()), "no incomplete file is left"
    (tmp_path / "rig").mkdir()
    for target in ("c", "fmu", "onnx-step", "onnx"):
        with pytest.raises(lfno.LfnoError, match="is a folder"):
            linear().export(target, tmp_path / "rig")
    assert [path.name for path in tmp_path.iterdir()] == ["rig"]
