"""Classes that describe the files of a benchmark: which array holds which samples. The module `reading` reads the files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """Records that lie in one array of a file. If several files match, each file gives records.

    file: name or pattern of the file, such as `F16Data_*.mat`.
    inputs, outputs: names of the arrays.
    figure: the figure of merit of the records. "" takes the name of the file. An axis "l" needs one name for each level.
    axes: one letter for each axis of the array: t (time), c (channel), r (realisation), p (period), l (level).
        "t" alone accepts a vector, stored as a row or as a column.
    without: a text; files with this text in their name are left out.
    channels: indices of the output channels in use; None for all.
    start, stop: first sample in use, and first sample after the last one.
    joined: True joins the periods of one realisation into one record. False makes each period a record.
    periodic: the record is in periodic steady state. Its period is the length of the axis t.
    rest: the record begins at rest.
    outputs_file: name of the file with the outputs; "" if inputs and outputs are in the same file.
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
    """The sampling rate of a benchmark, as a number or as an array of the file.

    hertz: the sampling rate in Hz. It is used only if `array` is empty.
    array: name of the array with the sampling rate; "" for none.
    holds: content of the array: "rate" (sampling rate in Hz), "step" (sampling interval in s) or "times" (sampling times in s).
    """

    hertz: float = 0.0
    array: str = ""
    holds: str = "rate"


@dataclass(frozen=True)
class Published:
    """Published results of another method.

    method: name of the method.
    figures: figures of merit in the benchmark's unit; None for an unknown figure.
    source: where the figures are published.
    """

    method: str
    figures: tuple[float | None, ...]
    source: str


@dataclass(frozen=True)
class Challenge:
    """One published benchmark.

    name: short name for the command line.
    title: the benchmark in words.
    figures: names of the figures of merit, in the order of the published figures. If it is empty, each test file has a figure.
    unit: unit of the figures.
    scale: factor from the unit of the data to the unit of the figures.
    skip: number of outputs at the beginning of a test record that a model may use for the initial state. These samples
        are not scored.
    sampling: the sampling rate.
    training: the training data. If this is empty, the training records are simulated (see `note`).
    test: the test data.
    published: published results of other methods.
    reference: the publication of the data.
    folder: folder of the files in the cache of the package `nonlinear_benchmarks`; "" if the package has no such files.
    note: a remark on the protocol.
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
        """Return the names or patterns of all files."""
        parts = (*self.training, *self.test)
        return tuple(dict.fromkeys(name for part in parts for name in (part.file, part.outputs_file) if name))
