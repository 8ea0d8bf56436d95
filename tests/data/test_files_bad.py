"""Every bad input raises the error message that the documentation states."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.bad_inputs import CASES, INTRODUCTION, PAGE, SECTIONS, Bad, row, sentence


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what.replace(" ", "-"))
def test_the_error_message_is_the_one_in_the_docs(case: Bad, tmp_path: Path) -> None:
    said = sentence(case, tmp_path)
    assert "\n" not in said
    assert row(case, said) in PAGE.read_text().splitlines()


def test_the_docs_have_no_other_rows() -> None:
    text = PAGE.read_text()
    assert text.startswith(INTRODUCTION)
    sections = text.removeprefix(INTRODUCTION).split("\n## ")[1:]
    assert [section.splitlines()[0] for section in sections] == list(SECTIONS.values())
    assert sum(len(section.splitlines()[4:]) for section in sections) == len(CASES)
    assert len({case.what for case in CASES}) == len(CASES)
