"""Read and write model files. A file holds networks, a linear model, both, modes with feedback, or an equation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.identification.feedback import FeedbackModel
from lfno.identification.feedback.model import KEY as FEEDBACK
from lfno.identification.field import KEY as FIELD
from lfno.identification.field import FieldModel
from lfno.identification.field_law import KEY as EQUATION
from lfno.identification.field_law import FieldLaw
from lfno.identification.modal import KEY as LINEAR
from lfno.identification.modal import ModalModel
from lfno.models import storage as networks
from lfno.models.operator import FILE_VERSION
from lfno.surrogate.sum import Sum, network_of

ENSEMBLE = "lfno-ensemble"  # the metadata key of a file with several networks, or with a linear model that networks correct
PATH = "linear."  # the prefix of the tensors of a linear model that networks correct
MODEL = "model.safetensors"  # the model in the folder of a run


def write(members: Sequence[Any], provenance: dict[str, Any], path: Path) -> Path:
    """Write the members of a model and their provenance to one file. Return the path.

    An interrupted write leaves no incomplete file.
    """
    first = members[0]
    if isinstance(first, ModalModel | FieldModel | FieldLaw | FeedbackModel):
        replace(first, provenance=provenance).save(path)
    elif len(members) == 1 and not isinstance(first, Sum):
        first.save(path, **provenance)
    else:
        _write_ensemble(members, provenance, path)
    return path


def _write_ensemble(members: Sequence[Any], provenance: dict[str, Any], path: Path) -> None:
    """Write several networks to one file, or networks and the linear model that they correct."""
    found = [network_of(member) for member in members]
    alone = [network for network in found if network is not None]
    tree: dict[str, Any] = {"version": FILE_VERSION, "members": [one.description() for one in alone]}
    tensors = {f"{k}.{name}": value for k, one in enumerate(alone) for name, value in one.state_dict().items()}
    if isinstance(members[0], Sum):
        description, arrays = members[0].linear.to_tensors()
        tree["linear"] = description
        tensors |= {f"{PATH}{name}": value for name, value in arrays.items()}
    tensorfile.write(path, tensors, tree | {"provenance": provenance}, ENSEMBLE)


def read(path: Any, device: str | torch.device = "cpu") -> list[Any]:
    """Return the members of a model from its file, the folder of a run, or the name of a shipped model.

    Raises LfnoError if there is no such model, or if its file is damaged.
    """
    if isinstance(path, (str, Path)) and Path(path).is_dir():
        path = Path(path) / MODEL
        if not path.is_file():
            raise LfnoError(f"the folder {path.parent} holds no model ({MODEL})")
    path = networks.find(path)
    key = _key(path)
    if key == LINEAR:
        return [ModalModel.load(path)]
    if key == FIELD:
        return [FieldModel.load(path)]
    if key == EQUATION:
        return [FieldLaw.load(path)]
    if key == FEEDBACK:
        return [FeedbackModel.load(path)]
    if key == ENSEMBLE:
        return _read_ensemble(path, device)
    return [networks.load_network(path, device)]


def _read_ensemble(file: Path, device: str | torch.device) -> list[Any]:
    """Return the members of a file that `_write_ensemble` wrote."""
    tree, tensors = tensorfile.read(file, ENSEMBLE, "model file")
    if tree.get("version") != FILE_VERSION:
        raise LfnoError(f"{file} has format version {tree.get('version')}; this release reads version {FILE_VERSION}")
    descriptions = tree.get("members")
    if not isinstance(descriptions, list) or not descriptions or not all(isinstance(one, dict) for one in descriptions):
        raise LfnoError(f"{file} has no descriptions of its networks: the file is damaged")
    members = []
    for k, description in enumerate(descriptions):
        own = {name.removeprefix(f"{k}."): value for name, value in tensors.items() if name.startswith(f"{k}.")}
        member = networks.build(description, own, file)
        member.provenance = tree.get("provenance", {})
        members.append(member.to(device).eval())
    if "linear" not in tree:
        return members
    own = {name.removeprefix(PATH): value for name, value in tensors.items() if name.startswith(PATH)}
    kind = FieldModel if "basis" in tree["linear"] else ModalModel
    linear = kind.from_tensors(tree["linear"], own)
    return [Sum(linear, member) for member in members]


def _key(file: Path) -> str:
    """Return the metadata key that gives the kind of a model file; "" for a single network and for other files."""
    if not file.is_file():
        return ""
    try:
        with safe_open(str(file), framework="pt") as opened:
            told = opened.metadata() or {}
    except (SafetensorError, OSError):
        return ""
    return next((key for key in (LINEAR, FIELD, EQUATION, FEEDBACK, ENSEMBLE) if key in told), "")
