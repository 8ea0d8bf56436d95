"""Outputs and gradients of a stack of runs, compared with each run alone in double precision.

On a GPU the stack is large, because libraries use other algorithms for large arrays than for small ones.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch

import lfno.models.pointwise
from lfno.core.grid import Axis, Grid
from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.paper.presets import find_preset
from lfno.training.loop import Trainer
from lfno.training.losses import LOSSES
from lfno.training.networks import make_task

SIGNAL = Grid.line(2048, dt=0.01)
FIELD = Grid((Axis("x", 50, 0.02), Axis("t", 50, 0.02, time=True)))
GPU = pytest.param("cuda", 15, 64, marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"))


@pytest.mark.parametrize(("device", "runs", "batch"), [("cpu", 2, 2), GPU])
@pytest.mark.parametrize("grid", [SIGNAL, FIELD], ids=["signal", "field"])
@pytest.mark.parametrize(("preset", "model"), [("default", "lfno"), ("paper", "lfno"), ("default", "fno"), ("default", "lno")])
def test_a_stack_equals_single_runs(preset, model, grid, device, runs, batch, monkeypatch):
    torch.manual_seed(0)
    chosen = find_preset(preset)(model, grid)
    arrays = np.random.default_rng(0).standard_normal((2, 4, 1, *grid.shape)).astype(np.float32)
    one = make_task(Dataset(*arrays, grid), Split(np.array([0, 1]), np.array([2]), np.array([3])), chosen, 0)
    trainer = Trainer([one] * runs, replace(chosen.training, steady_decay=0.0), device)
    # change all parameters, because some, such as R, are zero at first
    theta = (trainer.adam.theta + 0.05 * torch.randn_like(trainer.adam.theta)).requires_grad_()
    x, y = (torch.randn(runs, batch, 1, *grid.shape, device=device) for _ in range(2))
    losses = trainer.stack.losses(theta, {"x": x, "y": y}, trainer.score)
    (gradient,) = torch.autograd.grad(losses.sum(), theta)
    answers = trainer.stack.respond(theta.detach(), x)

    monkeypatch.setattr(lfno.models.pointwise, "fused", lambda _: False)
    for run in {0, runs // 2, runs - 1}:
        alone = deepcopy(one.model)
        trainer.stack.write(theta[run : run + 1], [alone])
        alone = alone.to(device).double()
        answer = alone.respond(x[run].double())
        slopes = torch.autograd.grad(LOSSES[trainer.config.loss](answer, y[run].double()).sum(), list(alone.parameters()))
        assert (answers[run] - answer).norm() < 1e-4 * answer.norm()
        expected = torch.cat([slope.flatten() for slope in slopes])
        assert (gradient[run] - expected).norm() < 1e-3 * expected.norm()
