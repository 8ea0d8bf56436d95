"""`lfno response` and `lfno poles`: frequency responses, modes of models and of records, diagrams and error messages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.evaluation.caveat import NOT_PHYSICAL
from lfno.identification.identify import Modes
from lfno.identification.modal import ModalModel
from lfno.systems import Duffing
from tests.cli.rig import answer, call

GRID = lfno.Grid.line(1024, dt=0.02)


@pytest.fixture
def linearised(tmp_path: Path) -> Path:
    """Return a model file: the linear part of ẍ + 0.5 ẋ + x + x³ = f, with the impulse response h(t) = e^{−t/4} sin(ωt)/ω."""
    pole = Duffing(c=0.5).linearised_poles()
    modes = Modes(pole, np.reshape(-1j / pole.imag, (1, 1, 1)), np.zeros((1, 1)), np.ones(1), 0.0, "cubic", (),
                  np.full((1, 2, 2), 1e-8))  # fmt: skip
    told = {"data": {"name": "duffing-c05-rich"}}
    ModalModel(modes, np.zeros(1), np.zeros(1), GRID, told).save(tmp_path / "linear.safetensors")
    return tmp_path / "linear.safetensors"


def test_the_response_to_small_sines_equals_the_response_of_the_equation(linearised: Path, tmp_path: Path) -> None:
    asked = ["response", linearised, "--low", 0.05, "--high", 0.5, "--points", 40, "--amplitudes", "0.01,0.02"]
    told = answer(*asked, "-o", tmp_path / "small")
    assert told["difference"] < 2e-3
    assert {Path(name).name for name in told["figures"]} == {"response.png", "backbone.png"}
    with np.load(tmp_path / "small" / "response.npz") as arrays:
        omega = 2 * np.pi * arrays["frequencies"]
        expected = np.array([[0.01], [0.02]]) / (1 - omega**2 + 0.5j * omega)
        np.testing.assert_allclose(arrays["harmonics"][..., 0, 1], expected, rtol=1e-3)
        assert arrays["unique"].all()
    said = call(*asked, "-o", tmp_path / "small")
    assert "at points with a unique steady response" in said


def test_a_large_sine_shows_that_the_linear_model_is_wrong(linearised: Path, tmp_path: Path) -> None:
    told = answer("response", linearised, "--points", 5, "--amplitudes", "4", "--low", 0.1, "--high", 0.3, "-o", tmp_path)
    assert told["difference"] > 0.5
    [peak] = told["peaks"]
    assert peak["true_amplitude"] < 0.5 * peak["amplitude"]


def test_the_table_of_modes_has_the_true_modes_of_a_built_in_system(linearised: Path, tmp_path: Path) -> None:
    report = answer("poles", linearised, "-o", tmp_path, "--stabilisation")
    [row] = report["modes"]
    assert row["frequency"] == pytest.approx(row["true"]["frequency"], rel=1e-9)
    assert row["frequency_interval"][0] < row["frequency"] < row["frequency_interval"][1]
    assert {Path(name).name for name in report["figures"]} == {"s-plane.png", "stabilisation.png"}
    assert "equation" in call("poles", linearised, "-o", tmp_path)


def test_a_steady_part_that_is_not_physical_gives_a_warning(tmp_path: Path) -> None:
    network = lfno.LFNO(GRID, width=2, modes=4, n_poles=2, projection=4, steady="exact")
    network.provenance = {"data": {"name": "duffing-c05"}}
    network.save(tmp_path / "one.safetensors")
    asked = ["response", tmp_path / "one.safetensors", "--points", 3, "--amplitudes", "1", "--no-equation"]
    assert NOT_PHYSICAL in call(*asked, "-o", tmp_path)
    assert answer(*asked, "-o", tmp_path)["caveat"].startswith(NOT_PHYSICAL)
    model = lfno.load(tmp_path / "one.safetensors")
    with pytest.warns(UserWarning, match=NOT_PHYSICAL):
        model.response([0.5], [1.0])
    with pytest.warns(UserWarning, match=NOT_PHYSICAL):
        model.decompose(np.zeros(1024))


def decay(tmp_path: Path) -> Path:
    """Write a free decay of two modes with noise, measured by the two sensors x and y, and return the file."""
    t = 0.01 * np.arange(1000)
    slow, fast = np.exp((-0.6 + 26j) * t).real, np.exp((-2.4 + 56j) * t).real
    noise = 0.003 * np.random.default_rng(0).normal(size=(2, 1000))
    columns = np.stack([t, slow + 0.5 * fast + noise[0], slow - 0.7 * fast + noise[1]], axis=1)
    np.savetxt(tmp_path / "decay.csv", columns, delimiter=",", header="t,x,y", comments="")
    return tmp_path / "decay.csv"


@pytest.mark.parametrize("output", ["x", "x,y"])
def test_the_modes_of_a_free_decay_are_found_without_an_input(output: str, tmp_path: Path) -> None:
    report = answer("poles", decay(tmp_path), "--output", output, "--stabilisation", "-o", tmp_path)
    found = sorted(report["modes"], key=lambda row: row["frequency"])
    assert len(found) == 2
    for row, pole in zip(found, (-0.6 + 26j, -2.4 + 56j), strict=True):
        assert row["frequency"] == pytest.approx(pole.imag / (2 * np.pi), rel=0.005)
        assert row["damping_ratio"] == pytest.approx(-pole.real / abs(pole), rel=0.05)
    assert any("free decay" in note for note in report["notes"])


def test_a_forced_record_gives_the_modes_of_its_linear_model(tmp_path: Path) -> None:
    pole = np.array([-0.3 + 5j])
    truth = Modes(pole, np.full((1, 1, 1), -0.2j), np.zeros((1, 1)), np.ones(1), 0.0, "linear")
    force = np.random.default_rng(0).normal(size=(1, 1, 4000))
    motion = truth.simulate(force, 0.05)
    np.savez(tmp_path / "record.npz", t=0.05 * np.arange(4000), force=force[0, 0], x=motion[0, 0])
    report = answer("poles", tmp_path / "record.npz", "--input", "force", "--output", "x", "-o", tmp_path)
    assert report["modes"][0]["frequency"] == pytest.approx(5 / (2 * np.pi), rel=1e-3)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["response", "linear.safetensors", "--amplitudes", "a,b"], "is not a list of numbers"),
        (["response", "linear.safetensors", "--low", "3", "--high", "1"], "--low must be positive and below --high"),
        (["response", "duffing-c05"], "exact steady layers"),
        (["poles", "linear.safetensors", "--amplitude", "1"], "same modes at every amplitude"),
        (["poles", "decay.csv", "--output", "z"], "there is no 'z'"),
        (["poles", "decay.csv", "--output", "x", "--amplitude", "1"], "is for a model"),
        (["poles", "duffing-c05", "--order", "2"], "give --amplitude"),
    ],
)
def test_a_wrong_option_gives_an_error_message(words: list[str], reason: str, linearised: Path, tmp_path: Path) -> None:
    decay(tmp_path)
    words = [str(tmp_path / word) if (tmp_path / word).exists() else word for word in words]
    with pytest.raises(LfnoError, match=reason):
        call(*words, "-o", tmp_path)
