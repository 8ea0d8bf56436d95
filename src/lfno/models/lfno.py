"""The Laplace–Fourier neural operator: poles for the transient response, Fourier modes for the steady response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from lfno.backends.chunk_products import fold, unfold
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.models.config import PoleConfig, check_choice, check_count, check_flag
from lfno.models.kernel import PoleResidue
from lfno.models.layers import prepared
from lfno.models.pointwise import Pointwise
from lfno.models.pole_operator import PoleOperator
from lfno.models.real_basis import RealBasis, RealBasisWithR
from lfno.models.recurrences import Recurrence, RecurrenceWithR
from lfno.models.responses import Decay, Exact, Free, Residual, Response, Shared, Weights
from lfno.spectral.bases import BASES, OF_BOUNDARY
from lfno.spectral.hold import HOLDS
from lfno.spectral.recurrence import State

#: `steady` → the linear part of a layer with R, or of every layer for "exact"
STEADY: dict[str, type[Response]] = {"exact": Exact, "free": Free, "shared": Shared, "residual": Residual}
#: the same as recurrences, for the kinds that have a recurrence
RECURRENT: dict[type[Response], type[Recurrence]] = {Exact: Recurrence, Residual: RecurrenceWithR}
#: the same in a real basis of space
IN_OWN_BASIS: dict[type[Response], type[RealBasis]] = {Exact: RealBasis, Residual: RealBasisWithR}
#: the hold of the frequency form: the trigonometric interpolation of the whole window
TRIGONOMETRIC = "trigonometric"


@dataclass(frozen=True)
class LFNOConfig(PoleConfig):
    """Options of an LFNO.

    layout: "blocks" (each layer adds transient, steady and pointwise parts), "sequence" (the same, with R in the last layers
        only) or "branches" (transient layers in parallel to steady ones).
    steady: "exact", "free", "shared" or "residual"; see `lfno.models.responses`.
    hold: the interpolation of the input of a layer between samples. "linear" and "cubic" make exact layers recurrences along
        time, which are causal and have a state. "trigonometric" is the frequency form, in which the window is one period.
        Networks without a recurrence always use it: networks with branches, with poles on several axes, or with steady="free"
        or "shared".
    basis: the basis of the axes of space in a network of recurrences: "fourier", "sine", "cosine", "chebyshev" or "boundary".
        "boundary" uses sines for fixed ends, cosines for free ends, and Fourier modes if an axis is periodic or its boundary
        is unknown.
    skip: whether layers have a skip connection, v + act(…). The forcing then reaches every layer unchanged, as in a
        fixed-point iteration x ← G (f − x³).
    gate: whether the output of a layer is multiplied by a gate, v + (A u + a) sigmoid(B u + b) with u = act(…). A gate makes
        products of responses, which a frequency that depends on the amplitude needs. Only with skip.
    transient_layers, steady_layers: the number of layers with poles, and with R. In "blocks" all transient_layers have both.
    """

    layout: str = "blocks"
    steady: str = "residual"
    transient_layers: int = 4
    steady_layers: int = 2
    skip: bool = True
    gate: bool = False
    hold: str = "linear"
    basis: str = "boundary"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("layout", self.layout, ("blocks", "sequence", "branches"))
        check_choice("steady", self.steady, tuple(STEADY))
        check_choice("hold", self.hold, (*HOLDS, TRIGONOMETRIC))
        check_choice("basis", self.basis, ("boundary", "fourier", *BASES))
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
            own: dict[str, Any] = {"hold": self.hold} if self.recurrent else {}
            own |= {"bases": self.bases} if self.bases else {}
            table: dict[Any, Any] = (IN_OWN_BASIS if self.bases else RECURRENT) if self.recurrent else {}
            kinds = [table.get(kind, kind) for kind in self._kinds()]
            self.blocks = nn.ModuleList(self.block(kind, config.gate, **(own if kind.POLES else {})) for kind in kinds)
            return
        self.kernels = nn.ModuleList(self.kernel() for _ in range(config.transient_layers))
        self.pointwise = nn.ModuleList(Pointwise(config.width, config.width) for _ in range(config.transient_layers))
        kind = Weights if config.steady == "free" else STEADY[config.steady]
        without = max(0, config.steady_layers - config.transient_layers) if kind.POLES else 0
        self.steady_kernels = nn.ModuleList(self.kernel() for _ in range(without))
        fourier = config.steady_layers if kind.R else 0
        self.steady_weights = nn.ModuleList(self.weights(kind.R_STARTS_AT_ZERO) for _ in range(fourier))
        self.decays = [Decay(kernel, None) for kernel in self.kernels]  # type: ignore[arg-type]
        kernels: list[Any] = [*self.kernels, *self.steady_kernels] if kind.POLES else [None] * config.steady_layers
        weights: list[Any] = list(self.steady_weights) if kind.R else [None] * config.steady_layers
        self.steadies = [kind(kernels[j], weights[j]) for j in range(config.steady_layers)]

    @property
    def hold(self) -> str:
        """The hold of all layers with poles. Layers without a recurrence always have the hold of the frequency form."""
        config, last = self.config, self.grid.ndim - 1
        along_time = self.laplace == (last,) and self.grid.time == last
        chain = config.layout != "branches" and all(kind in RECURRENT for kind in self._kinds() if kind.POLES)
        return config.hold if along_time and chain else TRIGONOMETRIC

    @property
    def bases(self) -> tuple[str, ...]:
        """The basis of each axis of space, if the network consists of recurrences and no axis of space has Fourier modes; else
        ().
        """
        space = self.grid.axes[:-1]
        if not self.recurrent or self.config.basis == "fourier":
            return ()
        if self.config.basis != "boundary":
            return (self.config.basis,) * len(space)
        known = tuple(OF_BOUNDARY.get(axis.boundary, "") for axis in space)
        return known if all(known) else ()

    @property
    def recurrent(self) -> bool:
        """Whether exact layers run as recurrences along time."""
        return self.hold != TRIGONOMETRIC

    @property
    def streams(self) -> bool:
        """Whether the network can run on signals in blocks or sample by sample: all layers are recurrences without R."""
        with_r = any(kind.R for kind in self._kinds())
        return self.recurrent and self.grid.ndim == 1 and not with_r

    def axes_with_coordinates(self) -> tuple[int, ...]:
        """The axes whose coordinates are input channels. Recurrences get no time coordinate, because with it they would have
        no periodic steady state.
        """
        axes = super().axes_with_coordinates()
        return tuple(d for d in axes if d != self.grid.time) if self.recurrent else axes

    @property
    def starts_exact(self) -> bool:
        """Whether R is zero before training, so that every layer is exact at first."""
        return self.config.layout == "blocks" and self.config.steady == "residual"

    def without_weights(self) -> LFNO:
        """The same layers without R."""
        exact = LFNO(self.grid, replace(self.config, steady="exact")).to(self.lift.weight.dtype)
        own = exact.state_dict()
        exact.load_state_dict({name: value for name, value in self.state_dict().items() if name in own})
        return exact

    def _kinds(self) -> list[type[Response]]:
        """The linear part of every layer of a chain, in the frequency form."""
        transient, kind = self.config.transient_layers, STEADY[self.config.steady]
        steady = self.config.steady_layers if kind.R else 0
        if self.config.layout == "blocks":
            return [kind] * transient
        depth = max(transient, steady)
        with_r = [k >= depth - steady for k in range(depth)]
        return [(kind if r else Exact) if k < transient else Weights for k, r in enumerate(with_r)]

    def wraps(self, d: int) -> bool:
        """Whether layers connect the two ends of axis d. A transient part cancels the wrap-around of the steady part of its
        own layer only.
        """
        alone = self.config.layout == "branches" or self.config.steady in ("free", "shared")
        return alone or super().wraps(d)

    def respond(self, x: Tensor, grid: Grid | None = None, transient: bool = True) -> Tensor:
        grid = grid or self.grid
        if not (transient and self._in_chunks(x)):
            return super().respond(x, grid, transient)
        # signals stay in chunks from input to output, because channel maps act on each point alone
        (step,), batch, size = self.steps(grid), x.shape[0], x.shape[-1]
        v = self.lift(self.scaled_inputs(fold(x)))
        layers = prepared(self, list(self.blocks), step, size)  # type: ignore[arg-type]
        for block, layer, act in zip(self.blocks, layers, self._activations(), strict=True):
            v = block.in_chunks(v, batch, size, step, layer, act, self.config.skip)  # type: ignore[operator]
        return unfold(self.projected(v), batch, size)

    def _in_chunks(self, x: Tensor) -> bool:
        """Whether all layers run on signals in chunks; see `lfno.backends.chunk_products`."""
        return self.recurrent and len(self.blocks) > 0 and all(
            isinstance(block.kernel, PoleResidue) and block.kernel.fits_products(x, self.hold) for block in self.blocks
        )

    def layers(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        config = self.config
        if config.layout != "branches":
            for block, act in zip(self.blocks, self._activations(), strict=True):
                v = block(v, steps, act, config.skip, transient)
            return v
        branches = []
        if config.transient_layers:
            branches.append(self._transient_branch(v, steps, transient))
        if config.steady_layers:
            branches.append(self._steady_branch(v, steps))
        return branches[0] if len(branches) == 1 else branches[0] + branches[1]

    def _activations(self) -> list[str]:
        """The activation of every layer of a chain."""
        acts = [self.config.activation] * len(self.blocks)
        return acts if self.config.skip else [*acts[:-1], ""]

    def _transient_branch(self, v: Tensor, steps: Sequence[float], transient: bool) -> Tensor:
        for depth, (decay, pointwise) in enumerate(zip(self.decays, self.pointwise, strict=True)):
            last = depth == len(self.decays) - 1
            v = pointwise(v, decay(v, steps) if transient else [], "" if last else self.config.activation)
        return v

    def _steady_branch(self, v: Tensor, steps: Sequence[float]) -> Tensor:
        for depth, response in enumerate(self.steadies):
            (v,) = response(self.activation(v) if depth else v, steps, transient=False)
        return v

    @torch.no_grad()
    def advance(
        self, inputs: Tensor, states: Sequence[State] | None = None, dt: float | None = None
    ) -> tuple[Tensor, list[State]]:
        """Return the outputs for the next samples of signals, (batch, in, time) → (batch, out, time), and the states after
        them.

        inputs: the next samples, (batch, in, time).
        states: the states that the previous call returned. Without them, the signals begin here, at rest.
        dt: the time step, by default the one of the training grid.

        Blocks of any length, also of one sample, give together the response to the whole signal. Raises LfnoError for a
        network on fields, in the frequency form, or with R.

        >>> model = LFNO(lfno.Grid.line(64, dt=0.1), steady="exact", width=4, n_poles=2).eval()
        >>> x = torch.randn(1, 1, 64)
        >>> first, states = model.advance(x[..., :50])
        >>> rest, states = model.advance(x[..., 50:], states)
        >>> torch.allclose(torch.cat((first, rest), -1), model(x), atol=1e-5)
        True
        """
        if not self.streams:
            raise LfnoError("only a network on signals whose layers are all recurrences without R runs in blocks")
        axis = self.grid.axes[0]
        (step,) = self.steps(self.grid if dt is None else self.grid.change(axis.name, step=dt))
        v, after = self.lift(self.scaled_inputs(inputs)), []
        blocks: list[Any] = list(self.blocks)
        for k, (block, act) in enumerate(zip(blocks, self._activations(), strict=True)):
            v, state = block.advance(v, step, act, self.config.skip, None if states is None else states[k])
            after.append(state)
        return self.projected(v), after
