"""The size of a model follows from the spectrum: modes cover the band of the signals, and poles the band of the output."""

from __future__ import annotations

import numpy as np
import pytest

import lfno
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.data.split import in_time
from lfno.training.sizing import choose_size, highest_mode

GRID = Grid.line(1024, dt=0.02)


def band(top: float, seed: int, samples: int = 20) -> np.ndarray:
    """Return noise with frequencies up to `top` Hz, (samples, 1, 1024)."""
    spectrum = np.fft.rfft(np.random.default_rng(seed).normal(size=(samples, 1, 1024)))
    spectrum[..., np.fft.rfftfreq(1024, 0.02) > top] = 0
    return np.fft.irfft(spectrum)


@pytest.mark.parametrize(("force", "motion"), [(2.0, 1.0), (20.0, 3.0)])
def test_modes_cover_the_band_of_the_signals(force: float, motion: float) -> None:
    data = Dataset(band(force, 0), band(motion, 1), GRID)
    choice = choose_size(data, in_time(20))
    (modes,) = choice.fields["modes"]
    assert force * 20.48 < modes < 1.25 * force * 20.48 + 3
    assert choice.fields["cycles"] == pytest.approx(motion * 20.48, rel=0.1, abs=2)
    assert 8 <= choice.fields["n_poles"] <= 32
    assert any("Hz" in sentence for sentence in choice.sentences())
    assert not any("epochs" in sentence for sentence in choice.sentences(given=("epochs",)))


def test_the_highest_mode_of_a_constant_and_of_a_sine() -> None:
    time = GRID.axes[0].points
    assert highest_mode(np.ones((3, 1, 1024)), 2) == 0
    assert highest_mode(np.sin(2 * np.pi * 50 / 20.48 * time)[None, None], 2) == pytest.approx(50, abs=2)


def test_fields_have_at_most_eight_modes_along_each_axis() -> None:
    grid = Grid((Axis("x", 40, 0.1), Axis("t", 60, 0.1, time=True)))
    values = np.random.default_rng(0).normal(size=(12, 1, 40, 60))
    modes = choose_size(Dataset(values, values, grid), in_time(12)).fields["modes"]
    assert modes == (8, 8)


def test_fit_uses_the_chosen_size_except_for_options_of_the_user() -> None:
    arrays = {"t": GRID.axes[0].points, "f": band(2.0, 0)[:, 0], "u": band(1.0, 1)[:, 0]}
    run = lfno.fit(arrays, "lfno", epochs=1, width=2, n_poles=3, projection=4, steady_decay=1.0, device="cpu")
    assert run.networks[0].modes[0] > 40
    assert run.networks[0].config.n_poles == 3
    assert run.fitted.training.preset.training.epochs == 1
    assert run.provenance["data"]["signals"]["inputs"] == [["f", ""]]
