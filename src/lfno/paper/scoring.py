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

LOOKS = 100  # validations; a record stores the losses of about so many validations, to stay small


@dataclass
class CellRun:
    """A cell with its data, and with the results so far.

    data: the data set.
    split: the samples of training, validation and test.
    path: a linear model of the field, see `lfno.paper.linear_paths`. The network learns the residual of this linear model. None
        for most runs.
    known: the predictions of the linear model for all samples, (samples, channels, *grid). If only other runs of the stack have
        a linear model: zeros. If no run has one: None.
    seconds: training time so far.
    at: epoch → test errors of the best weights up to this epoch, for the milestones of the cell.
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
        """Return `prediction` of the network plus the prediction of the linear model, if the run has a linear model."""
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
    prediction: the whole prediction for the test samples, (samples, channels, *grid); see `CellRun.whole`.
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
        # for each data set, preset and label, only one run stores an example, so that the other records stay small
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
    """Return the example of a record: the middle test sample. All models of a data set have the same example.

    "poles" has the rows (real part, imaginary part, contribution) of at most 200 poles along the time axis.
    """
    middle = len(run.split.test) // 2
    given = run.inputs[middle : middle + 1]
    transient, steady = model.to("cpu").decompose(given)
    example = {"truth": run.outputs[middle], "prediction": prediction[middle], "input": given[0]}
    example |= {"transient": transient[0], "steady": steady[0]}
    if isinstance(model, PoleOperator):
        table = model.poles()
        own = table.axis == model.grid.axes[-1].name  # with the paper preset, a field also has poles along its space axes
        poles = np.stack((table.pole.real, table.pole.imag, table.contribution), 1)
        example["poles"] = poles[own][:200]
    found = {name: rounded(_small(values), 6) for name, values in example.items()}
    return {"index": int(run.split.test[middle])} | found


def _small(values: np.ndarray) -> np.ndarray:
    """Return the values of an example that a figure needs.

    values: (channels, *grid), or (rows, columns) of the poles. Of a signal, at most 512 time steps are kept. Of a flow (a field
    over x, y and t), only the last time is kept. A field over x and t is returned unchanged.
    """
    if values.ndim == 2:
        return thin(values, 512)
    return values[..., -1] if values.ndim == 4 else values
