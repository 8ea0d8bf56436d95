"""The properties of a model: members, grid, channels, range and scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid, with_unit
from lfno.evaluation.caveat import split_caveat
from lfno.evaluation.conformal import Calibration
from lfno.evaluation.coverage import Coverage
from lfno.evaluation.seen_inputs import SeenInputs
from lfno.identification.feedback import FeedbackModel
from lfno.identification.field import FieldModel
from lfno.identification.field_law import FieldLaw
from lfno.identification.modal import ModalModel
from lfno.models.operator import Operator
from lfno.surrogate.scores import Scores
from lfno.surrogate.signals import Signals
from lfno.surrogate.sum import Sum, network_of

if TYPE_CHECKING:
    from lfno.surrogate.fitting import Fitted

Member = Operator | ModalModel | FieldModel | FieldLaw | FeedbackModel | Sum


class Description:
    """The properties of a model. `Surrogate` adds predictions."""

    def __init__(
        self, members: Sequence[Member], provenance: dict[str, Any] | None = None, fitted: Fitted | None = None
    ) -> None:
        if not members:
            raise LfnoError("a model needs at least one member")
        self.members = list(members)
        self.provenance = self.members[0].provenance if provenance is None else provenance
        self.fitted = fitted
        self.signals = Signals.of(self.provenance)

    def __repr__(self) -> str:
        ins = _channels(self.signals.inputs, self.channels[0], "input")
        outs = _channels(self.signals.outputs, self.channels[1], "output")
        axes = ", ".join(f"{axis.size} points of {axis.step:g} {axis.unit}".rstrip() for axis in self.grid.axes)
        return f"Surrogate({self.kind}, {ins} → {outs}, {axes})"

    @property
    def kind(self) -> str:
        """Return "linear", "feedback", "equation", or the class of the networks, such as "LFNO"; "LFNO × 5" for an ensemble."""
        network = network_of(self.members[0])
        first = self.members[0]
        linear = isinstance(first, ModalModel | FieldModel)
        alone = "linear" if linear else "equation" if isinstance(first, FieldLaw) else "feedback"
        name = alone if network is None else type(network).__name__
        return name if len(self.members) == 1 else f"{name} × {len(self.members)}"

    @property
    def networks(self) -> list[Operator]:
        """Return the networks as torch modules; an empty list for a model without networks.

        If the model has a `linear_path`, the networks predict the difference between the output and that linear model.
        """
        return [network for member in self.members if (network := network_of(member)) is not None]

    @property
    def linear(self) -> ModalModel | None:
        """Return the linear model, if the model is a linear model of signals; else None."""
        first = self.members[0]
        return first if isinstance(first, ModalModel) else None

    @property
    def equation(self) -> str:
        """Return the identified partial differential equation as text; "" for other models."""
        first = self.members[0]
        return str(first.equation) if isinstance(first, FieldLaw) else ""

    @property
    def linear_path(self) -> ModalModel | FieldModel | None:
        """Return the linear model that the networks correct; None if the model has no such part."""
        first = self.members[0]
        return first.linear if isinstance(first, Sum) else None

    @property
    def has_memory(self) -> bool:
        """Return whether the model also gets the inputs before the test part of a record: False for networks alone.

        Other models have a state. All earlier inputs determine the state at the first sample of the test part.
        """
        return not isinstance(self.members[0], Operator)

    @property
    def grid(self) -> Grid:
        """Return the grid of the training data."""
        return self.members[0].grid

    @property
    def channels(self) -> tuple[int, int]:
        """Return the numbers of input and output channels."""
        return self.members[0].channels

    @property
    def scores(self) -> Scores | None:
        """Return the test errors of the model and of the baselines; None if the model file has none."""
        told = self.provenance.get("scores")
        return Scores.from_dict(told) if isinstance(told, dict) else None

    @property
    def coverage(self) -> Coverage | None:
        """Return the range of the training inputs; None if the model file has none."""
        told = self.provenance.get("coverage")
        return Coverage.from_dict(told) if isinstance(told, dict) else None

    @property
    def seen(self) -> SeenInputs:
        """Return hashes that recognise training inputs; empty if the model file has none."""
        told = self.provenance.get("seen")
        return SeenInputs.from_dict(told) if isinstance(told, dict) else SeenInputs()

    @property
    def calibration(self) -> Calibration | None:
        """Return the errors from which intervals are computed (see `evidence.trust`); None if the model file has none."""
        told = self.provenance.get("calibration")
        return Calibration.from_dict(told) if isinstance(told, dict) else None

    @property
    def without_interval(self) -> str:
        """Return a sentence that names the outputs without a prediction interval; "" if there are none."""
        missing = [] if self.calibration is None else self.calibration.unmeasured
        names = self.signals.names("outputs") or [f"output {channel}" for channel in range(self.channels[1])]
        told = ", ".join(repr(names[channel]) for channel in missing)
        why = "not measured in any of the samples from which intervals are computed"
        return f"there is no interval for the outputs that were {why}: {told}" if missing else ""

    @property
    def accuracy(self) -> float:
        """Return the relative L2 error of the model.

        The error is the test error in `scores`. Without `scores`, it is the largest error of the networks. The error of a
        network is its validation loss, if the loss is a relative L2 error, else the test error in its file. Without any error,
        the result is 0.
        """
        if self.scores is not None and (row := self.scores.own):
            return float(row["l2"])
        losses: list[float] = []
        for told in (member.provenance for member in self.networks):
            alone = told.get("training", {}).get("loss") == "l2" and "steady" not in told.get("labels", [])
            validated = told.get("validation_loss") if alone else None
            losses += validated or [told.get("test_l2", 0.0)]
        return float(max(losses, default=0.0))

    @property
    def split_caveat(self) -> str:
        """Return the reason why the split into transient and steady is not physical; "" if no reason is known."""
        return split_caveat(network_of(self.members[0]) or self.members[0], self.provenance)


def _channels(told: Sequence[tuple[str, str]], count: int, role: str) -> str:
    """Return the channels as a short text: `force [N]`, or `2 inputs` if names are unknown or too many."""
    if told and len(told) <= 3:
        return ", ".join(with_unit(name, unit) for name, unit in told)
    return f"{count} {role}{'s' if count > 1 else ''}"
