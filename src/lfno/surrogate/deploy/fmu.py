"""Write a model as a functional mock-up unit (FMU) for co-simulation with FMI 2.0 or 3.0.

The FMU holds source code and, if a compiler is installed, a binary.
"""

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
from lfno.models.export import check_target
from lfno.surrogate.deploy.c_code import NAMES, c_files
from lfno.surrogate.deploy.fmi3 import REFUSED
from lfno.surrogate.deploy.program import Program

#: folder of the binary in FMI 2.0, by system and bits
FOLDERS2 = {
    ("Linux", "64bit"): "linux64",
    ("Linux", "32bit"): "linux32",
    ("Darwin", "64bit"): "darwin64",
    ("Windows", "64bit"): "win64",
}
#: ending of a shared library, by system
ENDINGS = {"Linux": ".so", "Darwin": ".dylib", "Windows": ".dll"}
#: name of a processor in Python -> its name in FMI 3.0
PROCESSORS = {"AMD64": "x86_64", "x86_64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64", "i686": "x86"}
#: supported versions of FMI
VERSIONS = ("2.0", "3.0")
#: date of every file in the archive; a fixed date, so that equal models give equal bytes
DATE = (2000, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Unit:
    """A written FMU: its file and the version of FMI.

    binary: the platform of the binary, "" for source only.
    reason: why there is no binary; "" if there is one.
    """

    path: Path
    version: str
    binary: str
    reason: str


def write_fmu(program: Program, path: Path, version: str = "2.0") -> Unit:
    """Write an FMU in double precision, and return a description of the file.

    path: the file. Its stem is the name of the FMU and must be a C identifier.
    version: the version of FMI, "2.0" or "3.0".

    Without a C compiler, or on a platform without a folder in the standard, the FMU holds source code only, which Simulink and
    Dymola can compile. The field `reason` of the result then says why. Raises LfnoError for an unknown version, a wrong name or
    a missing folder.
    """
    name = path.stem
    if version not in VERSIONS:
        raise LfnoError(f"FMI version {version!r} is not supported; choose {' or '.join(VERSIONS)}")
    check_target(path)
    if not NAMES.fullmatch(name):
        raise LfnoError(f"{name!r} cannot be the name of an FMU: use at most 40 letters, digits and _, a letter first")
    source, header = c_files(program, name)
    values = _values(program, name, hashlib.sha256(source.encode()).hexdigest()[:32])
    around = f"fmi{version[0]}.c"
    files = {f"sources/{name}.c": source, f"sources/{name}.h": header, f"sources/{around}": _render(around, values)}
    files["modelDescription.xml"] = _render(f"modelDescription{version[0]}.xml", values)
    if version == "3.0":
        files["sources/buildDescription.xml"] = _render("buildDescription.xml", values)
    folder, content, reason = _compiled(name, files, version)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, text in files.items():
            archive.writestr(zipfile.ZipInfo(place, DATE), text, zipfile.ZIP_DEFLATED)
        if folder:
            library = f"binaries/{folder}/{name}{ENDINGS[platform.system()]}"
            archive.writestr(zipfile.ZipInfo(library, DATE), content, zipfile.ZIP_DEFLATED)
    write_atomically(path, stream.getvalue())
    return Unit(path, version, folder, reason)


def _values(program: Program, name: str, guid: str) -> dict[str, Any]:
    """Return the values for the templates of the model description and of the C source."""
    variables, taken = [], set[str]()
    offsets = program.centre[0]
    for causality, channels in (("input", program.inputs), ("output", program.outputs)):
        for place, (word, unit) in enumerate(channels):
            label = _label(re.sub(r"\W", "_", word) or f"{causality}{place}", taken)
            start = repr(float(offsets[place])) if causality == "input" else ""
            told = program.notes[place] if causality == "input" and len(program.notes) >= len(program.inputs) else ""
            variables.append({"name": label, "unit": unit, "causality": causality, "start": start, "told": told})
    first = len(program.inputs) + 1
    return {
        "name": name, "guid": guid, "version": __version__, "dt": repr(float(program.dt)), "variables": variables,
        "description": f"surrogate with a step of {program.dt:g} {program.unit}".strip(),
        "units": sorted({one["unit"] for one in variables} - {""}),
        "outputs": list(range(first, first + len(program.outputs))),
        "starts": ", ".join(one["start"] for one in variables if one["causality"] == "input"),
        "time": _label("time", taken), "refused": REFUSED,
    }  # fmt: skip


def _label(word: str, taken: set[str]) -> str:
    """Return `word`, with _ appended until it is not in `taken`. The result is added to `taken`."""
    while word in taken:
        word += "_"
    taken.add(word)
    return word


def _render(template: str, values: dict[str, Any]) -> str:
    """Return the text of a template with its values."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    folder = FileSystemLoader(Path(__file__).parent / "templates")
    xml = template.endswith(".xml")
    return Environment(loader=folder, undefined=StrictUndefined, autoescape=xml).get_template(template).render(values)


def _folder(version: str) -> str:
    """Return the folder of the binary for this computer; "" if the standard has no folder for it."""
    system = platform.system()
    if version == "2.0":
        return FOLDERS2.get((system, platform.architecture()[0]), "")
    processor = PROCESSORS.get(platform.machine(), "")
    return f"{processor}-{system.lower()}" if processor and system in ENDINGS else ""


def _compiled(name: str, files: dict[str, str], version: str) -> tuple[str, bytes, str]:
    """Compile the FMU. Return (platform, shared library, ""), or ("", b"", reason) if there is no binary."""
    where = _folder(version)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not where or compiler is None:
        return "", b"", "no C compiler was found" if where else f"{platform.system()} is no platform of FMI {version}"
    with tempfile.TemporaryDirectory() as folder:
        for place, text in files.items():
            if place.startswith("sources/"):
                (Path(folder) / Path(place).name).write_text(text)
        target = Path(folder) / f"{name}{ENDINGS[platform.system()]}"
        options = ["-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", str(target)]
        words = [compiler, *options, f"{name}.c", f"fmi{version[0]}.c", "-lm"]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return "", b"", f"the C compiler failed: {(done.stderr.strip() or 'no message').splitlines()[-1]}"
        return where, target.read_bytes(), ""
