"""Every wrong command on the page docs/how-to/bad-commands.md gives the error message on that page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.bad_commands import COMMANDS, INTRODUCTION, PAGE, row, section, sentence, workshop


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files and models that the commands use."""
    folder = tmp_path_factory.mktemp("commands")
    workshop(folder)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_the_error_message_is_the_one_on_the_page(command: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    before = {path: path.stat().st_mtime_ns for path in home.rglob("*")}
    said = sentence(command)
    assert "\n" not in said
    assert row(command, said) in PAGE.read_text().splitlines()
    assert {path: path.stat().st_mtime_ns for path in home.rglob("*")} == before  # nothing was written


def test_the_page_has_no_other_rows() -> None:
    text = PAGE.read_text()
    assert text.startswith(INTRODUCTION)
    sections = text.removeprefix(INTRODUCTION).split("\n## ")[1:]
    assert [f"## {one.splitlines()[0]}" for one in sections] == list(dict.fromkeys(map(section, COMMANDS)))
    assert sum(len(one.splitlines()[4:]) for one in sections) == len(COMMANDS) == len(set(COMMANDS))
