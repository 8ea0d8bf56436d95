"""A model as a functional mock-up unit: FMI 2.0 co-simulation, with its C source and, where there is a compiler, a binary."""

from __future__ import annotations

import hashlib
import io
import platform
import re
import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lfno.core.errors import LfnoError
from lfno.core.tensorfile import write_atomically
from lfno.core.version import __version__
from lfno.surrogate.deploy.c_code import NAMES, c_files
from lfno.surrogate.deploy.program import Program

#: platforms of FMI 2.0 that we can compile for: (system, bits) → (folder, ending)
PLATFORMS = {
    ("Linux", "64bit"): ("linux64", ".so"), ("Linux", "32bit"): ("linux32", ".so"),
    ("Darwin", "64bit"): ("darwin64", ".dylib"), ("Windows", "64bit"): ("win64", ".dll"),
}  # fmt: skip
DATE = (2000, 1, 1, 0, 0, 0)  # of every file in the archive, so that equal models give equal bytes


@dataclass(frozen=True)
class Unit:
    """What was written: the file, and the platform that its binary is for ("" for source only) or why there is none."""

    path: Path
    binary: str
    reason: str


def write_fmu(program: Program, path: Path) -> Unit:
    """Write an FMU in double precision; its name, the stem of `path`, must be a C identifier.

    Without a C compiler the FMU holds source code only, which Simulink and Dymola can compile; the result says so.
    """
    name = path.stem
    if not path.parent.is_dir():
        raise LfnoError(f"there is no folder {path.parent} to write {path.name} into")
    if not NAMES.fullmatch(name):
        raise LfnoError(f"{name!r} cannot be the name of an FMU: use at most 40 letters, digits and _, a letter first")
    source, header = c_files(program, name)
    guid = hashlib.sha256(source.encode()).hexdigest()[:32]
    values = _values(program, name, guid)
    files = {f"sources/{name}.c": source, f"sources/{name}.h": header, "sources/fmi2.c": _render("fmi2.c", values)}
    files["modelDescription.xml"] = _render("modelDescription.xml", values)
    binary, content, reason = _compiled(name, files)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, text in files.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), text, zipfile.ZIP_DEFLATED)
        if binary:
            folder, ending = PLATFORMS[platform.system(), platform.architecture()[0]]
            archive.writestr(zipfile.ZipInfo(f"binaries/{folder}/{name}{ending}", DATE), content, zipfile.ZIP_DEFLATED)
    write_atomically(path, stream.getvalue())
    return Unit(path, binary, reason)


def _values(program: Program, name: str, guid: str) -> dict[str, Any]:
    variables, taken = [], set()
    for causality, channels in (("input", program.inputs), ("output", program.outputs)):
        for place, (word, unit) in enumerate(channels):
            label = re.sub(r"\W", "_", word) or f"{causality}{place}"
            while label in taken:
                label += "_"
            taken.add(label)
            offset = float(program.scale_in[0][place]) if causality == "input" else 0.0
            variables.append({"name": label, "unit": unit, "causality": causality, "start": repr(offset)})
    first = len(program.inputs) + 1
    return {
        "name": name, "guid": guid, "version": __version__, "dt": repr(float(program.dt)), "variables": variables,
        "description": f"surrogate with a step of {program.dt:g} {program.unit}".strip(),
        "units": sorted({one["unit"] for one in variables} - {""}),
        "outputs": list(range(first, first + len(program.outputs))),
        "starts": ", ".join(one["start"] for one in variables if one["causality"] == "input"),
    }  # fmt: skip


def _render(template: str, values: dict[str, Any]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent / "templates")
    xml = template.endswith(".xml")
    return Environment(loader=folder, undefined=StrictUndefined, autoescape=xml).get_template(template).render(values)


def _compiled(name: str, files: dict[str, str]) -> tuple[str, bytes, str]:
    """Return (platform, shared library, "") or ("", nothing, the reason)."""
    where = PLATFORMS.get((platform.system(), platform.architecture()[0]))
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if where is None or compiler is None:
        return "", b"", "there is no C compiler here" if where else f"{platform.system()} is no platform of FMI 2.0"
    with tempfile.TemporaryDirectory() as folder:
        for place, text in files.items():
            if place.startswith("sources/"):
                (Path(folder) / Path(place).name).write_text(text)
        target = Path(folder) / f"{name}{where[1]}"
        options = ["-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", str(target)]
        words = [compiler, *options, f"{name}.c", "fmi2.c", "-lm"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return "", b"", f"the C compiler failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}"
        return where[0], target.read_bytes(), ""
