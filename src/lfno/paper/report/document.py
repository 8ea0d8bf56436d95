"""Make the report from records of runs: sections of sentences, verdicts, tables and figures, for HTML and for Markdown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Literal

from lfno.core.errors import LfnoError
from lfno.paper.record import load_records
from lfno.paper.report import claims, costs, errors, goals, paper, studies, times
from lfno.paper.report.baselines import Scores, gather
from lfno.paper.report.flip import flip_table
from lfno.paper.report.gallery import draw, study_plates
from lfno.paper.report.headline import BLOCKS, headline_table, reading
from lfno.paper.report.selection import Runs
from lfno.paper.report.story import Story, tell
from lfno.paper.report.tables import Table
from lfno.paper.report.task_pages import task_page
from lfno.paper.report.tried import tried_tables
from lfno.paper.report.verdicts import Verdict
from lfno.plots import page as pages
from lfno.systems import REGISTRY, titles

TITLE = "Laplace–Fourier neural operators: results"
BASELINE_SECONDS = 120.0  # s; longest time for computing missing baselines
#: value of `lfno reproduce --models` for the table “Fair comparisons”: LFNO, and FNOs of equal width, parameters and time
FAIR = "lfno,fno,'fno deep','fno long'"
Progress = Callable[[int, int], object]  # (finished steps, all steps)
Page = Literal["index", "tables", "tried"]  # pages of the documentation


@dataclass
class Section:
    """A heading with sentences, verdicts, tables and figures below it.

    Attributes:
        subject: The heading of the first column of the table of verdicts: “claim” or “goal”.
        missing: Missing runs, each as (sentence, command that makes them).
        page: The page of the documentation with this section. The HTML report has all sections.
    """

    title: str
    sentences: list[str] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    pictures: list[pages.Picture] = field(default_factory=list)
    subject: str = "claim"
    missing: list[tuple[str, str]] = field(default_factory=list)
    page: Page = "tables"

    @property
    def anchor(self) -> str:
        """The part of the address after `#` that leads to this section."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


@dataclass(frozen=True)
class Document:
    """The report.

    Attributes:
        subtitle: A sentence on the records behind the report.
        story: The first screen of the HTML report.
        tasks: Data set → its page in the HTML report.
    """

    title: str
    subtitle: str
    sections: list[Section]
    story: Story | None = None
    tasks: dict[str, pages.Page] = field(default_factory=dict)


def document(
    results: Path, pictures: bool = True, seconds: float = BASELINE_SECONDS, progress: Progress = lambda *_: None
) -> Document:
    """Build the report from the records in the folder `results`.

    Args:
        results: Folder with the records of runs. If a record is missing, the report names the command that makes it.
        pictures: True to make the first screen, the figures and the pages of the data sets for HTML.
        seconds: Longest time for computing baselines that have no record yet.
        progress: Called with the number of finished steps and the number of all steps: at the start, and after each step.

    Raises:
        LfnoError: `results` is a file, or a record in it cannot be read.
    """
    if results.exists() and not results.is_dir():
        raise LfnoError(f"{results} is a file: give the folder with the records of runs")
    runs = Runs(load_records(results)) if results.exists() else Runs([])
    tasks = [task for task in runs.main.tasks if task in REGISTRY] if pictures else []
    tasks = sorted(tasks, key=[*chain(*BLOCKS.values()), *tasks].index)
    steps = count(0)

    def step() -> None:
        progress(next(steps), 4 + len(tasks))

    step()
    # compute baselines only for data sets that have a record: a baseline needs the data set, and making it takes time
    shown = [task for task in titles.ALL if task in runs.main.tasks] + runs.main.tasks + runs.main.outside.tasks
    baselines = gather(shown, results, seconds)
    step()
    claimed = _claims(runs)
    sections = [_headline(runs, baselines), claimed, _goals(runs, baselines, results), *_tables(runs, baselines)]
    sections.append(_flip(runs))
    if pictures:
        sections.append(_study_figures(runs))
    sections.append(Section("Hyper-parameters", tables=[studies.hyper_parameter_table(runs)]))
    step()
    sections.append(Section("Cost", tables=[*costs.kept(results), costs.cost_table(runs), *_times(runs)]))
    step()
    tried = tried_tables(results)
    if tried:
        sections.append(Section("What was tried", tables=tried, page="tried"))
    sections.append(Section("Environment", tables=[studies.environment_table(runs)]))
    number = f"{len(runs)} run{'' if len(runs) == 1 else 's'}"
    made = Document(TITLE, f"Made from the records of {number}.", sections)
    if pictures:
        made = replace(made, story=tell(runs, baselines, claimed.verdicts))
    step()
    for task in tasks:
        made.tasks[task] = task_page(runs, baselines, task)
        step()
    return made


def _headline(runs: Runs, baselines: dict[str, Scores]) -> Section:
    table = headline_table(runs, baselines)
    section = Section("Overview", reading(runs, baselines), tables=[table] if table.rows else [], page="index")
    if not table.rows:
        section.missing.append(("No runs of the default preset", "lfno reproduce"))
    return section


