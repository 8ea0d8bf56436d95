"""Draw the figures of the documentation: `python docs/figures/make.py` writes them into the folder of this file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.patches import FancyBboxPatch
from scipy import signal

from lfno.spectral.fourier import from_modes, mix_channels, to_modes
from lfno.spectral.pole_residue import transfer, transient

HERE = Path(__file__).parent
TRANSIENT = "#c1502e"  # colour of transient parts
STEADY = "#1f6f9c"  # colour of steady parts and of R
POINTWISE = "#7a7a7a"  # colour of maps that act on each point alone
INK = "#222222"
PAPER = "#ffffff"

plt.rcParams.update({"font.family": "DejaVu Sans", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False,
                     "mathtext.fontset": "dejavusans"})  # fmt: skip


def canvas(width: float, height: float) -> tuple[plt.Figure, Axes]:
    """Return a drawing surface with inches as units, so that boxes and text keep their proportions."""
    figure = plt.figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(0, height))
    axes.axis("off")
    return figure, axes


def box(axes: Axes, x: float, y: float, text: str, colour: str = INK, width: float = 1.3, height: float = 0.5) -> None:
    patch = FancyBboxPatch(
        (x - width / 2, y - height / 2), width, height, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor=PAPER, edgecolor=colour, linewidth=1.6, zorder=2,
    )  # fmt: skip
    axes.add_patch(patch)
    axes.text(x, y, text, ha="center", va="center", color=colour, zorder=3)


def plus(axes: Axes, x: float, y: float) -> None:
    axes.add_patch(plt.Circle((x, y), 0.14, facecolor=PAPER, edgecolor=INK, linewidth=1.4, zorder=2))
    axes.text(x, y - 0.005, "+", ha="center", va="center", fontsize=13, zorder=3)


def line(axes: Axes, *points: tuple[float, float], colour: str = INK) -> None:
    axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.3, zorder=1, solid_joinstyle="round")


def arrow(axes: Axes, *points: tuple[float, float], colour: str = INK) -> None:
    """Draw a line through the points, with an arrow head at the last."""
    line(axes, *points[:-1], colour=colour)
    style = {"arrowstyle": "-|>,head_width=0.22,head_length=0.4", "color": colour, "linewidth": 1.3,
             "shrinkA": 0, "shrinkB": 0}  # fmt: skip
    axes.annotate("", points[-1], points[-2], arrowprops=style, zorder=1)


def note(axes: Axes, x: float, y: float, text: str, colour: str = INK, size: float = 9, **options) -> None:
    axes.text(x, y, text, color=colour, fontsize=size, **{"ha": "center", "va": "center", **options})


def save(figure: plt.Figure, name: str) -> None:
    figure.savefig(HERE / f"{name}.png", dpi=160)
    plt.close(figure)


def architecture() -> None:
    figure, axes = canvas(11.7, 7.3)

    note(axes, 0.3, 7.0, 'layout="sequence"', size=11, ha="left", weight="bold")
    note(axes, 2.3, 7.0, "the paper's network: poles in four layers, R in the last two of them", ha="left")
    middle = 6.3
    inner = [(f"$T_{k} + {S}_{k} + W_{k}$", c, 2.0 + 1.6 * k) for k, S, c in (
        (1, r"\lambda", TRANSIENT), (2, r"\lambda", TRANSIENT), (3, "R", STEADY), (4, "R", STEADY))]  # fmt: skip
    chain = [("input\n$a(x, t)$", INK, 0.85), ("lift", POINTWISE, 2.1), *inner]
    chain += [("project", POINTWISE, 9.75), ("output\n$u(x, t)$", INK, 10.95)]
    widths = [0.95, 0.8, *[1.3] * 4, 0.85, 0.95]
    for (name, colour, x), width in zip(chain, widths, strict=True):
        box(axes, x, middle, name, colour, width=width, height=0.6 if "\n" in name else 0.5)
    for ((_, _, left), before), ((_, _, right), after) in pairwise(zip(chain, widths, strict=True)):
        arrow(axes, (left + before / 2, middle), (right - after / 2, middle))
    for (_, _, left), (_, _, right) in pairwise(inner):
        note(axes, (left + right) / 2, middle + 0.18, "σ")
    axes.plot((0.3, 11.4), (5.65, 5.65), color="#dddddd", linewidth=1)

    note(axes, 0.3, 5.3, 'layout="branches"', size=11, ha="left", weight="bold")
    note(axes, 2.15, 5.3, "two branches, added once", ha="left")
    top, bottom, middle = 4.65, 3.45, 4.05
    box(axes, 0.85, middle, "input\n$a(x, t)$", width=0.95, height=0.6)
    box(axes, 2.1, middle, "lift", POINTWISE, width=0.8)
    arrow(axes, (1.33, middle), (1.7, middle))
    names = ["$T_1 + W_1$", "$T_2 + W_2$", "$T_3 + W_3$", "$T_4 + W_4$"]
    places = [3.55, 4.95, 6.35, 7.75]
    for x, name in zip(places, names, strict=True):
        box(axes, x, top, name, TRANSIENT, width=1.05)
    for left, right in pairwise(places):
        arrow(axes, (left + 0.53, top), (right - 0.53, top), colour=TRANSIENT)
        note(axes, (left + right) / 2, top + 0.16, "σ", TRANSIENT)
    for x, name in zip((4.25, 7.05), ("$S_1$", "$S_2$"), strict=True):
        box(axes, x, bottom, name, STEADY, width=1.05)
    arrow(axes, (4.78, bottom), (6.52, bottom), colour=STEADY)
    note(axes, 5.65, bottom + 0.16, "σ", STEADY)
    line(axes, (2.5, middle), (2.75, middle))
    arrow(axes, (2.75, middle), (2.75, top), (3.02, top), colour=TRANSIENT)
    arrow(axes, (2.75, middle), (2.75, bottom), (3.72, bottom), colour=STEADY)
    plus(axes, 8.75, middle)
    arrow(axes, (8.28, top), (8.75, top), (8.75, middle + 0.14), colour=TRANSIENT)
    arrow(axes, (7.58, bottom), (8.75, bottom), (8.75, middle - 0.14), colour=STEADY)
    box(axes, 9.55, middle, "project", POINTWISE, width=0.85)
    arrow(axes, (8.89, middle), (9.12, middle))
    box(axes, 10.85, middle, "output\n$u(x, t)$", width=0.95, height=0.6)
    arrow(axes, (9.98, middle), (10.37, middle))
    note(axes, 5.65, 4.05, "a steady layer uses the poles and residues of the transient layer above it", STEADY, 8.5)

    axes.plot((0.3, 11.4), (2.85, 2.85), color="#dddddd", linewidth=1)
    note(axes, 0.3, 2.5, 'layout="blocks"', size=11, ha="left", weight="bold")
    note(axes, 2.15, 2.5, "the three parts are added in every layer; on signals a gate multiplies their sum", ha="left")
    middle = 1.2
    box(axes, 0.85, middle, "input\n$a(x, t)$", width=0.95, height=0.6)
    box(axes, 2.1, middle, "lift", POINTWISE, width=0.8)
    arrow(axes, (1.33, middle), (1.7, middle))
    frame = FancyBboxPatch((2.95, 0.02), 6.0, 2.1, boxstyle="round,pad=0,rounding_size=0.12", facecolor="#fafafa",
                           edgecolor="#bbbbbb", linestyle="--", zorder=0)  # fmt: skip
    axes.add_patch(frame)
    note(axes, 8.83, 1.95, "repeated", ha="right")
    line(axes, (2.5, middle), (3.35, middle))
    arrow(axes, (3.35, middle), (3.35, 1.8), (3.9, 1.8), colour=TRANSIENT)
    arrow(axes, (3.35, middle), (3.9, middle), colour=STEADY)
    arrow(axes, (3.35, middle), (3.35, 0.6), (3.9, 0.6), colour=POINTWISE)
    parts = ((1.8, "transient  $T$", TRANSIENT), (middle, "steady  $S$", STEADY), (0.6, "pointwise  $W$", POINTWISE))
    for y, name, colour in parts:
        box(axes, 4.7, y, name, colour, width=1.6, height=0.42)
        if y != middle:
            arrow(axes, (5.5, y), (6.15, y), (6.15, middle + (0.14 if y > middle else -0.14)), colour=colour)
    arrow(axes, (5.5, middle), (6.01, middle), colour=STEADY)
    plus(axes, 6.15, middle)
    box(axes, 6.8, middle, "σ", width=0.5, height=0.42)
    arrow(axes, (6.29, middle), (6.55, middle))
    box(axes, 7.8, middle, "gate", POINTWISE, width=0.8, height=0.42)
    arrow(axes, (7.05, middle), (7.4, middle))
    note(axes, 7.8, 1.56, r"$(A u + a)\,\mathrm{sigmoid}(B u + b)$", POINTWISE, 7)
    plus(axes, 8.6, middle)
    arrow(axes, (8.2, middle), (8.46, middle))
    arrow(axes, (3.1, middle), (3.1, 0.2), (8.6, 0.2), (8.6, middle - 0.14))
    note(axes, 5.4, 0.3, "skip", size=8)
    box(axes, 9.65, middle, "project", POINTWISE, width=0.85)
    arrow(axes, (8.74, middle), (9.22, middle))
    box(axes, 10.9, middle, "output\n$u(x, t)$", width=0.95, height=0.6)
    arrow(axes, (10.08, middle), (10.42, middle))
    save(figure, "architecture")


def steady_layer() -> None:
    figure, axes = canvas(10.5, 3.7)
    y = 1.85
    box(axes, 0.7, y, "$v(t)$", width=0.75)
    box(axes, 2.0, y, "Fourier\ntransform", width=1.05, height=0.62)
    box(axes, 9.0, y, "inverse\ntransform", width=1.05, height=0.62)
    arrow(axes, (1.08, y), (1.47, y))
    arrow(axes, (9.53, y), (9.9, y))
    note(axes, 10.15, y, "$S(v)$", size=10)
    note(axes, 2.95, y + 0.18, r"$\alpha_l$")
    arrow(axes, (2.53, y), (3.3, y))
    axes.plot((3.3, 3.3), (0.5, 3.2), color=INK, linewidth=1.3)
    axes.plot((8.1, 8.1), (0.5, 3.2), color=INK, linewidth=1.3)
    arrow(axes, (8.1, y), (8.47, y))
    lanes = [
        (3.2, "exact", [r"$H(i\omega_l)$"], "all frequencies", "with T: causal"),
        (2.3, "shared", [r"$H(i\omega_l)$", "$R_l$"], "low modes", "poles, then a free gain"),
        (1.4, "free", ["$R_l$"], "low modes", "a Fourier layer"),
        (0.5, "residual", [r"$H(i\omega_l)$", "$1 + R_l$"], "all; R on low modes", "R = 0 is exact"),
    ]
    for lane, name, factors, where, meaning in lanes:
        places = [5.05] if len(factors) == 1 else [4.75, 5.85]
        note(axes, 3.42, lane + 0.2, f'"{name}"', STEADY, 9.5, ha="left", weight="bold")
        note(axes, 6.55, lane + 0.2, where, POINTWISE, 8.5, ha="left")
        note(axes, 6.55, lane - 0.2, meaning, POINTWISE, 8.5, ha="left")
        edge = 3.3
        for place, factor in zip(places, factors, strict=True):
            colour = TRANSIENT if factor.startswith("$H") else STEADY
            box(axes, place, lane, factor, colour, width=0.9, height=0.42)
            arrow(axes, (edge, lane), (place - 0.45, lane))
            edge = place + 0.45
        arrow(axes, (edge, lane), (8.1, lane))
    save(figure, "steady-layer")


def respond(x: np.ndarray, poles: list[complex], residues: list[complex], dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the transient and the steady part (time,) of the response of one layer with a single channel to x (time,)."""
    field = torch.tensor(x)[None, None]
    mu = [torch.tensor(poles, dtype=torch.complex128)[None, None]]
    beta = torch.tensor(residues, dtype=torch.complex128)[None, None]
    matrix = transfer(mu, beta, [None], field.shape[2:], (dt,))
    ringing = from_modes(mix_channels(to_modes(field, [None]), matrix), field.shape[2:])
    return transient(field, mu, beta, (dt,))[0, 0].numpy(), ringing[0, 0].numpy()


