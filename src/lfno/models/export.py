"""Write a network as a program that runs without lfno, in ONNX or in PyTorch.

An ONNX program has real matrix products (`lfno.models.frozen`). A PyTorch program has the recorded operations of the network.
"""

from __future__ import annotations

import contextlib
import logging
import math
import tempfile
import warnings
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.core.short import Short
from lfno.core.tensorfile import write_atomically
from lfno.models.frozen import Frozen, clone
from lfno.models.marching import Marching
from lfno.models.operator import Operator, _column

TARGETS = ("onnx", "torch")
#: largest error of an exported program, relative to the largest output
TOLERANCE = 1e-4
#: largest number of points of a grid, to limit memory
MOST_POINTS = 2**24


@dataclass(frozen=True, repr=False)
class Exported(Short):
    """A written file.

    path: the file.
    target: "onnx" or "torch".
    error: the largest difference from the original network on random input, divided by the largest output.
    size: the number of bytes.
    """

    path: Path
    target: str
    error: float
    size: int


def check_target(path: Path) -> None:
    """Raise LfnoError if the folder of `path` does not exist, or if `path` is a folder."""
    if not path.parent.is_dir():
        raise LfnoError(f"there is no folder {path.parent} to write {path.name} into")
    if path.is_dir():
        raise LfnoError(f"{path} is a folder; name the file to write")


def export(
    model: Operator, path: str | Path, to: str = "onnx", grid: Grid | None = None, plus: nn.Module | None = None
) -> Exported:
    """Write a network as a program for one grid, and compare the program with the network.

    model: the network.
    path: the file.
    to: "onnx" or "torch".
    grid: the grid of the program, by default the training grid.
    plus: a module on the same grid. The program returns the sum of the outputs of `model` and `plus`.

    The program maps float32 inputs (batch, channels, *grid) to outputs, both in physical units, for any batch size. Raises
    LfnoError if the file cannot be written, or if its results differ from the results of the network.

    >>> export(lfno.FNO(Grid.line(64, dt=0.1), width=4, modes=4, layers=1), "operator.pt2", to="torch").error < 1e-4
    True
    """
    grid, path = grid or model.grid, Path(path)
    if to not in TARGETS:
        raise LfnoError(f"a model cannot be exported to {to!r}; choose {' or '.join(TARGETS)}")
    if to == "onnx" and isinstance(model, Marching):
        raise LfnoError("a marching network cannot be exported to ONNX, which has no complex numbers; choose torch")
    check_target(path)
    if math.prod(grid.shape) > MOST_POINTS:
        raise LfnoError(f"a grid of {math.prod(grid.shape)} points is too large to export a model; use a coarser grid")
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, model.config.in_channels, *grid.shape, generator=generator)
    x = x * _column(model.input_scale.float(), x) + _column(model.input_offset.float(), x)
    double = clone(model).double()
    with torch.no_grad():
        expected = (double(x.double(), grid) + (0.0 if plus is None else plus(x.double()))).numpy()
    with _quiet(), tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / path.name
        answers = (_onnx if to == "onnx" else _torch)(model, grid, made, x, plus)
        scale = float(np.abs(expected).max()) or 1.0
        error = max(float(np.abs(answer - expected[: len(answer)]).max()) / scale for answer in answers)
        if not error <= TOLERANCE:
            raise LfnoError(f"the exported model differs from the original by {error:.1e} on random input; no file was written")
        write_atomically(path, made.read_bytes())
    return Exported(path, to, error, path.stat().st_size)


def _onnx(model: Operator, grid: Grid, path: Path, x: Tensor, plus: nn.Module | None) -> list[np.ndarray]:
    """Write an ONNX program. Return its outputs for the whole batch x, and for the first sample."""
    try:
        import onnx
        import onnxruntime
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise LfnoError(f"exporting to ONNX needs the package {error.name}; install lfno[onnx]") from error
    program = _program(_added(Frozen(model, grid), plus), x)
    written = torch.onnx.export(program, input_names=["input"], output_names=["output"], dynamo=True, verbose=False)
    assert written is not None
    proto = written.model_proto
    for key, value in describe(model.provenance, grid).items():
        entry = proto.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.checker.check_model(proto)
    path.write_bytes(proto.SerializeToString())
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return [np.asarray(session.run(None, {"input": part.numpy()})[0]) for part in (x, x[:1])]


def _torch(model: Operator, grid: Grid, path: Path, x: Tensor, plus: nn.Module | None) -> list[np.ndarray]:
    """Write a PyTorch program. Return its outputs for the whole batch x, and for the first sample."""
    program = _program(_added(_OnGrid(clone(model).float(), grid), plus), x)
    torch.export.save(program, path, extra_files=describe(model.provenance, grid))
    module = torch.export.load(path).module()
    with torch.no_grad():
        return [module(part).numpy() for part in (x, x[:1])]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Hide warnings of the exporters about packages that are not needed here."""
    logger = logging.getLogger("torch.onnx")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(before)


def _program(module: nn.Module, x: Tensor) -> Any:
    """Return the recorded operations of a module, for any batch size."""
    batch = torch.export.Dim("batch", min=1)
    with torch.no_grad():
        return torch.export.export(module.eval(), (x,), dynamic_shapes=({0: batch},), strict=False)


def describe(provenance: dict[str, Any], grid: Grid) -> dict[str, str]:
    """Return the metadata of a program as text: the grid of its input, and names and units of its channels if known."""
    return {"lfno_grid": to_json(grid.to_dict()), "lfno_signals": to_json(signals_of(provenance))}


def signals_of(provenance: dict[str, Any]) -> dict[str, Any]:
    """Return names and units of the channels, and the warm-up time. Return {} if the data did not come from a user's file."""
    data = provenance.get("data")
    signals = data.get("signals") if isinstance(data, dict) else None
    return signals if isinstance(signals, dict) else {}


def _added(module: nn.Module, plus: nn.Module | None) -> nn.Module:
    """Return a module with the sum of both outputs."""
    return module if plus is None else _Sum(module, deepcopy(plus).float())


class _Sum(nn.Module):
    """The sum of the outputs of two modules."""

    def __init__(self, one: nn.Module, two: nn.Module) -> None:
        super().__init__()
        self.one, self.two = one, two

    def forward(self, x: Tensor) -> Tensor:
        return self.one(x) + self.two(x)


class _OnGrid(nn.Module):
    """A network on one grid, without checks of its input."""

    def __init__(self, model: Operator, grid: Grid) -> None:
        super().__init__()
        self.model, self.grid = model, grid

    def forward(self, x: Tensor) -> Tensor:
        return self.model.respond(x, self.grid)
