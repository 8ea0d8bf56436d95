"""The runs of each study, groups of runs in one stack, runs that leave a stack, and stacks that are resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.models import LFNO
from lfno.models.storage import MODELS
from lfno.paper import matrix, stacked
from lfno.paper.matrix import Cell, groups, long_enough, missing, with_other_settings
from lfno.paper.record import load_records
from lfno.paper.scoring import _example
from lfno.paper.stacked import run_group
from lfno.paper.studies import STUDIES, Question
from lfno.systems.registry import find
from tests.paper.report.builder import record
from tests.training.spoiled import spoil_first_run

SMALL = {"width": 2, "modes": 4, "n_poles": 2, "projection": 8, "validate_every": 1, "batch": 137}


def small(task: str = "duffing-c05-rich", **fields: object) -> Cell:
    """Return a cell with a small network and two epochs."""
    changes = SMALL | {"epochs": 2, "steady_decay": 1e-4} | fields.pop("changes", {})  # type: ignore[operator]
    return Cell(task, "lfno", changes=changes, **fields)  # type: ignore[arg-type]


def test_periodic_and_other_fields_are_not_in_one_stack():
    """Only axes that are not periodic have padding, and all runs of a stack have the same padding."""
    heat, burgers = (small(task, changes={"padding": 0.5}) for task in ("heat", "burgers"))
    assert find("heat").grid.shape == find("burgers").grid.shape
    assert [len(group) for group in groups([heat, burgers], 9)] == [1, 1]
    assert [len(group) for group in groups([heat, small("beam", changes={"padding": 0.5})], 9)] == [2]


@pytest.mark.parametrize("name", STUDIES)
def test_every_variant_of_a_study_can_be_built_and_has_its_own_record(name):
    study = STUDIES[name]
    cells = Question(name).cells(study.models, Path())
    assert len({cell.key for cell in cells}) == len(cells)
    assert len(cells) == 3 * len(study.tasks) * len(study.models) * len(study.variants)
    for cell in cells[::3]:
        kind = MODELS[cell.model.upper()]
        kind(find(cell.task).grid, kind.Config.from_fields(cell.resolved().fields))


def test_seeds_folds_and_data_sets_on_one_grid_are_in_one_stack():
    cells = Question(tasks=["ode"], seeds=3, folds=5).cells(["lfno"], Path())
    assert [len(group) for group in groups(cells, 64)] == [64, 11]
    cells = Question(tasks=["ode", "rich"], preset="paper").cells(["lfno"], Path())
    assert [len(group) for group in groups(cells, 64)] == [15, 12], "two stacks for two grids; numbers of epochs may differ"


def test_fno_deep_has_at_least_as_many_parameters_as_lfno():
    for preset, changes in (("default", {}), ("paper", {}), ("default", {"width": 8, "n_poles": 64})):
        (cell,) = Question(tasks=["duffing-c05"], seeds=1, preset=preset, changes=changes).cells(["fno deep"], Path())
        grid = find(cell.task).grid
        lfno = Cell(cell.task, "lfno", preset, changes=changes).resolved()
        ours, theirs = matrix._count("LFNO", lfno, grid), matrix._count("FNO", cell.resolved(), grid)
        one_less = cell.resolved().change(layers=cell.changes["layers"] - 1)
        assert theirs >= ours
        assert cell.changes["layers"] == 4 or matrix._count("FNO", one_less, grid) < ours


def test_fno_long_has_as_many_epochs_as_fit_into_the_training_time_of_lfno(tmp_path):
    with pytest.raises(LfnoError, match="no record of LFNO"):
        long_enough(Cell("beam", "fno", label="FNO"), tmp_path)
    for seed, (slow, fast) in enumerate(((30.0, 11.0), (34.0, 9.0))):
        record("beam", "LFNO", 0.1, seed=seed, seconds=slow).write(tmp_path)
        record("beam", "FNO", 0.1, seed=seed, seconds=fast, training={"epochs": 1000}).write(tmp_path)
    assert long_enough(Cell("beam", "fno", label="FNO"), tmp_path) == 3200
    (cell,) = Question(tasks=["beam"], seeds=1).cells(["fno long"], tmp_path)
    assert cell.resolved().training.epochs == 3200
    # LFNO takes 32 s, and each FNO 10 s. After its first validation, the stack of two FNOs takes 10 ms for an epoch, so 5 ms
    # for each run: the remaining 22 s are 4400 epochs
    history = {"epoch": [10, 1000], "seconds": [10.1, 20.0], "rate": [0, 0], "train": [1, 1], "validation": [1, 1]}
    fields = {"training": {"epochs": 1000}, "history": history, "stacked": 2}
    for seed in range(2):
        record("beam", "FNO", 0.1, seed=seed, seconds=10.0, **fields).write(tmp_path)
    assert long_enough(Cell("beam", "fno", label="FNO"), tmp_path) == 5400
    assert Question(models=["fno long", "lfno", "fno"]).stages() == [("lfno", "fno"), ("fno long",)]


def test_runs_with_a_label_have_their_own_records():
    question = Question(tasks=["heat"], seeds=1, label="wide")
    cells = question.cells(STUDIES["main"].models, Path())
    assert sorted(cell.title for cell in cells) == ["FNO wide", "LFNO wide", "LNO wide"]
    (alone,) = Question(tasks=["heat"], models=["fno"], seeds=1, label="wide").cells(["fno"], Path())
    assert alone.title == "wide"
    with pytest.raises(LfnoError, match="leave out --label"):
        Question("ablation", seeds=1, label="wide").cells(["lfno"], Path())


def test_a_record_with_a_weight_decay_that_the_pilot_cannot_choose_has_other_settings(tmp_path):
    cell = small(changes={"epochs": 1, "steady_decay": None})
    run_group([cell], tmp_path, "cpu")
    assert with_other_settings([cell], tmp_path) == []
    path = tmp_path / cell.key
    tree = json.loads(path.read_text())
    tree["training"]["steady_decay"] = 30.0
    path.write_text(json.dumps(tree))
    assert with_other_settings([cell], tmp_path) == [cell]


def test_an_old_record_without_an_option_counts_as_made_without_it(tmp_path):
    """The records lack the option `gate`. LFNO on signals now has gates, so its record differs. LFNO on fields has no gates."""
    cells = [small(task, changes={"epochs": 1}) for task in ("duffing-c05-rich", "heat")]
    assert [cell.resolved().fields["gate"] for cell in cells] == [True, False]
    for cell in cells:
        run_group([cell], tmp_path, "cpu")
        path = tmp_path / cell.key
        tree = json.loads(path.read_text())
        del tree["config"]["gate"]
        path.write_text(json.dumps(tree))
    assert with_other_settings(cells, tmp_path) == cells[:1]


def test_a_run_whose_loss_is_never_finite_has_errors_nan_and_a_warning(tmp_path, monkeypatch, caplog):
    cells = [small(seed=seed, changes={"epochs": 2}) for seed in range(2)]
    spoil_first_run(monkeypatch)
    with caplog.at_level("WARNING", logger="lfno"):
        lost, good = run_group(cells, tmp_path, "cpu")
    assert np.isnan(lost.scores["l2"])
    assert np.isfinite(good.scores["l2"])
    again = {record.seed: record for record in load_records(tmp_path)}
    assert np.isnan(again[0].scores["l2"])
    assert "s0" in caplog.text


def test_a_stopped_group_whose_data_changed_starts_again(tmp_path, monkeypatch):
    monkeypatch.setattr(stacked, "cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr("lfno.training.run.SAVE_EVERY", 0.0)
    cell = small(changes={"epochs": 3})

    def stop(trainer, told):
        if told["epoch"] == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_group([cell], tmp_path, "cpu", stop)
    made = stacked.dataset
    monkeypatch.setattr(stacked, "dataset", lambda name: replace(made(name), outputs=2 * made(name).outputs))
    (record,) = run_group([cell], tmp_path, "cpu")
    assert record.history["epoch"][-1] == 3


def test_the_example_of_a_field_has_only_poles_along_the_time_axis():
    """The paper preset has poles along the space axis, too. The figure of poles shows rates in 1/s."""
    grid = Grid((Axis("x", 16, 0.1), Axis("t", 16, 0.2, time=True)))
    model = LFNO(grid, width=2, modes=4, n_poles=2, projection=4)
    zeros = np.zeros((1, 1, *grid.shape), np.float32)
    run = SimpleNamespace(inputs=zeros, outputs=zeros, split=SimpleNamespace(test=np.arange(1)))
    table = model.poles()
    assert set(table.axis) == {"x", "t"}
    real = np.array(_example(run, zeros, model)["poles"])[:, 0]  # type: ignore[arg-type]
    np.testing.assert_allclose(real, table.pole.real[table.axis == "t"], rtol=1e-4)


def test_unknown_names_give_an_error_message():
    with pytest.raises(LfnoError, match="study 'layer' is not known; choose among main, layers"):
        Question("layer").stages()
    with pytest.raises(LfnoError, match="model 'fno deeper' is not known"):
        Question(models=["fno deeper"]).stages()


def test_all_sizes_of_the_training_set_have_equally_many_steps():
    cells = Question("samples", seeds=1, changes={"epochs": 100}).cells(["lfno"], Path())
    trainings = [cell.resolved().training for cell in cells]
    batches = [-(-(cell.train_samples or 0) // one.batch) for cell, one in zip(cells, trainings, strict=True)]
    wanted = 100 * max(batches)  # the largest set has the given number of epochs
    for count, one in zip(batches, trainings, strict=True):
        assert abs(count * one.epochs - wanted) <= count / 2  # equal up to rounding to whole epochs


def test_a_run_in_a_stack_has_the_errors_of_a_single_run(tmp_path, monkeypatch):
    """Two runs with different numbers of epochs are in one stack. The shorter run leaves the stack first."""
    monkeypatch.setattr(matrix, "PAPER_EPOCHS", {"duffing-c05": 3, "pendulum-c05": 2})
    monkeypatch.setattr(Cell, "milestones", property(lambda cell: (matrix.PAPER_EPOCHS[cell.task], 4)))
    ends = {"duffing-c05": 5, "pendulum-c05": 4}
    cells = [small(name, preset="paper", seed=1, changes={"epochs": end}) for name, end in ends.items()]
    (group,) = groups(cells, 8)
    together = run_group(group, tmp_path / "together", "cpu")
    alone = [run_group([cell], tmp_path / "alone", "cpu")[0] for cell in cells]
    assert [sorted(one.at) for one in together] == [["3", "4"], ["2", "4"]]
    for one, other in zip(together, alone, strict=True):
        assert one.history["epoch"] == other.history["epoch"]
        np.testing.assert_allclose(one.history["validation"], other.history["validation"], rtol=1e-4)
        for epoch, scores in one.at.items():
            assert scores["l2"] == pytest.approx(other.at[epoch]["l2"], rel=1e-4)
        assert one.scores["l2"] == pytest.approx(other.scores["l2"], rel=1e-4)
    assert together[1].at["4"] == together[1].scores, "the last epoch of this run is a milestone"


def test_a_resumed_group_has_exactly_the_errors_of_an_uninterrupted_group(tmp_path, monkeypatch):
    monkeypatch.setattr(stacked, "cache_directory", lambda: tmp_path / "cache")
    monkeypatch.setattr("lfno.training.run.SAVE_EVERY", 0.0)
    cells = [small(seed=seed, changes={"epochs": 4, "steady_decay": None, "starts": 2}) for seed in range(2)]
    whole = run_group(cells, tmp_path / "whole", "cpu")

    def stop(trainer, told):
        if told["epoch"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_group(cells, tmp_path / "parts", "cpu", stop)
    assert missing(cells, tmp_path / "parts") == cells
    seen = []
    parts = run_group(cells, tmp_path / "parts", "cpu", lambda trainer, told: seen.append(told["epoch"]))
    assert seen == [4], "the pilot and the earlier epochs are not repeated"
    assert [one.scores for one in parts] == [one.scores for one in whole]
    assert not list((tmp_path / "cache" / "unfinished").iterdir())
    assert missing(cells, tmp_path / "parts") == []
    assert with_other_settings(cells, tmp_path / "parts") == []
    longer = [small(seed=seed, changes={"epochs": 5, "starts": 2}) for seed in range(3)]
    assert missing(longer, tmp_path / "parts") == longer[2:]
    assert with_other_settings(longer, tmp_path / "parts") == longer[:2]


def test_records_hold_out_of_family_errors_and_folds_have_different_errors(tmp_path):
    cells = [small(fold=fold) for fold in range(2)]
    first, second = run_group(cells, tmp_path, "cpu")
    assert set(first.out_of_family) == {"l2", "linf"}
    assert all(np.isfinite(value) for value in first.out_of_family.values())
    assert first.scores != second.scores
    assert [r.out_of_family for r in load_records(tmp_path)] == [first.out_of_family, second.out_of_family]
    assert json.loads((tmp_path / cells[1].key).read_text())["fold"] == 1
    assert Cell("duffing-c05", "lfno").out_of_family is None, "the out-of-family data set has another grid"
    assert Cell("heat", "lfno").out_of_family == "heat-out"
