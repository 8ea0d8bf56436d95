"""The studies of `lfno reproduce`: which runs belong to each study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.paper.matrix import Cell, deep_enough, known_to, long_enough

#: the ODEs of the paper
ODE = ("duffing-c0", "duffing-c05", "lorenz-rho5", "lorenz-rho10", "pendulum-c05")
#: the PDEs of the paper with one space axis
PDE = ("beam", "heat", "reaction-diffusion", "brusselator", "burgers")
#: ODEs with random inputs
RICH = ("duffing-c05-rich", "pendulum-c05-rich", "lorenz-rho5-rich", "lorenz-rho10-rich")
#: ODEs with random inputs that all studies have
STUDIED = RICH[:3]
#: PDEs with random forcing
RICH_FIELDS = ("heat-rich", "beam-rich", "reaction-diffusion-rich", "brusselator-rich")
#: PDEs with random initial fields, without forcing
RICH_STARTS = ("burgers-rich", "navier-stokes-rich")
#: groups of data sets that `--tasks` accepts
GROUPS = {
    "ode": ODE, "pde": PDE, "rich": RICH, "rich-fields": RICH_FIELDS, "rich-starts": RICH_STARTS, "paper": (*ODE, *PDE)
}  # fmt: skip
#: kinds of models. All FNOs have the width and modes of LFNO. "fno" also has the number of epochs of LFNO. "fno deep" has more
#: layers, and at least as many parameters as LFNO. "fno long" has more epochs, and at least the training time of LFNO
KINDS = ("lfno", "lno", "fno", "fno deep", "fno long")


@dataclass(frozen=True)
class Variant:
    """One row of a study.

    label: name of the row.
    changes: options of model and training that differ from the preset.
    train_samples: number of training samples; None for all.
    """

    label: str = ""
    changes: dict[str, Any] = field(default_factory=dict)
    train_samples: int | None = None


@dataclass(frozen=True)
class Study:
    """A study. Its runs are the training of every variant of every model on every data set.

    `tasks`, `models` and `preset` are defaults that the user can change.
    """

    tasks: tuple[str, ...]
    models: tuple[str, ...] = ("lfno",)
    preset: str = "default"
    variants: tuple[Variant, ...] = (Variant(),)


STUDIES = {
    "main": Study(GROUPS["paper"], ("lfno", "fno", "lno")),
    # six layers, divided between the transient and the steady branch
    "layers": Study(
        ("duffing-c05", "pendulum-c05"),
        preset="paper",
        variants=tuple(
            Variant(f"{t}+{s}", {"layout": "branches", "steady": "shared", "transient_layers": t, "steady_layers": s})
            for t, s in ((4, 2), (3, 3), (2, 4), (6, 0), (0, 6))
        ),
    ),
    # fewer training samples; validation samples, test samples and the number of steps stay the same
    "samples": Study(
        ("duffing-c05", "duffing-c05-rich"),
        ("lfno", "fno"),
        variants=tuple(Variant(str(size), train_samples=size) for size in (50, 100, 150, 200, 274)),
    ),
    # the next three studies change the default step by step. First step: no gates in LFNO's layers. LFNOs on fields have no
    # gates by default, so only data sets of signals are in this study
    "gate": Study((*ODE, *STUDIED), variants=(Variant(changes={"gate": False}),)),
    # second step: no gates and no padding
    "padding": Study((*ODE, *PDE, *STUDIED), ("lfno", "fno"), variants=(Variant(changes={"gate": False, "padding": 0.0}),)),
    # third step: no gates, no padding, and a loss of values only (the default loss has values and slopes)
    "loss": Study(
        (*ODE, *STUDIED), ("lfno", "fno", "lno"), variants=(Variant(changes={"gate": False, "padding": 0.0, "loss": "l2"}),)
    ),
    # the default, and variants that change one option. R is one trainable channel matrix for each low Fourier mode of a layer;
    # it is untamed if its weight decay is small
    "ablation": Study(
        ("duffing-c05", *STUDIED),
        variants=(
            Variant("default"),
            Variant("R residual untamed", {"steady_decay": 1e-4}),
            Variant("R free", {"steady": "free", "steady_decay": 1e-4}),
            Variant("R shared", {"steady": "shared", "steady_decay": 1e-4}),
            Variant("R none", {"steady": "exact", "steady_decay": 0.0}),  # without R there is no weight decay to choose
            Variant("no gates", {"gate": False}),
            *(Variant(f"{depth} layers", {"transient_layers": depth}) for depth in (2, 4, 12)),
            *(Variant(f"{count} poles", {"n_poles": count}) for count in (4, 16, 32)),
        ),
    ),
}


@dataclass(frozen=True)
class Question:
    """A study with the options of the user.

    tasks, models, preset: None for the default of the study.
    seeds: number of seeds of the initial weights. Each seed is one run.
    folds: number of folds. Each fold has another test set: a fifth of the samples, or a sixth for `navier-stokes-nu1e-3`. Each
        pair of seed and fold is one run.
    label: name of the rows in tables; "" for the names of the models.
    changes: options of model and training that differ from the preset.
    """

    study: str = "main"
    tasks: Sequence[str] | None = None
    models: Sequence[str] | None = None
    preset: str | None = None
    seeds: int = 3
    folds: int = 1
    label: str = ""
    changes: dict[str, Any] = field(default_factory=dict)

    def stages(self) -> list[tuple[str, ...]]:
        """Return groups of kinds of models, in the order in which they are trained.

        'fno long' is in the last group, because its number of epochs depends on the measured training times of LFNO and FNO.
        """
        kinds = tuple(self.models or self._study.models)
        unknown = [kind for kind in kinds if kind not in KINDS]
        if unknown:
            raise LfnoError(f"model {unknown[0]!r} is not known; choose among {', '.join(KINDS)}")
        stages = [tuple(k for k in kinds if k != "fno long"), tuple(k for k in kinds if k == "fno long")]
        return [stage for stage in stages if stage]

    def cells(self, kinds: Sequence[str], folder: Path) -> list[Cell]:
        """Return the cells of these kinds of models. For 'fno long', `folder` must have records of LFNO and FNO."""
        study = self._study
        given = self.tasks or study.tasks
        tasks = list(dict.fromkeys(name for task in given for name in GROUPS.get(task, (task,))))
        return [
            Cell(task, kind.split(" ")[0], preset, self._title(kind, variant), self.study, seed, fold,
                 variant.train_samples, changes)
            for kind in kinds
            for variant in study.variants
            for task in tasks
            for preset in [self.preset or study.preset]
            for changes in [self._changes(kind, variant, task, preset, folder)]
            for seed in range(self.seeds)
            for fold in range(self.folds)
        ]  # fmt: skip

    @property
    def _study(self) -> Study:
        if self.study not in STUDIES:
            raise LfnoError(f"study {self.study!r} is not known; choose among {', '.join(STUDIES)}")
        return STUDIES[self.study]

    def _title(self, kind: str, variant: Variant) -> str:
        """Return the name of a row in tables, such as "FNO deep". File names contain it, so it is unique within a study."""
        model, *way = kind.split(" ")
        name = " ".join((model.upper(), *way))
        if variant.label and self.label:
            raise LfnoError(f"the rows of the study {self.study!r} have their own names; leave out --label")
        given = variant.label or self.label
        alone = len(self._study.models if variant.label else self.models or self._study.models) == 1
        return name if not given else given if alone else f"{name} {given}"

    def _changes(self, kind: str, variant: Variant, task: str, preset: str, folder: Path) -> dict[str, Any]:
        """Return the options of the model and of the training that differ from the preset."""
        changes = variant.changes | self.changes
        if kind == "fno deep":
            changes["layers"] = deep_enough(Cell(task, "lfno", preset, changes=changes))
        if kind == "fno long":
            changes["epochs"] = long_enough(Cell(task, "fno", preset, "FNO", self.study), folder)
        return known_to(kind.split(" ")[0], changes)
