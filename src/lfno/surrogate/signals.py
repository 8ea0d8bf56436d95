"""Names and units of the channels of a model, and how its training records start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lfno.core.errors import LfnoError
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record

Pairs = tuple[tuple[str, str], ...]  # (name, unit) of each channel


@dataclass(frozen=True)
class Signals:
    """Names and units of the channels that a model was trained with.

    inputs, outputs: (name, unit) of each channel; empty if the model file has no names.
    warmup: number of samples at the start of a training window that the loss ignored.
    record: whether the training data were windows of long records.
    from_rest: whether the system was at rest at the beginning of these records.
    """

    inputs: Pairs = ()
    outputs: Pairs = ()
    warmup: int = 0
    record: bool = False
    from_rest: bool = False

    @classmethod
    def of(cls, provenance: dict[str, Any]) -> Signals:
        """Return the signals that the provenance of a model file describes."""
        data = provenance.get("data")
        told = data.get("signals") if isinstance(data, dict) else None
        if not isinstance(told, dict):
            return cls()
        inputs, outputs = (tuple((str(n), str(u)) for n, u in told.get(role, [])) for role in ("inputs", "outputs"))
        return cls(inputs, outputs, int(told.get("warmup", 0)), bool(told.get("record")), bool(told.get("from_rest")))

    def names(self, role: str) -> list[str]:
        """Return the names of the channels. `role` is "inputs" or "outputs"."""
        return [name for name, _ in getattr(self, role)]

    def units(self, role: str) -> list[str]:
        """Return the units of the channels. `role` is "inputs" or "outputs"."""
        return [unit for _, unit in getattr(self, role)]

    def check_units(self, data: Record | Dataset, outputs: bool) -> None:
        """Raise LfnoError if a unit of `data` differs from the training data. The model does not convert units.

        outputs: whether the units of the output channels are checked, too.
        """
        for role, channels in (("inputs", data.input_channels), ("outputs", data.output_channels if outputs else ())):
            for channel, (_, unit) in zip(channels, getattr(self, role), strict=False):
                if channel.unit and unit and channel.unit != unit:
                    raise LfnoError(
                        f"{channel.name} is in {channel.unit} and the model was trained with {unit}: convert the column, or "
                        "take the unit out of its name if it is wrong"
                    )
