"""Write an ONNX graph to a file, after ONNX Runtime has run the graph and its outputs agree with the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically
from lfno.models.export import check_target

#: version of the ONNX operators
OPSET = 17
#: precision of the file -> largest accepted difference from the model, relative to the largest output
TOLERANCE = {"float": 1e-4, "double": 1e-6}
#: NumPy types of the precisions
KINDS: dict[str, Any] = {"float": np.float32, "double": np.float64}


@dataclass(frozen=True)
class Written:
    """A written file.

    error: the largest difference between the outputs of the file and of the model, relative to the largest output.
    size: the size of the file in bytes.
    precision: the precision of the computation, "float" or "double".
    single: the difference in single precision, if it was too large and the file therefore has double precision.
    """

    path: Path
    error: float
    size: int
    precision: str
    single: float | None = None


def values_of(sizes: dict[str, list[Any]], precision: str) -> list[Any]:
    """Return descriptions of the inputs or outputs of a graph, from a dictionary of names and shapes."""
    from onnx import TensorProto, helper

    kind = TensorProto.FLOAT if precision == "float" else TensorProto.DOUBLE
    return [helper.make_tensor_value_info(name, kind, shape) for name, shape in sizes.items()]


def model_of(graph: Any, metadata: dict[str, str]) -> Any:
    """Return an onnx.ModelProto with the graph and the metadata, after a check by onnx."""
    from onnx import checker, helper

    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="lfno")
    model.ir_version = 9
    for key, text in metadata.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, text
    checker.check_model(model)
    return model


def session_of(content: bytes) -> Any:
    """Return an ONNX Runtime session on the CPU for the bytes of a model file."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the exceptions of ONNX Runtime have no common base class
        reason = str(error).splitlines()[0]
        raise LfnoError(f"ONNX Runtime refuses the graph of this model; export to c or fmu instead ({reason})") from error


def written(path: Path, precisions: Sequence[str], attempt: Callable[[str], tuple[bytes, float]]) -> Written:
    """Write a graph in the first of some precisions whose outputs agree with the model, and return a description of the file.

    attempt: a function of a precision that returns the bytes of the file, and the largest difference between the outputs of the
        file and of the model, relative to the largest output.

    Raises LfnoError, and writes no file, if no precision is accurate enough (see TOLERANCE).
    """
    errors: list[float] = []
    for precision in precisions:
        content, error = attempt(precision)
        if error <= TOLERANCE[precision]:
            write_atomically(path, content)
            return Written(path, error, len(content), precision, errors[0] if errors else None)
        errors.append(error)
    remedy = "use double precision" if precisions[-1] == "float" else "export to c or fmu instead"
    raise LfnoError(
        f"in {precisions[-1]} precision the exported file differs from the model by {errors[-1]:.1e} of the largest output; no "
        f"file was written: {remedy}"
    )


def difference(answer: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of two arrays, relative to the largest value of `expected`; infinity if it is NaN."""
    error = float(np.abs(answer - expected).max() / (np.abs(expected).max() or 1.0))
    return error if np.isfinite(error) else np.inf


def check_packages(path: Path) -> None:
    """Raise LfnoError if the file cannot be written, or if onnx or onnxruntime is not installed."""
    check_target(path)
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as missing:
        raise LfnoError(f"exporting to ONNX needs the package {missing.name}; install lfno[onnx]") from missing
