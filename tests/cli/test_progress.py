"""Progress goes to standard error: in a pipe one line for every tenth with the time left, and nothing with --quiet."""

from __future__ import annotations

import re

import pytest

from lfno.core.progress import progress


def test_a_line_for_every_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=False) as show:
        for done in range(41):
            show("[samples]", done, 40)
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert told.out == ""
    assert [line.split(",")[0] for line in lines] == [f"[samples]: {done} of 40" for done in range(4, 41, 4)]
    assert all(re.search(r"\d+ s left$", line) for line in lines)


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(quiet=True) as show:
        show("samples", 1, 1)
    assert capsys.readouterr() == ("", "")
