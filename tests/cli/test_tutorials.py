"""Every command and every line of Python in the tutorials runs. To save time, networks are trained for one epoch."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.rig import SMALL, call

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
#: tutorials with commands; the tutorials that are notebooks run when the site is built
PAGES = [page for page in sorted(TUTORIALS.glob("*.md")) if "```console" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tutorial(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    blocks = re.findall(r"^```(python|console)\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert {kind for kind, _ in blocks} == {"python", "console"}
    for kind, body in blocks:
        if kind == "python":
            exec(compile(body, str(page), "exec"), names)
            continue
        for line in body.splitlines():
            prompt, program, *words = shlex.split(line)
            assert (prompt, program) == ("$", "lfno")
            short = ["--epochs", "1", *SMALL] if words[0] in ("fit", "train") and "--linear" not in words else []
            call(*words, *short)
