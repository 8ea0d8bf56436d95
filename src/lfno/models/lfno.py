"""The Laplace–Fourier neural operator: poles for what decays, Fourier modes for what stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import Tensor, nn

from lfno.core.errors import LfnoError
from lfno.models.config import PoleConfig, check_choice, check_count, check_flag
from lfno.models.layers import STEADY, PoleResidue, steady, through
from lfno.models.pointwise import Pointwise
from lfno.models.pole_operator import PoleOperator


@dataclass(frozen=True)
class LFNOConfig(PoleConfig):
    """layout: "blocks" (each layer adds transient, steady and pointwise parts), "sequence" (the same, with R in the last
        layers only) or "branches" (transient layers beside steady ones).

    steady: "exact", "free", "shared" or "residual"; see `lfno.models.layers.steady`.
    skip: layers are added to what they start from, v + act(…), so that the forcing reaches every depth unchanged, as it
        must for a fixed-point iteration x ← G (f − x³).
    gate: what a layer adds is multiplied by a gate of its own, v + (A u + a) sigmoid(B u + b) with u = act(…): products of
        responses, as a frequency that depends on the amplitude needs. Only with skip.
    transient_layers, steady_layers: how many layers have poles and how many have R; in blocks all transient_layers have both.
    """

    layout: str = "blocks"
    steady: str = "residual"
    transient_layers: int = 4
    steady_layers: int = 2
    skip: bool = True
    gate: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("layout", self.layout, ("blocks", "sequence", "branches"))
        check_choice("steady", self.steady, STEADY)
        check_count("transient_layers", self.transient_layers, low=0, high=1000)
        check_count("steady_layers", self.steady_layers, low=0, high=1000)
        check_flag("skip", self.skip)
        check_flag("gate", self.gate)
        if self.gate and (self.layout == "branches" or not self.skip):
            raise LfnoError("gate=True: a gate acts on what a layer adds; without skip, or in branches, say gate=false as well")
        if self.layout == "blocks" and self.transient_layers == 0:
            raise LfnoError("transient_layers=0: blocks need at least one layer")
        no_steady = self.steady_layers == 0 or (self.layout == "sequence" and self.steady == "exact")
        if self.layout != "blocks" and self.transient_layers == 0 and no_steady:
            raise LfnoError("transient_layers=0 and no steady layer with R leave a network without layers")


class LFNO(PoleOperator):
    """Lift → transient and steady parts → projection.

    blocks:    v ← v + u, u = act(transient(v) + steady(v) + W v), transient_layers times; gated see gate.
    sequence:  such layers, the first transient_layers of them with poles and the last steady_layers with R; the steady part
               is exact where there is no R, and R alone where there are no poles.
    branches:  transient branch v ← T_i(v) + W_i v, steady branch v ← S_j(v), activation between layers of a branch and
               not after its last, the two added. A steady layer uses the poles and residues of the transient layer of
               the same depth (its own where there is none), except with steady="free", which has no poles.
    Without skip there is no activation after the last layer.
    """

    Config = LFNOConfig
    config: LFNOConfig

    def build(self) -> None:
        config = self.config
        if config.layout != "branches":
            parts = self._parts()
            kinds = [(config.steady if weights else "exact", poles) for poles, weights in parts]
            self.blocks = nn.ModuleList(self.block(kind, poles, config.gate) for kind, poles in kinds)
            return
        self.kernels = nn.ModuleList(self.kernel() for _ in range(config.transient_layers))
        self.pointwise = nn.ModuleList(Pointwise(config.width, config.width) for _ in range(config.transient_layers))
        without = 0 if config.steady == "free" else max(0, config.steady_layers - config.transient_layers)
        self.steady_kernels = nn.ModuleList(self.kernel() for _ in range(without))
        fourier = config.steady_layers if config.steady != "exact" else 0
        self.steady_weights = nn.ModuleList(self.weights(config.steady == "residual") for _ in range(fourier))

    @property
    def starts_exact(self) -> bool:
        """Whether R is zero before training, and every layer then exact."""
        return self.config.layout == "blocks" and self.config.steady == "residual"

    def without_weights(self) -> LFNO:
        """The same layers without R."""
        exact = LFNO(self.grid, replace(self.config, steady="exact")).to(self.lift.weight.dtype)
        own = exact.state_dict()
        exact.load_state_dict({name: value for name, value in self.state_dict().items() if name in own})
        return exact

    def _parts(self) -> list[tuple[bool, bool]]:
        """For every layer of a chain: does it have poles, does it have R?"""
        transient = self.config.transient_layers
        steady = 0 if self.config.steady == "exact" else self.config.steady_layers
        if self.config.layout == "blocks":
            return [(True, True)] * transient
        depth = max(transient, steady)
        return [(k < transient, k >= depth - steady) for k in range(depth)]

    def wraps(self, d: int) -> bool:
        """A transient part undoes the wrap of its own steady part, λ, in the same layer and of nothing else."""
        alone = self.config.layout == "branches" or self.config.steady in ("free", "shared")
        return alone or super().wraps(d)

    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        config = self.config
        if config.layout != "branches":
            for depth, block in enumerate(self.blocks, 1):
                act = config.activation if config.skip or depth < len(self.blocks) else ""
                v = block(v, steps, act, config.skip, transient)
            return v
        branches = []
        if config.transient_layers:
            branches.append(self._transient_branch(v, steps, transient))
        if config.steady_layers:
            branches.append(self._steady_branch(v, steps))
        return branches[0] if len(branches) == 1 else branches[0] + branches[1]

    def _transient_branch(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        for depth, (kernel, pointwise) in enumerate(zip(self.kernels, self.pointwise, strict=True)):
            assert isinstance(kernel, PoleResidue)
            last = depth == len(self.kernels) - 1
            terms = through(v, kernel, partial(kernel.transient, shape=v.shape[2:], steps=steps)) if transient else []
            v = pointwise(v, terms, "" if last else self.config.activation)
        return v

    def _steady_branch(self, v: Tensor, steps: Sequence[float]) -> Tensor:
        kernels: list[Any] = [*self.kernels, *self.steady_kernels]
        for depth in range(self.config.steady_layers):
            kernel = None if self.config.steady == "free" else kernels[depth]
            weights: Any = None if self.config.steady == "exact" else self.steady_weights[depth]
            v = self.activation(v) if depth else v
            part = partial(steady, kernel=kernel, weights=weights, kind=self.config.steady, shape=v.shape[2:], steps=steps)
            (v,) = through(v, kernel, part)
        return v
