"""A file dropped on the page: kept under a name of our own, read like any other, shown before it is trained on."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, TypeVar

import numpy as np

from lfno.app.plain import packed, plain
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.data.dataset import Dataset
from lfno.data.describe import describe
from lfno.data.files import READERS
from lfno.data.prepare import READING, Prepared, prepare
from lfno.data.signals import Record

Answer = TypeVar("Answer")

MOST_POINTS = 4096  # of a curve that is drawn; longer ones are drawn as their lowest and highest values
SWITCHES = ("resample",)


class Upload:
    """One file of the user. Its own name is only ever shown; on disk it is `signals` and a known ending."""

    def __init__(self, name: str, content: bytes) -> None:
        self.name = PureWindowsPath(PurePosixPath(name).name).name[:120] or "file"
        ending = Path(self.name).suffix.lower()
        if ending not in READERS:
            raise LfnoError(
                f"{self.name}: files with {ending or 'no ending'} are not read; convert to one of {', '.join(READERS)}"
            )
        self.folder = Path(tempfile.mkdtemp(prefix="lfno-app-"))
        self.path = self.folder / f"signals{ending}"
        self.path.write_bytes(content)
        self.prepared: Prepared | None = None

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def said(self, text: str) -> str:
        """A sentence with the user's name of the file in place of ours."""
        return text.replace(str(self.path), self.name).replace(self.path.name, self.name)

    def reading(self, action: Callable[[], Answer]) -> Answer:
        try:
            return action()
        except LfnoError as error:
            raise LfnoError(self.said(str(error))) from error

    def inspect(self) -> dict[str, Any]:
        """What `lfno inspect` finds, and where it can be read as it is, the signals themselves."""
        self.prepared = None
        report = self.reading(lambda: describe(self.path))
        told = [self.said(sentence) for sentence in (*report["problems"], *report["notes"])]
        count, options = len(report["problems"]), report["options"] or {}
        found = {
            "name": self.name,
            "variables": report["variables"],
            "problem": told[0] if count else None,
            "notes": told[count:] if count == 0 else [],  # what would be done is not done yet
            "command": shlex.join(["lfno", "fit", self.name, *_words(options)]) if report["options"] is not None else None,
            "options": options,
        }
        return plain(found | ({} if count else self.read({}) | {"command": found["command"]}))

    def read(self, options: dict[str, Any]) -> dict[str, Any]:
        """The signals, read with the options of `lfno fit`; refusals are one sentence."""
        given = clean_options(options)
        prepared = self.reading(lambda: prepare(self.path, **given))
        self.prepared = prepared
        data: Record | Dataset = prepared.record or prepared.dataset
        return plain(
            {
                "problem": None,
                "notes": [self.said(note) for note in prepared.notes],
                "command": shlex.join(["lfno", "fit", self.name, *_words(given)]),
                "kind": "one record" if prepared.record is not None else f"{len(prepared.dataset)} trajectories",
                "axes": data.grid.to_dict()["axes"],
                "input": [[channel.name, channel.unit] for channel in data.input_channels],
                "output": [[channel.name, channel.unit] for channel in data.output_channels],
                "samples": dict(zip(("train", "validation", "test"), prepared.split.sizes, strict=True)),
                "warmup": prepared.warmup,
                "trajectories": 1 if prepared.record is not None else len(prepared.dataset),
                "drawn": self.drawn(0),
            }
        )

    def drawn(self, sample: int) -> dict[str, Any]:
        """The curves (or, of a field, the maps) of one trajectory, or of the whole record."""
        assert self.prepared is not None
        if self.prepared.record is not None:
            record = self.prepared.record
            return curves(record.grid, input=record.inputs, output=record.outputs)
        data = self.prepared.dataset
        if not 0 <= sample < len(data):
            raise LfnoError(f"there is no trajectory {sample}: the file has {len(data)}, counted from 0")
        return curves(data.grid, input=data.inputs[sample], output=data.outputs[sample])


def curves(grid: Grid, **signals: np.ndarray) -> dict[str, Any]:
    """Signals (channels, *grid) for the page, with their axes; long ones as their envelope, so that no peak is lost."""
    time = grid.axes[-1].points
    if grid.ndim == 1 and len(time) > MOST_POINTS:
        width = -(-2 * len(time) // MOST_POINTS)
        count = len(time) // width
        kept = time[: count * width].reshape(count, width)[:, [0, width // 2]].ravel()
        signals = {name: _envelope(values, count, width) for name, values in signals.items()}
        return {"t": packed(kept), "axes": None, **{name: packed(values) for name, values in signals.items()}}
    return {"t": packed(time), "axes": grid.to_dict()["axes"], **{name: packed(v) for name, v in signals.items()}}


def _envelope(values: np.ndarray, count: int, width: int) -> np.ndarray:
    parts = values[..., : count * width].reshape(*values.shape[:-1], count, width)
    return np.stack([parts.min(-1), parts.max(-1)], -1).reshape(*values.shape[:-1], 2 * count)


def clean_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a form as those of `lfno.data.signals.load`: empty fields are left out."""
    unknown = sorted(set(options) - set(READING))
    if unknown:
        raise LfnoError(f"there is no option {unknown[0]!r} for reading a file; there are {', '.join(READING)}")
    given: dict[str, Any] = {}
    for name, value in options.items():
        if name in SWITCHES:
            given |= {name: True} if value is True else {}
        elif name == "dt" and value not in (None, ""):
            try:
                given[name] = float(value)
            except (TypeError, ValueError):
                raise LfnoError(f"the time step {value!r} is not a number; give it in seconds, as in 0.01") from None
        elif value not in (None, ""):
            given[name] = str(value)
    return given


def _words(options: dict[str, Any]) -> list[str]:
    """Options as they are typed."""
    flags = {f"--{name.replace('_', '-')}": value for name, value in options.items()}
    return [word for flag, value in flags.items() for word in ([flag] if value is True else [flag, str(value)])]
