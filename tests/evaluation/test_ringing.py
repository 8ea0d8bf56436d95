"""The contribution of a pole to a response agrees with the transient of a layer that has only this pole."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lfno import FNO, LFNO, LNO, Axis, Grid
from lfno.evaluation.ringing import listening, ringing
from lfno.models.kernel import PoleResidue

LINE = Grid.line(256, dt=0.05)
FIELD = Grid((Axis("x", 12, 0.1), Axis("t", 40, 0.05, unit="s", time=True)))


def alone(kernel: PoleResidue, v: torch.Tensor, steps: tuple[float, ...], n: int) -> float:
    """Return the energy of the transient of pole n. For this, the residues of all other poles are set to zero."""
    kept = kernel.residues.clone()
    mask = torch.zeros(kept.shape[-2])
    mask[n] = 1
    with torch.no_grad():
        kernel.residues.copy_(kept * mask[:, None])
        response = kernel.transient(v, v.shape[2:], steps)
        kernel.residues.copy_(kept)
    return float(response.square().sum())


@pytest.mark.parametrize("shared", [True, False])
def test_contributions_are_the_energies_of_the_poles_alone(shared: bool) -> None:
    torch.manual_seed(0)
    model = LNO(LINE, width=2, modes=8, n_poles=4, share_poles=shared)
    force = np.sin(2 * np.pi * 0.6 * LINE["t"].points)[None, None]
    with listening(model) as heard:
        transient, steady = model.decompose(force)
    assert np.allclose(transient + steady, model.predict(force), atol=1e-5)
    (kernel, v, steps), = heard.values()
    table = ringing(model, heard)
    assert table.contribution.sum() == pytest.approx(1)
    if shared:
        energies = np.array([alone(kernel, v, steps, n) for n in range(4)])
        (mu,) = kernel.values()
        assert mu is not None
        order = [int(np.argmin(abs(mu.detach().numpy() * 20 / LINE["t"].length - pole))) for pole in table.pole]
        # the transient is the real part of γ e^{μt}, which has about half of the energy; the exact share depends on the phase
        assert np.allclose(energies[order] / energies.sum(), table.contribution, atol=0.15)
        assert energies[order].argmax() == 0


def test_a_pole_without_residue_has_no_contribution() -> None:
    torch.manual_seed(1)
    model = LFNO(FIELD, width=3, modes=(3, 4), n_poles=3, share_poles=True, laplace_axes="time")
    for kernel in (module for module in model.modules() if isinstance(module, PoleResidue)):
        with torch.no_grad():
            kernel.residues[..., 1, :] = 0
    with listening(model) as heard:
        model.predict(np.random.default_rng(0).standard_normal((1, 1, 12, 40)))
    table = ringing(model, heard)
    assert len(table) == 4 * 3
    assert (table.contribution == 0).sum() == 4
    for layer in range(4):
        assert table.contribution[table.layer == layer].sum() == pytest.approx(1)


def test_contributions_depend_on_the_input() -> None:
    """A slow input excites the slow pole, and a fast input excites the fast pole."""
    torch.manual_seed(2)
    model = LNO(LINE, width=1, modes=4, n_poles=2, share_poles=True)
    kernel = next(module for module in model.modules() if isinstance(module, PoleResidue))
    scale = LINE["t"].length / 20
    with torch.no_grad():
        kernel.poles_0.copy_(torch.tensor([[np.log(0.3 * scale), 2.0 * scale], [np.log(0.3 * scale), 9.0 * scale]]))
        kernel.residues.copy_(torch.tensor([1.0, 0.0]).expand_as(kernel.residues))
    strongest = []
    for rate in (2.0, 9.0):
        with listening(model) as heard:
            model.predict(np.cos(rate * LINE["t"].points))
        strongest.append(ringing(model, heard).top(1).frequency[0] * 2 * np.pi)
    assert strongest == pytest.approx([2.0, 9.0], rel=1e-3)


def test_without_blocks_the_contributions_are_for_an_impulse() -> None:
    model = LFNO(LINE, width=2, modes=4, n_poles=3, layout="branches")
    with listening(model) as heard:
        model.predict(np.ones(256))
    assert not heard
    assert np.array_equal(ringing(model, heard).contribution, model.poles().contribution)
    with listening(FNO(LINE, width=2, modes=4)) as heard:
        pass
    assert not heard


def test_nothing_is_recorded_after_the_block() -> None:
    model = LNO(LINE, width=2, modes=4, n_poles=3)
    with listening(model) as heard:
        pass
    model.predict(np.ones(256))
    assert not heard
