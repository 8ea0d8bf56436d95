"""An HTML page: all text is escaped, and the page loads nothing from the network."""

from __future__ import annotations

import base64
import re
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from lfno.core.grid import Grid
from lfno.plots.answers import answers_figure
from lfno.plots.page import Page, Picture, Section, Table, page_html, write_page
from lfno.plots.style import as_svg

AXIS = Grid.line(50, dt=0.1).axes[0]
EVIL = "<script>alert('x')</script>"


def picture() -> bytes:
    """Return a figure of a sine, as SVG, with two models, the transient part and the steady part."""
    wave = np.sin(AXIS.points)
    parts = {"transient": (0 * wave, 0 * wave), "steady": (wave, None)}
    return as_svg(partial(answers_figure, AXIS, ("f", wave), ("x", wave), {"LFNO": wave, "FNO": 0.9 * wave}, parts))


def test_texts_are_escaped_and_figures_are_inside_the_page() -> None:
    table = Table(["", EVIL], [["a", "1"], [EVIL, "2"]], best=1, note=EVIL)
    section = Section(EVIL, [EVIL], [Picture(picture(), EVIL)], [table], EVIL, [(EVIL, EVIL)])
    html = page_html(Page(EVIL, [EVIL], [section], [EVIL]))
    assert "<script" not in html
    assert html.count("&lt;script&gt;") == 14
    assert re.search(r'<tr class="best"><td>&lt;script', html)
    assert not re.search(r'(src|href)="(?!data:)', html)
    held = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', html)
    assert held
    assert ElementTree.fromstring(base64.b64decode(held[1])).tag.endswith("svg")


def test_the_same_figure_gives_the_same_bytes(tmp_path: Path) -> None:
    assert picture() == picture()
    path = write_page(Page("empty", [], []), tmp_path / "deep" / "page.html")
    assert path.read_text().startswith("<!doctype html>")


def test_parts_and_response_have_the_same_scale() -> None:
    wave = np.sin(AXIS.points)
    parts = {"transient": (0.01 * wave, None), "steady": (0.99 * wave, None)}
    figure = answers_figure(AXIS, ("f", wave), ("x", wave), {"LFNO": wave}, parts)
    limits = {tuple(panel.get_ylim()) for panel in figure.axes[1:]}
    assert len(limits) == 1


def test_a_large_offset_does_not_make_the_response_look_flat() -> None:
    """All panels have the same height in the unit of the output, and the response fills most of its panel."""
    wave = np.sin(AXIS.points)
    parts = {"transient": (0.01 * wave, None), "steady": (0.99 * wave + 95, None)}
    figure = answers_figure(AXIS, ("f", wave), ("x", wave + 95), {"LFNO": wave + 95}, parts)
    heights = [np.ptp(panel.get_ylim()) for panel in figure.axes[1:]]
    np.testing.assert_allclose(heights, heights[0])
    assert np.ptp(wave) < heights[0] < 1.3 * np.ptp(wave)
