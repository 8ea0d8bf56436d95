"""Safetensors files with a description and a checksum.

A file is written completely or not at all. Reading a file never runs code from the file, because nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lfno.core.errors import LfnoError
from lfno.core.json_text import jsonable, to_json

if TYPE_CHECKING:
    from torch import Tensor


def write(path: Path, tensors: dict[str, Tensor], tree: dict[str, Any], key: str) -> None:
    """Write tensors and a description to a safetensors file, with a checksum over both.

    path: the file.
    tensors: the tensors by name.
    tree: the description, stored as JSON in the metadata. A number that is not finite becomes null.
    key: the name of the description in the metadata. Each kind of file has its own key.
    """
    from safetensors.torch import save

    tensors = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    tree = jsonable(tree)
    tree["sha256"] = checksum(tensors, tree)
    write_atomically(path, save(tensors, {key: to_json(tree, sort_keys=True)}))


def read(path: Path, key: str, what: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Check the checksum of a file. Return its description and its tensors by name.

    path: the file.
    key: the name of the description in the metadata.
    what: the kind of file in error messages.

    Raises LfnoError if the file is missing, damaged or of another kind.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise LfnoError(f"there is no {what} at {path}")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            if key not in metadata:
                linear = "; it holds a linear model, which `lfno predict` and `lfno poles` read"
                more = linear if "lfno-modes" in metadata else ""
                raise LfnoError(f"{path} is a safetensors file but not a {what} of lfno{more}")
            tree = json.loads(metadata[key])
            # clone: a file aligns tensors to 8 bytes, but torch crashes if a complex128 tensor is not aligned to 16 bytes
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError, RecursionError) as error:
        if isinstance(error, LfnoError):
            raise
        raise LfnoError(f"{path} is not a readable {what}; the file is damaged, incomplete or of another kind") from error
    if not isinstance(tree, dict) or tree.get("sha256") != checksum(tensors, tree):
        raise LfnoError(f"{path} has been altered: its contents do not match its checksum")
    return tree, tensors


def checksum(tensors: dict[str, Tensor], tree: dict[str, Any]) -> str:
    """Return the SHA-256 hash of the description (without its checksum) and of name, type, shape and bytes of every tensor."""
    import torch

    digest = hashlib.sha256()
    described = {name: value for name, value in tree.items() if name != "sha256"}
    digest.update(json.dumps(described, sort_keys=True).encode())  # noqa: TID251 - older files hold NaN and Infinity
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name}|{value.dtype}|{tuple(value.shape)}|".encode())
        if value.numel():  # an empty tensor may have no stride
            digest.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file completely or not at all: write a temporary file in the same folder, flush it, and rename it.

    Raises LfnoError if the folder or the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    except OSError as error:
        raise LfnoError(f"cannot write to {path.parent}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)  # the usual permissions of a new file; mkstemp gives only its owner access
        os.replace(temporary, path)
    except OSError as error:
        raise LfnoError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files that killed processes left in a folder. No process may write to the folder meanwhile."""
    for leftover in folder.glob(".*.part"):
        leftover.unlink(missing_ok=True)
