"""From a trained run to its record: errors, regimes, curves and one example for pictures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.identification.field import FieldModel
from lfno.models.operator import Operator
from lfno.models.pole_operator import PoleOperator
from lfno.paper.cost import count_parameters
from lfno.paper.matrix import Cell
from lfno.paper.record import RunRecord, regime_summary, rounded, scored, thin
from lfno.training.loop import Trainer

LOOKS = 100  # validations whose losses a record stores, about


@dataclass
class CellRun:
    """One cell with its samples, its training time so far, and its errors at the milestones.

    path: a linear model of the fields, whose residual the network learns; None for most runs.
    known: the predictions of that linear model.
    """

    cell: Cell
    data: Dataset
    split: Split
    path: FieldModel | None = None
    known: np.ndarray | None = None
    seconds: float = 0.0
    at: dict[str, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.training = self.cell.resolved().training

    @property
    def epochs(self) -> int:
        """The number of epochs of the run."""
        return self.training.epochs

    @property
    def inputs(self) -> np.ndarray:
        """The inputs of the test samples."""
        return self.data.inputs[self.split.test]

    def whole(self, prediction: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """Return the sum of linear path and network."""
        return prediction if self.path is None else prediction + self.path.predict(np.asarray(inputs)).astype(prediction.dtype)

    @property
    def outputs(self) -> np.ndarray:
        """The outputs of the test samples."""
        return self.data.outputs[self.split.test]


def mean_errors(prediction: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    """Return the mean relative errors {"l2", "linf"} over the samples."""
    return {name: float(values.mean()) for name, values in scored(prediction, truth).items()}


def record_of(
    run: CellRun,
    trainer: Trainer,
    row: int,
    prediction: np.ndarray,
    model: Operator,
    stacked: int,
    outside: dict[str, float],
    where: dict[str, str],
) -> RunRecord:
    """Return the record of the run in row `row` of the trainer's stack, with its prediction for the test samples."""
    cell, test = run.cell, run.split.test
    errors, steady_decay = scored(prediction, run.outputs), trainer.tasks[row].steady_decay
    parameters = {
        name: rounded(values[test]) for name, values in run.data.parameters.items() if np.ndim(values) == 1
    }
    return RunRecord(
        task=cell.task,
        model=cell.model,
        label=cell.title,
        preset=cell.preset,
        seed=cell.seed,
        fold=cell.fold,
        study=cell.study,
        config=asdict(model.config),
        training=asdict(run.training) | ({} if steady_decay is None else {"steady_decay": steady_decay}),
        parameters=count_parameters(model),
        train_samples=len(run.split.train),
        best_epoch=int(trainer.best_epoch[row]),
        seconds=round(run.seconds, 3),
        stacked=stacked,
        scores={name: float(values.mean()) for name, values in errors.items()},
        at=run.at,
        samples={name: rounded(values) for name, values in errors.items()} | parameters,
        regimes=regime_summary(prediction, run.outputs, run.data.grid),
        history=_history(trainer, row),
        # one example keeps the record small
        example=_example(run, prediction, model) if cell.study == "main" and cell.seed == cell.fold == 0 else {},
        environment=where,
        out_of_family=outside,
    )


def _history(trainer: Trainer, row: int) -> dict[str, Any]:
    past = trainer.history
    looks = sorted({*thin(np.arange(len(past.epoch)), LOOKS).tolist(), len(past.epoch) - 1})
    return {
        "epoch": [past.epoch[i] for i in looks],
        "rate": rounded(np.array([past.rate[i] for i in looks])),
        "seconds": rounded(np.array([past.seconds[i] for i in looks])),
        "train": rounded(np.array([past.train[i][row] for i in looks])),
        "validation": rounded(np.array([past.validation[i][row] for i in looks])),
    }


def _example(run: CellRun, prediction: np.ndarray, model: Operator) -> dict[str, Any]:
    """Return the example of a record. It is the same sample for every model, so that figures can be compared."""
    middle = len(run.split.test) // 2
    given = run.inputs[middle : middle + 1]
    transient, steady = model.to("cpu").decompose(given)
    example = {"truth": run.outputs[middle], "prediction": prediction[middle], "input": given[0]}
    example |= {"transient": transient[0], "steady": steady[0]}
    if isinstance(model, PoleOperator):
        table = model.poles().top(200)
        example["poles"] = np.stack((table.pole.real, table.pole.imag, table.contribution), 1)
    found = {name: rounded(_small(values), 6) for name, values in example.items()}
    return {"index": int(run.split.test[middle])} | found


def _small(values: np.ndarray) -> np.ndarray:
    """Thin an example for a figure: a series to 512 steps; a field (x, t) is unchanged; of (x, y, t) the last time is kept."""
    if values.ndim == 2:
        return thin(values, 512)
    return values[..., -1] if values.ndim == 4 else values
