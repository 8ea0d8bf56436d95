"""Predictions of a long record window by window."""

import numpy as np
import pytest
from scipy.signal import lfilter

from lfno import LfnoError
from lfno.core.grid import Grid
from lfno.surrogate.stitch import predict_record


@pytest.mark.parametrize("ratio", [1, 2])
def test_windows_with_enough_warm_up_give_the_result_of_one_simulation(ratio: int) -> None:
    """The memory of the model is shorter than the warm-up, so every window gives the correct response after its warm-up.

    ratio: number of samples of the record in one training step.
    """
    fine = Grid.line(4000 * ratio, 0.05 / ratio)
    inputs = np.sin(np.arange(4000 * ratio) * 0.05 / ratio)[None] + 0.3

    def respond(x: np.ndarray, grid: Grid) -> np.ndarray:
        factor = np.exp(-grid.steps[0] / 0.5)  # the time constant is 10 training steps
        return lfilter([1 - factor], [1, -factor], x)

    trained = Grid.line(256, 0.05)
    stitched = predict_record(respond, inputs, fine, trained, warmup=128)
    np.testing.assert_allclose(stitched, respond(inputs, fine), atol=1e-5)
    short = predict_record(respond, inputs[:, :100], fine.change("t", size=100), trained, warmup=128)
    np.testing.assert_allclose(short, respond(inputs[:, :100], fine), atol=1e-12)


def test_too_large_and_too_small_time_steps_are_refused() -> None:
    """With a time step of a picosecond, one window would have 10¹³ samples."""
    for step, word in ((5.0, "smaller"), (1e-12, "larger")):
        with pytest.raises(LfnoError, match=f"{word} time step"):
            predict_record(lambda x, g: x, np.zeros((1, 100)), Grid.line(100, step), Grid.line(256, 0.05), 100)
