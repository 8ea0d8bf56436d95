"""Tables show mean and standard deviation of the records, the lowest error in bold, and a dash for missing runs."""

from __future__ import annotations

import math

import pytest

from lfno.paper.report import paper
from lfno.paper.report.errors import error_table, fair_table, outside_table, rich_table
from lfno.paper.report.selection import Runs
from lfno.paper.report.studies import ablation_table, gate_table, layers_table, loss_table, padding_table, samples_table
from lfno.paper.report.tables import Row, Table, TableCell, escape_markdown
from lfno.paper.report.times import time_table
from lfno.systems import titles
from tests.paper.report.builder import record


def rows_below(table: Table, heading: str) -> dict[str, Row]:
    """Return the rows below the heading that begins with these words, by name."""
    found: dict[str, Row] = {}
    inside = False
    for row in table.rows:
        if row.heading:
            inside = row.name.startswith(heading)
        elif inside:
            found[row.name] = row
    return found


def test_the_published_tables_are_complete_and_their_lowest_errors_are_bold() -> None:
    assert sum(len(t.errors) * len(t.epochs) for t in paper.ERROR_TABLES) == 2 * 3 * (5 + 7)
    assert paper.published("l2", "lorenz-rho10", "LFNO") == 0.1731
    assert paper.epochs("l2", "lorenz-rho5") == 8100
    assert paper.epochs("linf", "lorenz-rho5") == 5000
    table = error_table(paper.ODE_LINF, Runs([]), {})
    published = rows_below(table, "Published")
    assert [cell.bold for cell in published["FNO"].cells] == [True, False, False, False, False]
    assert [cell.bold for cell in published["LNO"].cells] == [False, False, True, False, False]


def test_a_table_shows_mean_and_standard_deviation_seeds_epochs_and_baselines() -> None:
    lfno = [record("duffing-c05", "LFNO", l2, seed=k) for k, l2 in enumerate((0.010, 0.012, 0.014))]
    fno = [record("duffing-c05", "FNO", l2, seed=k) for k, l2 in enumerate((0.020, 0.024))]
    table = error_table(paper.ODE_L2, Runs(lfno + fno), {"duffing-c05": {"mean": {"l2": 0.5, "linf": 0.6}}})
    ours = rows_below(table, "Ours, default")
    column = list(titles.ODES).index("duffing-c05")
    assert ours["LFNO"].cells[column] == TableCell("0.0120 ± 0.002", "paper 0.0142", bold=True)
    assert ours["FNO"].cells[column] == TableCell("0.0220 ± 0.003", "paper 0.0565", bold=False)
    assert ours["LNO"].cells[column] == TableCell("–", "paper 0.0762")
    assert ours["seeds"].cells[column].text == "2–3"
    assert ours["epochs"].cells[column].text == "100"
    assert ours["LFNO"].cells[0].text == "–"
    baselines = rows_below(table, "Baselines")
    assert baselines["mean of the training outputs"].cells[column].text == "0.500"
    assert "linear baseline" not in baselines  # it has no number


def test_errors_of_the_paper_preset_belong_to_the_epochs_of_each_table() -> None:
    at = {"5000": {"l2": 0.5, "linf": 0.6}, "5200": {"l2": 0.3, "linf": 0.4}}
    runs = Runs([record("duffing-c05", "LFNO", 0.1, 0.2, preset="paper", at=at)])
    column = list(titles.ODES).index("duffing-c05")
    l2 = rows_below(error_table(paper.ODE_L2, runs, {}), "Ours, paper")
    linf = rows_below(error_table(paper.ODE_LINF, runs, {}), "Ours, paper")
    assert (l2["LFNO"].cells[column].text, l2["epochs"].cells[column].text) == ("0.300", "5200")
    assert (linf["LFNO"].cells[column].text, linf["epochs"].cells[column].text) == ("0.600", "5000")


def test_a_run_that_diverged_is_never_bold() -> None:
    runs = Runs([record("heat", "FNO", math.nan), record("heat", "LFNO", 0.2), record("heat", "LNO", 0.3)])
    ours = rows_below(error_table(paper.PDE_L2, runs, {}), "Ours, default")
    column = list(titles.PDES).index("heat")
    assert ours["FNO"].cells[column].text == "diverged"
    assert [name for name in paper.MODELS if ours[name].cells[column].bold] == ["LFNO"]


def test_a_single_error_is_not_bold() -> None:
    ours = rows_below(error_table(paper.PDE_L2, Runs([record("heat", "LFNO", 0.2)]), {}), "Ours, default")
    assert not any(cell.bold for row in ours.values() for cell in row.cells)


def test_tables_of_rich_inputs_and_of_fair_comparisons() -> None:
    runs = Runs(
        [
            record("duffing-c05-rich", "LFNO", 0.1),
            record("duffing-c05-rich", "FNO", 0.3),
            record("beam", "LFNO", 0.01),
            record("beam", "FNO", 0.03),
            record("beam", "FNO deep", 0.02, parameters={"complex_once": 5000}),
        ]
    )
    rich = rich_table("l2", runs, {})
    assert list(rich.columns) == ["", "Duffing c = 0.5"]
    assert rows_below(rich, "Ours, default")["LFNO"].cells[0] == TableCell("0.100", "", True)
    fair = rows_below(fair_table("l2", runs), "default preset")
    assert [cell.text for cell in fair["Beam"].cells] == ["0.0300", "0.0200", "–", "0.0100"]
    assert fair["Beam"].cells[1].aside == "5,000 p, 100 ep, 3 s"
    assert not outside_table("l2", runs, {}).rows


