"""Read networks from safetensors files, which contain weights and metadata. Nothing is unpickled."""

from __future__ import annotations

import difflib
from os import PathLike
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.models.fno import FNO
from lfno.models.lfno import LFNO
from lfno.models.lno import LNO
from lfno.models.marching import Marching
from lfno.models.operator import FILE_KEY, FILE_VERSION, Operator

MODELS: dict[str, type[Operator]] = {"FNO": FNO, "LNO": LNO, "LFNO": LFNO, "Marching": Marching}

SHIPPED = Path(__file__).parent.parent / "weights"


def load_network(path: str | PathLike[str], device: str | torch.device = "cpu") -> Operator:
    """Return a network, ready for predictions.

    path: the file, the folder of a training run, or the name of a data set that has a shipped network.
    device: the device of the network.

    Raises LfnoError if there is no such network, or if its file is damaged.

    >>> lfno.load("duffing-c05").predict(np.zeros(2048)).shape
    (2048,)
    """
    tree, tensors = read(path)
    model = build(tree, tensors, path)
    model.provenance = tree.get("provenance", {})
    return model.to(device).eval()


def find(path: str | PathLike[str]) -> Path:
    """Return the file of a model. `path` is the file, the folder of a run, or the name of a data set with a shipped model."""
    if not isinstance(path, (str, PathLike)):
        raise LfnoError(f"a model is loaded from a path or by the name of a data set; found {type(path).__name__}")
    file = Path(path)
    if (file / "model.safetensors").is_file():  # the folder of a run
        file = file / "model.safetensors"
    shipped = SHIPPED / f"{path}.safetensors"
    if not file.exists() and file.name == str(path) and shipped.exists():
        file = shipped
    if not file.exists():
        near = difflib.get_close_matches(str(path), [found.stem for found in SHIPPED.glob("*.safetensors")], n=3)
        hint = f"did you mean {' or '.join(near)}?" if near else "shipped models have names of data sets, see lfno systems"
        raise LfnoError(f"there is no model file at {path}, and no shipped model of that name: {hint}")
    return file


def read(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Check the checksum and the version of a model file. Return its metadata and its tensors by name."""
    tree, tensors = tensorfile.read(find(path), FILE_KEY, "model file")
    if tree.get("version") != FILE_VERSION:
        raise LfnoError(f"{path} has format version {tree.get('version')}; this release reads version {FILE_VERSION}")
    return tree, tensors


def build(tree: dict[str, Any], tensors: dict[str, Tensor], path: str | PathLike[str]) -> Operator:
    """Return the network that the metadata describe.

    tree: the metadata.
    tensors: the weights by name. Their shapes must fit the metadata; the shapes are checked before memory is allocated.
    path: the file, for error messages.
    """
    kind = MODELS.get(str(tree.get("model")))
    if kind is None:
        raise LfnoError(f"{path} holds a model {tree.get('model')!r}, which is not one of {', '.join(MODELS)}")
    fields, axes = tree.get("config"), tree.get("grid")
    if not isinstance(fields, dict) or not isinstance(axes, dict):
        raise LfnoError(f"{path} does not say how its model was built: its metadata has no configuration or no grid")
    absent = sorted(set(kind.Config.__dataclass_fields__) - set(fields))
    if absent:
        raise LfnoError(f"{path} was written by an older release: its configuration lacks {absent[0]!r}; train the model again")
    grid, config = Grid.from_dict(axes), kind.Config.from_fields(fields)
    dtype = tensors["lift.weight"].dtype if "lift.weight" in tensors else torch.float32
    if dtype not in (torch.float32, torch.float64):
        raise LfnoError(f"{path} has weights of {dtype}; float32 or float64 is needed")
    try:
        with torch.device("meta"):  # tensors without memory: a damaged file may describe a model of any size
            wanted = _kinds(kind(grid, config).to(dtype).state_dict())
    except (RuntimeError, OverflowError) as error:  # sizes too large for an integer
        raise LfnoError(f"{path} describes a model with tensors that are too large for any machine") from error
    found = _kinds(tensors)
    if wanted != found:
        wrong = sorted(name for name in wanted | found if wanted.get(name) != found.get(name))[0]
        there, needed = found.get(wrong, "missing"), wanted.get(wrong, "no such tensor")
        raise LfnoError(f"{path}: tensor {wrong!r} is {there}, but its model needs {needed}")
    if sum(value.numel() for value in tensors.values()) > 2**33:
        raise LfnoError(f"{path} has more than 8 billion parameters, which is too many to load")
    model = kind(grid, config).to(dtype)
    model.load_state_dict(tensors)
    return model


def _kinds(tensors: dict[str, Tensor]) -> dict[str, str]:
    """Return type and shape of each tensor as text, for example `{"lift.weight": "float32 (4, 1)"}`."""
    return {name: f"{str(value.dtype).removeprefix('torch.')} {tuple(value.shape)}" for name, value in tensors.items()}
