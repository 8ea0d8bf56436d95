"""The HTML report: it is complete, loads nothing from the network, and escapes texts in records. Records may be missing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from lfno.cli import build
from lfno.core.errors import LfnoError
from lfno.paper.report import costs, document
from lfno.paper.report.baselines import gather
from lfno.paper.report.figures import data
from lfno.paper.report.page import CLAIMS, html, write
from lfno.paper.report.tables import Row, Table, TableCell
from lfno.plots.page import page_html
from lfno.systems import REGISTRY, titles
from tests.paper.report.builder import record

DATA_SAMPLES = data.data_samples
HOSTILE = "<script>alert(1)</script>$\\frac{"  # a text that would run a program in the page if it were not escaped


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """Replace the measurement of costs and the figures of data sets, which take long and have their own tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(costs, "cost_table", lambda runs: Table("Cost", ["", "a"], [Row("one", (TableCell("1"),))]))
        patch.setattr(data, "data_samples", lambda tasks: None)
        yield


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> document.Document:
    """Return the report on records with hostile texts."""
    folder = tmp_path_factory.mktemp("records")
    full(folder)
    return document.document(folder, seconds=0)


def full(folder: Path) -> None:
    """Write records of a signal, a field and a flow with all data for figures. Some records have the label HOSTILE."""
    rng = np.random.default_rng(0)
    for task, shape in (("duffing-c05", (1, 128)), ("burgers", (1, 50, 50)), ("navier-stokes", (1, 32, 32))):
        for label in ("FNO", "LNO", "LFNO", HOSTILE):
            fields = {name: rng.standard_normal(shape).tolist() for name in ("truth", "prediction", "transient", "steady")}
            one = record(
                task,
                label,
                0.1,
                history={"epoch": [1, 2, 3], "train": [1.0, 0.5, 0.2], "validation": [1.0, 0.6, 0.3]},
                samples={"A": [1.0, 2.0], "l2": [0.1, 0.2], "linf": [0.1, 0.2]},
                regimes={
                    "split": 500,
                    **{name: {"variance": 0.1, "mean": 0.1, "curve": [0.2, 0.1]} for name in ("transient", "steady")},
                },
                example={"index": 0, **fields, "poles": [[-1.0, 2.0, 0.5], [-0.1, 5.0, 0.5]]},
                environment={"hardware": HOSTILE},
            )
            path = folder / f"{task}-{abs(hash(label))}.json"
            path.write_text(json.dumps(asdict(one)))
    odd = record("no-such-task/../..", HOSTILE, 0.3, study=HOSTILE, preset=HOSTILE)
    (folder / "odd.json").write_text(json.dumps(asdict(odd)))


def test_every_page_is_complete_and_escapes_hostile_texts(hostile: document.Document) -> None:
    first = html(hostile)
    assert "&lt;script&gt;alert(1)" in first
    for page in (first, *map(page_html, hostile.tasks.values())):
        assert "<script" not in page
        assert "could not be drawn" not in page
    assert set(hostile.tasks) == {"duffing-c05", "burgers", "navier-stokes"}
    signal, flow = ({section.title for section in hostile.tasks[task].sections} for task in ("duffing-c05", "navier-stokes"))
    assert {"Prediction", "Transient and steady part", "Error over time", "Error against amplitude", "Poles"} <= signal
    assert {"Prediction and error maps", "Poles", "Learning curves", "All errors"} <= flow
    assert "Transient and steady part" not in flow  # a flow without forcing has no steady part


def test_no_page_loads_anything_from_the_network(hostile: document.Document) -> None:
    for page in (html(hostile), *map(page_html, hostile.tasks.values())):
        assert not re.findall(r"https?://", page)
        assert "url(" not in page
        assert "@import" not in page
        sources = re.findall(r"\s(?:src|href|srcset|action|data)\s*=\s*[\"']?([^\"'\s>)]{1,30})", page)
        assert sources
        assert all(source.startswith(("data:image/svg+xml;base64,", "report/")) for source in sources)


