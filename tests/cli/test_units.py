"""A record whose time is in weeks: frequencies are in 1/week, and no table, figure or page speaks of Hz or of seconds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

import lfno
from lfno.core.grid import Grid
from lfno.data.signals.record import Record
from lfno.plots.modes import s_plane_figure
from lfno.plots.response import stabilisation_figure
from lfno.systems.base import Channel
from tests.cli.rig import call

SECONDS = re.compile(r"\bHz\b|1/s\b|rad/s\b|\[s\]|\d s\b|constant s\b")


@pytest.fixture(scope="module")
def weekly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with an input u and an output y of one oscillation, and a time in weeks."""
    pole = np.exp((-0.3 + 4j) * 0.05)
    force = np.random.default_rng(0).normal(size=1500)
    motion = lfilter([0.05], [1, -2 * pole.real, abs(pole) ** 2], force)
    path = tmp_path_factory.mktemp("weeks") / "weekly.csv"
    rows = np.stack([0.05 * np.arange(1500), force, motion], 1)
    np.savetxt(path, rows, delimiter=",", header="t [week],u [N],y [m]", comments="")
    return path


def labels(figure: Any) -> str:
    """Return the labels of all axes of a figure."""
    return " ".join(text for panel in figure.axes for text in (panel.get_xlabel(), panel.get_ylabel()))


def test_the_figures_of_poles_have_the_unit_of_the_data() -> None:
    t = 0.02 * np.arange(400)
    decay = np.exp(-0.3 * t) * np.cos(8 * t)
    grid = Grid.line(400, 0.02, "week")
    force = 1.0 * (t < 0.03)
    model = lfno.fit(Record(force[None], decay[None], grid, (Channel("u"),), (Channel("y"),)), model="linear")
    poles = np.array([mode.pole for mode in model.modes()])
    assert "frequency [1/week]" in labels(stabilisation_figure(model.stabilisation(), poles, 2.0, "week"))
    assert "frequency [Hz]" in labels(stabilisation_figure(model.stabilisation(), poles, 2.0, "s"))
    assert labels(s_plane_figure(None, None, poles, "modes", "week")) == "Re μ [1/week] Im μ [rad/week]"
    assert labels(s_plane_figure(None, None, poles, "modes", "")) == "Re μ Im μ"
    assert not SECONDS.search(repr(model.modes()))


def test_no_table_speaks_of_hertz_or_seconds(weekly: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    told = call("fit", weekly, "--linear", "--out", run, "--quiet")
    told += call("poles", run, "--stabilisation", "-o", tmp_path, "--data", weekly, "--quiet")
    told += call("poles", weekly, "--input", "u", "--output", "y", "-o", tmp_path, "--quiet")
    told += call("response", run, "-o", tmp_path, "--points", 5, "--quiet")
    told += call("decompose", run, weekly, "-o", tmp_path / "parts", "--quiet")
    assert "1/week" in told
    assert "time constant week" in told
    assert not SECONDS.search(told), [told[found.start() - 60 : found.end()] for found in SECONDS.finditer(told)]


def test_the_page_about_the_model_does_not_speak_of_hertz_or_seconds(weekly: Path, tmp_path: Path) -> None:
    call("fit", weekly, "--linear", "--out", tmp_path / "run")
    text = (tmp_path / "run" / "report.html").read_text()
    page = re.sub(r"<style.*?</style>|<script.*?</script>|src=\"[^\"]*\"", "", text, flags=re.DOTALL)
    words = re.sub(r"<[^>]+>", " ", page)
    assert "1/week" in words
    assert not SECONDS.search(words), [words[found.start() - 60 : found.end()] for found in SECONDS.finditer(words)]
