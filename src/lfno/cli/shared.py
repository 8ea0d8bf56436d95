"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelPath = Annotated[Path, typer.Argument(help="Model file, folder of a run, or name of a shipped model.")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="Change an option of model or training, as --set width=24. Can be repeated.")
]
Device = Annotated[str | None, typer.Option(help="cpu or cuda. By default cuda if there is a GPU that torch can use.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print the result without notes and progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON, and nothing else.")]
