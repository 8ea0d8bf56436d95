"""The first screen of the HTML report: sentences, the chart of errors, a tile for each claim, and the table of costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from lfno.paper.report.baselines import Scores
from lfno.paper.report.figures.claims import claim_dots
from lfno.paper.report.figures.overview import error_chart
from lfno.paper.report.headline import reading
from lfno.paper.report.selection import PRESETS, Runs
from lfno.paper.report.tables import Table
from lfno.paper.report.times import PARTS, duration
from lfno.paper.report.verdicts import FAILS, HOLDS, OPEN, SO_FAR, Verdict
from lfno.plots.page import Picture
from lfno.plots.style import as_data_uri, as_svg

#: kind of a tile → its sign, which shows the kind without colours
SIGNS = {"yes": "✓", "mixed": "◐", "no": "✗", "open": "…"}
COMPARED = ("FNO", "LFNO")


@dataclass(frozen=True)
class ClaimTile:
    """A claim of the paper with its verdicts, one for each preset. `figure`: data URI of its figure, or ""."""

    claim: str
    verdicts: tuple[Verdict, ...]
    figure: str

    @property
    def kind(self) -> str:
        """The kind of the tile.

        "yes": the claim holds with every preset that was run. "no": the claim holds with none of them. "mixed": the claim holds
        with some of them. "open": nothing was measured.
        """
        good = [verdict.verdict in (HOLDS, SO_FAR) for verdict in self.verdicts if verdict.verdict != OPEN]
        return "open" if not good else "yes" if all(good) else "mixed" if any(good) else "no"

    @property
    def sign(self) -> str:
        """The sign of the kind."""
        return SIGNS[self.kind]

    @property
    def words(self) -> str:
        """The verdict in a few words."""
        if self.kind == "mixed":
            holds = [verdict.preset for verdict in self.verdicts if verdict.verdict != FAILS]
            return f"holds for the {' and '.join(holds)} preset only"
        if self.kind == "yes":
            return HOLDS if all(verdict.verdict == HOLDS for verdict in self.verdicts) else SO_FAR
        return FAILS if self.kind == "no" else OPEN


@dataclass(frozen=True)
class Story:
    """The first screen: sentences, the chart of errors (None without records), the tiles of the claims, the table of costs."""

    lead: list[str]
    chart: Picture | None
    claims: list[ClaimTile]
    cost: Table


def tell(runs: Runs, baselines: dict[str, Scores], verdicts: list[Verdict], figures: bool = True) -> Story:
    """Return the first screen. If `figures` is False, no figure is drawn."""
    chart = as_svg(partial(error_chart, runs, baselines)) if figures else None
    caption = (
        "Relative L2 error of the default preset on test samples, mean over seeds. Small errors are on the left. A bar joins "
        "FNO and LFNO, which have the same width and number of epochs. An arrow at the left border is an error below 0.0001 %. "
        "Interpolation is not possible for random forcing and random initial states."
    )
    picture = None if chart is None else Picture(chart, caption, as_svg(partial(error_chart, runs, baselines, True)))
    return Story(reading(runs, baselines), picture, claim_tiles(verdicts, figures), cost_summary(runs))


def claim_tiles(verdicts: list[Verdict], figures: bool = True) -> list[ClaimTile]:
    """Return one tile for each claim, in the order of the claims."""
    claims: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        claims.setdefault(verdict.claim, []).append(verdict)
    tiles = []
    for claim, own in claims.items():
        image = as_svg(partial(claim_dots, own)) if figures else None
        tiles.append(ClaimTile(claim, tuple(own), as_data_uri(image, "svg+xml") if image else ""))
    return tiles


def cost_summary(runs: Runs) -> Table:
    """Return the table of costs of one run for each group of data sets: largest number of parameters, mean training time."""
    preset = PRESETS[1]
    columns = ["", *(f"{label} {what}" for what in ("parameters", "training") for label in COMPARED)]
    table = Table("Cost", columns)
    for part, tasks in PARTS.items():
        cells: dict[str, list[str]] = {"parameters": [], "time": []}
        for label in COMPARED:
            own = [r for r in runs.main.where(preset=preset, label=label).all if r.task in tasks]
            if own:
                counts = sorted({r.parameters.get("complex_once", 0) for r in own})
                cells["parameters"].append(f"{counts[-1]:,}")
                cells["time"].append(duration(sum(r.seconds for r in own) / len(own)))
        if len(cells["time"]) == len(COMPARED):
            table.add(part, *cells["parameters"], *cells["time"])
    places = sorted({r.environment.get("hardware", "unknown") for r in runs.main.where(preset=preset).all})
    total = duration(sum(r.seconds for r in runs.all))
    where = ", ".join(places) or "no machine"
    table.note = f"Training: time of one run on {where}. All {len(runs)} runs together took {total}."
    return table
