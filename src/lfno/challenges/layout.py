"""How a benchmark's files are described: which array holds which samples. Descriptions are data; `reading` reads them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Records in one array (or in one array of each file that matches).

    file: name or pattern of the file, such as `F16Data_*.mat`; `without` rejects names that contain this text.
    inputs, outputs: names of the arrays.
    axes: the meaning of each axis of the array, one letter each: time, channel, realisation, period, level.
        "t" takes a vector, stored as a row or as a column.
    channels: the output channels that are used; None for all.
    start, stop: the samples that are used.
    figure: the figure that the records belong to. "" takes the name of the file. With an axis "l" there is one for each level.
    joined: the periods of one realisation are one record; otherwise each period is a record.
    periodic: the record is in periodic steady state (its period is the array's axis t).
    rest: the record begins at rest.
    """

    file: str
    inputs: str
    outputs: str
    figure: str | tuple[str, ...] = ""
    axes: str = "t"
    without: str = ""
    channels: tuple[int, ...] | None = None
    start: int = 0
    stop: int | None = None
    joined: bool = False
    periodic: bool = False
    rest: bool = False
    outputs_file: str = ""


@dataclass(frozen=True)
class Sampling:
    """The sampling rate: a number of hertz, or an array of the file that holds a rate (Hz), a step (s) or times (s)."""

    hertz: float = 0.0
    array: str = ""
    holds: str = "rate"


@dataclass(frozen=True)
class Published:
    """Figures of another method in the benchmark's unit, None where none is known, and where they are written."""

    method: str
    figures: tuple[float | None, ...]
    source: str


@dataclass(frozen=True)
class Challenge:
    """One published benchmark.

    figures: names of the figures, in the order of the published ones.
    unit, scale: a figure is the error in the data's unit times `scale`.
    skip: outputs at the beginning of a test record that may be used for the initial state and are not scored.
    folder: where the package `nonlinear_benchmarks` keeps the files, below its cache folder; "" where it has none.
    training: the parts to learn from; without any the training records are simulated, see `note`.
    """

    name: str
    title: str
    figures: tuple[str, ...]
    unit: str
    scale: float
    skip: int
    sampling: Sampling
    training: tuple[Part, ...]
    test: tuple[Part, ...]
    published: tuple[Published, ...]
    reference: str
    folder: str = ""
    note: str = ""

    @property
    def files(self) -> tuple[str, ...]:
        """Names or patterns of all files."""
        parts = (*self.training, *self.test)
        return tuple(dict.fromkeys(name for part in parts for name in (part.file, part.outputs_file) if name))
