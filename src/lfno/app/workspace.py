"""The workspace: the folder with the files, runs and predictions of the page. Each of them is an item with its own folder."""

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
from lfno.core.json_text import to_json
from lfno.core.tensorfile import write_atomically

ABOUT = "about.json"  # file with the name of an item and further entries
KINDS = {"files": "file", "runs": "run", "answers": "prediction"}  # kind of item -> its name in error messages
MOST_ITEMS = 500  # largest number of items of one kind
MOST_BYTES = 4 * 2**30  # largest size of all items together, in bytes
LONGEST_NAME = 120  # largest number of characters of a name


@dataclass(frozen=True)
class Item:
    """A file (or several files that belong together), a run or a prediction.

    kind: one of KINDS.
    identity: 12 hexadecimal digits, also the name of the folder.
    about: the content of about.json.
    """

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
        """Change entries of about.json. Only the server may call this method, not a worker."""
        write_json(self.folder / ABOUT, {**self.about, **entries})


class Workspace:
    """All items in a folder.

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
        """Make a new item and return it. Raise LfnoError if the workspace is full."""
        if len(self.items(kind)) >= MOST_ITEMS:
            raise LfnoError(f"the workspace is full: it has {MOST_ITEMS} {KINDS[kind]}s; delete some of them first")
        if self.size() > MOST_BYTES:
            raise LfnoError(f"the workspace is full ({MOST_BYTES // 2**30} GB); delete files or runs first")
        identity = secrets.token_hex(6)
        item = Item(kind, identity, self.folder / kind / identity)
        item.folder.mkdir()
        write_json(item.folder / ABOUT, {"name": clean(name), "created": time.time(), **about})
        return item

    def items(self, kind: str) -> list[Item]:
        """Return all items of a kind, the newest first, without incomplete and deleted items."""
        folders = [one for one in (self.folder / kind).iterdir() if (one / ABOUT).is_file()]
        found = [Item(kind, one.name, one) for one in folders]
        return sorted(found, key=lambda item: -float(item.about.get("created", 0.0)))

    def find(self, kind: str, identity: Any) -> Item:
        """Return the item with this identity. Raise LfnoError if there is no such item."""
        if isinstance(identity, str) and re.fullmatch(r"[0-9a-f]{12}", identity):
            item = Item(kind, identity, self.folder / kind / identity)
            if (item.folder / ABOUT).is_file():
                return item
        raise LfnoError(f"this {KINDS[kind]} is not in the workspace any more; reload the page")

    def rename(self, kind: str, identity: Any, name: Any) -> Item:
        """Change the name of an item and return the item. Its identity and its folder stay the same."""
        if not isinstance(name, str) or not clean(name):
            raise LfnoError("a name must have at least one visible character")
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
    """Return the JSON object in a file, or {} if the file is missing or damaged."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return tree if isinstance(tree, dict) else {}


def write_json(path: Path, tree: dict[str, Any]) -> None:
    """Write a JSON object to a file. The file is complete at all times: it has the old or the new content."""
    write_atomically(path, to_json(tree).encode())
