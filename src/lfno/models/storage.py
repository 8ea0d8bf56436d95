"""A model file: one safetensors file whose metadata says what the weights mean. Nothing is ever unpickled."""

from __future__ import annotations

import hashlib
import json
import math
import os
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_bytes
from torch import Tensor

from lfno.errors import LfnoError
from lfno.grid import Grid
from lfno.models.fno import FNO
from lfno.models.lfno import LFNO
from lfno.models.lno import LNO
from lfno.models.operator import Operator

MODELS: dict[str, type[Operator]] = {"FNO": FNO, "LNO": LNO, "LFNO": LFNO}

KEY = "lfno"  # the metadata entry that makes a safetensors file one of ours
VERSION = 1


def save(model: Operator, path: str | PathLike[str], provenance: dict[str, Any] | None = None) -> None:
    """Write atomically: the file appears complete under its name, or not at all."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.state_dict().items()}
    tree = {"version": VERSION, **model.description(), "provenance": provenance or {}}
    tree["sha256"] = checksum(tensors, tree)
    write_atomically(Path(path), to_bytes(tensors, {KEY: json.dumps(tree, sort_keys=True)}))


def load(path: str | PathLike[str], device: str | torch.device = "cpu") -> Operator:
    """A model from its file, ready to predict in physical units: `lfno.load("beam.safetensors").predict(inputs)`."""
    tree, tensors = read(Path(path))
    model = build(tree, tensors, path)
    return model.to(device).eval()


def read(path: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Metadata and tensors, with the checksum verified."""
    if not path.exists():
        raise LfnoError(f"there is no model file at {path}")
    try:
        with safe_open(str(path), framework="pt") as file:
            metadata = file.metadata() or {}
            if KEY not in metadata:
                raise LfnoError(f"{path} is a safetensors file but not a model of lfno")
            tree = json.loads(metadata[KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise LfnoError(f"{path} is not a readable model file; it is damaged, cut short or something else") from error
    if not isinstance(tree, dict) or tree.get("sha256") != checksum(tensors, tree):
        raise LfnoError(f"{path} has been altered: its contents do not match its checksum")
    if tree.get("version") != VERSION:
        raise LfnoError(f"{path} has format version {tree.get('version')}; this release reads version {VERSION}")
    return tree, tensors


def build(tree: dict[str, Any], tensors: dict[str, Tensor], path: str | PathLike[str]) -> Operator:
    """The model a description asks for, made only after its size was compared with the tensors that are there."""
    kind = MODELS.get(str(tree.get("model")))
    if kind is None:
        raise LfnoError(f"{path} holds a model {tree.get('model')!r}, which is not one of {', '.join(MODELS)}")
    fields, axes = tree.get("config"), tree.get("grid")
    if not isinstance(fields, dict) or not isinstance(axes, dict):
        raise LfnoError(f"{path} does not say how its model was built: its metadata has no configuration or no grid")
    grid, config = Grid.from_dict(axes), kind.Config.from_fields(fields)
    try:
        with torch.device("meta"):  # shapes without memory: metadata may ask for anything
            shapes = {name: tuple(value.shape) for name, value in kind(grid, config).state_dict().items()}
    except (RuntimeError, OverflowError) as error:  # sizes beyond what an integer counts
        raise LfnoError(f"{path} asks for a model too large to exist") from error
    found = {name: tuple(value.shape) for name, value in tensors.items()}
    if shapes != found:
        wrong = sorted(name for name in shapes | found if shapes.get(name) != found.get(name))[0]
        raise LfnoError(f"{path}: tensor {wrong!r} has shape {found.get(wrong)}, its model needs {shapes.get(wrong)}")
    if sum(math.prod(shape) for shape in shapes.values()) > 2**33:
        raise LfnoError(f"{path} asks for more than 8 billion numbers; refusing to allocate them")
    model = kind(grid, config).to(tensors["lift.weight"].dtype)
    model.load_state_dict(tensors)
    return model


def checksum(tensors: dict[str, Tensor], tree: dict[str, Any]) -> str:
    """SHA-256 over the description (without the checksum itself) and every tensor's name, type, shape and bytes."""
    digest = hashlib.sha256()
    digest.update(json.dumps({k: v for k, v in tree.items() if k != "sha256"}, sort_keys=True).encode())
    for name in sorted(tensors):
        value = tensors[name]
        digest.update(f"{name}|{value.dtype}|{tuple(value.shape)}|".encode())
        digest.update(value.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, flush it to the disk, and rename it: never half a file."""
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
        os.replace(temporary, path)
    except OSError as error:
        raise LfnoError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        Path(temporary).unlink(missing_ok=True)