def test_links_of_the_first_page_lead_to_the_pages_of_the_data_sets(hostile: document.Document, tmp_path: Path) -> None:
    write(hostile, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    links = set(re.findall(r'href="([^"]+)"', page))
    assert links == {f"report/{task}.html" for task in hostile.tasks}
    for link in links:
        (back,) = set(re.findall(r'href="([^"]+)"', (tmp_path / link).read_text()))
        assert (tmp_path / link).parent.joinpath(back).resolve() == (tmp_path / "report.html").resolve()


def test_a_report_without_records_names_the_commands_to_run(tmp_path: Path) -> None:
    made = document.document(tmp_path / "nothing", seconds=0)
    page = html(made)
    assert "lfno reproduce" in page
    assert "not measured" in page
    anchors = [section.anchor for section in made.sections if section.title != CLAIMS]
    assert len(set(anchors)) == len(anchors)
    assert all(f'id="{anchor}"' in page for anchor in anchors)


@pytest.mark.parametrize("tasks", [[], ["duffing-c05", "heat"]])
def test_the_progress_counts_every_step_up_to_the_total(tasks: list[str], tmp_path: Path) -> None:
    for task in tasks:
        record(task, "LFNO", 0.1).write(tmp_path)
    calls: list[tuple[int, int]] = []
    document.document(tmp_path, seconds=0, progress=lambda *counts: calls.append(counts))
    total = calls[-1][1]
    assert calls == [(done, total) for done in range(total + 1)]


def test_the_error_message_for_a_damaged_record_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"study": "main"}')
    with pytest.raises(LfnoError, match=r"bad\.json is not the record"):
        document.document(tmp_path, seconds=0)


def test_stored_baselines_are_read_and_damaged_files_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "baselines"
    folder.mkdir()
    (folder / "heat.json").write_text('{"mean": {"l2": 0.5, "linf": 0.6}, "other": {}}')
    (folder / "beam.json").write_text("{")
    assert gather(["heat", "beam", "../../x"], tmp_path, seconds=0) == {"heat": {"mean": {"l2": 0.5, "linf": 0.6}}}


def test_the_stored_table_of_costs_comes_before_the_measured_table(tmp_path: Path) -> None:
    costs.main(str(tmp_path))
    made = document.document(tmp_path, pictures=False, seconds=0)
    (section,) = (section for section in made.sections if section.title == "Cost")
    assert [table.rows for table in section.tables[:2]] == [[Row("one", (TableCell("1"),))]] * 2
    (tmp_path / costs.KEPT).write_text("{")
    assert costs.kept(tmp_path) == []


def test_the_command_writes_html_and_markdown(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(json.dumps(asdict(record("heat", "LFNO", 0.01))))
    common = ["report", "--results", str(tmp_path), "--baseline-seconds", "0", "--quiet"]
    page, folder = tmp_path / "page.html", tmp_path / "pages"
    assert CliRunner().invoke(build(), [*common, "--out", str(page)]).exit_code == 0
    assert CliRunner().invoke(build(), [*common, "--markdown", str(folder)]).exit_code == 0
    assert page.read_text().startswith("<!doctype html>")
    lines = (folder / "tables.md").read_text().splitlines()
    assert lines[0].startswith("# ")
    # the first row of every table has as many cells as the heading
    heads = [k for k, line in enumerate(lines) if line.startswith("|---")]
    assert heads
    for k in heads:
        count = lines[k].count("---")
        row = lines[k + 1]
        assert len(re.findall(r"(?<!\\)\|", row)) == count + 1
    assert "0.0100" in (folder / "index.md").read_text()


def test_every_task_of_the_paper_is_a_data_set() -> None:
    assert set(titles.ALL) <= set(REGISTRY)


def test_the_paper_networks_have_the_published_numbers_of_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "LATENCY_MILLISECONDS", 0.0)
    models = {name: model for name, model, _ in costs._paper_models()}
    for name, count in (("LNO", "1,309"), ("LFNO", "3,417")):
        cells = costs.measure(models[name], (1, 1, 2048), "cpu", runs=1)
        assert cells[0] == count
        assert len(cells) == len(costs.COLUMNS) - 1


def test_the_figure_of_data_sets_has_two_panels_for_each_data_set() -> None:
    figure = DATA_SAMPLES(["duffing-c05", "heat"])
    assert figure is not None
    assert len([axes for axes in figure.axes if axes.get_title()]) == 4
