"""The results in the documentation and in the README: tables, sentences, and experiments."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from lfno.core.errors import LfnoError
from lfno.paper.record import load_records
from lfno.paper.report.baselines import gather
from lfno.paper.report.document import Document, Section
from lfno.paper.report.headline import headline_table, reading, shown_tasks
from lfno.paper.report.markdown import pages
from lfno.paper.report.mirror import mirror_table, with_table
from lfno.paper.report.readme import readme_table, with_results
from lfno.paper.report.selection import Runs
from lfno.paper.report.split import split_table
from lfno.paper.report.tried import FILE, tried_tables
from tests.paper.report.builder import three

RESULTS = Path(__file__).parents[3] / "results"
RECORDS = three("duffing-c0", 0.1, 0.4, 0.2) + three("duffing-c05-rich", 0.3, 0.4, 0.1)
BASELINES = {"duffing-c0": {"interpolation": {"l2": 0.01, "linf": 0.02}, "linear": {"l2": 0.5, "linf": 0.5}}}


def test_random_inputs_come_first_and_the_lowest_error_is_bold() -> None:
    rows = headline_table(Runs(RECORDS), BASELINES).rows
    assert [row.name for row in rows if not row.heading] == ["Duffing c = 0.5, rich", "Duffing c = 0"]
    random, plain = (row for row in rows if not row.heading)
    assert [cell.text for cell in plain.cells] == ["0.0518", "–", "0.500", "0.0100", "–", "0.100", "0.400", "0.200"]
    assert [cell.text for cell in plain.cells if cell.bold] == ["0.0100"]
    assert [cell.text for cell in random.cells if cell.bold] == ["0.100"]


def test_the_sentences_count_the_data_sets_where_a_baseline_is_better() -> None:
    random, beaten, meaning = reading(Runs(RECORDS), BASELINES)
    assert "On the data set with random forcing, the error of FNO is 3 times the error of LFNO" in random
    assert beaten.startswith("On 1 of 2 data sets, a baseline")
    assert "With the paper's inputs, one parameter describes each sample" in meaning
    assert reading(Runs(RECORDS[:3]), {}) == []


def test_only_a_linear_equation_is_called_linear() -> None:
    exact = {"linear": {"l2": 0.01, "linf": 0.01}}
    (*_, last) = reading(Runs(three("heat-rich", 0.3, 0.4, 0.1)), {"heat-rich": exact})
    assert last == "The equation of Heat is linear, so a linear model is enough."
    assert not any("linear" in words for words in reading(Runs(RECORDS), {"duffing-c05-rich": exact}))


def test_the_sentence_on_random_forcing_compares_only_networks_that_were_run_and_did_not_diverge() -> None:
    for missing in (RECORDS[5:], three("duffing-c05-rich", math.nan, 0.4, 0.1), three("duffing-c05-rich", 0.3, 0.4, math.nan)):
        (words,) = reading(Runs(missing), {})
        assert words.endswith("interpolation between training samples is not possible.")


def test_experiments_are_read_and_the_error_message_for_a_damaged_file_names_the_file(tmp_path: Path) -> None:
    tables = tried_tables(RESULTS)
    assert len(tables) > 10
    assert all(table.rows and table.about for table in tables)
    assert tried_tables(tmp_path) == []
    long_row = '[[table]]\ntitle = "a"\nsetting = ""\ncolumns = ["a"]\nrows = [["b", 1]]'
    for broken in ("[[table]]\ntitle = 1", "table = [", long_row):
        (tmp_path / FILE).write_text(broken)
        with pytest.raises(LfnoError, match=r"tried\.toml cannot be read"):
            tried_tables(tmp_path)


def test_every_section_is_on_exactly_one_page() -> None:
    sections = [Section("One", page="index"), Section("Two"), Section("Three", page="tried")]
    made = pages(Document("Title", "Subtitle.", sections))
    assert set(made) == {"index.md", "tables.md", "tried.md"}
    for name, words in (("index.md", "## One"), ("tables.md", "## Two"), ("tried.md", "## Three")):
        assert [key for key, text in made.items() if words in str(text).splitlines()] == [name]


def test_the_readme_shows_the_results_of_the_records() -> None:
    """To update the README after new runs: python -m lfno.paper.report.readme results README.md docs/figures/errors.svg"""
    runs = Runs(load_records(RESULTS / "main"))
    baselines = gather([task for tasks in shown_tasks(runs).values() for task in tasks], RESULTS, seconds=0)
    text = (RESULTS.parent / "README.md").read_text(encoding="utf-8")
    table = readme_table(runs, baselines)
    assert table in text
    assert table.splitlines()[2].startswith("| **Random forcing**")
    assert all(sentence in text for sentence in reading(runs, baselines))
    with pytest.raises(LfnoError, match="needs the lines"):
        with_results("no place", table)


def test_readme_and_docs_show_the_recorded_errors_of_the_fine_steering_mirror() -> None:
    """To update the pages: python -m lfno.paper.report.mirror results/benchmarks README.md docs/reference/challenges.md"""
    table = mirror_table(RESULTS / "benchmarks")
    for page in ("README.md", "docs/reference/challenges.md"):
        assert table in (RESULTS.parent / page).read_text(encoding="utf-8")
    with pytest.raises(LfnoError, match="needs the lines"):
        with_table("no place", table)


def test_the_docs_show_the_recorded_errors_of_transient_and_steady_parts() -> None:
    """To update the pages: python -m lfno.paper.report.split results/benchmarks PAGE …"""
    table = split_table(RESULTS / "benchmarks")
    for page in ("docs/results/split.md", "docs/tutorials/what-is-transient.md"):
        assert table in (RESULTS.parent / page).read_text(encoding="utf-8")
    assert table.count("yes, ") == 6
