"""The contribution of each pole in each layer to the transient response to a given input."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from lfno.models.fourier_weights import as_complex
from lfno.models.kernel import WINDOW, PoleResidue
from lfno.models.layers import Block
from lfno.models.operator import Operator
from lfno.models.pole_operator import PoleOperator, PoleTable
from lfno.spectral.axes import keep_signed
from lfno.spectral.physics import describe_poles
from lfno.spectral.poles import analysis_matrix

#: block -> (its kernel, its input v (batch, channels, *space, time), the grid steps), in the order of the blocks
Heard = dict[Block, tuple[PoleResidue, Tensor, tuple[float, ...]]]


@contextmanager
def listening(model: Operator) -> Iterator[Heard]:
    """Record the arguments of each block with poles at its first call.

    `decompose` computes the whole prediction first, so the first call of a block belongs to this prediction.

    >>> [model] = lfno.load("duffing-c05").networks
    >>> with listening(model) as heard:
    ...     transient, steady = model.decompose(np.sin(np.arange(2048) * 0.01))
    >>> len(ringing(model, heard).top(3).rows())
    3
    """
    heard: Heard = {}

    def hear(block: torch.nn.Module, given: tuple[Tensor, tuple[float, ...]]) -> None:
        if isinstance(block, Block) and block.kernel is not None and block not in heard:
            heard[block] = block.kernel, given[0], given[1]

    hooks = [module.register_forward_pre_hook(hear) for module in model.modules() if isinstance(module, Block)]
    try:
        yield heard
    finally:
        for hook in hooks:
            hook.remove()


@torch.no_grad()
def ringing(model: PoleOperator, heard: Heard) -> PoleTable:
    """Return the table of poles with their contributions to the transient response to one input.

    model: a model with poles.
    heard: the arguments of its blocks, from `listening`.

    The pole μ contributes γ e^{μt} to the transient of its layer. Its `contribution` is the energy of this term over the
    window, divided by the sum of these energies over the layer. The coefficient γ = β Σ α/(μ − iω) contains the residue β and
    the Fourier coefficients α of the input of the layer, at the frequencies ω. A pole that the input does not excite therefore
    has no contribution, however large its residue is.
    For models with poles along axes other than time, or without blocks, the result is `model.poles()`, whose contributions are
    for an impulse.
    """
    time = model.grid.time
    if not heard or any(kernel.laplace != (time,) for kernel, _, _ in heard.values()):
        return model.poles()
    axis = model.grid.axes[-1]
    poles, shares, layers = [], [], []
    for depth, (kernel, v, steps) in enumerate(heard.values()):
        mu = kernel.values()[-1]
        assert mu is not None
        energy = _energy(kernel, mu, v, steps)
        poles.append(mu.flatten().cpu().numpy().astype(complex) * (WINDOW / axis.length))
        shares.append(energy / max(float(energy.sum()), 1e-300))
        layers.append(np.full(energy.size, depth))
    pole, share = np.concatenate(poles), np.concatenate(shares)
    order = np.argsort(-share, kind="stable")
    told = describe_poles(pole[order])
    return PoleTable(
        layer=np.concatenate(layers)[order],
        axis=np.full(order.size, axis.name),
        pole=pole[order],
        frequency=told["frequency"],
        damping_ratio=told["damping_ratio"],
        time_constant=told["time_constant"],
        contribution=share[order],
    )


def _energy(kernel: PoleResidue, mu: Tensor, v: Tensor, steps: tuple[float, ...]) -> np.ndarray:
    """Return ∫ |γ e^{μt}|² dt over the window for each pole μ, (poles,), summed over samples, channels and spatial modes.

    v: the input of the layer, (batch, channels, *space, time).
    steps: the steps of the grid.
    """
    residues, last = as_complex(kernel.residues), v.ndim - 3
    spectrum = v.to(residues.dtype)
    for d in range(last):
        spectrum = keep_signed(torch.fft.fft(spectrum, dim=2 + d, norm="forward"), (residues.shape[2 + d] + 1) // 2, 2 + d)
    analysis = analysis_matrix(mu, v.shape[-1], steps[-1])
    if mu.ndim == 1:
        excited = torch.einsum("bi...t,pt->bi...p", spectrum, analysis)
        gamma = torch.einsum("bi...p,io...p->bo...p", excited, residues)
        size = gamma.abs().square().flatten(0, -2).sum(0)
    else:
        gamma = torch.einsum("bi...t,iopt->bio...p", spectrum, analysis) * residues
        size = gamma.abs().square().sum((0, *range(3, gamma.ndim - 1)))
    double, span = 2 * mu.real.double(), v.shape[-1] * steps[-1]
    return (size.double() * torch.expm1(double * span) / double).flatten().cpu().numpy()
