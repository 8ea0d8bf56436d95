"""The published numbers of the LFNO paper."""

from __future__ import annotations

from dataclasses import dataclass

from lfno.systems.titles import ODES, PDES

MODELS = ("FNO", "LNO", "LFNO")


@dataclass(frozen=True)
class ErrorTable:
    """A table of errors of the paper.

    name: title of the table.
    metric: "l2" or "linf".
    epochs: data set → number of epochs.
    errors: model → data set → error.
    """

    name: str
    metric: str
    epochs: dict[str, int]
    errors: dict[str, dict[str, float]]

    def best(self, task: str) -> tuple[str, float]:
        """Return the model with the lowest published error on a data set, and this error."""
        return min(((model, row[task]) for model, row in self.errors.items()), key=lambda pair: pair[1])


def _table(name: str, metric: str, tasks: dict[str, str], epochs: list[int], **rows: list[float]) -> ErrorTable:
    """Return a table. `epochs` and each of the `rows` (one per model) have one number for each data set."""
    errors = {model: dict(zip(tasks, row, strict=True)) for model, row in rows.items()}
    return ErrorTable(name, metric, dict(zip(tasks, epochs, strict=True)), errors)


ODE_L2 = _table(
    "ODEs, relative L2", "l2", ODES, [5000, 5200, 8100, 4000, 6800],
    FNO=[0.0726, 0.0565, 0.1225, 0.4340, 0.0426],
    LNO=[0.2014, 0.0762, 0.0288, 0.2571, 0.0735],
    LFNO=[0.0518, 0.0142, 0.0075, 0.1731, 0.0315],
)  # fmt: skip
ODE_LINF = _table(
    "ODEs, relative L∞", "linf", ODES, [5000] * 5,
    FNO=[0.1338, 0.0293, 0.4295, 0.7137, 0.0356],
    LNO=[0.6686, 0.1600, 0.0837, 0.4087, 0.1405],
    LFNO=[0.2842, 0.0218, 0.2245, 0.2646, 0.0337],
)  # fmt: skip
PDE_L2 = _table(
    "PDEs, relative L2", "l2", PDES, [5000] * 7,
    FNO=[0.0037, 0.0015, 0.0028, 0.0023, 0.0046, 0.0006, 0.0286],
    LNO=[0.2509, 0.0227, 0.0779, 0.0137, 0.0275, 0.0042, 0.0458],
    LFNO=[0.0095, 0.0031, 0.0043, 0.0029, 0.0026, 0.0004, 0.0026],
)  # fmt: skip
PDE_LINF = _table(
    "PDEs, relative L∞", "linf", PDES, [5000] * 7,
    FNO=[0.0072, 0.0059, 0.0078, 0.0083, 0.0471, 0.0024, 0.0411],
    LNO=[0.2798, 0.0560, 0.1400, 0.0567, 0.2387, 0.0066, 0.1268],
    LFNO=[0.0245, 0.0124, 0.0148, 0.0110, 0.0125, 0.0024, 0.0071],
)  # fmt: skip
ERROR_TABLES = (ODE_L2, ODE_LINF, PDE_L2, PDE_LINF)


def _find(metric: str, task: str) -> ErrorTable | None:
    """Return the table with the errors of a data set in a metric, or None."""
    return next((table for table in ERROR_TABLES if table.metric == metric and task in table.epochs), None)


def published(metric: str, task: str, model: str) -> float | None:
    """Return the paper's error of a model; None if there is none."""
    table = _find(metric, task)
    return None if table is None else table.errors.get(model, {}).get(task)


def epochs(metric: str, task: str) -> int | None:
    """Return the number of epochs that the paper states for an error, or None.

    For the ODEs, the paper states different numbers for the L2 and the L∞ errors of the same runs.
    """
    table = _find(metric, task)
    return None if table is None else table.epochs[task]


#: hyper-parameter -> its values for FNO, LNO and LFNO on the ODEs, then for FNO, LNO and LFNO on the PDEs
HYPER_PARAMETERS: dict[str, tuple[str, ...]] = {
    "layers": ("4", "1", "6", "4", "1", "6"),
    "width": ("4", "4", "4", "16", "16", "16"),
    "modes": ("16", "16", "16", "4", "4", "4"),
    "batch": ("64", "64", "64", "50", "50", "50"),
    "learning rate": ("0.0025", "0.0025", "0.0025", "0.002", "0.002", "0.002"),
    "weight decay": ("0.02", "0.02", "0.02", "0.0001", "0.0001", "0.0001"),
    "schedule": ("×0.85 / 100", "×0.85 / 100", "×0.85 / 100", "×0.8 / 100", "×0.8 / 100", "×0.8 / 100"),
    "activation": ("relu", "sin", "relu", "relu", "sin", "relu"),
}

#: the paper's table of costs on an NVIDIA RTX 3090: latency in ms, FLOPs in 10⁷, memory in MB. The paper gives no unit for MACs
COST: dict[str, dict[str, str]] = {
    "FNO": {"parameters": "7,537", "latency": "0.9195", "macs": "146.95", "flops": "0.812", "memory": "46.0"},
    "LNO": {"parameters": "1,309", "latency": "0.6664", "macs": "2.80", "flops": "0.636", "memory": "24.0"},
    "LFNO": {"parameters": "3,417", "latency": "1.8522", "macs": "16.48", "flops": "1.592", "memory": "48.0"},
}

#: Lorenz ρ = 10: the only amplitude of the forcing at which the final x changes its sign
LORENZ_FLIP = 7.3710424
