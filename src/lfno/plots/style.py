"""The style of all figures: a colour for each model, sizes of figures and letters, and the conversion to PNG and SVG."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: name of a model or of a part -> colour; readers with red-green colour blindness can distinguish the colours
COLOURS = {
    "truth": "#222222",
    "LFNO": "#d55e00",
    "FNO": "#0072b2",
    "LNO": "#009e73",
    "FNO deep": "#56b4e9",
    "FNO long": "#7a5fb5",
    "LNO free": "#7fc97f",
    "feedback": "#7a5fb5",
    "linear": "#009e73",
    "linear baseline": "#6b7076",
    "transient": "#cc3377",
    "steady": "#3377aa",
}
#: model -> marker, for prints without colours
MARKERS = {"LFNO": "o", "FNO": "^", "LNO": "v"}
#: colours of names that are not in COLOURS
SPARE = ("#e69f00", "#8c564b", "#999933", "#882255", "#44aa99", "#555555")
FIELD = "RdBu_r"  # colour map of fields: negative values are blue, zero is white, positive values are red
WIDTH = 10.0  # inches; width of a figure on a page
NARROW = 4.2  # inches; width of a figure on a phone
DPI = 110  # dots per inch of a PNG file
#: settings of matplotlib
SETTINGS: dict[Any, Any] = {
    "text.parse_math": False,  # a dollar sign in a name is text, not the start of a formula
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.3,
    "figure.facecolor": "white",
}


def colour(label: str) -> str:
    """Return the colour of a name. A name that is not in COLOURS always gets the same one of the SPARE colours."""
    return COLOURS.get(label) or SPARE[sum(map(ord, label)) % len(SPARE)]


def panels(count: int, columns: int, height: float, heights: Sequence[float] = (1.0,)) -> tuple[Figure, list[Any]]:
    """Return a figure of page width and its axes.

    Args:
        count: The number of axes.
        columns: The number of columns.
        height: The mean height of a row in inches.
        heights: The relative heights of the rows. If there are more rows than heights, the heights are repeated.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = -(-count // columns)
    figure = Figure(figsize=(WIDTH, height * rows + 0.3), layout="constrained")
    FigureCanvasAgg(figure)
    ratios = [heights[row % len(heights)] for row in range(rows)]
    axes = list(figure.subplots(rows, columns, squeeze=False, height_ratios=ratios).ravel())
    for spare in axes[count:]:
        spare.set_visible(False)
    return figure, axes[:count]


def logarithmic(axes: Any, which: str = "y") -> None:
    """Make an axis logarithmic, with plain numbers as labels. If its range is small, ticks between powers of ten get labels."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    axes.set(**{f"{which}scale": "log"})
    axis = axes.yaxis if which == "y" else axes.xaxis
    low, high = axes.get_ylim() if which == "y" else axes.get_xlim()
    decades = math.log10(high / low) if 0 < low < high else 0.0
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    if decades > 1.2:
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}" if _leads(value, decades) else ""))
    axis.set_tick_params(which="minor", labelsize=7.5)


def _leads(value: float, decades: float) -> bool:
    """Return True if a minor tick gets a label. If the axis spans 0.6 decades or more, only ticks at 2, 3, 5 and 7 get one."""
    return decades < 0.6 or f"{value:e}"[0] in "2357"


def empty(axes: Any, words: str = "not run") -> None:
    """Remove the axes of a panel and show only the text `words`, for a missing result."""
    axes.set(xticks=[], yticks=[])
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
    axes.text(0.5, 0.5, words, ha="center", va="center", transform=axes.transAxes, color="#888888")


def legend(figure: Figure, axes: list[Any]) -> None:
    """Add one legend above all panels. A name that occurs in several panels is listed once."""
    found = {
        label: handle
        for panel in axes
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    if found:
        figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=min(len(found), 6), frameon=False)


def colour_range(values: np.ndarray) -> tuple[float, float]:
    """Return the limits of the colour scale. If the values include zero, the limits are symmetric, so that zero is white."""
    low, high = float(values.min()), float(values.max())
    if low <= 0 <= high:
        high = max(-low, high)
        low = -high
    return (low, high) if high > low else (low - 1, low + 1)


def as_png(draw: Callable[[], Figure | None]) -> bytes | None:
    """Return the bytes of a PNG file of the figure that `draw` makes in this style. Returns None if `draw` returns None."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        figure = draw()
        if figure is None:
            return None
        stream = io.BytesIO()
        _write(figure, stream, format="png", dpi=DPI)
    return stream.getvalue()


@overload
def as_svg(draw: Callable[[], Figure]) -> bytes: ...


@overload
def as_svg(draw: Callable[[], Figure | None]) -> bytes | None: ...


def as_svg(draw: Callable[[], Figure | None]) -> bytes | None:
    """Return the bytes of an SVG file of the figure that `draw` makes in this style. Returns None if `draw` returns None.

    The same figure always gives the same bytes.
    """
    import matplotlib

    with matplotlib.rc_context(SETTINGS | {"svg.hashsalt": "lfno"}):
        figure = draw()
        if figure is None:
            return None
        stream = io.BytesIO()
        _write(figure, stream, format="svg", metadata={"Date": None})
    return stream.getvalue()


def _write(figure: Figure, stream: io.BytesIO, **options: Any) -> None:
    """Place the panels of the figure, then write it. With a layout engine, matplotlib would draw every figure twice."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine("none")
    figure.savefig(stream, **options)


def as_data_uri(picture: bytes, kind: str = "png") -> str:
    """Return a picture as a data URI; `kind` is "png" or "svg+xml"."""
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def stable_half_plane(panel: Any, left: float) -> None:
    """Shade the stable half-plane from `left` to zero, and begin the panel at `left`. Call this after the poles are drawn."""
    panel.axvspan(left, 0, color="#eef5ee", zorder=0, label="stable half-plane")
    panel.axvline(0, color="#888888", linewidth=0.8)
    panel.set_xlim(left=left)
