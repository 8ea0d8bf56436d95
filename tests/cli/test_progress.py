"""Progress goes to standard error. In a pipe there are ten lines, each with the time left. With --quiet there are none."""

from __future__ import annotations

import re

import pytest

from lfno.core.progress import progress


def test_progress_prints_a_line_after_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as show:
        for done in range(41):
            show("[samples]", done, 40)
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert told.out == ""
    assert [line.split(",")[0] for line in lines] == [f"[samples]: {done} of 40" for done in range(4, 41, 4)]
    assert all(re.search(r"\d+ s left$", line) for line in lines)


def test_quiet_progress_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as show:
        show("samples", 1, 1)
    assert capsys.readouterr() == ("", "")
