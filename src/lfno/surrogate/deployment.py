"""Run a model sample by sample, and export a model as C, functional mock-up unit, ONNX or PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid, frequency_unit
from lfno.identification.modal import ModalModel
from lfno.models.marching import Marching
from lfno.surrogate.deploy.c_code import write_c
from lfno.surrogate.deploy.fmu import write_fmu
from lfno.surrogate.deploy.linear_window import LinearWindow
from lfno.surrogate.deploy.lower import program_of
from lfno.surrogate.deploy.onnx_step import write_onnx_step
from lfno.surrogate.deploy.onnx_window import write_onnx_window
from lfno.surrogate.deploy.program import Program
from lfno.surrogate.deploy.validity import validity
from lfno.surrogate.description import Description
from lfno.surrogate.passes import runs_in_blocks
from lfno.surrogate.stream import Stream
from lfno.surrogate.sum import parts_of

#: time steps above this multiple of the training step cause a warning, because the samples may miss fast changes of the input
COARSE = 2.0
#: time steps below this multiple of the training step cause a warning: such a step is probably given in another unit
FINE = 0.01


class Deployment(Description):
    """The part of a model that runs sample by sample and writes files for other programs."""

    @property
    def causal(self) -> bool:
        """Return whether the model can run sample by sample. Its outputs then depend on present and past inputs only."""
        return all(runs_in_blocks(part, self.grid) for member in self.members for part in parts_of(member))

    @property
    def marches(self) -> bool:
        """Return whether the model predicts a field frame by frame. Such a model can predict any duration."""
        return all(isinstance(member, Marching) for member in self.members)

    def stream(self, dt: float | None = None, past: Any = None, member: int = 0) -> Stream:
        """Return a stream that predicts sample by sample.

        dt: the time step, by default the time step of the training data.
        past: inputs (inputs, time) before the stream begins. Without them, the stream starts from rest.
        member: the index of a member of an ensemble.

        Warns if `dt` is much larger or much smaller than the time step of the training data. Raises LfnoError with the reason
        for a model that cannot run sample by sample.
        """
        stream = Stream(self.program(dt, member))
        self._warn_of_step(dt)
        if past is not None:
            stream.step(past)
        return stream

    def _warn_of_step(self, dt: float | None) -> None:
        """Warn if a time step is above COARSE or below FINE times the step of training. None is the step of training."""
        axis = self.grid.axes[-1]
        ratio = 1.0 if dt is None else dt / axis.step
        told = f"a time step of {dt:g} {axis.unit} is {ratio:.3g} times the step of training" if dt else ""
        if ratio > COARSE * (1 + 1e-9):
            warnings.warn(f"{told}: the samples may miss fast changes of the input; the prediction is then wrong", stacklevel=3)
        if 0 < ratio < FINE * (1 - 1e-9):
            highest = f"{0.5 / axis.step:.3g} {frequency_unit(axis.unit)}".rstrip()
            warnings.warn(f"{told}: check its unit; the training data contain no frequencies above {highest}", stacklevel=3)

    def program(self, dt: float | None = None, member: int = 0) -> Program:
        """Return one time step of the model as a list of instructions with constant arrays.

        dt: the time step, by default the time step of the training data.
        member: the index of a member of an ensemble.

        Raises LfnoError with the reason for a model that cannot run sample by sample.
        """
        if not 0 <= member < len(self.members):
            raise LfnoError(f"there is no member {member}: the model has {len(self.members)}, counted from 0")
        inputs = _named(self.signals.inputs, self.channels[0], "input")
        outputs = _named(self.signals.outputs, self.channels[1], "output")
        return program_of(self.members[member], inputs, outputs, dt, validity(self.coverage, inputs))

    def export(
        self, to: str, path: str | PathLike[str], grid: Grid | None = None, member: int = 0, dt: float | None = None,
        precision: str | None = None, version: str = "2.0",
    ) -> Any:  # fmt: skip
        """Write files that run without lfno.

        to: the kind of file. The files of "c" (NAME.c and NAME.h), "fmu" and "onnx-step" run one sample at a time. The files of
            "onnx" and "torch" run a whole window.
        path: the file to write. For "c", NAME is the stem of the path.
        grid: the grid of a window, by default the grid of the training data.
        member: the index of a member of an ensemble.
        dt: the time step between samples, by default the time step of the training data.
        precision: "double" or "float", for "c" and "onnx-step". The default of "c" is double. The default of "onnx-step" is
            float, or double if float is not accurate enough for the model. An FMU has double precision.
        version: the version of FMI for "fmu", "2.0" or "3.0".

        Returns a description of the written files. Warns if `dt` is far from the time step of the training data. Raises
        LfnoError if the model cannot be written in this form; no incomplete file is left.
        """
        self._warn_of_step(dt)
        if to == "c":
            return write_c(self.program(dt, member), Path(path), precision or "double")
        if to == "fmu":
            return write_fmu(self.program(dt, member), Path(path), version)
        if to == "onnx-step":
            return write_onnx_step(self.program(dt, member), Path(path), precision)
        from lfno.models.export import TARGETS, describe, export

        if to not in TARGETS:
            raise LfnoError(f"a model cannot be exported to {to!r}; choose c, fmu, onnx-step, {' or '.join(TARGETS)}")
        if to == "onnx" and (self.causal or not self.networks):
            grid = grid or self.grid
            program = self.program(grid.steps[-1], member)
            return write_onnx_window(program, grid.shape[-1], Path(path), describe(self.provenance, grid))
        if not self.networks and self.grid.ndim > 1:
            raise LfnoError(f"only networks can be exported to {to}; there is no export of this model of fields")
        if not self.networks:
            raise LfnoError(f"only networks can be exported to {to}; export this model to c, fmu, onnx-step or onnx")
        if not 0 <= member < len(self.networks):
            raise LfnoError(f"there is no member {member}: the model has {len(self.networks)}, counted from 0")
        linear_path = self.linear_path
        if linear_path is not None and not isinstance(linear_path, ModalModel):
            raise LfnoError(f"a network that corrects a linear model of fields cannot be exported to {to}")
        linear = None if linear_path is None else LinearWindow(linear_path, grid or self.grid)
        return export(self.networks[member], Path(path), to, grid, linear)


def _named(told: Sequence[tuple[str, str]], count: int, role: str) -> list[tuple[str, str]]:
    """Return (name, unit) of each channel. Without names in the model file: `input`, or `input0`, `input1`, …"""
    return list(told) if len(told) == count else [(role if count == 1 else f"{role}{k}", "") for k in range(count)]
