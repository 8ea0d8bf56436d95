"""`lfno benchmark`: the list of benchmarks, and a run with its record."""

from __future__ import annotations

import json
from pathlib import Path

from typer.testing import CliRunner

from lfno.challenges import CHALLENGES
from lfno.cli import build
from tests.challenges.layouts import write


def test_the_list_names_all_benchmarks():
    answer = CliRunner().invoke(build(), ["benchmark", "--json"])
    assert [row["name"] for row in json.loads(answer.stdout)] == list(CHALLENGES)


def test_a_run_prints_the_published_errors_and_writes_a_record(tmp_path: Path):
    write("coupled-drives", tmp_path / "data")
    arguments = ["benchmark", "coupled-drives", "--data", str(tmp_path / "data"), "--method", "linear"]
    answer = CliRunner(env={"COLUMNS": "200"}).invoke(build(), [*arguments, "--out", str(tmp_path / "out")])
    assert answer.exit_code == 0
    for text in ("0.115", "0.074", "arXiv:2405.10779", "low amplitude", "quoted from other authors"):
        assert text in answer.stdout
    (path,) = (tmp_path / "out").iterdir()
    record = json.loads(path.read_text())
    assert record["environment"].keys() == {"commit", "hardware", "lfno", "torch"}
    assert record["seconds"] > 0
    assert record["configuration"]["method"] == "linear"
    assert f"{record['figures']['low amplitude'][0]:.4g}" in answer.stdout
