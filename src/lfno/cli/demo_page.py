"""The page of the demo: three short texts, one figure, a table of errors, and a table of modes with the true mode."""

from __future__ import annotations

from functools import partial

from lfno.cli.demo_outcome import LINEAR, PARTS, Outcome
from lfno.plots.answers import answers_figure
from lfno.plots.mode_rows import mode_cells
from lfno.plots.page import Page, Picture, Section, Table, Tile
from lfno.plots.style import as_svg

DATA = "data.h5"  # name of the file with the forces and responses, in the folder of the demo
FEWEST = 200  # training samples; with fewer, the page says that this is the quick demo (274 in the full demo)
QUICKLY = (
    "This is the quick demo. It has few data and few epochs, so all errors are large. "
    "The full demo is “lfno demo”. It takes about three minutes and has far smaller errors."
)
NEXT = (
    ("Fit modes with feedback, a model without a network, to the same data:", f"lfno fit {{folder}}/{DATA} --model feedback"),
    ("Train longer on finer data. With 400 epochs and 1024 points the error is about 5.5 %:", "lfno train duffing-c05-rich"),
    ("Use your own measurements, from a CSV, MATLAB or HDF5 file:", "lfno inspect FILE"),
    ("Ask the model of this demo for its modes:", "lfno poles {folder}/lfno"),
    ("Move sliders and watch models answer in the browser:", "lfno app"),
)
MOST_MODES = 2  # rows of the table of modes


def demo_page(outcome: Outcome, folder: str = "demo") -> Page:
    """Return the page of the demo. The model is in `folder`/lfno."""
    run = outcome.runs["LFNO"]
    quick = [QUICKLY] if len(run.split.train) < FEWEST else []
    axis = outcome.grid.axes[0]
    return Page(
        "lfno demo: a nonlinear oscillator with random forces",
        [*quick, *lead(outcome)],
        [
            Section("", pictures=[_picture(outcome)]),
            Section("Error on the test forces", tables=[errors(outcome)]),
            Section("Frequency and damping of the oscillator", tables=[modes(outcome)]),
        ],
        [(words, command.format(folder=folder)) for words, command in NEXT],
        [
            "Equation: x″ + 0.5 x′ + x + x³ = f(t), from rest. Forces: multisines, chirps, steps and pulses with random "
            f"parameters. {axis.size} points over {axis.length:g} s; {run.epochs} epochs.",
        ],
        tiles=_tiles(outcome),
    )


def lead(outcome: Outcome) -> list[str]:
    """Return three texts: the error of LFNO, the errors of FNO and the linear model, and the parts and modes of LFNO."""
    run, rest = outcome.runs["LFNO"], {name: percent(error) for name, error in outcome.error.items()}
    found = " LFNO found no mode yet."
    if outcome.modes:
        own = outcome.modes[0]
        found = (
            f" It found {own.frequency:.3f} Hz and a damping ratio of {own.damping_ratio:.2f} "
            f"(true: {outcome.true_frequency:.3f} Hz and {outcome.true_damping:.2f})."
        )
    return [
        f"LFNO, the Laplace–Fourier neural operator, learned the response of an oscillator from {len(run.split.train)} "
        f"random forces in {_seconds(run.seconds)}. On {len(run.split.test)} new forces its error is {rest['LFNO']}.",
        f"FNO, the Fourier neural operator, has an error of {rest['FNO']} after the same number of epochs, and an error of "
        f"{rest['FNO, equal time']} after the same training time. The linear baseline has an error of {rest[LINEAR]}.",
        "LFNO also splits the response into a transient and a steady part, and gives the modes of the oscillator." + found,
    ]


def errors(outcome: Outcome) -> Table:
    """Return the table of test errors with the cost of each model."""
    rows = []
    for name, error in outcome.error.items():
        run = outcome.runs.get(name)
        cost = ["", "", ""] if run is None else [str(run.epochs), _seconds(run.seconds), f"{run.parameters:,}"]
        rows.append([name, percent(error), *cost])
    rows.append(["interpolation", "–", "", "", ""])
    best = list(outcome.error.values()).index(min(outcome.error.values()))
    note = "Interpolation between samples needs a parameter that describes each force. Random forces have no such parameter."
    return Table(["", "relative L2 error", "epochs", "training time", "parameters"], rows, best, note)


def modes(outcome: Outcome) -> Table:
    """Return the table of LFNO's modes for small inputs, with 95 % intervals, and of the mode of the linearised equation."""
    rows = [[f"LFNO, mode {n}", *mode_cells(mode)[:2]] for n, mode in enumerate(outcome.modes[:MOST_MODES], 1)]
    if not rows:
        rows = [["LFNO", "no mode found", ""]]
    rows.append(["equation, linearised", f"{outcome.true_frequency:.4f} Hz", f"{outcome.true_damping:.4f}"])
    note = (
        "Modes for small inputs. ± is the uncertainty of the modes of the network. The difference from the true mode can be "
        "larger, because the network is not exact. The true mode is the eigenvalue of the equation linearised about rest."
    )
    return Table(["", "frequency", "damping ratio"], rows, note=note)


def percent(value: float) -> str:
    """Format a ratio as a percentage with three digits."""
    return f"{100 * value:.3g} %"


def _seconds(value: float) -> str:
    return f"{value:.0f} s" if value >= 10 else f"{value:.2g} s"


def _tiles(outcome: Outcome) -> list[Tile]:
    """Return a tile with the error of each model."""
    names = {"LFNO": "error of LFNO", "FNO": "FNO, same epochs", "FNO, equal time": "FNO, same training time", LINEAR: LINEAR}
    best = outcome.error["LFNO"]
    tiles = []
    for name, words in names.items():
        times = outcome.error[name] / best
        note = f"{len(outcome.runs['LFNO'].split.test)} unseen random forces" if name == "LFNO" else f"{times:.1f} × LFNO"
        tiles.append(Tile(percent(outcome.error[name]), words, note))
    return tiles


def _picture(outcome: Outcome) -> Picture:
    """Return the figure of one test force with its response, and the caption."""
    curves = outcome.curves
    parts = {name: (curves[name], curves[f"true {name}"]) for name in PARTS}
    draw = partial(
        answers_figure, outcome.grid.axes[0], ("f [m/s²]", curves["force"]), ("x [m]", curves["truth"]),
        {name: curves[name] for name in ("LFNO", "FNO")}, parts,
    )  # fmt: skip
    own = " and ".join(f"{percent(error)} for the {name} part" for name, error in outcome.split_error.items())
    caption = (
        "A test force that no model has seen. The error of LFNO for this force is average. Broad grey lines are the true "
        "response and its true parts. The steady part is the response to this force repeated for ever. The transient part is "
        "the rest. For the true parts, the equation is solved with the force repeated until the response is periodic. The mean "
        f"error of LFNO over the test forces is {own}, relative to the response or its steady part, whichever is larger."
    )
    return Picture(as_svg(draw), caption, as_svg(partial(draw, narrow=True)))
