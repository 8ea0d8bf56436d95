"""Export the model of a run as one file for download: model file, C source, FMU, ONNX or report."""

from __future__ import annotations

import io
import platform
import tempfile
import warnings
import zipfile
from pathlib import Path
from typing import Any

from lfno.app.outcome import MODEL, REPORT, read_outcome
from lfno.app.workspace import Item
from lfno.core.errors import LfnoError

#: form of export -> (ending of the file, label on the page)
FORMS = {
    "model": ("safetensors", "model file for lfno"),
    "c": ("zip", "C source and header"),
    "fmu": ("fmu", "FMU for Simulink and Modelica"),
    "onnx": ("onnx", "ONNX"),
    "report": ("html", "report"),
}
#: form of export -> sentence below the buttons
HINTS = {
    "fmu": "An FMU has the C source of the model and, if this machine has a C compiler, a binary for "
    f"{platform.system()} only. Another system needs a program that compiles the source, or an export on that system."
}


def export(item: Item, form: str) -> tuple[str, bytes]:
    """Return (file name, content) of the model of a run in one of the FORMS.

    Raise LfnoError for another form, for a run without a model, and if this kind of model cannot be exported in this form.
    """
    if form not in FORMS:
        raise LfnoError(f"a model cannot be saved as {form[:40]!r}; choose {', '.join(FORMS)}")
    read_outcome(item.folder)
    name = f"{file_name(item.name)}.{FORMS[form][0]}"
    if form == "model":
        return name, (item.folder / MODEL).read_bytes()
    if form == "report":
        return name, (item.folder / REPORT).read_bytes()
    import lfno

    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        target = Path(folder) / (file_name(item.name).replace("-", "_") + (".c" if form == "c" else f".{form}"))
        lfno.load(item.folder / MODEL).export(form, target)
        files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        if form != "c":
            return name, target.read_bytes() if target.is_file() else files[0].read_bytes()
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in files:
                archive.write(path, path.name)
        return name, packed.getvalue()


def file_name(text: str) -> str:
    """Return a file name that is safe in an HTTP header and on every file system."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in text).strip("-")[:60] or "model"


def forms() -> list[dict[str, Any]]:
    """Return the FORMS as the page lists them."""
    return [{"form": form, "label": label, "hint": HINTS.get(form, "")} for form, (_, label) in FORMS.items()]