def transient_and_steady() -> None:
    """Draw the response from rest of an oscillator (1 Hz, damping ratio 4 %) to a force of 0.7 Hz: layer and scipy."""
    n, dt = 2000, 0.01
    t = dt * np.arange(n)
    force = np.sin(2 * np.pi * 14 * t / (n * dt))
    natural, damping = 2 * np.pi * 1.0, 0.04
    swing = natural * np.sqrt(1 - damping**2)
    pole = complex(-damping * natural, swing)
    decaying, ringing = respond(force, [pole], [-1j * natural**2 / swing], dt)
    mechanics = signal.lti([natural**2], [1, 2 * damping * natural, natural**2])
    truth = signal.lsim(mechanics, force, t)[1]
    figure, (above, below) = plt.subplots(2, 1, figsize=(9, 5), sharex=True, height_ratios=(1, 1))
    above.plot(t, decaying, color=TRANSIENT, label=r"transient: the layer's own poles, $e^{\mu t}$")
    above.plot(t, ringing, color=STEADY, label=r"steady: the input's frequencies, $e^{i\omega t}$")
    below.plot(t, force, color="#bbbbbb", label="input")
    below.plot(t, decaying + ringing, color=INK, label="transient + steady")
    below.plot(t[::20], truth[::20], ".", color=STEADY, label="the oscillator, solved by scipy")
    below.set_xlabel("t [s]")
    for axes in (above, below):
        axes.axhline(0, color="#dddddd", linewidth=0.8, zorder=0)
        axes.legend(loc="upper right", frameon=False, ncols=3)
        axes.set(xlim=(0, 20), ylim=(-3, 4.2))
    figure.tight_layout()
    save(figure, "transient-and-steady")


