"""Files of the user: store them under names that are safe, read their signals, and return curves for the page.

An item is an entry of the workspace (`lfno.app.workspace`): here one file, or several files that belong together.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, TypeVar

from lfno.app.curves import curves
from lfno.app.wording import field
from lfno.app.workspace import Item, Workspace, clean
from lfno.core.errors import LfnoError
from lfno.core.json_text import jsonable

if TYPE_CHECKING:
    from lfno.data.gathering import Signals
    from lfno.data.prepare import Prepared

Answer = TypeVar("Answer")

SWITCHES = ("resample",)  # fields of the form that are on or off
MOST_FILES = 50  # largest number of files in one item
KEPT = 2  # largest number of items whose signals stay in memory


def said(problem: LfnoError | str, files: Sequence[dict[str, str]]) -> str:
    """Return an error message in the terms of the page. The user's file names replace the paths of the workspace.

    >>> said("/tmp/a1/signals-0.csv: line 3 holds no number", [{"path": "signals-0.csv", "name": "rig.csv"}])
    'rig.csv: line 3 holds no number'
    """
    text = problem.worded(field) if isinstance(problem, LfnoError) else problem
    for one in files:
        text = re.sub(rf"[^\s'\"(]*{re.escape(one['path'])}", lambda _, name=one["name"]: name, text)  # type: ignore[misc]
        text = text.replace(Path(one["path"]).stem, Path(one["name"]).stem)
    return text


def reading_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of the form as options of `lfno.data.prepare.prepare`. Empty fields are left out."""
    from lfno.data.prepare import READING

    unknown = sorted(set(options) - {*READING, "periodic"})
    if unknown:
        raise LfnoError(f"there is no field {unknown[0][:60]!r} for reading a file")
    given: dict[str, Any] = {}
    for name, value in options.items():
        if name in SWITCHES:
            given |= {name: True} if value is True else {}
        elif name == "dt" and value not in (None, ""):
            try:
                given[name] = float(value)
            except (TypeError, ValueError, OverflowError):
                raise LfnoError(f"the time step {str(value)[:40]!r} is not a number; give it in seconds, as in 0.01") from None
        elif value not in (None, ""):
            given[name] = str(value)
    return given


def receive(workspace: Workspace, name: str, content: bytes, into: Item | None = None, kind: str = "files") -> Item:
    """Store an uploaded file and return its item.

    Args:
        workspace: The workspace that stores the item.
        name: The file name that the user sees.
        content: The bytes of the file.
        into: An item that the file is added to; None makes a new item.
        kind: The kind of the new item.
    """
    from lfno.data.files import READERS

    shown = clean(PureWindowsPath(PurePosixPath(name).name).name) or "file"
    ending = Path(shown).suffix.lower()
    if ending not in READERS:
        raise LfnoError(f"{shown}: files with {ending or 'no ending'} are not read; convert to one of {', '.join(READERS)}")
    item = into or workspace.create(kind, shown, files=[], reading={})
    files = item.about["files"]
    if len(files) >= MOST_FILES:
        raise LfnoError(f"{MOST_FILES} files are the most that can be used together")
    path = f"signals-{len(files)}{ending}"
    (item.folder / path).write_bytes(content)
    names = [*(one["name"] for one in files), shown]
    together = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
    item.change(files=[*files, {"path": path, "name": shown}], name=together)
    return item


