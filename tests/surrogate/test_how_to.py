"""The code on the how-to pages about deployment runs as printed."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.surrogate.rigs import STRICT, needs_compiler

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


def blocks(page: str, language: str) -> list[str]:
    """Return the code blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", (PAGES / page).read_text(), re.DOTALL | re.MULTILINE)


def run_python(page: str) -> dict[str, Any]:
    """Run the Python blocks of a page one after the other. Return their variables."""
    names: dict[str, Any] = {}
    for body in blocks(page, "python"):
        exec(compile(body, page, "exec"), names)
    return names


def test_control_loop() -> None:
    names = run_python("control-loop.md")
    assert 0.7 < names["position"] < 1.0, "a proportional controller does not quite reach its target"
    assert names["best"] in (0.5, 1.0, 1.5)


def test_the_equation_of_a_field() -> None:
    names = run_python("equation-of-a-field.md")
    assert names["model"].equation == "∂y/∂t = - 1 f + 0.6 ∂²y/∂x² + 0.8 y²"


@needs_compiler
def test_microcontroller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python("microcontroller.md")
    (body,) = blocks("microcontroller.md", "c")
    Path("main.c").write_text(body)
    subprocess.run(["cc", *STRICT, "rig.c", "main.c", "-o", "rig", "-lm"], check=True)
    done = subprocess.run(["./rig"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("points", "stated"), [(20, 16), (50, 6.3), (100, 3.1), (400, 0.8)])
def test_the_page_states_the_error_of_inputs_that_are_held_during_a_step(points: int, stated: float) -> None:
    """A staircase lags behind a sine by half a step. The difference is 2 sin(ω dt/4), about ω dt/2, relative to the peak.

    points: number of steps in one period of the sine.
    stated: the error in per cent on the page.
    """
    assert f"| {points} | {stated} % |" in (PAGES / "simulink-modelica.md").read_text()
    turn = 2 * np.pi / points
    held = np.exp(-1j * turn / 2) * np.sinc(turn / (2 * np.pi))  # the first harmonic of the staircase, relative to the sine
    assert 100 * abs(held - 1) == pytest.approx(stated, rel=0.03)
