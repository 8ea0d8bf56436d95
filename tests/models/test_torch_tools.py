"""Models work with the tools of torch: export, compile without graph breaks, vmap over models, Jacobians, CUDA."""

import pytest
import torch
from torch import nn

from lfno import FNO, LFNO, LNO, Grid
from lfno.core.grid import Axis

LINE = Grid.line(64, dt=0.1)
PLANE = Grid((Axis("x", 8, 0.1), Axis("t", 10, 0.1, time=True)))
#: options of every LFNO
TINY = {"width": 3, "n_poles": 2, "modes": 3, "transient_layers": 2}
MODELS = [
    ("FNO", lambda grid: FNO(grid, width=3, modes=3, layers=2, grid_channels=True)),
    ("LNO", lambda grid: LNO(grid, width=3, n_poles=2, modes=3)),
    ("LFNO blocks", lambda grid: LFNO(grid, **TINY, padding=0.25)),
    ("LFNO gated", lambda grid: LFNO(grid, **TINY, gate=True)),
    ("LFNO branches", lambda grid: LFNO(grid, **TINY, layout="branches", steady="shared")),
    ("LFNO sequence", lambda grid: LFNO(grid, **TINY, layout="sequence", steady="free")),
    ("LFNO time", lambda grid: LFNO(grid, **TINY, laplace_axes="time")),
]
every_model = pytest.mark.parametrize("build", [build for _, build in MODELS], ids=[name for name, _ in MODELS])
every_grid = pytest.mark.parametrize("grid", [LINE, PLANE], ids=["1-D", "2-D"])


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)
    torch.compiler.reset()


@every_grid
@every_model
def test_an_exported_program_gives_the_same_outputs(build, grid):
    model, x = build(grid).eval(), torch.randn(2, 1, *grid.shape)
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(model, (x,), dynamic_shapes={"x": {0: batch}})
    other = torch.randn(5, 1, *grid.shape)
    torch.testing.assert_close(program.module()(other), model(other), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("grid", [LINE, pytest.param(PLANE, marks=pytest.mark.long)], ids=["1-D", "2-D"])
@every_model
def test_compiles_in_one_graph(build, grid):
    model, x = build(grid), torch.randn(2, 1, *grid.shape)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-6)
    compiled(x).square().mean().backward()
    got = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    model(x).square().mean().backward()
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(got[name], parameter.grad, rtol=1e-4, atol=1e-6)


class Respond(nn.Module):
    """A model without checks of its input, because vmap cannot run checks that depend on values."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model.respond(x)


@every_grid
@every_model
def test_vmap_over_models_equals_each_model_alone(build, grid):
    members = [Respond(build(grid)) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(members)
    x = torch.randn(3, 2, 1, *grid.shape)

    def call(parameters, buffers, x):
        return torch.func.functional_call(members[0], (parameters, buffers), (x,))

    stacked = torch.vmap(call)(parameters, buffers, x)
    separate = torch.stack([member(x[k]) for k, member in enumerate(members)])
    torch.testing.assert_close(stacked, separate, rtol=1e-4, atol=1e-5)


@every_model
def test_a_jacobian_equals_the_gradients_one_by_one(build):
    model = Respond(build(LINE))
    parameters = dict(model.named_parameters())
    x = torch.randn(1, 1, 64)

    def some(parameters):
        return torch.func.functional_call(model, parameters, (x,))[0, 0, ::30]

    jacobian = torch.func.jacrev(some)(parameters)
    for row, value in enumerate(some(parameters)):
        rows = torch.autograd.grad(value, list(parameters.values()), retain_graph=True, allow_unused=True)
        for name, want in zip(parameters, rows, strict=True):
            if want is not None:
                torch.testing.assert_close(jacobian[name][row], want, rtol=1e-3, atol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@every_grid
@every_model
def test_cuda_agrees_with_the_cpu(build, grid):
    model, x = build(grid), torch.randn(2, 1, *grid.shape)
    model(x).square().mean().backward()
    answer, gradients = model(x).detach(), [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model.cuda()
    y = model(x.cuda())
    y.square().mean().backward()
    torch.testing.assert_close(y.detach().cpu(), answer, rtol=1e-3, atol=1e-4)
    for parameter, want in zip(model.parameters(), gradients, strict=True):
        torch.testing.assert_close(parameter.grad.cpu(), want, rtol=1e-2, atol=1e-4)
    assert model.predict(x.numpy()).shape == (2, 1, *grid.shape)
