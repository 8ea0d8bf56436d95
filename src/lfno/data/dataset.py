"""The container of data: inputs and outputs on a grid, the parameters of each sample, and the provenance."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.core.json_text import to_json
from lfno.core.short import shortened
from lfno.systems.base import Channel

if TYPE_CHECKING:
    import xarray


#: key in the provenance: a list of the long gaps of the inputs, each [sample, start, stop]: the index of the sample, and the
#: time steps `start` … `stop` − 1
INPUT_GAPS = "input_gaps"
#: key in the provenance of trajectories: the indices of the trajectories that start in motion
MOVING_RUNS = "moving"


@dataclass(eq=False, repr=False)
class Dataset:
    """Samples of inputs and outputs on one grid.

    inputs, outputs: arrays (sample, channel, *space, time).
    grid: the grid of the axes `(*space, time)`.
    parameters: name -> array (sample, …), the values of a parameter that differs between the samples, such as a stiffness.
    input_channels, output_channels: names and units of the channels.
    provenance: the origin of the data, as values that JSON can hold.
    mask: shape of the outputs, True where an output was measured; None if every output was measured.
    steady: shape of the outputs, the periodic steady state of each sample: the response to the same input repeated for ever.
        None if no steady state is known. If the steady state of one sample is not known, its values are NaN; see `settled`.

    The array of an input that is constant along an axis may have size 1 on that axis. The data set broadcasts this array to the
    full shape without a copy. Copy such an input before you write to it.
    Raises LfnoError if the shapes do not fit the grid, or if the arrays have different numbers of samples.

    >>> from lfno.core.grid import Grid
    >>> data = Dataset(np.zeros((5, 1, 100)), np.zeros((5, 1, 100)), Grid.line(100, dt=0.1))
    >>> len(data), len(data[:2])
    (5, 2)
    """

    inputs: np.ndarray
    outputs: np.ndarray
    grid: Grid
    parameters: dict[str, np.ndarray] = field(default_factory=dict)
    input_channels: tuple[Channel, ...] = ()
    output_channels: tuple[Channel, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)
    mask: np.ndarray | None = None
    steady: np.ndarray | None = None

    def __post_init__(self) -> None:
        for role in ("inputs", "outputs"):
            values = getattr(self, role)
            full = (*values.shape[:2], *self.grid.shape)
            if values.ndim != len(full) or any(a not in (1, b) for a, b in zip(values.shape, full, strict=True)):
                raise LfnoError(
                    f"{role} have shape {values.shape}; (sample, channel, *{self.grid.shape}) is needed on a grid with "
                    f"axes ({', '.join(self.grid.names)})"
                )
            setattr(self, role, values if values.shape == full else np.broadcast_to(values, full))
        counts = [(name, len(values) if np.ndim(values) else -1) for name, values in self.parameters.items()]
        for name, count in [("outputs", len(self.outputs)), *counts]:
            if count != len(self.inputs):
                samples = f"{len(self.inputs)} samples of the inputs and {max(count, 0)} of {name!r}"
                raise LfnoError(f"the data set has {samples}; the numbers must agree")
        self.mask = full_mask(self.mask, self.outputs)
        if self.steady is not None and self.steady.shape != self.outputs.shape:
            raise LfnoError(f"steady has shape {self.steady.shape} and outputs {self.outputs.shape}: they must be equal")
        self.input_channels = self.input_channels or default_channels("input", self.inputs.shape[1])
        self.output_channels = self.output_channels or default_channels("output", self.outputs.shape[1])

    def __len__(self) -> int:
        return len(self.inputs)

    def __repr__(self) -> str:
        names = (", ".join(channel.name for channel in each) for each in (self.input_channels, self.output_channels))
        return shortened(f"Dataset({self.name}: {len(self)} samples, {' → '.join(names)}, {self.grid!r})")

    def __getitem__(self, chosen: slice | np.ndarray | list[int]) -> Dataset:
        """Return a data set with the chosen samples and their parameters, mask and steady states.

        Its provenance has no split, because the split in the provenance is a split of all samples.
        """
        return Dataset(
            compact(self.inputs)[chosen],
            self.outputs[chosen],
            self.grid,
            {name: values[chosen] for name, values in self.parameters.items()},
            self.input_channels,
            self.output_channels,
            _of_rows(self.provenance, np.arange(len(self))[chosen].tolist()),
            None if self.mask is None else self.mask[chosen],
            None if self.steady is None else self.steady[chosen],
        )

    @property
    def settled(self) -> np.ndarray:
        """Whether the periodic steady state of each sample is known, an array (sample,) of booleans."""
        if self.steady is None:
            return np.zeros(len(self), dtype=bool)
        return np.isfinite(self.steady).reshape(len(self), -1).all(axis=1)

    @property
    def name(self) -> str:
        """The name in the provenance, such as the name in the registry; "data" if there is none."""
        return str(self.provenance.get("name", "data"))

    def metadata(self) -> dict[str, Any]:
        """Return grid, channels and provenance as values that JSON can hold."""
        return {
            "grid": self.grid.to_dict(),
            "input_channels": [asdict(channel) for channel in self.input_channels],
            "output_channels": [asdict(channel) for channel in self.output_channels],
            "provenance": self.provenance,
        }

    @classmethod
    def from_parts(
        cls,
        inputs: np.ndarray,
        outputs: np.ndarray,
        parameters: dict[str, np.ndarray],
        metadata: dict[str, Any],
        mask: np.ndarray | None = None,
        steady: np.ndarray | None = None,
    ) -> Dataset:
        """Return a data set from its arrays and its `metadata()`. Raises LfnoError if the metadata are incomplete."""
        try:
            channels = [tuple(Channel(**c) for c in metadata[f"{role}_channels"]) for role in ("input", "output")]
            grid, provenance = Grid.from_dict(metadata["grid"]), metadata["provenance"]
        except (KeyError, TypeError) as error:
            raise LfnoError(f"the description of the data set is incomplete: {error}") from error
        return cls(inputs, outputs, grid, parameters, channels[0], channels[1], provenance, mask, steady)

    def to_xarray(self) -> xarray.Dataset:
        """Return an `xarray.Dataset` with the axes as coordinates. `from_xarray` turns it back into the same data set."""
        import xarray

        axes = self.grid.names
        variables: dict[str, Any] = {
            "inputs": (("sample", "input_channel", *axes), self.inputs),
            "outputs": (("sample", "output_channel", *axes), self.outputs),
        }
        for role in ("mask", "steady"):
            if getattr(self, role) is not None:
                variables[role] = (("sample", "output_channel", *axes), getattr(self, role))
        for name, values in self.parameters.items():
            extra = [f"{name}_{d}" for d in range(values.ndim - 1)]
            variables[f"parameter_{name}"] = (("sample", *extra), values)
        coordinates: dict[str, Any] = {
            axis.name: ((axis.name,), axis.points, {"units": axis.unit}) for axis in self.grid.axes
        }
        coordinates["input_channel"] = [channel.name for channel in self.input_channels]
        coordinates["output_channel"] = [channel.name for channel in self.output_channels]
        return xarray.Dataset(variables, coordinates, {"lfno": to_json(self.metadata(), sort_keys=True)})

    @classmethod
    def from_xarray(cls, tree: xarray.Dataset) -> Dataset:
        """Return the data set that `to_xarray` turned into `tree`. Raises LfnoError for another `xarray.Dataset`."""
        if "lfno" not in tree.attrs or not {"inputs", "outputs"} <= set(tree.data_vars):
            raise LfnoError("this xarray.Dataset was not made by Dataset.to_xarray: it lacks inputs, outputs or 'lfno'")
        parameters = {
            str(name).removeprefix("parameter_"): values.to_numpy()
            for name, values in tree.data_vars.items()
            if str(name).startswith("parameter_")
        }
        arrays = tree["inputs"].to_numpy(), tree["outputs"].to_numpy()
        mask, steady = (tree[name].to_numpy() if name in tree.data_vars else None for name in ("mask", "steady"))
        return cls.from_parts(*arrays, parameters, json.loads(tree.attrs["lfno"]), mask, steady)


def _of_rows(provenance: dict[str, Any], rows: list[int]) -> dict[str, Any]:
    """Return the provenance of the samples `rows` of a data set: new indices of samples, and no split."""
    found = {key: value for key, value in provenance.items() if key != "split"}
    if INPUT_GAPS in found:
        found[INPUT_GAPS] = [[k, *gap] for k, row in enumerate(rows) for sample, *gap in found[INPUT_GAPS] if sample == row]
    if MOVING_RUNS in found:
        found[MOVING_RUNS] = [k for k, row in enumerate(rows) if row in found[MOVING_RUNS]]
    return found


def joined(first: Dataset, second: Dataset) -> Dataset:
    """Return a data set with the samples of `first`, followed by the samples of `second`.

    Grid, channels and provenance come from `first`; the gaps of the inputs come from both. Parameters and steady states are
    left out if only one data set has them.
    """
    masks = [np.ones(each.outputs.shape, dtype=bool) if each.mask is None else each.mask for each in (first, second)]
    shared = [name for name in first.parameters if name in second.parameters]
    later = [[len(first) + sample, *gap] for sample, *gap in second.provenance.get(INPUT_GAPS, [])]
    gaps = [*first.provenance.get(INPUT_GAPS, []), *later]
    return replace(
        first,
        provenance=first.provenance | ({INPUT_GAPS: gaps} if gaps else {}),
        inputs=np.concatenate([first.inputs, second.inputs]),
        outputs=np.concatenate([first.outputs, second.outputs]),
        parameters={name: np.concatenate([first.parameters[name], second.parameters[name]]) for name in shared},
        mask=None if first.mask is None and second.mask is None else np.concatenate(masks),
        steady=None if first.steady is None or second.steady is None else np.concatenate([first.steady, second.steady]),
    )


def full_mask(mask: np.ndarray | None, outputs: np.ndarray) -> np.ndarray | None:
    """Return the mask broadcast to the shape of the outputs, or None if every output was measured."""
    if mask is None:
        return None
    try:
        full = np.broadcast_to(np.asarray(mask, dtype=bool), outputs.shape)
    except ValueError as error:
        raise LfnoError(f"a mask of shape {np.shape(mask)} does not fit outputs of shape {outputs.shape}") from error
    return None if full.all() else full


def measured_length(mask: np.ndarray | None, size: int) -> int:
    """Return the number of time samples up to the last measured output of any channel; `size` if no output was measured.

    mask: (…, time), True where an output was measured; None if every output was measured.
    size: number of time samples.
    """
    if mask is None:
        return size
    seen = np.flatnonzero(mask.any(axis=tuple(range(mask.ndim - 1))))
    return int(seen[-1]) + 1 if seen.size else size


def default_channels(role: str, count: int) -> tuple[Channel, ...]:
    """Return channels without units: `input` for one channel, `input0`, `input1`, … for several."""
    return tuple(Channel(role if count == 1 else f"{role}{c}") for c in range(count))


def compact(values: np.ndarray) -> np.ndarray:
    """Undo a broadcast: return a view with size 1 along each grid axis that has stride 0.

    values: (sample, channel, *grid).
    """
    repeated = [d >= 2 and stride == 0 for d, stride in enumerate(values.strides)]
    return values[tuple(slice(0, 1) if once else slice(None) for once in repeated)]
