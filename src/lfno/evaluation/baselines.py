"""Baselines: simple predictions that a model should beat.

They are the mean, persistence (the initial state for all times), interpolation between samples, and the linear baseline. Each
is a function `fit(inputs, outputs, parameters, grid, mask)` that returns a function `predict(inputs, parameters)`.

inputs, outputs: (samples, channels, *grid).
parameters: (samples,) or (samples, p); None if samples have no parameters.
mask: shape of the outputs, True where an output was measured; None if every output was measured.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lfno.core.checks import real_array
from lfno.core.errors import LfnoError
from lfno.core.grid import Grid
from lfno.identification.linear import fit_trajectories

Parameters = np.ndarray | None
Predict = Callable[[np.ndarray, Parameters], np.ndarray]
Mask = np.ndarray | None
FitBaseline = Callable[[np.ndarray, np.ndarray, Parameters, Grid, Mask], Predict]


def fit_mean(inputs: np.ndarray, outputs: np.ndarray, parameters: Parameters, grid: Grid, mask: Mask = None) -> Predict:
    """Predict the mean training output at each point of the grid, for any input."""
    mean = outputs.mean(0)
    if mask is not None:  # if no sample was measured at a point, use the mean of all outputs there
        count = mask.sum(0)
        mean = np.where(count > 0, np.where(mask, outputs, 0.0).sum(0) / np.maximum(count, 1), mean)

    def predict(inputs: np.ndarray, parameters: Parameters = None) -> np.ndarray:
        return np.broadcast_to(mean, (len(inputs), *mean.shape))

    return predict


def fit_persistence(
    inputs: np.ndarray, outputs: np.ndarray, parameters: Parameters, grid: Grid, mask: Mask = None
) -> Predict:
    """Predict the initial state for all times.

    There are two candidates for the initial state:

    - the last channels of the input, as many as the output has, if every input is constant in time. The channels of such an
      input hold the initial state, or several successive states, repeated along time.
    - the mean of the training outputs at the first time step, for forced systems.

    The function uses the candidate that is nearer to the training outputs at the first time step.
    """
    count, start = outputs.shape[1], outputs[..., :1]
    common = start.mean(0)

    def shared(inputs: np.ndarray, parameters: Parameters = None) -> np.ndarray:
        return np.broadcast_to(common, (len(inputs), *outputs.shape[1:]))

    def own(inputs: np.ndarray, parameters: Parameters = None) -> np.ndarray:
        return np.broadcast_to(inputs[:, -count:, ..., :1], (len(inputs), *outputs.shape[1:]))

    if _repeats(inputs) and inputs.shape[1] >= count and inputs.shape[2:-1] == outputs.shape[2:-1]:
        distance = np.linalg.norm(inputs[:, -count:, ..., :1] - start)
        return own if distance < np.linalg.norm(common - start) else shared
    return shared


def fit_interpolation(
    inputs: np.ndarray, outputs: np.ndarray, parameters: Parameters, grid: Grid, mask: Mask = None
) -> Predict:
    """Predict by linear interpolation between the training samples with the nearest parameters, or by extrapolation.

    Samples with the same parameter are replaced by their mean. Raises LfnoError unless every sample has exactly one parameter,
    and the parameters have at least two different values.
    """
    places, which = np.unique(_single(parameters), return_inverse=True)
    if len(places) < 2:
        raise LfnoError("interpolation needs at least two training samples with different parameters")
    share = np.zeros((len(places), len(outputs)))
    share[which, np.arange(len(outputs))] = 1 / np.bincount(which)[which]
    table = np.tensordot(share, outputs, 1) if len(places) < len(outputs) else outputs[np.argsort(which)]

    def predict(inputs: np.ndarray, parameters: Parameters = None) -> np.ndarray:
        wanted = _single(parameters)
        left = np.clip(np.searchsorted(places, wanted) - 1, 0, len(places) - 2)
        slope = (wanted - places[left]) / (places[left + 1] - places[left])
        slope = slope.reshape(-1, *[1] * (outputs.ndim - 1))
        return (1 - slope) * table[left] + slope * table[left + 1]

    return predict


def fit_linear(inputs: np.ndarray, outputs: np.ndarray, parameters: Parameters, grid: Grid, mask: Mask = None) -> Predict:
    """Predict with a linear model: time-invariant for signals, any linear map of the whole input field for fields.

    The map of fields is the ridge regression u = ū + Yᵀ (X Xᵀ + λ)⁻¹ X (f − f̄). The rows of X and Y are the training inputs
    and outputs minus their means f̄ and ū, f is a new input and u its prediction. The ridge parameter λ has the smallest error
    of six candidates on a held-out fifth of the samples, or on all samples if there are fewer than five.
    """
    if grid.ndim == 1:
        model = fit_trajectories(inputs, outputs, grid, mask)

        def simulate(inputs: np.ndarray, parameters: Parameters = None) -> np.ndarray:
            return model.predict(inputs)

        return simulate
    return _fit_fields(inputs, outputs)


def _fit_fields(inputs: np.ndarray, outputs: np.ndarray) -> Predict:
    """Fit the ridge regression of `fit_linear`."""
    once = _repeats(inputs)

    def flat(fields: np.ndarray) -> np.ndarray:
        """Return the fields as rows (samples, values). If all inputs are constant in time, one time step is enough."""
        fields = fields[..., :1] if once else fields
        return fields.reshape(len(fields), -1).astype(np.float64)

    rows = flat(inputs)
    order = np.random.default_rng(0).permutation(len(rows))
    held, kept = (order[: len(rows) // 5], order[len(rows) // 5 :]) if len(rows) >= 5 else (order, order)

    def regress(train: np.ndarray, ridge: float) -> Callable[[np.ndarray], np.ndarray]:
        """Return the map from rows of inputs to outputs, fitted to the samples `train`.

        ridge: λ divided by the mean squared norm of a row.
        """
        middle, mean = rows[train].mean(0), outputs[train].mean(0)
        centred = rows[train] - middle
        gram = centred @ centred.T
        energy = np.trace(gram) / len(gram) or 1.0
        inverse = np.linalg.inv(gram + ridge * energy * np.eye(len(gram)))
        # weights @ centring @ outputs = weights @ (outputs minus their mean)
        centring = np.eye(len(gram)) - 1 / len(gram)
        return lambda new: mean + np.tensordot((new - middle) @ centred.T @ inverse @ centring, outputs[train], 1)

    def error(ridge: float) -> float:
        """Return the mean relative L2 error on the samples that were held out."""
        missed = regress(kept, ridge)(rows[held]) - outputs[held]
        axes = tuple(range(1, outputs.ndim))
        size = np.sqrt((outputs[held] ** 2).sum(axes))
        return float((np.sqrt((missed**2).sum(axes)) / np.maximum(size, 1e-12 * (size.max() or 1.0))).mean())

    model_of = regress(order, min((1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 1.0), key=error))

    def predict(inputs: np.ndarray, parameters: Parameters = None) -> np.ndarray:
        return model_of(flat(inputs))

    return predict


#: name of a baseline -> function that fits it
BASELINES: dict[str, FitBaseline] = {
    "mean": fit_mean,
    "persistence": fit_persistence,
    "interpolation": fit_interpolation,
    "linear": fit_linear,
}


def fit_baselines(
    inputs: np.ndarray, outputs: np.ndarray, parameters: Parameters, grid: Grid, mask: Mask = None
) -> dict[str, Predict]:
    """Fit every baseline that the data allow, and return name → predict.

    The arguments are described at the top of this file. The mean and the linear model of signals use only measured values.
    Interpolation is left out unless every sample has exactly one parameter, with at least two different values. Raises
    LfnoError if the shapes do not agree.
    """
    inputs, outputs = _checked(inputs, outputs, parameters, grid)
    if mask is not None and np.shape(mask) != outputs.shape:
        raise LfnoError(f"the mask has the shape {np.shape(mask)}; {outputs.shape} is needed, one for each output value")
    one = parameters is not None and np.size(parameters) == len(inputs) and len(np.unique(parameters)) >= 2
    names = [name for name in BASELINES if one or name != "interpolation"]
    return {name: BASELINES[name](inputs, outputs, parameters, grid, mask) for name in names}


def _checked(
    inputs: np.ndarray, outputs: np.ndarray, parameters: Parameters, grid: Grid
) -> tuple[np.ndarray, np.ndarray]:
    """Return (inputs, outputs) as arrays. Raises LfnoError for wrong shapes or values that are not finite."""
    wanted = f"(samples, channels, *{grid.shape})"
    inputs = real_array(inputs, "the inputs", wanted, 3, finite=True)
    outputs = real_array(outputs, "the outputs", wanted, 3, finite=True)
    for what, values in (("inputs", inputs), ("outputs", outputs)):
        if values.shape[2:] != grid.shape or len(values) != len(inputs):
            raise LfnoError(f"the {what} have the shape {values.shape}; {wanted} is needed for {len(inputs)} inputs")
    if parameters is not None:
        real_array(parameters, "the parameters of the samples", finite=True)
        if np.ndim(parameters) == 0 or len(parameters) != len(inputs):
            shape = np.shape(parameters)
            raise LfnoError(f"the parameters have the shape {shape}; each of the {len(inputs)} samples needs a parameter")
    return inputs, outputs


def _single(parameters: Parameters) -> np.ndarray:
    """Return the parameters as (samples,). Raises LfnoError unless every sample has exactly one parameter."""
    if parameters is None or np.ndim(parameters) not in (1, 2) or np.size(parameters) != len(parameters):
        raise LfnoError("interpolation needs exactly one parameter for each sample, and this data set has none or several")
    return np.asarray(parameters, dtype=np.float64).ravel()


def _repeats(inputs: np.ndarray) -> bool:
    """Return whether every input is constant in time."""
    return all(bool((sample == sample[..., :1]).all()) for sample in inputs)
