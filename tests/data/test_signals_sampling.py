"""Time axes: units, rounded and irregular time stamps, resampling, and different times of input and output."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from lfno.core.errors import LfnoError
from lfno.data.signals import read_signals
from tests.data.measured import F, T, U

RNG = np.random.default_rng(1)


def test_units_of_time_become_seconds(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("t [ms],f [N],u [mm]\n" + "\n".join(f"{50 * k},{F[k]},{U[k]}" for k in range(400)))
    data = read_signals(path)
    assert data.grid["t"].step == 0.05
    assert data.grid["t"].unit == "s"
    assert [channel.unit for channel in data.output_channels] == ["mm"]


@pytest.mark.parametrize(
    ("name", "factor"), [("time_h", 3600), ("time_d", 86400), ("t_min", 60), ("t_ms", 1e-3), ("t_s", 1), ("t_h", 1), ("t_d", 1)]
)
def test_a_letter_after_a_letter_is_an_index_and_not_a_unit(name: str, factor: float) -> None:
    data = read_signals({name: T, "f": np.sin(T), "y": np.cos(T)})
    assert data.grid.steps[-1] == pytest.approx(factor * (T[1] - T[0]))
    unclear = [note for note in data.provenance["notes"] if "is taken in s" in note]
    assert bool(unclear) == (name in ("t_h", "t_d"))


def test_rounded_time_stamps_are_uniform_and_random_ones_are_not() -> None:
    thirds = np.arange(400) / 30
    data = read_signals({"t": np.round(thirds, 3), "f": F, "u": U})
    assert abs(data.grid["t"].step - 1 / 30) < 1e-6
    with pytest.raises(LfnoError, match="resample=True"):
        read_signals({"t": thirds + RNG.uniform(0, 0.01, 400), "f": F, "u": U})


def test_resampling_a_drifting_clock_recovers_the_signal() -> None:
    drifting = T * (1 + 2e-3 * T)
    data = read_signals({"t": drifting, "f": np.sin(drifting), "u": np.cos(drifting)}, resample=True)
    times = data.grid["t"].points
    assert abs(data.inputs[0] - np.sin(times)).max() < 2e-3
    assert abs(data.outputs[0] - np.cos(times)).max() < 2e-3
    assert any("is not uniform" in note for note in data.provenance["notes"])


def test_input_and_output_with_two_time_steps_get_the_smaller_one() -> None:
    slow = T[::4] + 0.01
    arrays = {"ta": T, "f": np.sin(T), "tb": slow, "u": np.cos(slow)}
    data = read_signals(arrays, input="f", output="u", time="ta,tb", resample=True)
    times = data.grid["t"].points
    assert data.grid["t"].step == 0.05
    assert times[0] == slow[0]
    assert times[-1] <= slow[-1] + 1e-9
    assert abs(data.outputs[0] - np.cos(times)).max() < 0.01
    assert abs(data.inputs[0] - np.sin(times)).max() < 1e-3


def test_two_time_vectors_are_assigned_by_their_lengths() -> None:
    arrays = {"t_u": T[::2], "t_f": T, "f": F, "u": U[::2]}
    data = read_signals(arrays, resample=True)
    np.testing.assert_allclose(data.outputs[0], U[:399], atol=2e-3)
    np.testing.assert_allclose(data.inputs[0], F[:399], atol=1e-12)
