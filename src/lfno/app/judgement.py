"""What came of a training run: errors beside the baselines, predicted and measured, the two parts, the poles."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.app.plain import plain
from lfno.app.signals import curves
from lfno.app.systems import pole_columns
from lfno.app.training import Run
from lfno.core.errors import LfnoError
from lfno.evaluation.caveat import split_caveat
from lfno.evaluation.metrics import relative_l2, relative_linf
from lfno.evaluation.ringing import listening, ringing
from lfno.models.pole_operator import PoleOperator
from lfno.surrogate.contest import Contest

SPAN = 2048  # samples of a record that are shown at a time


class Judgement:
    """The test of a finished run, kept so that the page can ask for one sample after another."""

    def __init__(self, run: Run) -> None:
        assert run.result is not None
        fitted = run.result.fitted
        assert fitted is not None
        assert fitted.contest is not None
        self.label = run.model.upper()
        self.contest: Contest = fitted.contest
        self.model = run.result.networks[0]
        prepared = fitted.prepared
        self.parts: tuple[np.ndarray, np.ndarray] | None = None
        data, record = prepared.dataset, prepared.record is not None
        self.names = [[channel.name, channel.unit] for channel in data.output_channels]
        if record:
            assert prepared.test is not None
            warm = prepared.warmup
            rest = prepared.test.part(warm, len(prepared.test))
            self.grid, self.inputs = rest.grid, rest.inputs[None]
            transient, steady = run.result.decompose(prepared.test, warn=False)
            self.parts = (transient[None, ..., warm:], steady[None, ..., warm:])
        else:
            self.grid, self.inputs = data.grid, np.array(data.inputs[prepared.split.test])
        self.record = record

    def report(self) -> dict[str, Any]:
        """The table of errors and the verdict."""
        size = self.grid.shape[-1]
        return plain(
            {
                **self.contest.to_dict(),
                "label": self.label,
                "output": self.names,
                "record": self.record,
                "caveat": split_caveat(self.model),
                "places": -(-size // SPAN) if self.record else len(self.inputs),
                "parameters": sum(weight.numel() for weight in self.model.parameters()),
            }
        )

    def sample(self, place: int) -> dict[str, Any]:
        """One test trajectory, or one stretch of the test record: measured, predicted, the two parts, the poles."""
        places = self.report()["places"]
        if not 0 <= place < places:
            raise LfnoError(f"there is no test sample {place}: there are {places}, counted from 0")
        axis = self.grid.axes[-1]
        if self.record:
            start, stop = place * SPAN, min((place + 1) * SPAN, axis.size)
            index: tuple[Any, ...] = (0, Ellipsis, slice(start, stop))
            grid = self.grid.change(axis.name, size=stop - start, origin=axis.origin + start * axis.step)
        else:
            index, grid = (place,), self.grid
        truth, prediction = self.contest.truth[index], self.contest.prediction[index]
        transient, steady, poles = self._inside(place, index)
        return plain(
            {
                **curves(
                    grid, input=self.inputs[index], truth=truth, prediction=prediction, linear=self.contest.linear[index],
                    transient=transient, steady=steady,
                ),
                "poles": poles,
                "l2": float(relative_l2(prediction[None], truth[None])[0]),
                "linf": float(relative_linf(prediction[None], truth[None])[0]),
            }
        )  # fmt: skip

    def _inside(self, place: int, index: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray, dict[str, Any] | None]:
        model = self.model
        if self.parts is not None:
            table = model.poles() if isinstance(model, PoleOperator) else None
            return self.parts[0][index], self.parts[1][index], None if table is None else pole_columns(table)
        with listening(model) as heard:
            transient, steady = model.decompose(self.inputs[place : place + 1], self.grid)
        poles = pole_columns(ringing(model, heard)) if isinstance(model, PoleOperator) else None
        return transient[0], steady[0], poles
