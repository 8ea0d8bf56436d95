"""Predictions with cached functions of the parameters equal predictions without a cache, after any change of the parameters."""

import gc

import pytest
import torch
from torch.func import functional_call, stack_module_state, vmap

from lfno import LFNO, Grid
from lfno.backends import cache
from lfno.models import kernel

GRID = Grid.line(40, dt=0.05)


def model(seed=0, grid=GRID, hold="linear"):
    torch.manual_seed(seed)
    return LFNO(grid, width=3, modes=4, n_poles=2, transient_layers=2, gate=True, hold=hold).eval()


@pytest.fixture
def counted(monkeypatch):
    """Return a list that gets one entry each time a transfer function or the tables of a recurrence are computed."""
    calls = []
    for name in ("transfer", "make_tables"):
        compute = getattr(kernel, name)
        monkeypatch.setattr(kernel, name, lambda *given, compute=compute, **more: calls.append(1) or compute(*given, **more))
    return calls


def answer(model, x):
    """Return a prediction that does not use the cache. With gradients enabled, no result is cached."""
    return model(x).detach()


@pytest.mark.parametrize("hold", ["linear", "trigonometric"])
def test_a_second_prediction_computes_no_transfer_function(counted, hold):
    own, x = model(hold=hold), torch.randn(2, 1, 40)
    with torch.no_grad():
        first = own(x)
        before = len(counted)
        assert torch.equal(own(x), first)
        assert len(counted) == before > 0
    assert torch.allclose(answer(own, x), first, atol=1e-6)


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode])
def test_results_cached_by_a_prediction_do_not_change_gradients(mode):
    own, x = model(), torch.randn(2, 1, 40)
    with mode():
        own(x)
        own(x)
    fresh = model()
    for one in (own, fresh):
        one(x).square().sum().backward()
    for (name, mine), other in zip(own.named_parameters(), fresh.parameters(), strict=True):
        assert mine.grad is not None, name
        assert torch.allclose(mine.grad, other.grad, rtol=1e-4, atol=1e-6), name


def change_in_place(own, other):
    with torch.no_grad():
        for mine, yours in zip(own.parameters(), other.parameters(), strict=True):
            mine.copy_(yours)


def change_through_data(own, other):
    for mine, yours in zip(own.parameters(), other.parameters(), strict=True):
        mine.data.copy_(yours.data)


def replace_storage(own, other):
    for mine, yours in zip(own.parameters(), other.parameters(), strict=True):
        mine.data = yours.data.clone()


def parametrize(own, other):
    """Make the residues a function of another tensor (a buffer), which changes after a prediction."""
    for mine in own.blocks:
        shift = _Shift(torch.zeros_like(mine.kernel.residues))
        torch.nn.utils.parametrize.register_parametrization(mine.kernel, "residues", shift)
    own(torch.randn(2, 1, 40))
    for mine, yours in zip(own.blocks, other.blocks, strict=True):
        mine.kernel.parametrizations.residues[0].by.copy_(yours.kernel.residues - mine.kernel.residues)
    own.load_state_dict({k: v for k, v in other.state_dict().items() if not k.endswith("residues")}, strict=False)


class _Shift(torch.nn.Module):
    def __init__(self, by):
        super().__init__()
        self.register_buffer("by", by)

    def forward(self, x):
        return x + self.by


def load(own, other):
    own.load_state_dict(other.state_dict())


@pytest.mark.parametrize("change", [change_in_place, change_through_data, replace_storage, load, parametrize])
@torch.no_grad()
def test_changed_weights_give_changed_predictions(change):
    own, other, x = model(), model(seed=1), torch.randn(2, 1, 40)
    assert not torch.allclose(own(x), other(x), atol=1e-3)
    change(own, other)
    with torch.enable_grad():
        expected = answer(other, x)
    assert torch.allclose(own(x), expected, atol=1e-6)


@torch.no_grad()
def test_other_grids_and_precisions_do_not_use_the_same_cached_result():
    own, x = model(), torch.randn(2, 1, 40)
    own(x)
    finer, slower = Grid.line(80, dt=0.025), Grid.line(40, dt=0.1)
    fine = torch.randn(2, 1, 80)
    with torch.enable_grad():
        lasting = own(x, slower).detach()
        expected = own(fine, finer).detach(), own.double()(x.double()).detach()
    assert torch.allclose(own.float()(x, slower), lasting, atol=1e-6)
    own.double()
    assert torch.allclose(own(x.double()), expected[1], rtol=1e-9)
    assert torch.allclose(own.float()(fine, finer), expected[0], atol=1e-6)


@torch.no_grad()
def test_other_modes_do_not_use_the_same_cached_result():
    kernel = model().blocks[0].kernel
    every, low = kernel.transfer((None,), (40,), (0.5,)), kernel.transfer((4,), (40,), (0.5,))
    assert torch.equal(low, every[..., :4])
    assert torch.equal(kernel.transfer((None,), (40,), (0.5,)), every)


@torch.no_grad()
def test_vmap_over_models_equals_each_model_alone():
    models, x = [model(seed) for seed in range(3)], torch.randn(2, 1, 40)
    state = stack_module_state(models)
    together = vmap(lambda *state: functional_call(models[0], state, (x,)))(*state)
    for own, found in zip(models, together, strict=True):
        assert torch.allclose(found, own(x), atol=1e-6)


@torch.no_grad()
def test_the_cache_of_a_deleted_model_is_deleted():
    gc.collect()
    before = len(cache._KEPT)
    own = model()
    own(torch.randn(2, 1, 40))
    assert len(cache._KEPT) == before + 2
    for size in range(41, 60):  # more grids than one layer may have in the cache
        own(torch.randn(1, 1, size), Grid.line(size, dt=0.05))
    assert all(len(kept) <= cache.RESULTS for kept in cache._KEPT.values())
    del own
    gc.collect()
    assert len(cache._KEPT) == before
