"""The first screen of the report: tiles with verdicts, the chart of errors, the table of costs. Also the figure of poles."""

from __future__ import annotations

import numpy as np

from lfno.paper.report.figures.overview import FLOOR, MARKS, error_chart
from lfno.paper.report.figures.poles import pole_plane, true_poles
from lfno.paper.report.selection import Runs
from lfno.paper.report.story import claim_tiles, cost_summary
from lfno.paper.report.verdicts import FAILS, HOLDS, OPEN, SO_FAR, Verdict
from tests.paper.report.builder import record, three


def tile(*verdicts: str) -> tuple[str, str]:
    """Return kind and words of the tile of a claim with these verdicts: for the paper preset, then for the default preset."""
    presets = ("paper", "default")
    own = [Verdict("a claim", "", (), verdict, preset) for verdict, preset in zip(verdicts, presets, strict=False)]
    (made,) = claim_tiles(own)
    return made.kind, made.words


def test_a_tile_says_for_which_preset_a_claim_holds() -> None:
    assert tile(HOLDS, HOLDS) == ("yes", HOLDS)
    assert tile(HOLDS, SO_FAR) == ("yes", SO_FAR)
    assert tile(FAILS, HOLDS) == ("mixed", "holds for the default preset only")
    assert tile(FAILS, FAILS) == ("no", FAILS)
    assert tile(OPEN) == ("open", OPEN)


def test_the_chart_shows_every_error_at_its_value() -> None:
    runs = Runs(three("duffing-c05-rich", 0.3, 0.4, 0.1) + three("heat", 0.02, 0.05, 0.01))
    figure = error_chart(runs, {"heat": {"interpolation": {"l2": 1e-9}, "linear": {"l2": 0.2}}})
    assert figure is not None
    (panel,) = figure.axes
    names = [label.get_text() for label in panel.get_yticklabels()]
    heights = dict(zip(names, panel.get_yticks(), strict=True))
    assert names == ["Duffing c = 0.5", "Heat"]
    drawn: dict[tuple[float, str], float] = {}
    for line in panel.lines:
        if len(line.get_xdata()) == 1 and line.get_linestyle() == "None":
            drawn[float(np.ravel(line.get_ydata())[0]), str(line.get_marker())] = float(np.ravel(line.get_xdata())[0])
    lfno, fno, linear = (MARKS[name][1]["marker"] for name in ("LFNO", "FNO", "linear"))
    assert drawn[heights["Duffing c = 0.5"], lfno] == 0.1
    assert drawn[heights["Duffing c = 0.5"], fno] == 0.3
    assert drawn[heights["Heat"], linear] == 0.2
    assert drawn[heights["Heat"], "<"] < FLOOR  # the error of interpolation is too small for the axis
    markers = [style["marker"] for _, style in MARKS.values()]
    assert len(set(markers)) == len(markers)
    assert error_chart(Runs([]), {}) is None


def test_the_training_time_is_the_mean_over_runs() -> None:
    pairs = [(label, seed) for label in ("FNO", "LFNO") for seed in (0, 1)]
    runs = Runs([record("heat", label, 0.1, seed=seed, seconds=10.0 + 10 * seed) for label, seed in pairs])
    (row,) = cost_summary(runs).rows
    assert row.name == "1-D PDEs"
    assert [cell.text for cell in row.cells] == ["1,000", "1,000", "15.0 s", "15.0 s"]


def test_the_figure_shows_poles_in_hertz_and_the_poles_of_the_equation() -> None:
    rate, frequency = 0.25, 3.0
    poles = [[-rate, 2 * np.pi * frequency, 1.0]]
    figure = pole_plane(Runs([record("duffing-c05", "LFNO", 0.1, example={"poles": poles})]), "duffing-c05")
    assert figure is not None
    (panel,) = figure.axes
    (place,) = np.asarray(panel.collections[0].get_offsets())
    np.testing.assert_allclose(place, [rate, frequency])
    np.testing.assert_allclose(true_poles("duffing-c05"), [-0.25 + 1j * np.sqrt(1 - 0.25**2)])
    np.testing.assert_allclose(panel.lines[0].get_ydata(), [np.sqrt(1 - 0.25**2) / (2 * np.pi)])
