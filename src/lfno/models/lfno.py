"""The Laplace–Fourier neural operator: poles for the transient response, Fourier modes for the steady response."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from lfno.backends.chunk_products import fold, group_samples, unfold
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

#: option `steady` → class of the linear response
STEADY: dict[str, type[Response]] = {"exact": Exact, "free": Free, "shared": Shared, "residual": Residual}
#: class of a response → class of this response as a recurrence
RECURRENT: dict[type[Response], type[Recurrence]] = {Exact: Recurrence, Residual: RecurrenceWithR}
#: class of a response → class of this response as a recurrence in a real basis of space
IN_OWN_BASIS: dict[type[Response], type[RealBasis]] = {Exact: RealBasis, Residual: RealBasisWithR}
#: the hold of layers in the frequency form: they interpolate the input by trigonometric functions over the whole window
TRIGONOMETRIC = "trigonometric"


@dataclass(frozen=True)
class LFNOConfig(PoleConfig):
    """Options of an LFNO.

    R are the learned channel matrices at the low Fourier modes; v is the input of a layer.

    layout: how the layers are connected; see `LFNO`.
        - "blocks": each layer has poles, R and a channel map.
        - "sequence": as "blocks", but only the last layers have R.
        - "branches": one branch of layers with poles, and one branch of steady layers in parallel.
    steady: the steady part of a layer, "exact", "free", "shared" or "residual"; see `lfno.models.responses`.
    transient_layers: the number of layers with a transient part.
    steady_layers: in "sequence", the number of layers with R. In "branches", the number of layers of the steady branch. The
        layout "blocks" ignores this number.
    skip: whether layers have a skip connection, v + act(…). The forcing then reaches every layer unchanged, as in the
        fixed-point iteration x ← G (f − x³) for a nonlinear spring.
    gate: whether a gate multiplies the output of a layer, v + (A u + a) sigmoid(B u + b) with u = act(…). A gate makes products
        of responses. Systems whose frequency depends on the amplitude need such products. A gate needs skip=True.
    hold: the interpolation of the input of a layer between samples. With "linear" or "cubic", layers are recurrences along
        time: without R they are causal and have a state. With "trigonometric", layers use the Fourier transform of the window,
        as if the window was one period. Recurrences need time as the last axis and as the only axis with poles, the layout
        "blocks" or "sequence", and layers that have no R or steady="residual". All other networks use "trigonometric".
    basis: the basis of the axes of space in a network of recurrences: "fourier", "sine", "cosine", "chebyshev" or "boundary".
        "boundary" uses sines for fixed ends and cosines for free ends. If one axis of space is periodic or its boundary is
        unknown, all axes of space have Fourier modes.
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
            raise LfnoError("gate=True needs skip=True and the layout blocks or sequence; change them, or set gate=False")
        if self.layout == "blocks" and self.transient_layers == 0:
            raise LfnoError("transient_layers=0: blocks need at least one layer")
        no_steady = self.steady_layers == 0 or (self.layout == "sequence" and self.steady == "exact")
        if self.layout != "blocks" and self.transient_layers == 0 and no_steady:
            raise LfnoError("the network has no layers: transient_layers is 0, and no steady layer has R; add layers")


