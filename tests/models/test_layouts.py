"""Networks that are equal by definition, such as special cases of the layout "sequence", give equal outputs."""

import pytest
import torch

from lfno import FNO, LFNO, Grid

LINE = Grid.line(64, dt=0.1)
SHAPE = {"width": 3, "modes": 4}


def twin(model, other):
    """Copy the parameters of `model` to `other`, in their order. Return `other`."""
    with torch.no_grad():
        for mine, theirs in zip(model.parameters(), other.parameters(), strict=True):
            theirs.copy_(mine)
    return other


def same(model, other):
    """Check that two networks with the same parameters give equal outputs."""
    x = torch.randn(2, 1, 64)
    torch.testing.assert_close(model(x), twin(model, other)(x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["free", "shared", "residual"])
def test_a_sequence_with_r_in_every_layer_equals_blocks(kind):
    torch.manual_seed(0)
    blocks = LFNO(LINE, n_poles=2, steady=kind, transient_layers=3, **SHAPE)
    same(blocks, LFNO(LINE, n_poles=2, steady=kind, layout="sequence", transient_layers=3, steady_layers=3, **SHAPE))


def test_a_sequence_without_r_equals_exact_blocks():
    torch.manual_seed(0)
    blocks = LFNO(LINE, n_poles=2, steady="exact", transient_layers=3, **SHAPE)
    same(blocks, LFNO(LINE, n_poles=2, steady="free", layout="sequence", transient_layers=3, steady_layers=0, **SHAPE))


def test_layers_with_open_gates_equal_layers_without_gates_and_closed_gates_remove_layers():
    torch.manual_seed(0)
    plain = LFNO(LINE, n_poles=2, transient_layers=3, **SHAPE)
    gated, x = LFNO(LINE, n_poles=2, transient_layers=3, gate=True, **SHAPE), torch.randn(2, 1, 64)
    gated.load_state_dict(plain.state_dict(), strict=False)
    answers = []
    for opening in (100.0, -100.0):
        for block in gated.blocks:
            both = block.gate.both
            with torch.no_grad():
                both.weight.copy_(torch.cat((torch.eye(3), torch.zeros(3, 3))))  # A = 1, B = 0
                both.bias.copy_(torch.cat((torch.zeros(3), torch.full((3,), opening))))
        answers.append(gated(x))
    torch.testing.assert_close(answers[0], plain(x), rtol=1e-5, atol=1e-6)
    plain.blocks = torch.nn.ModuleList()
    torch.testing.assert_close(answers[1], plain(x), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["free", "shared", "residual"])
def test_a_sequence_without_poles_equals_an_fno(kind):
    torch.manual_seed(0)
    layout = {"layout": "sequence", "steady": kind, "transient_layers": 0, "steady_layers": 4, "skip": False}
    same(FNO(LINE, **SHAPE, layers=4), LFNO(LINE, n_poles=2, **layout, **SHAPE))


def test_in_a_sequence_the_first_layers_have_poles_and_the_last_layers_have_r():
    model = LFNO(LINE, n_poles=2, layout="sequence", transient_layers=3, steady_layers=5, **SHAPE)
    assert [(block.kernel is not None, block.weights is not None) for block in model.blocks] == [
        (True, True), (True, True), (True, True), (False, True), (False, True),
    ]  # fmt: skip
    model = LFNO(LINE, n_poles=2, layout="sequence", transient_layers=4, steady_layers=1, **SHAPE)
    assert [block.weights is not None for block in model.blocks] == [False, False, False, True]


def test_the_table_of_poles_of_a_network_without_poles_is_empty():
    model = LFNO(LINE, layout="sequence", steady="free", transient_layers=0, **SHAPE)
    assert len(model.poles()) == 0
    assert {name: column.dtype.kind for name, column in vars(model.poles()).items()} == {
        name: column.dtype.kind for name, column in vars(LFNO(LINE, **SHAPE).poles()).items()
    }
