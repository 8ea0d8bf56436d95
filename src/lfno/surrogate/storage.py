"""Model files of every kind: one safetensors file that holds a network, an ensemble or a linear model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.identification.modal import KEY as LINEAR
from lfno.identification.modal import ModalModel
from lfno.models import storage as networks

ENSEMBLE = "lfno-ensemble"  # the metadata entry of a file with several networks
MODEL = "model.safetensors"  # the model in the folder of a run


def write(members: Sequence[Any], provenance: dict[str, Any], path: Path) -> Path:
    """Write a model atomically: the file appears complete under its name, or not at all."""
    first = members[0]
    if isinstance(first, ModalModel):
        replace(first, provenance=provenance).save(path)
    elif len(members) == 1:
        networks.save(first, path, provenance)
    else:
        tree = {"version": networks.VERSION, "members": [one.description() for one in members]}
        tensors = {f"{k}.{name}": value for k, one in enumerate(members) for name, value in one.state_dict().items()}
        tensorfile.write(path, tensors, tree | {"provenance": provenance}, ENSEMBLE)
    return path


def read(path: Any, device: str | torch.device = "cpu") -> list[Any]:
    """Read the members of a model from its file, the folder of a run, or the name of a shipped model."""
    if isinstance(path, (str, Path)) and Path(path).is_dir():
        path = Path(path) / MODEL
        if not path.is_file():
            raise LfnoError(f"the folder {path.parent} holds no model ({MODEL})")
    key = _key(Path(path)) if isinstance(path, (str, Path)) else ""
    if key == LINEAR:
        return [ModalModel.load(path)]
    if key == ENSEMBLE:
        return [member.to(device).eval() for member in _read_ensemble(Path(path))]
    return [networks.load(path, device)]


def _read_ensemble(file: Path) -> list[Any]:
    tree, tensors = tensorfile.read(file, ENSEMBLE, "model file")
    if tree.get("version") != networks.VERSION:
        raise LfnoError(f"{file} has format version {tree.get('version')}; this release reads version {networks.VERSION}")
    descriptions = tree.get("members")
    if not isinstance(descriptions, list) or not descriptions or not all(isinstance(one, dict) for one in descriptions):
        raise LfnoError(f"{file} does not say what its members are")
    members = []
    for k, description in enumerate(descriptions):
        own = {name.removeprefix(f"{k}."): value for name, value in tensors.items() if name.startswith(f"{k}.")}
        member = networks.build(description, own, file)
        member.provenance = tree.get("provenance", {})
        members.append(member)
    return members


def _key(file: Path) -> str:
    """Return which kind of model a file holds, by the name of its metadata entry; "" for a network or no model at all."""
    if not file.is_file():
        return ""
    try:
        with safe_open(str(file), framework="pt") as opened:
            told = opened.metadata() or {}
    except (SafetensorError, OSError):
        return ""
    return next((key for key in (LINEAR, ENSEMBLE) if key in told), "")
