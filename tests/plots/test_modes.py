"""Figures of fields: every panel shows the field that its title names."""

from __future__ import annotations

import numpy as np
import pytest

from lfno.core.grid import Axis, Grid
from lfno.plots.modes import decomposition_figure, prediction_figure

GRID = Grid((Axis("x", 5, 0.1), Axis("t", 7, 0.2, time=True)))
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("known", [True, False])
def test_a_panel_of_the_truth_is_drawn_only_if_the_truth_is_known(known: bool) -> None:
    transient, steady, truth = RNG.normal(size=(3, 1, *GRID.shape))
    figure = decomposition_figure(GRID, transient, steady, truth if known else None, ["u"])
    shown = {panel.get_title(): np.asarray(panel.images[0].get_array()) for panel in figure.axes if panel.images}
    expected = {"prediction": transient + steady, "transient": transient, "steady": steady}
    expected |= {"truth": truth} if known else {}
    assert set(shown) == set(expected)
    for name, values in expected.items():
        np.testing.assert_array_equal(shown[name], values[0])


def test_predictions_of_fields_have_the_colour_scale_of_the_truth() -> None:
    truth = RNG.normal(size=(2, 1, *GRID.shape))
    figure = prediction_figure(GRID, {"truth": truth, "LFNO": 3 * truth, "linear baseline": 0 * truth}, None, "LFNO", ["u"])
    limits = {panel.images[0].get_clim() for panel in figure.axes if panel.images}
    size = float(np.abs(truth[0]).max())
    assert limits == {(-size, size)}
