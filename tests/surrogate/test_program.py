"""The program of a time step gives the outputs of the model, for every hold of the input."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lfno
from lfno.core.grid import Grid
from lfno.spectral import recurrence
from lfno.surrogate.deploy import run
from lfno.surrogate.deploy.c_code import allocate
from lfno.surrogate.deploy.program import Builder
from tests.surrogate.rigs import GRID, MODELS, forces, linear, modes


@pytest.mark.parametrize("kind", MODELS)
def test_a_program_gives_the_predictions_of_the_model(kind: str) -> None:
    model, inputs = MODELS[kind](), forces()
    expected = model.predict(inputs)
    np.testing.assert_allclose(run.respond(model.program(), inputs), expected, atol=1e-10 * np.abs(expected).max())


def test_a_cubic_hold_uses_the_last_four_samples() -> None:
    """The cubic hold of exported code equals the causal cubic hold of `lfno.spectral.hold`, from the first sample on."""
    inputs, model = forces(40), linear("cubic")
    centred = torch.as_tensor(inputs - np.array([[0.3], [-1.0]]))[None]
    poles, residues = torch.as_tensor(modes().poles), torch.as_tensor(modes().residues.transpose(1, 0, 2))
    expected = recurrence.respond(centred, poles, residues, 0.02, "cubic")[0] + torch.as_tensor(modes().direct) @ centred[0]
    expected = expected.numpy() + np.array([[2.0], [0.0]])
    program = model.program()
    np.testing.assert_allclose(run.respond(program, inputs), expected, atol=1e-11)
    state, parts = run.at_rest(program), []
    runner = run.Runner(program)
    for block in np.split(inputs, [1, 2, 3, 7], axis=1):
        answer, state = runner.advance(block, state)
        parts.append(answer)
    np.testing.assert_allclose(np.concatenate(parts, 1), expected, atol=1e-11)
    assert any("future samples" in note for note in program.notes)


def test_a_cubic_hold_is_of_fourth_order_for_smooth_inputs() -> None:
    errors = []
    for refine in (1, 2, 4):
        t = np.arange(200 * refine) * 0.02 / refine
        smooth = np.stack([np.sin(3 * t) ** 3, np.zeros_like(t)]) + np.array([[0.3], [-1.0]])
        model = linear("cubic")
        fine = np.repeat(np.arange(200 * 16), 1) * 0.02 / 16
        truth = linear("cubic").members[0].predict(
            np.stack([np.sin(3 * fine) ** 3, np.zeros_like(fine)])[None] + np.array([[0.3], [-1.0]]), Grid.line(3200, 0.02 / 16)
        )[0][:, :: 16 // refine]
        errors.append(np.abs(run.respond(model.program(dt=0.02 / refine), smooth) - truth).max())
    assert errors[0] / errors[1] > 10
    assert errors[1] / errors[2] > 10


def test_with_a_time_step_below_the_training_step_the_hold_is_cubic() -> None:
    assert linear("zero").program().hold == "zero"
    assert linear("zero").program(dt=0.01).hold == "cubic"


def test_registers_that_live_at_the_same_time_do_not_share_memory() -> None:
    build = Builder(inputs=3)
    first = build.affine(0, np.eye(3))
    second = build.affine(first, np.eye(3))
    third = build.plus(first, second)
    fourth = build.times(third, second)
    program = build.program(fourth, 1.0, "s", [("", "")] * 3, [("", "")] * 3, "a test", "linear")
    places, size = allocate(program)
    assert places[0] == "input"
    assert len({places[k] for k in (first, second, third)}) == 3
    assert places[fourth] == places[first], "the memory of a register that is not read any more is used again"
    assert size == 9


def test_an_unknown_function_is_refused() -> None:
    with pytest.raises(lfno.LfnoError, match="cannot be exported"):
        Builder(inputs=1).apply("bessel", 0)


def test_the_notes_have_the_range_of_the_training_inputs() -> None:
    model = linear()
    assert model.program().notes == ("range of training: not stored with the model",)
    model.provenance = model.provenance | {"coverage": lfno.evaluation.coverage.Coverage.of(forces()[None], GRID).to_dict()}
    first, second = model.program().notes
    assert first.startswith("range of training of force [N]: peak up to")
    assert "Hz" in second
