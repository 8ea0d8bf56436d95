"""The report before it has a format: sections of sentences, verdicts, tables and pictures, made from records of runs."""

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
BASELINE_SECONDS = 120.0
FAIR = "lfno,fno,'fno deep','fno long'"
Progress = Callable[[int, int], object]  # (finished steps, all steps)
Page = Literal["index", "tables", "tried"]  # pages of the documentation


@dataclass
class Section:
    """A heading with sentences, verdicts, tables and pictures below it.

    Attributes:
        page: The page of the documentation that shows this section; the HTML report shows all sections.
        subject: What a verdict is about: “claim” or “goal”.
        missing: What was not run, with the command that runs it.
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
        """The address of the section inside a page."""
        return "".join(c if c.isalnum() else "-" for c in self.title.lower())


@dataclass(frozen=True)
class Document:
    """The report: title, source of its numbers, first screen, sections, and a page for each data set."""

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
        results: Folder with the records of runs. A folder without records gives a report that says what to run.
        pictures: Whether to make the first screen, the figures and the pages of the data sets of the HTML report.
        seconds: Longest time for computing baselines that are not in the folder yet.
        progress: Called with the number of finished and of all steps.

    Raises:
        LfnoError: `results` is a file, or a record in it cannot be read.
    """
    if results.exists() and not results.is_dir():
        raise LfnoError(f"{results} is a file: give the folder that holds the records of runs")
    runs = Runs(load_records(results)) if results.exists() else Runs([])
    tasks = [task for task in runs.main.tasks if task in REGISTRY] if pictures else []
    tasks = sorted(tasks, key=[*chain(*BLOCKS.values()), *tasks].index)
    steps = count(0)

    def step() -> None:
        progress(next(steps), 4 + len(tasks))

    step()
    # compute baselines only for tasks that were run, because they need the data sets
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
    for task in tasks:
        made.tasks[task] = task_page(runs, baselines, task)
        step()
    return made


def _headline(runs: Runs, baselines: dict[str, Scores]) -> Section:
    table = headline_table(runs, baselines)
    section = Section("In one table", reading(runs, baselines), tables=[table] if table.rows else [], page="index")
    if not table.rows:
        section.missing.append(("No runs of the default preset", "lfno reproduce"))
    return section


def _claims(runs: Runs) -> Section:
    words = "What the paper says, what we measured, and whether it holds. A claim holds if every comparison supports it."
    return Section("The paper's claims", [words], verdicts=claims.judge_claims(runs))


def _goals(runs: Runs, baselines: dict[str, Scores], results: Path) -> Section:
    words = [
        (
            "What this library set out to reach: mean ± standard deviation over seeds on the test samples. An error without "
            "± has one seed."
        ),
        "The default preset is the same for every task and was chosen on validation samples. A short pilot run on the "
        "validation samples of each data set decides whether the Fourier weights R are trained or stay zero.",
        "Two goals are checked by tests, on one CPU thread: after fifty steps a run in a stack equals the same run alone to "
        "1e-5, and a run that was stopped and resumed equals an uninterrupted run bit for bit.",
    ]
    verdicts = goals.judge_goals(runs, baselines, goals.read_benchmark(results))
    return Section("Goals", words, subject="goal", verdicts=verdicts)


def _tables(runs: Runs, baselines: dict[str, Scores]) -> list[Section]:
    four = Section(
        "Errors beside the published ones",
        [
            "Relative errors ‖û − u‖ / ‖u‖, mean over the test samples of the standard split (274 for training, 30 for "
            "validation, 76 for the test). All choices were made on the validation samples. Every data set here except ν = "
            "10⁻³ has a single parameter, so interpolation between training samples is a strong opponent: the baselines "
            "stand below the models."
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
            "Rich inputs are random multisines, chirps, steps and pulses, which cannot be interpolated. Out-of-family inputs "
            "are of kinds that the models were not trained on."
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
        fair.missing.append(("No runs beyond the paper's preset", f"lfno reproduce --models {FAIR}"))
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
        "At ρ = 10 the forced Lorenz system is not chaotic: both fixed points are stable, and the forcing decides which one "
        f"the state reaches. Over the 380 amplitudes the final x changes sign once, at A* = {paper.LORENZ_FLIP:.4f}. A model "
        "that places this jump at a slightly different amplitude is wrong by its full height. The table shows how much of "
        "the error comes from the test samples nearest to A*."
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
