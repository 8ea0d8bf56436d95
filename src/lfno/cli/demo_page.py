"""What the demo found, and its page: one figure, one table of errors, modes beside the true ones, plain sentences."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lfno.data.dataset import Dataset
from lfno.data.split import Split
from lfno.evaluation.metrics import relative_l2
from lfno.identification.pulse import small_signal_modes
from lfno.models.operator import Operator
from lfno.plots.answers import answers_figure
from lfno.plots.page import Page, Picture, Section, Table
from lfno.plots.style import as_svg
from lfno.surrogate import Surrogate
from lfno.surrogate.contest import contest_samples
from lfno.systems import Duffing

#: heights of the pulses that show the modes, in m/s²: nearly linear, and so strong that the spring stiffens
PULSES = (0.2, 2.0)
REPEATS = 5  # windows after which the true steady state is taken; the damping forgets a start in half a window


FEWEST = 100  # training samples below which the demo was a quick one
HARDLY = "This was the quick demo: its networks are tiny and hardly trained. Run `lfno demo` for networks that have learned."
NEXT = (
    ("Train longer on finer data; 400 epochs on 1024 points reach about 5.5 %:", "lfno train duffing-c05-rich"),
    ("Use your own measurements, from a CSV, MATLAB or HDF5 file:", "lfno inspect FILE"),
    ("Ask the model of this demo for its modes:", "lfno poles demo/lfno"),
    ("Move sliders and watch models answer in the browser:", "lfno app"),
)


@dataclass(frozen=True)
class Trained:
    model: Operator
    split: Split
    epochs: int
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """Errors are relative L2 errors. `shown` is the number of the test sample of the figure, with arrays over time."""

    runs: dict[str, Trained]
    error: dict[str, float]
    shown: int
    curves: dict[str, np.ndarray]
    split_error: dict[str, float]
    ringing: list[dict[str, complex]]
    grid: Any

    def to_dict(self) -> dict[str, Any]:
        runs = {name: {"epochs": run.epochs, "seconds": run.seconds} for name, run in self.runs.items()}
        modes = [{name: [pole.real, pole.imag] for name, pole in row.items()} for row in self.ringing]
        return {"runs": runs, "error": self.error, "split_error": self.split_error, "modes": modes}

    def lead(self) -> list[str]:
        run, (own, true) = self.runs["LFNO"], (self.ringing[0]["model"], self.ringing[0]["truth"])
        rest = {name: percent(self.error[name]) for name in ("FNO", "FNO, equal time", "best linear model")}
        return [
            f"LFNO learned a nonlinear oscillator from {len(run.split.train)} random forces in {run.seconds:.0f} s; on "
            f"{len(run.split.test)} new forces its error is {percent(self.error['LFNO'])}.",
            f"FNO has {rest['FNO']} after the same number of epochs and {rest['FNO, equal time']} after the same time; the "
            f"best linear model has {rest['best linear model']}.",
            "LFNO also says which part of the response is transient and which is steady, and how the system rings: "
            f"{frequency(own):.3f} Hz with a damping ratio of {damping(own):.2f} (true: {frequency(true):.3f} Hz and "
            f"{damping(true):.2f}).",
        ]

    def errors(self) -> Table:
        rows = []
        for name, error in self.error.items():
            run = self.runs.get(name)
            parameters = "" if run is None else f"{sum(weight.numel() for weight in run.model.parameters()):,}"
            cost = ["", "", ""] if run is None else [str(run.epochs), f"{run.seconds:.0f} s", parameters]
            rows.append([name, percent(error), *cost])
        rows.append(["interpolation", "–", "", "", ""])
        best = list(self.error.values()).index(min(self.error.values()))
        note = "Interpolation is not possible: random forces have no parameter between whose values one could interpolate."
        return Table(["", "relative L2 error", "epochs", "training time", "parameters"], rows, best, note)

    def modes(self) -> Table:
        columns = ["pulse", "frequency", "true frequency", "damping ratio", "true damping ratio"]
        rows = []
        for pulse, found in zip(PULSES, self.ringing, strict=True):
            pair = [found["model"], found["truth"]]
            values = [f"{frequency(pole):.4f} Hz" for pole in pair] + [f"{damping(pole):.3f}" for pole in pair]
            rows.append([f"{pulse:g} m/s²", *values])
        return Table(columns, rows, note="The spring stiffens, so the oscillator rings faster after a strong pulse.")


def percent(value: float) -> str:
    return f"{100 * value:#.3g} %"


def frequency(pole: complex) -> float:
    """Return the undamped natural frequency in hertz."""
    return abs(pole) / (2 * np.pi)


def damping(pole: complex) -> float:
    """Return the damping ratio."""
    return -pole.real / abs(pole)


def build(outcome: Outcome) -> Page:
    """Return the page of the demo."""
    curves, run = outcome.curves, outcome.runs["LFNO"]
    parts = {name: (curves[name], curves[f"true {name}"]) for name in ("transient", "steady")}
    draw = partial(
        answers_figure, outcome.grid.axes[0], ("f [m/s²]", curves["force"]), ("x [m]", curves["truth"]),
        {name: curves[name] for name in ("LFNO", "FNO")}, parts,
    )  # fmt: skip
    own = " and ".join(f"{percent(error)} for the {name} part" for name, error in outcome.split_error.items())
    caption = (
        "A test force that no model has seen (the one with LFNO's median error). Grey is the truth. Below: steady is the "
        "response once this force has been repeated for ever, transient is the rest; the truth comes from the equation, solved "
        f"through repeats of the force. LFNO's error is {own}, relative to the response."
    )
    quick = [HARDLY] if len(run.split.train) < FEWEST else []
    return Page(
        "lfno demo: a nonlinear oscillator under random forcing",
        [*outcome.lead(), *quick],
        [
            Section("Truth, LFNO and FNO", pictures=[Picture(as_svg(draw), caption)]),
            Section("Error on the test forces", tables=[outcome.errors()]),
            Section("How it rings", ["A pulse makes the oscillator ring. These are frequency and damping of that ringing."],
                    tables=[outcome.modes()]),
        ],
        NEXT,
        [
            "Equation: x″ + 0.5 x′ + x + x³ = f(t), from rest. Forces: multisines, chirps, steps and pulses with random "
            f"parameters. {outcome.grid.shape[0]} points over {outcome.grid.axes[0].length:g} s; {run.epochs} epochs.",
        ],
    )  # fmt: skip


def judge(data: Dataset, runs: dict[str, Trained]) -> Outcome:
    """Compare the trained models with each other, with baselines and with the equation."""
    model, split = runs["LFNO"].model, runs["LFNO"].split
    inputs, truth = data.inputs[split.test], data.outputs[split.test]
    rows = contest_samples(Surrogate([model]), data, split, "LFNO").rows
    answers = {name: run.model.predict(inputs) for name, run in runs.items()}
    error = {name: float(relative_l2(answer, truth).mean()) for name, answer in answers.items()}
    error["best linear model"] = rows["best linear model"]["l2"]
    each = relative_l2(answers["LFNO"], truth)
    shown = int(np.argsort(each)[len(each) // 2])  # an average sample, not the best
    system = Duffing(c=0.5)
    transient, steady = model.decompose(inputs[[shown]])
    true = steady_state(system, inputs[shown, 0], data)
    curves = {"force": inputs[shown, 0], "truth": truth[shown, 0], "LFNO": answers["LFNO"][shown, 0],
              "FNO": answers["FNO"][shown, 0], "transient": transient[0, 0], "steady": steady[0, 0],
              "true transient": truth[shown, 0] - true, "true steady": true}  # fmt: skip
    whole = max(np.linalg.norm(true), np.linalg.norm(curves["truth"]))
    wrong = {name: curves[name] - curves[f"true {name}"] for name in ("transient", "steady")}
    split_error = {name: float(np.linalg.norm(values) / whole) for name, values in wrong.items()}
    accuracy = error["LFNO"]
    solve = partial(_solve, system, data)
    ringing = [{"model": _mode(model.predict, data, height, accuracy), "truth": _mode(solve, data, height, accuracy)}
               for height in PULSES]  # fmt: skip
    return Outcome(runs, error, shown, curves, split_error, ringing, data.grid)


def steady_state(system: Duffing, force: np.ndarray, data: Dataset) -> np.ndarray:
    """Return the periodic steady state: the last window of the response to the force repeated `REPEATS` times."""
    size = data.grid.shape[0]
    long = data.grid.change("t", size=REPEATS * size)
    return system.solve(np.tile(force.astype(float), REPEATS)[None], long)[0, 0, -size:]


def _solve(system: Duffing, data: Dataset, inputs: np.ndarray) -> np.ndarray:
    return system.solve(inputs[:, 0].astype(float), data.grid)


def _mode(respond: Any, data: Dataset, height: float, accuracy: float) -> complex:
    """Return the strongest pole that the response to a pulse shows."""
    found = small_signal_modes(respond, data.grid, height, accuracy=accuracy, order=2)
    return complex(found.poles[np.argmax(found.contributions)])
