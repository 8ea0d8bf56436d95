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
    """Names and units of the channels that a model was trained with; empty if its file has none.

    warmup: samples at the start of a training window that the model saw but the loss ignored.
    record: whether the training data were windows of long records.
    from_rest: whether these records began with the system at rest.
    """

    inputs: Pairs = ()
    outputs: Pairs = ()
    warmup: int = 0
    record: bool = False
    from_rest: bool = False

    @classmethod
    def of(cls, provenance: dict[str, Any]) -> Signals:
        """Read the signals from the provenance of a model file."""
        data = provenance.get("data")
        told = data.get("signals") if isinstance(data, dict) else None
        if not isinstance(told, dict):
            return cls()
        inputs, outputs = (tuple((str(n), str(u)) for n, u in told.get(role, [])) for role in ("inputs", "outputs"))
        return cls(inputs, outputs, int(told.get("warmup", 0)), bool(told.get("record")), bool(told.get("from_rest")))

    def names(self, role: str) -> list[str]:
        """Names of the "inputs" or "outputs"."""
        return [name for name, _ in getattr(self, role)]

    def units(self, role: str) -> list[str]:
        """Units of the "inputs" or "outputs"."""
        return [unit for _, unit in getattr(self, role)]

    def check_units(self, data: Record | Dataset, outputs: bool) -> None:
        """Raise LfnoError if a unit differs from the training data. Units are never converted silently.

        outputs: whether the output channels of `data` were measured and are checked, too.
        """
        for role, channels in (("inputs", data.input_channels), ("outputs", data.output_channels if outputs else ())):
            for channel, (_, unit) in zip(channels, getattr(self, role), strict=False):
                if channel.unit and unit and channel.unit != unit:
                    raise LfnoError(
                        f"{channel.name} is in {channel.unit} and the model was trained with {unit}: convert the column, or "
                        "take the unit out of its name if it is wrong"
                    )
