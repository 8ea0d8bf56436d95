"""One time step of a model as a short list of instructions on vectors. The list is translated to NumPy, C, FMU and ONNX.

Every model that runs sample by sample is built from ten instructions. A register is a vector of real numbers. Register 0 is
the input sample. The state is a further vector, which the model keeps from one sample to the next.

| instruction | result                                                                                              |
|-------------|-----------------------------------------------------------------------------------------------------|
| Scale       | (x − offset) · factor                                                                               |
| Affine      | matrix · x + offset                                                                                 |
| Apply       | an elementary function of every entry                                                               |
| Clip        | x limited to the range from `low` to `high`                                                         |
| Product     | a · b, entry by entry                                                                               |
| Sum         | a + b                                                                                               |
| Filter      | states of poles m driven by each entry i of x: s_im ← e_m s_im + c_m s_i,m−1 + Σ_j b_jm x_i[n−j]      |
| Past        | x of the present sample and of some earlier samples                                                 |
| Load        | a part of the state, as the previous sample left it                                                 |
| Update      | x, which is also written into the state                                                             |

At the first sample, Filter and Update leave the state at rest. Filter and Past also need samples before the first sample. These
lie on the line through the first two samples (see `lfno.spectral.hold`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lfno.core.errors import LfnoError

#: names of the elementary functions of Apply
FUNCTIONS = ("relu", "gelu", "silu", "tanh", "sin", "cos", "sigmoid", "abs", "sign", "softplus")


@dataclass(frozen=True)
class Scale:
    """(x − offset) · factor, entry by entry. x and the result `out` are registers; offset and factor are vectors."""
    out: int
    x: int
    offset: np.ndarray
    factor: np.ndarray


@dataclass(frozen=True)
class Affine:
    """matrix · x + offset, with a matrix (entries of out, entries of x), and an offset vector or None."""

    out: int
    x: int
    matrix: np.ndarray
    offset: np.ndarray | None


@dataclass(frozen=True)
class Apply:
    """The elementary function `function` of every entry of register x."""
    out: int
    x: int
    function: str


@dataclass(frozen=True)
class Clip:
    """Register x, limited to the range from `low` to `high`, two vectors."""
    out: int
    x: int
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Product:
    """Registers a · b, entry by entry."""
    out: int
    a: int
    b: int


@dataclass(frozen=True)
class Sum:
    """Registers a + b."""
    out: int
    a: int
    b: int


@dataclass(frozen=True)
class Filter:
    """States of poles, driven by every entry (channel) of register x. All channels share the poles.

    decay: e, the factor of the state from one sample to the next, complex (M,).
    taps: b, complex (depth + 1, M).
    chain: c, (M,); True for a pole whose state is also driven by the state of the pole before it (see `chains`).
    state: the index of the first pole in the state of the program. The order is (channel, pole, re | im), also in the result.
    past: the index of the earlier samples in the state of the program. The order is (channel, depth), newest first.
    """

    out: int
    x: int
    decay: np.ndarray
    taps: np.ndarray
    chain: np.ndarray
    state: int
    past: int

    @property
    def depth(self) -> int:
        """Return the number of earlier samples that the taps use."""
        return len(self.taps) - 1


@dataclass(frozen=True)
class Past:
    """Register x of the present sample and of `depth` earlier samples, newest first, (1 + depth, channel).

    past: the index of the earlier samples in the state, as in Filter.
    """

    out: int
    x: int
    depth: int
    past: int


@dataclass(frozen=True)
class Load:
    """Entries of the state from index `state` on, as the previous sample left them."""
    out: int
    state: int


@dataclass(frozen=True)
class Update:
    """Write register x into the state from index `state` on."""
    out: int
    x: int
    state: int


Instruction = Scale | Affine | Apply | Clip | Product | Sum | Filter | Past | Load | Update
Channel = tuple[str, str]  # name and unit


@dataclass(frozen=True)
class Program:
    """One time step of a model.

    dt, unit: the time step, and the unit of time.
    inputs, outputs: names and units of the channels.
    sizes: the length of every register.
    output: the register of the output.
    states: the length of the state. The first entry of the state counts the samples and stops at 2. All entries start at 0.
    kind: the kind of model in words.
    hold: the interpolation of the input between samples.
    notes: sentences for the user of the code, such as the range of validity.
    """

    dt: float
    unit: str
    inputs: tuple[Channel, ...]
    outputs: tuple[Channel, ...]
    instructions: tuple[Instruction, ...]
    sizes: tuple[int, ...]
    states: int
    output: int
    kind: str
    hold: str
    notes: tuple[str, ...] = ()

    @property
    def sequential(self) -> bool:
        """Return whether each sample needs the result of the previous sample, so that a block must run sample by sample."""
        return any(isinstance(one, Load) for one in self.instructions)

    @property
    def centre(self) -> tuple[np.ndarray, np.ndarray]:
        """Return offset and scale of the inputs that the model expects; 0 and 1 if the model does not scale its inputs."""
        given = next((one for one in self.instructions if isinstance(one, Scale) and one.x == 0), None)
        ones = np.ones(self.sizes[0])
        return (0 * ones, ones) if given is None else (given.offset, 1 / given.factor)


@dataclass
class Builder:
    """Collects instructions. Every method adds an instruction and returns the register of its result.

    >>> build = Builder(inputs=2)
    >>> build.plus(build.affine(0, np.eye(2)), 0)
    2
    >>> build.sizes
    [2, 2, 2]
    """

    inputs: int
    instructions: list[Instruction] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    states: int = 1

    def __post_init__(self) -> None:
        self.sizes.append(self.inputs)

    def scale(self, x: int, offset: np.ndarray, factor: np.ndarray) -> int:
        """Add (x − offset) · factor."""
        return self._add(Scale(self._new(self.sizes[x]), x, _real(offset), _real(factor)))

    def affine(self, x: int, matrix: np.ndarray, offset: np.ndarray | None = None) -> int:
        """Add matrix · x + offset."""
        matrix = _real(matrix)
        if matrix.shape[1] != self.sizes[x]:
            raise ValueError(f"a matrix {matrix.shape} cannot multiply a vector of {self.sizes[x]}")
        return self._add(Affine(self._new(len(matrix)), x, matrix, None if offset is None else _real(offset)))

    def apply(self, function: str, x: int) -> int:
        """Add an elementary function of every entry of x."""
        if function not in FUNCTIONS:
            raise LfnoError(f"the function {function!r} cannot be exported; choose one of {', '.join(FUNCTIONS)}")
        return self._add(Apply(self._new(self.sizes[x]), x, function))

    def clip(self, x: int, low: np.ndarray, high: np.ndarray) -> int:
        """Add x, limited to the range from `low` to `high`."""
        return self._add(Clip(self._new(self.sizes[x]), x, _real(low), _real(high)))

    def minus(self, a: int, b: int) -> int:
        """Add a − b."""
        return self.plus(a, self.scale(b, np.zeros(self.sizes[b]), -np.ones(self.sizes[b])))

    def times(self, a: int, b: int) -> int:
        """Add a · b, entry by entry."""
        return self._add(Product(self._new(self.sizes[a]), a, b))

    def plus(self, a: int, b: int) -> int:
        """Add a + b."""
        return self._add(Sum(self._new(self.sizes[a]), a, b))

    def filter(self, x: int, decay: np.ndarray, taps: np.ndarray, chain: np.ndarray | None = None) -> int:
        """Add poles that are driven by every channel of x. By default, no pole drives another pole."""
        channels, poles = self.sizes[x], len(decay)
        state = self.reserve(2 * channels * poles)
        past = self.reserve(channels * (len(taps) - 1))
        arrays = np.asarray(decay, dtype=np.complex128), np.asarray(taps, dtype=np.complex128)
        linked = np.zeros(poles, dtype=bool) if chain is None else np.asarray(chain, dtype=bool)
        return self._add(Filter(self._new(2 * channels * poles), x, *arrays, linked, state, past))

    def past(self, x: int, depth: int) -> int:
        """Add x of the present sample and of `depth` earlier samples."""
        place = self.reserve(depth * self.sizes[x])
        return self._add(Past(self._new((1 + depth) * self.sizes[x]), x, depth, place))

    def reserve(self, count: int) -> int:
        """Add `count` entries to the state, and return the index of the first one."""
        self.states += count
        return self.states - count

    def load(self, state: int, size: int) -> int:
        """Add `size` entries of the state, as the previous sample left them. Call `load` before `update` for these entries."""
        return self._add(Load(self._new(size), state))

    def update(self, x: int, state: int) -> int:
        """Add an Update: x is written into the state, except at the first sample. The result is the new part of the state."""
        return self._add(Update(self._new(self.sizes[x]), x, state))

    def program(
        self, output: int, dt: float, unit: str, inputs: Sequence[Channel], outputs: Sequence[Channel], kind: str, hold: str,
        notes: Sequence[str] = (),
    ) -> Program:  # fmt: skip
        """Return the finished program, whose output is the register `output`."""
        return Program(
            dt, unit, tuple(inputs), tuple(outputs), tuple(self.instructions), tuple(self.sizes), self.states, output, kind,
            hold, tuple(notes),
        )  # fmt: skip

    def _new(self, size: int) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1

    def _add(self, instruction: Instruction) -> int:
        self.instructions.append(instruction)
        return instruction.out


def _real(values: np.ndarray) -> np.ndarray:
    return np.asarray(values, dtype=np.float64)
