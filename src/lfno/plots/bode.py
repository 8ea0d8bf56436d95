"""The Bode plot of a fitted model: frequency responses of measured and predicted outputs for the same inputs.

The spectra are averages over segments (parts of the signals that overlap by half).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, frequency_unit, with_unit
from lfno.data.dataset import Channel
from lfno.identification.frequency import FrequencyResponse, measure_response
from lfno.plots.answers import TRUTH
from lfno.plots.page import Picture
from lfno.plots.style import as_svg, colour, legend, logarithmic, panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AVERAGES = 5  # segments per input; an average of fewer segments has large random errors
LONGEST = 4096  # time steps; largest length of a segment, which resolves 2048 frequencies
FLOOR = 1e-3  # smallest input power relative to its peak; at frequencies with less power, leakage hides the response
FEW = 40  # frequencies; with fewer of them, markers show which frequencies were measured
MOST_PAIRS = 3  # largest number of pairs of input and output in a figure
#: line styles of the measurement, of the linear baseline and of the model
STYLES: tuple[dict[str, Any], ...] = (TRUTH, {"linestyle": ":"}, {})


def bode_picture(
    inputs: np.ndarray, answers: Mapping[str, np.ndarray], axis: Axis, pairs: Mapping[tuple[int, int], str]
) -> Picture:
    """Return the Bode plot of measured and predicted outputs for the same inputs.

    Args:
        inputs: The excitation, (samples, channels, time).
        answers: Name → outputs, (samples, channels, time); at most three. The first entry is the measurement. The figure shows
            the coherence of the measurement.
        axis: The time axis. Its step is the sampling interval, and its unit gives the unit of the frequencies.
        pairs: (output, input) → label of the pair (see `pair_label`).

    Raises:
        LfnoError: The signals are too short, or the inputs excite no frequency.
    """
    segment = segment_length(*inputs.shape)
    found = {name: measure_response(inputs, values, axis.step, segment, FLOOR) for name, values in answers.items()}
    first = next(iter(found.values()))
    seen = {pair: words for pair, words in pairs.items() if np.isfinite(first.response[pair]).sum() > 1}
    if not seen:
        raise LfnoError("the inputs of the test data excite no frequency")
    shown = dict(list(seen.items())[:MOST_PAIRS])
    caption = (
        "Frequency responses for the inputs of the test data: gain, phase, and coherence of the measurement. At frequencies "
        "with a coherence below 1, noise, a nonlinearity or a transient is in the output, and no linear model can be exact."
    )
    if len(shown) < len(seen):
        caption += f" The figure shows {len(shown)} of {len(seen)} pairs of input and output."
    return Picture(as_svg(partial(bode_figure, found, shown, axis.unit)), caption)


def segment_length(samples: int, channels: int, size: int) -> int:
    """Return the length of a segment in time steps: the largest length, up to LONGEST, with AVERAGES segments for each input.

    Long segments resolve the frequencies best. Neighbouring segments overlap by half. The data are `samples` signals of `size`
    time steps, with `channels` inputs.

    >>> segment_length(1, 1, 900), segment_length(20, 1, 900), segment_length(1, 2, 900), segment_length(1, 1, 10**6)
    (300, 900, 163, 4096)
    """
    parts = -(-AVERAGES * channels // samples)  # number of segments in one sample
    return min(LONGEST, 2 * size // (parts + 1))


def pair_label(output: Channel, into: Channel) -> str:
    """Return the label of a gain: the name of the output over the name of the input, with the unit of their ratio.

    >>> pair_label(Channel("disp", "mm"), Channel("force", "N")), pair_label(Channel("x"), Channel("f", "m/s²"))
    ('disp / force [mm/N]', 'x / f [1/(m/s²)]')
    """
    below = f"({into.unit})" if set(into.unit) & set("/·* ") else into.unit
    ratio = f"{output.unit or 1}/{below}" if below else output.unit
    return with_unit(f"{output.name} / {into.name}", "" if output.unit == into.unit else ratio)


def bode_figure(found: Mapping[str, FrequencyResponse], pairs: Mapping[tuple[int, int], str], unit: str = "s") -> Figure:
    """Draw gain, phase and coherence below each other, with one column for each pair (output, input).

    Args:
        found: Name → frequency response. The first entry is the measurement.
        pairs: (output, input) → label of the pair (see `pair_label`).
        unit: The unit of time.
    """
    count, first = len(pairs), next(iter(found.values()))
    figure, axes = panels(3 * count, count, 1.7, heights=(1.6, 1.0, 0.6))
    for column, (pair, words) in enumerate(pairs.items()):
        gain, phase, coherence = (axes[row * count + column] for row in range(3))
        for panel in (gain, phase):
            panel.sharex(coherence)
            panel.tick_params(which="both", labelbottom=False)
        seen = np.isfinite(first.response[pair]) & (first.frequencies > 0)
        f = first.frequencies[seen]
        for (name, response), line in zip(found.items(), STYLES, strict=False):
            style = {"color": colour(name)} | line
            values = response.response[pair][seen]
            points: Any = {"marker": "o", "markersize": 3} if len(f) < FEW else {}
            gain.plot(f, np.abs(values), label=name, **style, **points)
            phase.plot(f, np.degrees(np.unwrap(np.angle(values))), **style, **points)
        coherence.plot(f, first.coherence[pair[0]][seen], color="#555555")
        coherence.set(ylim=(0, 1.05), xlabel=with_unit("frequency", frequency_unit(unit)))
        gain.set_title(words, loc="left")
        if column == 0:  # the panels of other columns have the same quantities
            for panel, quantity in ((gain, "gain"), (phase, "phase [°]"), (coherence, "coherence")):
                panel.set(ylabel=quantity)
        logarithmic(gain)
        logarithmic(coherence, "x")
    legend(figure, axes)
    return figure
