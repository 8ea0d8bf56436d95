"""Figures of resonances have the units of the signals and do not show rounding errors."""

from __future__ import annotations

import numpy as np

from lfno.evaluation.response import Response
from lfno.plots.response import response_figure


def test_a_linear_response_has_no_harmonics_and_its_legend_has_the_unit_of_the_input() -> None:
    frequencies = np.geomspace(0.1, 1, 20)
    harmonics = np.zeros((1, 20, 1, 4), complex)
    harmonics[..., 1] = (1 / (1 - frequencies**2 + 0.1j * frequencies))[None, :, None]
    harmonics[..., 2] = 1e-16
    figure = response_figure(Response(frequencies, np.array([0.5]), harmonics), None, ("N", "mm", "h"))
    size, _, bent = figure.axes
    assert size.lines[0].get_label() == "input 0.5 N"
    assert size.get_ylabel() == "amplitude [mm]"
    assert bent.get_xlabel() == "frequency [1/h]"
    assert not np.any(bent.lines[0].get_ydata())
