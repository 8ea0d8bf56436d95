"""lfno.fit learns an oscillator, writes files that can be read, and raises an error message for wrong calls."""

import numpy as np
import pytest

import lfno
from lfno.core.errors import LfnoError
from lfno.paper.presets import find_preset
from tests.training.rig import SMALL, oscillator
from tests.training.spoiled import spoil_first_run


def test_fit_learns_a_linear_oscillator_and_its_file_gives_the_same_predictions(tmp_path):
    data = oscillator(60)
    run = lfno.fit(data, "lfno", epochs=40, n_poles=8, modes=12, steady_decay=30.0, folder=tmp_path, device="cpu", **SMALL)
    assert run.scores.rows["LFNO"]["l2"] < 0.01, "the network corrects a linear model, which is exact here"
    again = lfno.load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(data.inputs[:3]), run.predict(data.inputs[:3]))
    assert again.provenance["best_epoch"] == [int(run.fitted.training.trainer.best_epoch[0])]
    assert len((tmp_path / "log.jsonl").read_text().splitlines()) == 20


def test_a_network_whose_loss_is_never_finite_is_left_out(monkeypatch, caplog):
    spoil_first_run(monkeypatch)
    with caplog.at_level("WARNING", logger="lfno"):
        run = lfno.fit(oscillator(), "lfno", ensemble=2, epochs=2, steady_decay=1e-4, modes=4, n_poles=2, device="cpu", **SMALL)
    assert len(run.networks) == len(run.provenance["validation_loss"]) == 1
    assert np.isfinite(run.predict(oscillator().inputs)).all()
    assert "seed 0" in caplog.text


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: lfno.fit((np.zeros((4, 8)), np.zeros((4, 8)))), "sampling interval"),
        (lambda: lfno.fit((np.eye(9), np.eye(9)), dt=0.1, widht=3), "no option 'widht'"),
        (lambda: lfno.fit(oscillator(), model="tno"), "not known"),
        (lambda: find_preset("best"), "not known"),
        (lambda: lfno.fit("duffing"), "no data set"),
        (lambda: lfno.fit(oscillator(), epochs=0), "epochs=0"),
        (lambda: lfno.fit(oscillator(), "lfno", unscored=48, modes=4, epochs=1, device="cpu"), "leaves no time steps"),
    ],
)
def test_wrong_calls_raise_an_error_message(call, words):
    with pytest.raises(LfnoError, match=words):
        call()
