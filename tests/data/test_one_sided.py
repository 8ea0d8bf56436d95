"""Files without an input (free decays) and files without an output (questions): the other side has no channels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.signals import read_signals
from lfno.data.signals.decays import load_decays
from lfno.data.signals.questions import load_question
from lfno.data.signals.record import Record

T = 0.1 * np.arange(60)
WAVE = np.cos(3 * T) * np.exp(-0.2 * T)


def table(path: Path, **columns: np.ndarray) -> Path:
    """Write columns as a CSV file and return its path."""
    rows = np.stack(list(columns.values()), 1)
    np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="")
    return path


@pytest.mark.parametrize("extra", [{}, {"no input": WAVE**2, "to be predicted": WAVE**3}])
def test_a_file_may_have_any_column_names(extra: dict[str, np.ndarray], tmp_path: Path) -> None:
    """The names that stood for a missing side in older versions are ordinary names."""
    file = table(tmp_path / "run.csv", t=T, x=WAVE, f=np.sin(T), **extra)
    decay = load_decays(file, "x")
    assert isinstance(decay, Record)
    assert (decay.inputs.shape, decay.input_channels) == ((0, 60), ())
    np.testing.assert_allclose(decay.outputs[0], WAVE)
    question, known = load_question(file, ["f"], ["y"])
    assert isinstance(question, Record)
    assert not known
    assert (question.outputs.shape, question.output_channels) == ((0, 60), ())
    np.testing.assert_allclose(question.inputs[0], np.sin(T))
    assert decay.notes == question.notes == []


def test_gaps_and_missing_rows_on_the_only_side(tmp_path: Path) -> None:
    keep = np.ones(60, bool)
    keep[[20, 21]] = False
    holes = np.where(np.arange(60) % 17 == 5, np.nan, WAVE)
    decay: Any = load_decays(table(tmp_path / "holes.csv", t=T[keep], x=holes[keep]), "x")
    assert decay.outputs.shape == decay.mask.shape == (1, 60)
    assert not decay.mask[0, 20:22].any()
    assert np.isfinite(decay.outputs).all()
    question, known = load_question(table(tmp_path / "gap.csv", t=T[keep], f=holes[keep]), ["f"], ["y"])
    assert not known
    assert question.mask is None
    assert np.isfinite(question.inputs).all()
    assert question.inputs.shape == (1, 60)


def test_trajectories_and_runs_without_an_input(tmp_path: Path) -> None:
    np.savez(tmp_path / "many.npz", t=T, x=np.stack([WAVE, 2 * WAVE, 3 * WAVE]))
    many = load_decays(tmp_path / "many.npz", "x")
    assert isinstance(many, Dataset)
    assert (many.inputs.shape, many.outputs.shape) == ((3, 0, 60), (3, 1, 60))
    run = np.concatenate([np.ones(60), 2 * np.ones(40)])
    rows = np.concatenate([T, T[:40]]), np.concatenate([WAVE, 2 * WAVE[:40]])
    padded = load_decays(table(tmp_path / "runs.csv", run=run, t=rows[0], x=rows[1]), "x", sample="run")
    assert isinstance(padded, Dataset)
    assert (padded.inputs.shape, padded.outputs.shape) == ((2, 0, 60), (2, 1, 60))
    assert padded.mask is not None
    assert padded.mask[1, 0].sum() == 40


def test_fields_of_the_input_alone_keep_their_axes(tmp_path: Path) -> None:
    x = np.linspace(0, 1, 7)
    np.savez(tmp_path / "field.npz", t=T, x=x, f=np.sin(T) * np.cos(x)[:, None], c=np.array(2.0))
    question, known = load_question(tmp_path / "field.npz", ["f", "c"], ["u"])
    assert not known
    assert question.grid.names == ("x", "t")
    assert (question.inputs.shape, question.outputs.shape) == ((2, 7, 60), (0, 7, 60))


def test_a_side_without_names_is_not_guessed() -> None:
    columns = {"t": T, "f": np.sin(T), "x": WAVE}
    assert read_signals(columns, input=[], output="x").input_channels == ()
    assert read_signals(columns, input="f", output="").output_channels == ()
    with pytest.raises(LfnoError, match="at least one input or output"):
        read_signals(columns, input=[], output=[])
    with pytest.raises(LfnoError, match="'y'"):
        read_signals(columns, input=[], output="y")
