"""Run a benchmark: read the data, fit a model to the training records, and compute the figures on the test records."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lfno.challenges.fitted import Settings
from lfno.challenges.load import Data, load
from lfno.challenges.methods import find_method
from lfno.challenges.protocol import Model, Question, figures
from lfno.core.environment import environment
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json
from lfno.core.short import Short


@dataclass(frozen=True, repr=False)
class Result(Short):
    """The result of one run.

    benchmark: name of the benchmark.
    unit: unit of the figures.
    method: name of the method.
    model: description of the fitted model.
    figures: the figures of merit on the test records, by name; one value for each seed.
    together: figures of the mean prediction of all seeds; equal to `figures` for one seed.
    validation: figures on held-out training records, as means over the seeds.
    seconds: duration of the fit.
    configuration: settings of the fit and of the network.
    environment: versions and hardware.
    """

    benchmark: str
    unit: str
    method: str
    model: str
    figures: dict[str, list[float]]
    together: dict[str, float]
    validation: dict[str, float]
    seconds: float
    configuration: dict[str, Any]
    environment: dict[str, str]

    @property
    def mean(self) -> dict[str, float]:
        """Return the mean of each figure over the seeds."""
        return {name: float(np.mean(values)) for name, values in self.figures.items()}

    @property
    def spread(self) -> dict[str, float]:
        """Return the standard deviation of each figure over the seeds; NaN for one seed."""
        return {name: float(np.std(v, ddof=1)) if len(v) > 1 else math.nan for name, v in self.figures.items()}

    def write(self, folder: str | Path) -> Path:
        """Write the result as `NAME-METHOD-COMMIT.json` into a folder and return the path."""
        from lfno.core.tensorfile import write_atomically

        path = Path(folder) / f"{self.benchmark}-{self.method}-{self.environment['commit']}.json"
        write_atomically(path, (to_json(asdict(self), indent=2) + "\n").encode())
        return path


@dataclass(frozen=True)
class Mean:
    """The mean prediction of several models."""

    models: Sequence[Model]
    description: str = "mean of the seeds"

    def simulate(self, question: Question) -> np.ndarray:
        return np.mean([model.simulate(question) for model in self.models], axis=0)


def run(
    name: str | Data,
    path: str | Path | None = None,
    method: str = "auto",
    *,
    seeds: int = 1,
    device: str | None = None,
    minutes: float | None = None,
    watch: Callable[[Any, dict[str, Any]], None] | None = None,
    **changes: Any,
) -> Result:
    """Fit a model by the protocol of a benchmark. Return the result with the figures of merit.

    Args:
        name: the benchmark, or its records as `load` returns them.
        path: the folder or file of the data, see `load`.
        method: "linear", "level", "rectified", "feedback", "lfno" or "auto". The method "auto" compares the others on
            held-out training records.
        seeds: number of networks with different initial weights, which are trained together. A method without a network gives
            one model.
        device: "cpu" or "cuda" for networks. The default is the best available device.
        minutes: time budget for the whole fit. By default it is 9 minutes on a CPU. Networks have no limit on a GPU, or if
            `epochs` is given.
        watch: a callback for the progress of the training.
        changes: fields of the network or of its training, such as `epochs=100`.

    Raises:
        LfnoError: the data cannot be read, a name is unknown, or a prediction is not finite.

    >>> result = run("cascaded-tanks", "CascadedTanksFiles", "linear")  # doctest: +SKIP
    >>> result.mean  # doctest: +SKIP
    {'test': 0.56}
    """
    fit = find_method(method)
    data = name if isinstance(name, Data) else load(name, path)
    settings = Settings(seeds, device, changes, watch, None if minutes is None else 60 * minutes)
    start = time.monotonic()
    fitted = fit(data.training, settings)
    seconds = time.monotonic() - start
    challenge = data.challenge
    scored = [figures(model, data.test, challenge.skip, challenge.scale) for model in fitted.models]
    found = {figure: [one[figure] for one in scored] for figure in scored[0]}
    for figure, values in found.items():
        if not all(map(math.isfinite, values)):
            raise LfnoError(f"{challenge.name}: the prediction for {figure!r} is not finite; try another method or seed")
    together = figures(Mean(fitted.models), data.test, challenge.skip, challenge.scale)
    return Result(
        challenge.name, challenge.unit, method, fitted.models[0].description, found, together, fitted.validation,
        seconds, {"seeds": seeds, "changes": changes, **fitted.configuration}, environment(device),
    )  # fmt: skip