def test_the_table_of_out_of_family_errors() -> None:
    asked = [
        record("duffing-c05-rich", label, 0.1, seed=seed, out_of_family={"l2": error + 0.01 * seed, "linf": 1.0})
        for label, error in (("LFNO", 0.2), ("FNO", 0.5))
        for seed in range(2)
    ]
    baselines = {"duffing-c05-rich-out": {"linear": {"l2": 0.6, "linf": 0.7}}}
    table = outside_table("l2", Runs([*asked, record("beam", "LFNO", 0.1)]), baselines)
    assert list(table.columns) == ["", "Duffing c = 0.5, rich"]
    assert rows_below(table, "Ours, default")["LFNO"].cells[0] == TableCell("0.205 ± 0.007", "", True)
    assert rows_below(table, "Baselines")["linear baseline"].cells[0].text == "0.600"


def test_tables_of_the_studies() -> None:
    layers = [
        record("duffing-c05", f"LFNO {a}+{b}", error, study="layers", config={"transient_layers": a, "steady_layers": b})
        for (a, b), error in {(4, 2): 0.1, (2, 4): 0.05}.items()
    ]
    samples = [
        record("duffing-c05", f"{model} {n}", error, study="samples", train_samples=n)
        for model, n, error in (("FNO", 50, 0.4), ("LFNO", 50, 0.2), ("FNO", 274, 0.1), ("LFNO", 274, 0.3))
    ]
    ablation = [record("beam", label, error, 2 * error, study="ablation") for label, error in (("R", 0.1), ("S", 0.2))]
    runs = Runs(layers + samples + ablation)
    shared = {row.name: row.cells for row in layers_table(runs).rows}
    assert shared["2+4"][1].bold
    assert shared["3+3"][1].text == "–"
    grown = {row.name: row.cells for row in samples_table(runs).rows}
    assert [cell.bold for cell in grown["LFNO"]] == [True, False]
    assert ablation_table(runs).rows[0].cells[1] == TableCell("0.100", "L∞ 0.200", True)
    values = [record("beam", label, error, study="loss") for label, error in (("FNO", 0.1), ("LFNO", 0.3))]
    slopes = [record("beam", label, 0.2, study="padding") for label in ("FNO", "LFNO")]
    padded = [record("beam", "FNO", 0.1), record("beam", "LFNO", 0.4)]
    losses = {row.name: row.cells for row in loss_table(Runs(values + slopes + padded)).rows[:3]}
    assert losses["FNO"][0] == TableCell("0.100", "with slopes 0.200", True)
    assert losses["LFNO"][0] == TableCell("0.300", "with slopes 0.200", False)
    without = {row.name: row.cells for row in padding_table(Runs(values + slopes + padded)).rows[:3]}
    assert without["FNO"][0] == TableCell("0.200", "padded 0.100", False)
    assert without["LFNO"][0] == TableCell("0.200", "padded 0.400", True)
    ungated = [record("beam", "LFNO", 0.15, study="gate")]
    gates = {row.name: row.cells for row in gate_table(Runs(ungated + padded)).rows[:2]}
    assert gates["LFNO"][0] == TableCell("0.150", "gated 0.400", True)
    # "padded" is here the error of the run with padding and without gates, because the run without padding has no gates either
    without = {row.name: row.cells for row in padding_table(Runs(slopes + padded + ungated)).rows[:3]}
    assert without["LFNO"][0] == TableCell("0.200", "padded 0.150", False)
    # the runs of studies are not in the tables of errors
    assert not len(runs.main)
    times = {row.name: [cell.text for cell in row.cells] for row in time_table(runs).rows}
    assert times["all"][:2] == ["24.0 s", "8"]
    assert times["study “samples”"][:2] == ["12.0 s", "4"]


def test_training_times_are_sums_over_groups_of_runs() -> None:
    runs = Runs([record(task, label, 0.1, seconds=60.0) for task in (*titles.ODES, "heat") for label in ("FNO", "LFNO")])
    times = {row.name: [cell.text for cell in row.cells] for row in time_table(runs).rows}
    assert times["ODEs, default preset"][:4] == ["5.0 min", "5.0 min", "10.0 min", "10"]
    assert times["1-D PDEs, default preset"][:3] == ["1.0 min", "1.0 min", "2.0 min"]
    assert times["all"][2] == "12.0 min"


def test_a_row_with_too_many_cells_is_an_error() -> None:
    with pytest.raises(ValueError, match="2 cells for 1 columns"):
        Table("t", ["", "a"]).add("row", "1", "2")


def test_text_in_markdown_tables_is_escaped() -> None:
    table = Table("t", ["", "a"])
    table.add("x|y\n<script>", TableCell("`*b*`", bold=True))
    line = table.markdown().splitlines()[-1]
    assert line == "| x\\|y &lt;script&gt; | **`*b*`** |"  # code between backticks has no other meaning
    assert escape_markdown("a ` b") == "a \\` b"
    assert escape_markdown("[link](javascript:x)") == "\\[link\\](javascript:x)"