def _claims(runs: Runs) -> Section:
    words = "The claims of the paper and our measurements. A claim holds if every comparison supports it."
    return Section("The paper's claims", [words], verdicts=claims.judge_claims(runs))


def _goals(runs: Runs, baselines: dict[str, Scores], results: Path) -> Section:
    words = [
        (
            "The goals that we set for this library. Errors are mean ± standard deviation over seeds on the test samples. An "
            "error without ± has one seed."
        ),
        "The default preset is the same for every data set. We chose it by validation errors. R is one trainable channel "
        "matrix for each low Fourier mode of a layer. For each data set, short trial runs (the pilot) decide by validation "
        "errors whether R is trained or stays zero.",
        "Tests check two more goals on one CPU thread. Runs of equal shape can be trained together (a stack). After fifty "
        "training steps, the results of a run in a stack differ from the results of the same run alone by less than 1e-5. A "
        "run that was stopped and resumed equals an uninterrupted run bit for bit.",
    ]
    verdicts = goals.judge_goals(runs, baselines, goals.read_benchmark(results))
    return Section("Goals", words, subject="goal", verdicts=verdicts)


def _tables(runs: Runs, baselines: dict[str, Scores]) -> list[Section]:
    four = Section(
        "Our errors and the published errors",
        [
            "Relative errors ‖û − u‖ / ‖u‖, mean over the test samples. The standard split has 274 training samples, 30 "
            "validation samples and 76 test samples. All choices were made by validation errors. In every data set except "
            "Navier–Stokes with ν = 10⁻³, one parameter describes the input. Interpolation between training samples is then a "
            "strong baseline. The baselines are in the last rows of each table."
        ],
        tables=[errors.error_table(published, runs, baselines) for published in paper.ERROR_TABLES],
    )
    absent = [task for task in titles.ALL if task not in runs.main.tasks]
    if absent:
        names = ", ".join(titles.title(task) for task in absent)
        four.missing.append((f"No runs of {names}", f"lfno reproduce --tasks {','.join(absent)}"))
    rich = Section(
        "Rich and out-of-family inputs",
        [
            "Rich inputs are random: multisines, chirps, steps and pulses as forcing, or random initial fields. Interpolation "
            "between such inputs is not possible. Out-of-family inputs are of other kinds than the training inputs."
        ],
    )
    makers = {"rich": errors.rich_table, "out-of-family": errors.outside_table}
    for words, make in makers.items():
        tables = [make(metric, runs, baselines) for metric in ("l2", "linf")]
        rich.tables += [table for table in tables if table.rows]
        if not tables[0].rows:
            rich.missing.append((f"No runs on {words} inputs", "lfno reproduce --tasks rich"))
    fair = Section("Fair comparisons", tables=[errors.fair_table(metric, runs) for metric in ("l2", "linf")])
    fair.tables = [table for table in fair.tables if table.rows]
    if not fair.tables:
        fair.missing.append(("No runs with the default preset", f"lfno reproduce --models {FAIR}"))
    for kind in ("FNO deep", "FNO long"):
        if fair.tables and not len(runs.main.where(label=kind)):
            fair.missing.append((f"“{kind}” was not run", f"lfno reproduce --models {FAIR}"))
    return [four, rich, fair, _studies(runs)]


def _studies(runs: Runs) -> Section:
    section = Section("Ablations")
    makers = {
        "ablation": studies.ablation_table,
        "gate": studies.gate_table,
        "padding": studies.padding_table,
        "loss": studies.loss_table,
        "layers": studies.layers_table,
        "samples": studies.samples_table,
    }
    for name, make in makers.items():
        if len(runs.study(name)):
            section.tables.append(make(runs))
        else:
            section.missing.append((f"The study “{name}” was not run", f"lfno reproduce --study {name}"))
    return section


def _times(runs: Runs) -> list[Table]:
    return [times.time_table(runs)] if len(runs) else []


def _flip(runs: Runs) -> Section:
    words = (
        "At ρ = 10 the forced Lorenz system is not chaotic. Both fixed points are stable, and the amplitude of the forcing "
        f"decides which of them the state reaches. The final x changes its sign at the amplitude A* = {paper.LORENZ_FLIP:.4f}. "
        "If a model places this jump at a slightly different amplitude, its error near A* is as large as the jump. The table "
        "shows how much of the error comes from the test samples nearest to A*."
    )
    table = flip_table(runs)
    section = Section("The sign flip of Lorenz ρ = 10", [words], tables=[table] if table.rows else [])
    if not table.rows:
        section.missing.append(("Lorenz ρ = 10 was not run", "lfno reproduce --tasks lorenz-rho10"))
    return section


def _study_figures(runs: Runs) -> Section:
    section = Section("Figures of the studies")
    for drawn in map(draw, study_plates(runs)):
        if drawn.picture is not None:
            section.pictures.append(replace(drawn.picture, caption=f"{drawn.plate.title}. {drawn.plate.caption}"))
        else:
            section.missing.append((f"{drawn.plate.title}: {drawn.missing}", drawn.plate.command))
    return section
