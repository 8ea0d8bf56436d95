"""Write a model as C99: one source file and one header, generated from the program of its time step."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import with_unit
from lfno.core.tensorfile import write_atomically
from lfno.core.version import __version__
from lfno.models.export import check_target
from lfno.surrogate.deploy import run
from lfno.surrogate.deploy.program import (
    Affine,
    Apply,
    Clip,
    Filter,
    Instruction,
    Load,
    Past,
    Product,
    Program,
    Scale,
    Sum,
    Update,
)
from lfno.surrogate.deploy.sample import Sampler

#: number of samples of the test inputs and outputs in the source file
TEST = 16
#: number of samples of the test inputs that compare an exported file with the model
CHECKED = 512
#: largest accepted difference between C code in single precision and the model, relative to the largest output
TOLERANCE = 1e-2
#: permitted names of a model in C
NAMES = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
#: functions as C expressions of x; {f} becomes "f" in single precision and "" in double precision
FUNCTIONS = {
    "relu": "x > 0 ? x : 0",
    "gelu": "(real)0.5 * x * (1 + erf{f}(x * (real)0.70710678118654752440))",
    "silu": "x / (1 + exp{f}(-x))",
    "tanh": "tanh{f}(x)",
    "sin": "sin{f}(x)",
    "cos": "cos{f}(x)",
    "sigmoid": "1 / (1 + exp{f}(-x))",
    "abs": "fabs{f}(x)",
    "sign": "(real)((x > 0) - (x < 0))",
    "softplus": "(x > 0 ? x : 0) + log1p{f}(exp{f}(-fabs{f}(x)))",
}
#: hold of the input → comment in the header file
HOLDS = {
    "zero": "Between samples the input keeps the value of the last sample.",
    "linear": "Between samples the input is a straight line.",
    "cubic": "Between samples the input is the cubic through the last four samples.",
}
#: permitted types of real numbers in C
PRECISIONS = ("double", "float")


def write_c(program: Program, path: Path, precision: str = "double") -> tuple[Path, Path]:
    """Write NAME.c and NAME.h, where NAME is the stem of `path`. Return the two paths."""
    name = path.stem
    source, header = c_files(program, name, precision)
    check_target(path)
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
    # C needs no escaping: the templates belong to this library, and the values are numbers and checked names
    environment = Environment(loader=folder, undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    values = _values(program, name, precision)
    source, header = (environment.get_template(f"step.{end}").render(values) for end in ("c", "h"))
    return source, header


def _values(program: Program, name: str, precision: str) -> dict[str, Any]:
    """Return the values for the templates of the source file and of the header."""
    suffix = "f" if precision == "float" else ""
    force = test_inputs(program, TEST)
    single = [single_precision_note(program)] if precision == "float" else []
    constants = _Constants(suffix)
    places, work = allocate(program)
    calls = [_call(one, program, places, constants) for one in program.instructions]
    used = sorted({one.function for one in program.instructions if isinstance(one, Apply)})
    tests = []
    for key, value in (("input", force), ("output", run.respond(program, force))):
        text = ",\n    ".join("{" + ", ".join(_number(x, suffix) for x in row) + "}" for row in value.T)
        tests.append(f"const real {name}_test_{key}[{TEST}][{len(value)}] = {{\n    {text}\n}};")
    return {
        "name": name, "guard": name.upper(), "version": __version__, "real": precision, "dt": repr(float(program.dt)),
        "unit": _comment(program.unit), "kind": program.kind, "hold": HOLDS[program.hold], "test": TEST, "tests": tests,
        "inputs": [_comment(with_unit(*one)) for one in program.inputs],
        "outputs": [_comment(with_unit(*one)) for one in program.outputs],
        "notes": [_comment(note) for note in [*program.notes, *single]], "states": max(program.states - 1, 1), "work": work,
        "arrays": constants.lines, "calls": [call for call in calls if call], "answer": places[program.output],
        "kinds": {type(one).__name__ for one in program.instructions},
        "functions": {key: FUNCTIONS[key].format(f=suffix) for key in used},
    }  # fmt: skip


def test_inputs(program: Program, size: int) -> np.ndarray:
    """Return random test inputs (in, size) with the offset and the scale that the model expects."""
    offset, scale = program.centre
    return offset[:, None] + scale[:, None] * np.random.default_rng(0).normal(size=(len(offset), size))


def single_precision_note(program: Program) -> str:
    """Return a sentence with the difference between the outputs in single precision and the outputs of the model.

    Raises LfnoError if the difference is larger than TOLERANCE.
    """
    force = test_inputs(program, CHECKED)
    expected, sampler = run.respond(program, force), Sampler(program, np.float32)
    state, answers = np.zeros(program.states), []
    with np.errstate(all="ignore"):
        for sample in force.T:
            answer, state = sampler.step(sample, state)
            answers.append(answer)
        error = float(np.abs(np.stack(answers, -1) - expected).max() / (np.abs(expected).max() or 1.0))
    if not error <= TOLERANCE:
        raise LfnoError(
            f"in single precision, the error of the outputs is {100 * error:.2g} % of the largest output; no file was written: "
            "export the model in double precision"
        )
    return f"single precision: on random inputs, the outputs differ from the model by {error:.1e} of the largest output"


def allocate(program: Program) -> tuple[list[str], int]:
    """Return the C expression of every register, and the length of the work array that they share.

    A register needs memory from its instruction to its last use. Registers that are parts of the state lie in the state.
    """
    last = {program.output: len(program.instructions)}
    for k, one in enumerate(program.instructions):
        for x in _reads(one):
            last[x] = max(last.get(x, 0), k)
    places, taken = ["input"] + [""] * (len(program.sizes) - 1), np.zeros(0, dtype=bool)
    offsets: dict[int, int] = {}
    for k, one in enumerate(program.instructions):
        if isinstance(one, Filter | Load | Update):
            places[one.out] = f"s + {one.state - 1}"
            continue
        size = program.sizes[one.out]
        free = np.concatenate([taken, np.zeros(size, dtype=bool)])
        start = next(a for a in range(len(taken) + 1) if not free[a : a + size].any())
        taken = free[: max(len(taken), start + size)]
        taken[start : start + size] = True
        places[one.out], offsets[one.out] = f"w + {start}", start
        for x in [x for x in offsets if last.get(x, k) <= k]:
            a = offsets.pop(x)
            taken[a : a + program.sizes[x]] = False
    return places, max(len(taken), 1)


def _reads(one: Instruction) -> Iterable[int]:
    """Return the registers that an instruction reads."""
    if isinstance(one, Product | Sum):
        return one.a, one.b
    return () if isinstance(one, Load) else (one.x,)


def _call(one: Instruction, program: Program, places: list[str], constants: _Constants) -> str:
    """Return the line of C that runs an instruction; "" for Load, whose register is already in the state."""
    size, out = program.sizes[one.out], places[one.out]
    match one:
        case Scale():
            return f"scale({size}, {constants(one.offset)}, {constants(one.factor)}, {places[one.x]}, {out});"
        case Affine():
            rows, columns = one.matrix.shape
            offset = "0" if one.offset is None else constants(one.offset)
            return f"affine({columns}, {rows}, {constants(one.matrix)}, {offset}, {places[one.x]}, {out});"
        case Apply():
            return f"apply({size}, {one.function}_, {places[one.x]}, {out});"
        case Clip():
            return f"clip({size}, {constants(one.low)}, {constants(one.high)}, {places[one.x]}, {out});"
        case Product() | Sum():
            word = "product" if isinstance(one, Product) else "sum"
            return f"{word}({size}, {places[one.a]}, {places[one.b]}, {out});"
        case Filter():
            numbers = f"{program.sizes[one.x]}, {len(one.decay)}, {one.depth}"
            taps = f"{constants(_pairs(one.decay))}, {constants(_pairs(one.taps))}"
            taps += f", {constants(one.chain.astype(np.float64)) if one.chain.any() else '0'}"
            return f"filter(advance, state->count, {numbers}, {taps}, {places[one.x]}, s + {one.past - 1}, {out});"
        case Past():
            numbers = f"{program.sizes[one.x]}, {one.depth}"
            return f"past(advance, state->count, {numbers}, {places[one.x]}, s + {one.past - 1}, {out});"
        case Update():
            return f"if (advance) copy({size}, {places[one.x]}, {out});"
    return ""


class _Constants:
    """The constant arrays of the source file. Equal arrays are written once."""

    def __init__(self, suffix: str) -> None:
        self.suffix, self.lines, self.names = suffix, list[str](), dict[bytes, str]()

    def __call__(self, values: np.ndarray) -> str:
        """Return the name of the constant array with these values."""
        key = repr(values.shape).encode() + values.tobytes()
        if key not in self.names:
            self.names[key] = name = f"c{len(self.names)}"
            flat = [_number(value, self.suffix) for value in values.ravel()]
            body = ",\n    ".join(", ".join(flat[k : k + 8]) for k in range(0, len(flat), 8))
            self.lines.append(f"static const real {name}[{len(flat)}] = {{\n    {body}\n}};")
        return self.names[key]


def _pairs(values: np.ndarray) -> np.ndarray:
    """Return complex values (…) as pairs of real and imaginary part, (…, 2)."""
    return np.stack([values.real, values.imag], -1)


def _number(value: float, suffix: str) -> str:
    """Return a number as a C literal."""
    text = f"{value:.9g}" if suffix else f"{value:.17g}"
    return text + ("" if "." in text or "e" in text else ".0") + suffix


def _comment(text: str) -> str:
    """Return the text without characters that would end a comment or a line of C."""
    return re.sub(r"[^\x20-\x7e]", "?", text.replace("*/", "* /").replace("²", "2").replace("³", "3").replace("°", "deg"))
