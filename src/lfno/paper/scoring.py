"""Make the record of a trained run: errors, error over time, learning curves, and one example for figures."""

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

LOOKS = 100  # approximate number of validations whose losses a record stores


@dataclass
class CellRun:
    """A cell with its data, and with the results so far.

    data: the data set.
    split: the samples of training, validation and test.
    path: a linear model of the field, or None for most runs. The network learns the residual of this linear model.
    known: the predictions of the linear model for all samples.
    seconds: training time so far.
    at: epoch → test errors at this epoch, for the milestones of the cell.
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
        """Return the whole prediction: the prediction of the network plus the prediction of the linear model, if any."""
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
    """Return the record of a run.

    row: number of the run in the stack of the trainer.
    prediction: the prediction for the test samples.
    model: the trained model.
    stacked: number of runs that were trained together.
    outside: errors on kinds of input that no training set has.
    where: hardware, and versions of the software.
    """
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
        # only one run of each model stores an example, so that the other records stay small
        example=_example(run, prediction, model) if cell.study == "main" and cell.seed == cell.fold == 0 else {},
        environment=where,
        out_of_family=outside,
    )


def _history(trainer: Trainer, row: int) -> dict[str, Any]:
    """Return the learning curves of one run of the stack, at about LOOKS validations."""
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
    """Return the example of a record: the middle test sample, the same one for every model."""
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
    """Return fewer values of an example, enough for a figure: at most 512 time steps of a signal, or the last time of a flow.

    values: (channels, *grid). A field over x and t is returned unchanged.
    """
    if values.ndim == 2:
        return thin(values, 512)
    return values[..., -1] if values.ndim == 4 else values
