"""What is loaded from a model file or the folder of a run: one network, an ensemble, or a linear model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.signals.record import Record
from lfno.identification.modal import KEY, ModalModel
from lfno.models.export import signals_of
from lfno.models.operator import Operator
from lfno.surrogate.stitch import BATCH, Progress, predict_record


@dataclass(frozen=True)
class Surrogate:
    """`members` answer together: their mean is the prediction, their standard deviation its spread."""

    members: list[Operator]
    linear: ModalModel | None = None

    @classmethod
    def load(cls, path: str | Path) -> Surrogate:
        """A model file, the folder of a run, or the name of a shipped model."""
        from lfno.models import load

        file = Path(path)
        if file.is_dir():
            files = [file / "model.safetensors"] if (file / "model.safetensors").exists() else []
            files = files or sorted(file.glob("member-*.safetensors"))
            if not files:
                raise LfnoError(f"the folder {path} holds no model (model.safetensors or member-0.safetensors)")
        else:
            files = [file]
        if _is_linear(files[0]):
            return cls([], ModalModel.load(files[0]))
        return cls([load(str(path) if len(files) == 1 and not file.is_dir() else one) for one in files])

    @property
    def grid(self) -> Grid:
        return self.members[0].grid if self.linear is None else self.linear.grid

    @property
    def signals(self) -> dict[str, Any]:
        """Names and units of the channels and the warm-up, where the model was trained on a user's own file."""
        source: Any = self.members[0] if self.linear is None else self.linear
        return signals_of(source.provenance)

    @property
    def accuracy(self) -> float:
        """Relative L2 error on validation (or test) samples, the worst of the members; 0 where the file does not tell."""
        losses: list[float] = []
        for one in (member.provenance for member in self.members):
            seen = one.get("validation_loss") if one.get("training", {}).get("loss") == "l2" else None
            losses += seen or [one.get("test_l2", 0.0)]
        return float(max(losses, default=0.0))

    @property
    def split_caveat(self) -> str:
        """Why the split into transient and steady is not physical; "" where nothing is known against it."""
        from lfno.evaluation.caveat import split_caveat

        return split_caveat(self.members[0]) if self.members else ""

    def names(self, role: str) -> list[str]:
        return [name for name, _ in self.signals.get(role, [])]

    def units(self, role: str) -> list[str]:
        return [unit for _, unit in self.signals.get(role, [])]

    @property
    def channels(self) -> tuple[int, int]:
        if self.linear is not None:
            return self.linear.modes.residues.shape[1], self.linear.modes.residues.shape[0]
        return self.members[0].config.in_channels, self.members[0].config.out_channels

    def predict(self, data: Record | Dataset, progress: Progress = lambda *_: None) -> tuple[np.ndarray, np.ndarray | None]:
        """Mean and spread (None for a single model), shaped as the outputs of `data`; a record is stitched."""
        self.check(data)
        if self.linear is None:
            answers = self._answers(lambda model, inputs, grid: model.predict(inputs, grid), data, progress)
        elif isinstance(data, Dataset):
            answers = self.linear.predict(np.array(data.inputs), data.grid)[None]
        else:
            answers = self.linear.predict(data.inputs[None], data.grid)
        return answers.mean(0), answers.std(0, ddof=1) if len(answers) > 1 else None

    def decompose(self, data: Record | Dataset, progress: Progress = lambda *_: None) -> tuple[np.ndarray, np.ndarray]:
        """(transient, steady) of the mean prediction, shaped as the outputs of `data`."""
        self.check(data)
        if self.linear is not None:
            raise LfnoError("a linear model is decomposed by its modes: see `lfno poles`; decompose needs a network")
        # both parts as channels, so that they are stitched as one
        both = self._answers(lambda model, x, grid: np.concatenate(model.decompose(x, grid), axis=1), data, progress).mean(0)
        transient, steady = np.split(both, [self.channels[1]], axis=1 if isinstance(data, Dataset) else 0)
        return transient, steady

    def _answers(
        self, respond: Callable[[Operator, np.ndarray, Grid], np.ndarray], data: Record | Dataset, progress: Progress
    ) -> np.ndarray:
        """What every member answers to `data`, a batch of samples or of windows of the record at a time."""
        answers = []
        for place, model in enumerate(self.members):

            def show(done: int, total: int, before: int = place) -> None:
                progress(before * total + done, len(self.members) * total)

            if isinstance(data, Dataset):
                parts = []
                for first in range(0, len(data), BATCH):
                    show(first, len(data))
                    parts.append(respond(model, np.array(data.inputs[first : first + BATCH]), data.grid))
                show(len(data), len(data))
                answers.append(np.concatenate(parts))
            else:
                warmup = int(self.signals.get("warmup", 0))
                answers.append(predict_record(partial(respond, model), data.inputs, data.grid, self.grid, warmup, show))
        return np.stack(answers)

    def check(self, data: Record | Dataset) -> None:
        """One sentence where data and model do not fit."""
        count = len(data.input_channels)
        if count != self.channels[0]:
            names = ", ".join(self.names("inputs")) or str(self.channels[0])
            raise LfnoError(f"the file gives {count} input channels and the model takes {self.channels[0]} ({names})")
        if data.grid.ndim != self.grid.ndim:
            raise LfnoError(
                f"the file has the axes {', '.join(data.grid.names)} and the model {', '.join(self.grid.names)}; "
                "they must be the same"
            )


def _is_linear(path: Path) -> bool:
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return False
    try:
        with safe_open(str(path), framework="pt") as file:
            return KEY in (file.metadata() or {})
    except (SafetensorError, OSError):
        return False
