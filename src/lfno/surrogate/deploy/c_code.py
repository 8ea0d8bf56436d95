"""A model as C99: one source file and one header, from the program of its step."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import with_unit
from lfno.core.tensorfile import write_atomically
from lfno.core.version import __version__
from lfno.surrogate.deploy.program import Program

TEST = 16  # samples of the test vector in the files
NAMES = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
#: activation functions as C expressions of x; {f} is the suffix of single precision
ACTIVATIONS = {
    "relu": "x > 0 ? x : 0",
    "gelu": "(real)0.5 * x * (1 + erf{f}(x * (real)0.70710678118654752440))",
    "silu": "x / (1 + exp{f}(-x))",
    "tanh": "tanh{f}(x)",
    "sin": "sin{f}(x)",
}
PRECISIONS = ("double", "float")


def write_c(program: Program, path: Path, precision: str = "double") -> tuple[Path, Path]:
    """Write NAME.c and NAME.h beside each other, NAME being the stem of `path`, and return their paths."""
    name = path.stem
    source, header = c_files(program, name, precision)
    if not path.parent.is_dir():
        raise LfnoError(f"there is no folder {path.parent} to write {name}.c into")
    files = path.with_suffix(".c"), path.with_suffix(".h")
    for file, text in zip(files, (source, header), strict=True):
        write_atomically(file, text.encode())
    return files


def c_files(program: Program, name: str, precision: str = "double") -> tuple[str, str]:
    """Return source and header as text. `name` must be a C identifier; precision is "double" or "float"."""
    if not NAMES.fullmatch(name):
        raise LfnoError(f"{name!r} cannot be a name in C: use at most 40 letters, digits and _, a letter first")
    if precision not in PRECISIONS:
        raise LfnoError(f"precision {precision!r} is not known; choose {' or '.join(PRECISIONS)}")
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent / "templates")
    # templates are C and XML of our own; values are numbers and checked names, so nothing is escaped here
    environment = Environment(loader=folder, undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    values = _values(program, name, precision)
    source, header = (environment.get_template(f"step.{end}").render(values) for end in ("c", "h"))
    return source, header


def _values(program: Program, name: str, precision: str) -> dict[str, Any]:
    first, suffix = program.banks[0], "f" if precision == "float" else ""
    width, _, poles = first.residues.shape
    network = program.direct is None
    gated = bool(program.layers) and program.layers[0].gate_weight is not None
    force = np.random.default_rng(0).normal(size=(len(program.inputs), TEST)) * program.scale_in[1][:, None]
    force += program.scale_in[0][:, None]
    hidden = 0 if program.hidden is None else len(program.hidden[1])
    arrays = [_array(key, value, suffix) for key, value in _tables(program, gated).items()]
    for key, value in (("input", force), ("output", program.respond(force))):
        text = ",\n    ".join("{" + ", ".join(_number(x, suffix) for x in row) + "}" for row in value.T)
        arrays.append(f"const real {name}_test_{key}[{TEST}][{len(value)}] = {{\n    {text}\n}};")
    return {
        "name": name, "guard": name.upper(), "version": __version__, "real": precision, "dt": repr(float(program.dt)),
        "unit": _comment(program.unit), "kind": "a network" if network else "a linear model", "test": TEST, "network": network,
        "inputs": [_comment(with_unit(*one)) for one in program.inputs],
        "outputs": [_comment(with_unit(*one)) for one in program.outputs],
        "notes": [_comment(note) for note in program.notes], "layers": len(program.layers), "width": width, "poles": poles,
        "states": 2 * poles * width * len(program.banks), "hidden": hidden, "gated": gated, "arrays": arrays,
        "exp": f"exp{suffix}", "activation": ACTIVATIONS[program.activation].format(f=suffix) if network else "",
    }  # fmt: skip


def _tables(program: Program, gated: bool) -> dict[str, np.ndarray]:
    """Return the constants by name; complex numbers as pairs, layers one after the other."""
    banks = program.banks
    tables: dict[str, Any] = {
        "input_offset": program.scale_in[0], "input_scale": program.scale_in[1],
        "output_offset": program.scale_out[0], "output_scale": program.scale_out[1],
        "decay": _pairs([bank.decay for bank in banks]),
        "tap0": _pairs([bank.taps[0] for bank in banks]), "tap1": _pairs([bank.taps[1] for bank in banks]),
        "residues": _pairs([bank.residues.transpose(0, 2, 1) for bank in banks]),
    }  # fmt: skip
    if program.direct is not None:
        return tables | {"direct": program.direct}
    for key in ("lift", "hidden", "project"):
        tables[f"{key}_weight"], tables[f"{key}_bias"] = getattr(program, key)
    layers = program.layers
    tables |= {"weight": np.stack([one.weight for one in layers]), "bias": np.stack([one.bias for one in layers])}
    if gated:
        tables["gate_weight"] = np.stack([one.gate_weight for one in layers])  # type: ignore[misc]
        tables["gate_bias"] = np.stack([one.gate_bias for one in layers])  # type: ignore[misc]
    return tables


def _pairs(values: list[np.ndarray]) -> np.ndarray:
    stacked = np.stack(values)
    return np.stack([stacked.real, stacked.imag], -1)


def _array(name: str, values: np.ndarray, suffix: str) -> str:
    flat = [_number(value, suffix) for value in np.asarray(values, dtype=np.float64).ravel()]
    lines = [", ".join(flat[k : k + 8]) for k in range(0, len(flat), 8)]
    body = ",\n    ".join(lines)
    return f"static const real {name}[{len(flat)}] = {{\n    {body}\n}};"


def _number(value: float, suffix: str) -> str:
    text = f"{value:.9g}" if suffix else f"{value:.17g}"
    return text + ("" if "." in text or "e" in text else ".0") + suffix


def _comment(text: str) -> str:
    """Text that cannot end a comment or a line of C."""
    return re.sub(r"[^\x20-\x7e]", "?", text.replace("*/", "* /").replace("²", "2").replace("³", "3").replace("°", "deg"))
