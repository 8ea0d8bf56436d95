"""Networks that predict frame after frame: long predictions, pieces of trajectories, learning of an exact solution."""

import numpy as np
import pytest
import torch

import lfno
from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.models import Marching
from lfno.training.frames import AHEAD, pieces
from lfno.training.labels import Samples

SIZE, STEPS = 24, 12
GRID = lfno.Grid((lfno.Axis("x", SIZE, 1 / SIZE, periodic=True), lfno.Axis("t", STEPS, 0.1, 0.1, time=True)))


def waves(samples: int, steps: int, seed: int = 0) -> np.ndarray:
    """Return exact solutions of w_t + c w_x = ν w_xx with c = 0.7, ν = 0.01 on a periodic line, (sample, 1, x, time).

    The times are 0, 0.1, 0.2, …
    """
    rng, x, t = np.random.default_rng(seed), np.arange(SIZE) / SIZE, 0.1 * np.arange(steps)
    k = np.arange(1, 4)
    amplitude = rng.normal(size=(samples, 3)) + 1j * rng.normal(size=(samples, 3))
    growth = np.exp(np.multiply.outer(-(0.01 * (2 * np.pi * k) ** 2) - 2j * np.pi * k * 0.7, t))
    return np.einsum("sk,kx,kt->sxt", amplitude, np.exp(2j * np.pi * np.multiply.outer(k, x)), growth).real[:, None]


def data(frames: np.ndarray) -> Dataset:
    """Return a data set. The input is the first frame, and the output is all later frames."""
    return Dataset(np.broadcast_to(frames[..., :1], frames[..., 1:].shape), frames[..., 1:], GRID)


def network(**fields) -> Marching:
    torch.manual_seed(0)
    return Marching(GRID, width=6, modes=(5, 1), layers=2, projection=8, **fields).double()


def test_two_short_predictions_one_after_the_other_equal_one_long_prediction():
    model = network()
    model.normalise(0.3, 2.0, 0.3, 2.0)
    start = torch.as_tensor(waves(2, 1))
    whole = model(start.expand(-1, -1, -1, STEPS))
    half = GRID.change("t", size=STEPS // 2)
    first = model(start.expand(-1, -1, -1, half.shape[-1]), half)
    second = model(first[..., -1:].expand_as(first), half)
    assert torch.allclose(torch.cat((first, second), -1), whole, rtol=1e-12)


def test_a_finer_grid_gives_the_same_values_at_common_points():
    model = network().requires_grad_(False)
    fine = GRID.change("x", size=2 * SIZE, step=0.5 / SIZE)
    line = np.sin(2 * np.pi * np.arange(2 * SIZE) / (2 * SIZE))
    given = torch.as_tensor(line).reshape(1, 1, -1, 1)
    coarse = model(given[:, :, ::2].expand(-1, -1, -1, STEPS))
    # gelu in the projection makes small harmonics that neither grid resolves
    found = model(given.expand(-1, -1, -1, STEPS), fine)[:, :, ::2]
    assert torch.allclose(found, coarse, atol=1e-3 * coarse.abs().max().item())


def test_pieces_of_a_trajectory_begin_with_true_frames_and_cover_all_outputs():
    """Frame n of a trajectory is proportional to 0.5^n. The ratio of two frames therefore gives their distance in time."""
    frames = np.multiply.outer(np.array([1.0, 3.0]), 0.5 ** np.arange(3.0 + STEPS)).reshape(2, 1, 1, -1)
    given = np.moveaxis(frames[..., :3], -1, 1).reshape(2, 3, 1, 1)
    found = pieces(Samples(np.broadcast_to(given, (2, 3, 1, STEPS)), frames[..., 3:]))
    assert len(found) == 2 * ((2 + STEPS) // AHEAD)
    assert found.label == pytest.approx(found.x[..., :1] * 0.5 ** np.arange(1.0, AHEAD + 1))
    seen = set(np.round(np.log2(found.label), 9).ravel())
    assert set(np.round(np.log2(frames[..., 3:]), 9).ravel()) <= seen


def test_it_learns_advection_and_diffusion_for_twice_the_frames_of_training():
    model = lfno.fit(data(waves(60, STEPS + 1)), "marching", width=8, projection=16, layers=1, epochs=60, batch=16)
    truth = waves(5, 2 * STEPS + 1, seed=1)
    longer = GRID.change("t", size=2 * STEPS)
    found = model.predict(np.broadcast_to(truth[..., :1], truth[..., 1:].shape), grid=longer)
    persistence = np.linalg.norm(truth[..., :1] - truth[..., 1:])
    assert np.linalg.norm(found - truth[..., 1:]) < 0.05 * persistence


def test_a_saved_and_loaded_network_gives_the_same_predictions(tmp_path):
    model = network().float()
    model.save(tmp_path / "march.safetensors")
    given = np.broadcast_to(waves(2, 1), (2, 1, SIZE, STEPS))
    again = lfno.load(tmp_path / "march.safetensors")
    assert again.predict(given) == pytest.approx(model.predict(given), abs=1e-6)
    assert "no poles" in again.split_caveat


def test_a_marching_network_refuses_what_it_cannot_do():
    model = network()
    with pytest.raises(LfnoError, match="time step of its training grid"):
        model(torch.zeros(1, 1, SIZE, STEPS).double(), GRID.change("t", step=0.2))
    with pytest.raises(LfnoError, match="periodic axes"):
        Marching(lfno.Grid((lfno.Axis("x", 8, 0.1), lfno.Axis("t", 4, 0.1, time=True))), modes=(2, 1))
    with pytest.raises(LfnoError, match="axes of space"):
        Marching(lfno.Grid.line(64, dt=0.1), modes=1)
    with pytest.raises(LfnoError, match=r"earlier frames of its 2 output channels.*multiple of this number, but it is 3"):
        network(in_channels=3, out_channels=2)
    with pytest.raises(LfnoError, match="no modes along 't'"):
        Marching(GRID, modes=(4, 2))
    with pytest.raises(LfnoError, match="change in time"):
        pieces(Samples(waves(2, STEPS), waves(2, STEPS)))
    start = np.broadcast_to(waves(2, 1), (2, 1, SIZE, STEPS))
    with pytest.raises(LfnoError, match="remove it from the outputs"):
        pieces(Samples(start, waves(2, STEPS)))
    with pytest.raises(LfnoError, match="ONNX"):
        lfno.models.export.export(model.float(), "march.onnx")
