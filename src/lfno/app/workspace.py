"""The workspace: the folder of the page's files, runs and predictions. Each item has an identity, a name and a folder."""

from __future__ import annotations

import json
import re
import secrets
import shutil
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically

ABOUT = "about.json"
KINDS = {"files": "file", "runs": "run", "answers": "prediction"}
MOST_ITEMS = 500  # items of one kind, at most
MOST_BYTES = 4 * 2**30  # bytes of all items together, at most
LONGEST_NAME = 120  # characters of a name, at most


@dataclass(frozen=True)
class Item:
    """One file, run or prediction, with its kind, identity and folder. `about` is the content of its about.json."""

    kind: str
    identity: str
    folder: Path

    @property
    def about(self) -> dict[str, Any]:
        return read_json(self.folder / ABOUT)

    @property
    def name(self) -> str:
        return str(self.about.get("name", self.identity))

    def change(self, **entries: Any) -> None:
        """Change entries of about.json. Only the server calls this method; a worker writes other files."""
        write_json(self.folder / ABOUT, {**self.about, **entries})


class Workspace:
    """All items of a folder.

    >>> import tempfile
    >>> workspace = Workspace(Path(tempfile.mkdtemp()))
    >>> workspace.create("runs", "first").name
    'first'
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = threading.Lock()  # an item must not be renamed and deleted at the same time
        for kind in KINDS:
            try:
                (folder / kind).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise LfnoError(f"the workspace {folder} cannot be used ({error.strerror}); choose another folder") from error

    def create(self, kind: str, name: str, **about: Any) -> Item:
        """Return a new item; raise LfnoError if the workspace is full."""
        if len(self.items(kind)) >= MOST_ITEMS:
            raise LfnoError(f"the workspace holds {MOST_ITEMS} {kind} already; delete some first")
        if self.size() > MOST_BYTES:
            raise LfnoError(f"the workspace is full ({MOST_BYTES // 2**30} GB); delete files or runs first")
        identity = secrets.token_hex(6)
        item = Item(kind, identity, self.folder / kind / identity)
        item.folder.mkdir()
        write_json(item.folder / ABOUT, {"name": clean(name), "created": time.time(), **about})
        return item

    def items(self, kind: str) -> list[Item]:
        """Return all items of a kind, the newest first. Incomplete and deleted items are left out."""
        folders = [one for one in (self.folder / kind).iterdir() if (one / ABOUT).is_file()]
        found = [Item(kind, one.name, one) for one in folders]
        return sorted(found, key=lambda item: -float(item.about.get("created", 0.0)))

    def find(self, kind: str, identity: Any) -> Item:
        """Return the item with this identity; raise LfnoError if there is none."""
        if isinstance(identity, str) and re.fullmatch(r"[0-9a-f]{12}", identity):
            item = Item(kind, identity, self.folder / kind / identity)
            if (item.folder / ABOUT).is_file():
                return item
        raise LfnoError(f"this {KINDS[kind]} is not in the workspace any more; reload the page")

    def rename(self, kind: str, identity: Any, name: Any) -> Item:
        """Change the displayed name of an item; its identity and its folder stay the same."""
        if not isinstance(name, str) or not clean(name):
            raise LfnoError("a name has at least one letter")
        with self.lock:
            item = self.find(kind, identity)
            item.change(name=clean(name))
        return item

    def delete(self, kind: str, identity: Any) -> None:
        """Remove an item with everything in its folder."""
        with self.lock:
            item = self.find(kind, identity)
            (item.folder / ABOUT).unlink(missing_ok=True)  # without about.json the item no longer exists
        shutil.rmtree(item.folder, ignore_errors=True)

    def size(self) -> int:
        """Return the size of all items in bytes."""
        total = 0
        for path in self.folder.rglob("*"):
            try:
                total += path.stat().st_size
            except OSError:  # the file was deleted in the meantime
                continue
        return total


def clean(name: str) -> str:
    """Return a name for display: one line, no control characters, at most LONGEST_NAME characters."""
    return "".join(letter for letter in name if letter.isprintable()).strip()[:LONGEST_NAME]


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file; {} if the file is missing or damaged."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def write_json(path: Path, tree: dict[str, Any]) -> None:
    """Write a JSON object. A reader sees the old or the new file, never a part."""
    write_atomically(path, json.dumps(tree).encode())