class LFNO(PoleOperator):
    """The Laplace–Fourier neural operator: lift → layers → projection. The option `layout` connects the layers.

    blocks: `transient_layers` layers v ← v + u with u = act(transient(v) + steady(v) + W v + b). `LFNOConfig` describes gates.

    sequence: layers as in blocks. The first `transient_layers` layers have poles, and the last `steady_layers` layers have R. A
    layer without R has an exact steady part. A layer without poles is a layer of an FNO.

    branches: the sum of two branches. The layers of the transient branch are v ← T(v) + W v + b with the transient part T. The
    layers of the steady branch are v ← S(v) with the steady part S. There is an activation between the layers of a branch. A
    steady layer uses the poles and residues of the transient layer of the same depth, or its own if there is no such layer.
    With steady="free", steady layers have no poles.

    Without skip connections, the last layer has no activation.
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
        """The hold of all layers with poles: the option `hold` if layers can be recurrences, else "trigonometric"."""
        config, last = self.config, self.grid.ndim - 1
        along_time = self.laplace == (last,) and self.grid.time == last
        chain = config.layout != "branches" and all(kind in RECURRENT for kind in self._kinds() if kind.POLES)
        return config.hold if along_time and chain else TRIGONOMETRIC

    @property
    def bases(self) -> tuple[str, ...]:
        """The real basis of each axis of space in a network of recurrences; () if space has Fourier modes."""
        space = self.grid.axes[:-1]
        if not self.recurrent or self.config.basis == "fourier":
            return ()
        if self.config.basis != "boundary":
            return (self.config.basis,) * len(space)
        known = tuple(OF_BOUNDARY.get(axis.boundary, "") for axis in space)
        return known if all(known) else ()

    @property
    def recurrent(self) -> bool:
        """Whether layers with poles are recurrences along time."""
        return self.hold != TRIGONOMETRIC

    @property
    def streams(self) -> bool:
        """Whether the network can run sample by sample: time is the only axis, and all layers are recurrences without R."""
        with_r = any(kind.R for kind in self._kinds())
        return self.recurrent and self.grid.ndim == 1 and not with_r

    def axes_with_coordinates(self) -> tuple[int, ...]:
        """Return the axes whose coordinates are input channels.

        In a network of recurrences, time is not an input channel. Time is not periodic, so with this channel the network would
        have no periodic steady state.
        """
        axes = super().axes_with_coordinates()
        return tuple(d for d in axes if d != self.grid.time) if self.recurrent else axes

    @property
    def starts_exact(self) -> bool:
        """Whether all layers have R and R is zero before training. At first, every layer then has an exact steady part."""
        return self.config.layout == "blocks" and self.config.steady == "residual"

    def without_weights(self) -> LFNO:
        """Return a copy of the network without R. Every layer of the copy has an exact steady part."""
        exact = LFNO(self.grid, replace(self.config, steady="exact")).to(self.lift.weight.dtype)
        own = exact.state_dict()
        exact.load_state_dict({name: value for name, value in self.state_dict().items() if name in own})
        return exact

    def _kinds(self) -> list[type[Response]]:
        """Return the class of every layer's response in the frequency form, for the layouts "blocks" and "sequence"."""
        transient, kind = self.config.transient_layers, STEADY[self.config.steady]
        steady = self.config.steady_layers if kind.R else 0
        if self.config.layout == "blocks":
            return [kind] * transient
        depth = max(transient, steady)
        with_r = [k >= depth - steady for k in range(depth)]
        return [(kind if r else Exact) if k < transient else Weights for k, r in enumerate(with_r)]

    def wraps(self, d: int) -> bool:
        """Return whether parts of a layer other than R connect the two ends of axis d.

        The exact steady part connects the ends, and the transient part of the same layer cancels this connection. The transient
        part cancels nothing if the two parts are in separate branches, or if steady="free" or "shared" replaces the exact
        steady part. In these cases, the result is True.
        """
        alone = self.config.layout == "branches" or self.config.steady in ("free", "shared")
        return alone or super().wraps(d)

    def respond(self, x: Tensor, grid: Grid | None = None, transient: bool = True) -> Tensor:
        grid = grid or self.grid
        if not (transient and self._in_chunks(x)):
            return super().respond(x, grid, transient)
        # signals stay in chunks from input to output, because channel maps act on each point alone and work in any layout
        (step,), batch, size = self.steps(grid), x.shape[0], x.shape[-1]
        v = self.lift(self.scaled_inputs(fold(x)))
        layers = prepared(self, list(self.blocks), step, group_samples(batch, size))  # type: ignore[arg-type]
        for block, layer, act in zip(self.blocks, layers, self._activations(), strict=True):
            v = block.in_chunks(v, batch, size, step, layer, act, self.config.skip)  # type: ignore[operator]
        return unfold(self.projected(v), batch, size)

    def _in_chunks(self, x: Tensor) -> bool:
        """Return whether `lfno.backends.chunk_products` can compute all layers."""
        hold = self.hold
        return hold != TRIGONOMETRIC and len(self.blocks) > 0 and all(
            isinstance(block.kernel, PoleResidue) and block.kernel.fits_products(x, hold) for block in self.blocks
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
        """Return the activation of every layer, for the layouts "blocks" and "sequence"."""
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
        """Return the outputs for the next samples of signals, (batch, out, time), and the new states.

        inputs: the next samples, (batch, in, time).
        states: the states that the previous call returned. None: the signals start from rest with these samples.
        dt: the time step, by default the time step of the training grid.

        A signal can be cut into blocks of any length, even of one sample. The outputs of all blocks, one after the other, are
        the response to the signal. Raises LfnoError if the network has axes of space, has R, or is not a recurrence.

        >>> model = LFNO(lfno.Grid.line(64, dt=0.1), steady="exact", width=4, n_poles=2).eval()
        >>> x = torch.randn(1, 1, 64)
        >>> first, states = model.advance(x[..., :50])
        >>> rest, states = model.advance(x[..., 50:], states)
        >>> torch.allclose(torch.cat((first, rest), -1), model(x), atol=1e-5)
        True
        """
        if not self.streams:
            raise LfnoError(
                "this network cannot run block by block; that needs a grid without axes of space, and recurrences without R "
                "(steady='exact', hold='linear' or 'cubic') in all layers"
            )
        axis = self.grid.axes[0]
        (step,) = self.steps(self.grid if dt is None else self.grid.change(axis.name, step=dt))
        v, after = self.lift(self.scaled_inputs(inputs)), []
        blocks: list[Any] = list(self.blocks)
        for k, (block, act) in enumerate(zip(blocks, self._activations(), strict=True)):
            v, state = block.advance(v, step, act, self.config.skip, None if states is None else states[k])
            after.append(state)
        return self.projected(v), after
