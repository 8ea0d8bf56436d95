"""Run the Python cells of notebook pages when the site is built, and show their output and figures on the page.

A page is a notebook if its front matter says `notebook: true`. A cell that fails stops the build. If all cells succeed, the
folder of the page also gets the executed notebook as an .ipynb file.
"""

from __future__ import annotations

import base64
import os
import re
import tempfile
from pathlib import Path

import jupytext
import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from nbclient import NotebookClient

SECONDS = 300  # longest time that one cell may take
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # escape sequences of a terminal


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace the source of every notebook page by the page with its results."""
    for page in files.documentation_pages():
        text = page.content_string
        if re.match(r"---\n(?:.*\n)*?notebook: true\n", text):
            for name, content in executed(page.src_uri, text).items():
                if (old := files.get_file_from_path(name)) is not None:
                    files.remove(old)
                files.append(File.generated(config, name, content=content))
    return files


def executed(name: str, text: str) -> dict[str, str | bytes]:
    """Run the page `name` with the Markdown `text`.

    Returns:
        file name -> content: the page with its results, its pictures, and the executed notebook.
    """
    notebook = jupytext.reads(text, fmt="md")
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    os.environ |= {"PYTHONWARNINGS": "ignore", "COLUMNS": "88", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            startup_timeout=SECONDS,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR", "--InlineBackend.figure_formats=retina"],  # twice the resolution
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    stem = name.removesuffix(".md")
    made: dict[str, str | bytes] = {f"{stem}.ipynb": nbformat.writes(notebook)}
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        if cell.cell_type != "code":
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            if picture := output.get("data", {}).get("image/png"):
                path = f"{stem}-{len(made)}.png"
                made[path] = base64.b64decode(picture)
                shown = output.get("metadata", {}).get("image/png", {}).get("width")
                parts.append(f"![]({Path(path).name})" + (f"{{ width={shown} }}" if shown else ""))
            elif words := output.get("text") or output.get("data", {}).get("text/plain"):
                parts.append(f"```text\n{COLOUR.sub('', words).rstrip()}\n```")
    front = text[: text.index("\n---\n", 4) + 5]
    parts.append(f"[This page as a notebook]({Path(stem).name}.ipynb)")
    made[name] = front + "\n\n".join(parts) + "\n"
    return made