def causality() -> None:
    """Draw the responses of an exact layer and of a layer with Fourier weights to the same change of the input."""
    n, dt = 1000, 0.02
    t = dt * np.arange(n)
    bump = np.exp(-(((t - 14) / 0.6) ** 2))
    decaying, ringing = respond(bump, [complex(-0.5, 3.0), complex(-0.3, 0.0)], [1.0, 0.5], dt)
    rng = np.random.default_rng(3)
    spectrum = np.fft.rfft(bump)
    gain = np.zeros(spectrum.size, complex)
    gain[:24] = rng.standard_normal(24) + 1j * rng.standard_normal(24)
    figure, axes = plt.subplots(1, 2, figsize=(9, 2.9), sharey=False)
    for panel, response, title, colour in (
        (axes[0], decaying + ringing, "exact layer: nothing before the change", INK),
        (axes[1], np.fft.irfft(gain * spectrum, n), "Fourier weights R: before, after and around", STEADY),
    ):
        panel.axvspan(0, 12, color="#f3f3f3", zorder=0)
        panel.plot(t, bump, color="#bbbbbb", label="change of the input")
        panel.plot(t, response, color=colour, label="change of the output")
        panel.set(title=title, xlabel="t [s]", xlim=(0, 20))
        panel.title.set_fontsize(10)
    axes[0].legend(loc="upper left", frameon=False)
    figure.tight_layout()
    save(figure, "causality")


if __name__ == "__main__":
    architecture()
    steady_layer()
    transient_and_steady()
    causality()
