"""Exports of linear models with no pole, with nearly equal poles, and with many channels agree with the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.surrogate import Surrogate
from lfno.surrogate.deploy import run
from lfno.surrogate.deploy.chains import chained
from tests.surrogate.rigs import needs_compiler
from tests.surrogate.test_c import run_c

GRID = Grid.line(400, dt=0.05)
#: groups of nearly equal poles. If the poles of a group differ, their residues are large and their responses nearly cancel; see
#: `model`
GROUPS = {
    "none": [],
    "separate": [[-0.5], [-0.2 + 3j], [-4.0]],
    "double": [[-0.16, -0.16 - 4e-6], [-0.3 + 2j]],
    "equal": [[-0.16, -0.16]],
    "triple": [[-0.5, -0.501, -0.502]],
    "oscillations": [[-0.2 + 4j, -0.2 + 4.00001j], [-1.0, -1.0 - 1e-5]],
    "fast": [[-60.0, -60.01], [-0.4 + 1j]],
}


def model(groups: list[list[complex]], inputs: int = 2, outputs: int = 2, hold: str = "linear") -> Surrogate:
    """Return a linear model with these poles. Pole m of a group has the residue r Π_j |μ_m| / (μ_m − μ_j).

    j runs over the poles of the group that differ from pole m. r is random for each group and pair of channels; for
    oscillations, it is multiplied by i.
    """
    rng = np.random.default_rng(0)
    poles, residues = [], []
    for group in groups:
        scale = rng.normal(size=(outputs, inputs))
        for one in group:
            gaps = [one - other for other in group if other != one]
            poles.append(one)
            residues.append(scale * (1j if np.imag(one) else 1.0) / np.prod(gaps) * abs(one) ** len(gaps))
    array = np.stack(residues, -1) if residues else np.zeros((outputs, inputs, 0))
    modes = Modes(np.array(poles, complex), array.astype(complex), rng.normal(size=(outputs, inputs)), np.ones(len(poles)), 0.0,
                  hold)  # fmt: skip
    return Surrogate([ModalModel(modes, rng.normal(size=inputs), rng.normal(size=outputs), GRID)])


def slow(residue: float) -> Surrogate:
    """Return a linear model of two slow modes whose responses nearly cancel."""
    poles, residues = np.array([-1e-6, -1e-6 + 3e-4j]), np.array([[[residue, -residue]]], complex)
    modes = Modes(poles, residues, np.zeros((1, 1)), np.ones(2), 0.0, "zero")
    return Surrogate([ModalModel(modes, np.zeros(1), np.zeros(1), GRID)])


def forces(inputs: int = 2) -> np.ndarray:
    """Return inputs (inputs, 400): white noise."""
    return np.random.default_rng(1).normal(size=(inputs, 400))


def close(answer: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Return whether two arrays agree relative to the largest value."""
    return bool(np.abs(answer - expected).max() <= tolerance * np.abs(expected).max())


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("hold", ["zero", "linear"])
def test_a_program_gives_the_predictions_of_the_model(name: str, hold: str) -> None:
    """`run.respond` computes the whole signal as one block. The runner computes short blocks sample by sample."""
    surrogate, inputs = model(GROUPS[name], hold=hold), forces()
    expected, program = surrogate.predict(inputs), surrogate.program()
    size = np.abs(surrogate.members[0].modes.residues).max(initial=1.0)
    assert close(run.respond(program, inputs), expected, 1e-13 * size + 1e-11)
    runner, state, parts = run.Runner(program), run.at_rest(program), []
    for block in np.split(inputs, [1, 2, 5, 200], axis=1):
        answer, state = runner.advance(block, state)
        parts.append(answer)
    assert close(np.concatenate(parts, 1), expected, 1e-13 * size + 1e-11)


@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("channels", [(2, 2), (9, 7)])
def test_onnx_files_in_single_precision(name: str, channels: tuple[int, int], tmp_path: Path) -> None:
    """Nearly equal poles need no double precision: the difference stays near the rounding error of float32."""
    pytest.importorskip("onnxruntime")
    surrogate = model(GROUPS[name], *channels)
    for to in ("onnx", "onnx-step"):
        written = surrogate.export(to, tmp_path / "rig.onnx")
        assert written.precision == "float"
        assert written.error < 2e-5


@needs_compiler
@pytest.mark.parametrize("name", GROUPS)
def test_c_code_in_both_precisions(name: str, tmp_path: Path) -> None:
    surrogate, inputs = model(GROUPS[name]), forces()
    expected = run.respond(surrogate.program(), inputs)
    for precision, tolerance in (("double", 1e-12), ("float", 3e-5)):
        assert close(run_c(surrogate, tmp_path, inputs, precision)[0], expected, tolerance)


def test_a_model_that_needs_double_precision_gets_it(tmp_path: Path) -> None:
    """The residues 10⁴ and −10⁴ of two slow poles amplify the rounding errors of float32, and the responses nearly cancel."""
    runtime = pytest.importorskip("onnxruntime")
    surrogate = slow(1e4)
    step = surrogate.export("onnx-step", tmp_path / "step.onnx")
    assert (step.precision, step.error < 1e-6) == ("double", True)
    window = surrogate.export("onnx", tmp_path / "window.onnx")
    assert window.precision == "double"
    assert window.single > 1e-4
    session = runtime.InferenceSession(str(window.path), providers=["CPUExecutionProvider"])
    force = forces(1).astype(np.float32)
    assert close(session.run(None, {"input": force[None]})[0][0], run.respond(surrogate.program(), force), 1e-6)
    with pytest.raises(LfnoError, match="use double precision"):
        surrogate.export("onnx-step", tmp_path / "single.onnx", precision="float")
    assert not (tmp_path / "single.onnx").exists()


def test_c_in_single_precision_is_refused_if_it_is_useless(tmp_path: Path) -> None:
    surrogate = slow(1e8)
    surrogate.export("c", tmp_path / "rig.c")
    with pytest.raises(LfnoError, match="export the model in double precision"):
        surrogate.export("c", tmp_path / "other.c", precision="float")
    assert not (tmp_path / "other.c").exists()


def test_a_chain_has_moderate_residues() -> None:
    """The residues of m nearly equal poles grow as the inverse distance to the power m − 1.

    A chain stores divided differences of their states instead (`lfno.surrogate.deploy.chains`). Its residues do not grow.
    """
    poles = np.array([-1.0, -1.0001, -1.0002]) + 0j
    residues = 1 / np.array([np.prod([one - other for other in poles if other != one]) for one in poles])
    found = chained(poles, 0.1, np.ones((2, 3)), residues)
    assert np.abs(residues).max() > 1e7
    assert np.abs(found.residues).max() < 1
