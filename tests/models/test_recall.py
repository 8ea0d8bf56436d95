"""Predictions that keep what depends on weights alone are those of a model that keeps nothing, whatever becomes of them."""

import gc

import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from lfno import LFNO, Grid
from lfno.models import layers, recall

GRID = Grid.line(40, dt=0.05)


def model(seed=0, grid=GRID):
    torch.manual_seed(seed)
    return LFNO(grid, width=3, modes=4, n_poles=2, transient_layers=2, gate=True).eval()


@pytest.fixture
def counted(monkeypatch):
    """How often a transfer function was computed."""
    calls, compute = [], layers.transfer
    monkeypatch.setattr(layers, "transfer", lambda *given: calls.append(1) or compute(*given))
    return calls


def answer(model, x):
    """What the model says without keeping anything: with gradients nothing is kept."""
    return model(x).detach()


def test_a_second_prediction_computes_no_transfer_function(counted):
    own, x = model(), torch.randn(2, 1, 40)
    with torch.no_grad():
        first = own(x)
        before = len(counted)
        assert torch.equal(own(x), first)
        assert len(counted) == before > 0
    assert torch.allclose(answer(own, x), first, atol=1e-6)
    with torch.inference_mode():
        own(x)
    assert own(x).requires_grad


def change_in_place(own, other):
    with torch.no_grad():
        for mine, yours in zip(own.parameters(), other.parameters(), strict=True):
            mine.copy_(yours)


def change_behind_the_scenes(own, other):
    for mine, yours in zip(own.parameters(), other.parameters(), strict=True):
        mine.data.copy_(yours.data)


def replace_storage(own, other):
    for mine, yours in zip(own.parameters(), other.parameters(), strict=True):
        mine.data = yours.data.clone()


def load(own, other):
    own.load_state_dict(other.state_dict())


@pytest.mark.parametrize("change", [change_in_place, change_behind_the_scenes, replace_storage, load])
@torch.no_grad()
def test_other_weights_have_other_answers(change):
    own, other, x = model(), model(seed=1), torch.randn(2, 1, 40)
    assert not torch.allclose(own(x), other(x), atol=1e-3)
    change(own, other)
    with torch.enable_grad():
        expected = answer(other, x)
    assert torch.allclose(own(x), expected, atol=1e-6)


@torch.no_grad()
def test_other_grids_and_precisions_are_other_questions():
    own, x = model(), torch.randn(2, 1, 40)
    own(x)
    finer = Grid.line(80, dt=0.025)
    fine = torch.randn(2, 1, 80)
    with torch.enable_grad():
        expected = own(fine, finer).detach(), own.double()(x.double()).detach()
    assert torch.allclose(own(x.double()), expected[1], rtol=1e-9)
    assert torch.allclose(own.float()(fine, finer), expected[0], atol=1e-6)


@torch.no_grad()
def test_a_stack_of_models_is_each_of_them():
    models, x = [model(seed) for seed in range(3)], torch.randn(2, 1, 40)
    state = stack_module_state(models)
    together = vmap(lambda *state: functional_call(models[0], state, (x,)))(*state)
    for own, found in zip(models, together, strict=True):
        assert torch.allclose(found, own(x), atol=1e-6)


@torch.no_grad()
def test_nothing_is_kept_for_a_model_that_is_gone():
    gc.collect()
    before = len(recall._KEPT)
    own = model()
    own(torch.randn(2, 1, 40))
    assert len(recall._KEPT) == before + 2
    for size in range(41, 60):  # of many grids only the last
        own(torch.randn(1, 1, size), Grid.line(size, dt=0.05))
    assert all(len(kept) <= recall.RESULTS for kept in recall._KEPT.values())
    del own
    gc.collect()
    assert len(recall._KEPT) == before