class Reader:
    """Read the files of items. The prepared signals of the last KEPT items stay in memory.

    The files of an item hold records (long signals, which are cut into windows for a fit) or trajectories (samples of equal
    shape).
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.prepared: dict[str, tuple[Signals, Prepared]] = {}

    def inspect(self, item: Item) -> dict[str, Any]:
        """Return the variables in the first file, the proposed roles, and the signals (or the reason why reading failed)."""
        from lfno.data.describe import describe

        about = item.about
        report = _told(item, lambda: describe(item.folder / about["files"][0]["path"], field))
        reading = about["reading"] or report["options"] or report["roles"]
        found = {**_summary(item), "variables": report["variables"], "reading": reading}
        try:
            return jsonable(found | self.read(item, reading))
        except LfnoError as error:
            return jsonable(found | {"problem": str(error), "notes": []})

    def read(self, item: Item, options: dict[str, Any]) -> dict[str, Any]:
        """Read the signals with the roles and fields of the form. The item stores these options for later runs.

        Return channels, axes, sizes of the split, notes of the reader, and the curves of the first run.
        """
        from lfno.data.gathering import as_runs
        from lfno.data.stretches import PERIODIC, SAMPLE_START

        given = reading_options(options)
        signals, prepared = self._prepare(item, given)
        item.change(reading=given)
        runs = as_runs(signals).records
        first, lengths = runs[0], [len(run) for run in runs]
        periods = prepared.dataset.provenance.get(SAMPLE_START) == PERIODIC
        return jsonable(
            {
                **_summary(item),
                "reading": given,
                "problem": None,
                "notes": [said(note, item.about["files"]) for note in prepared.notes],
                "kind": "one record" if len(runs) == 1 else f"{len(runs)} runs",
                "lengths": [min(lengths), max(lengths)],
                "axes": first.grid.to_dict()["axes"],
                "input": [[channel.name, channel.unit] for channel in first.input_channels],
                "output": [[channel.name, channel.unit] for channel in first.output_channels],
                "samples": dict(zip(("train", "validation", "test"), prepared.split.sizes, strict=True)),
                "unit": "period" if periods else "window" if prepared.records else "run",
                "runs": len(runs),
                "drawn": self.drawn(item, 0),
            }
        )

    def drawn(self, item: Item, sample: int) -> dict[str, Any]:
        """Return the curves of one run as measured, or the maps of a field. Values that were not measured are gaps.

        sample: the number of the run, counted from 0.
        The entry `tests` lists the time intervals [from, to] of the run that are the test data. It is empty if the samples are
        averaged periods, which have no time in the file.
        """
        from lfno.data.gathering import as_runs

        signals, prepared = self._prepare(item, reading_options(item.about["reading"]))
        runs = as_runs(signals).records
        if not 0 <= sample < len(runs):
            raise LfnoError(f"there is no run {sample}: the file has {len(runs)} runs, counted from 0")
        run = runs[sample]
        times = run.grid.axes[-1].points
        averaged = len(prepared.records) != len(runs) or any(
            len(cut) < len(whole) for cut, whole in zip(prepared.records, runs, strict=True)
        )
        spans = [] if averaged else [one for one in prepared.spans if one.record == sample and one.part == "test"]
        tests = [[times[one.start], times[min(one.stop, len(times)) - 1]] for one in spans]
        drawn = curves(run.grid, {"input": run.inputs, "output": run.outputs}, {"output": run.mask})
        return jsonable({**drawn, "tests": tests})

    def _prepare(self, item: Item, given: dict[str, Any]) -> tuple[Signals, Prepared]:
        """Return the signals of an item as measured, and prepared for a fit, from memory if possible.

        given: the fields of the form, from `reading_options`.
        """
        from lfno.data.gathering import gather
        from lfno.data.prepare import prepare

        key = f"{item.identity} {sorted(given.items())} {len(item.about['files'])}"
        with self.lock:
            if key not in self.prepared:
                paths: list[Any] = [item.folder / one["path"] for one in item.about["files"]]
                source = paths[0] if len(paths) == 1 else paths
                reading = {name: value for name, value in given.items() if name != "periodic"}
                signals = _told(item, lambda: gather(source, reading))
                periodic = {"periodic": given["periodic"]} if "periodic" in given else {}
                self.prepared[key] = signals, _told(item, lambda: prepare(signals, **periodic))
                while len(self.prepared) > KEPT:
                    del self.prepared[next(iter(self.prepared))]
            return self.prepared[key]


def _told(item: Item, action: Callable[[], Answer]) -> Answer:
    """Return the result of `action`. If `action` raises LfnoError, the message has the user's file names."""
    try:
        return action()
    except LfnoError as error:
        raise LfnoError(said(error, item.about["files"])) from error


def _summary(item: Item) -> dict[str, Any]:
    """Return identity, name, time of creation and file names of an item."""
    about = item.about
    names = [one["name"] for one in about["files"]]
    return {"id": item.identity, "name": about["name"], "created": about["created"], "files": names}

