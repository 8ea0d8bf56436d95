"""Is what is installed what was locked? `python .ci/audit.py`, or `… --write REPORT` to lock anew.

Known faults of dependencies are asked of pip-audit where it is installed and can reach its data. Everywhere, the
installed distributions are compared with requirements.lock (which pins versions and hashes), and every installed file
with the hash its wheel came with, so that nothing was changed afterwards. A report to lock from is made by
`pip install --dry-run --ignore-installed --no-deps --report REPORT -r constraints.txt`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path

LOCK = Path(__file__).parents[1] / "requirements.lock"
HEADER = "# Linux x86-64, CPython 3.11: pip install --require-hashes --no-deps -r requirements.lock\n"
OURS = {"lfno", "pip", "setuptools"}
# what a torch for GPUs brings along; the locked one is for CPUs
DEVICE = ("nvidia-", "cuda-", "triton")


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def write(report: Path) -> None:
    rows = []
    for entry in json.loads(report.read_text())["install"]:
        name, version = entry["metadata"]["name"], entry["metadata"]["version"]
        digest = entry["download_info"]["archive_info"]["hashes"]["sha256"]
        rows.append(f"{canonical(name)}=={version} --hash=sha256:{digest}\n")
    LOCK.write_text(HEADER + "".join(sorted(rows)))


def changed(distribution: Distribution) -> list[str]:
    """Installed files that are not what their wheel held; what is written on installation has no hash."""
    found = []
    for file in distribution.files or []:
        if file.hash is None or file.suffix == ".pyc":
            continue
        path = Path(str(file.locate()))
        digest = hashlib.new(file.hash.mode, path.read_bytes()).digest() if path.is_file() else b""
        if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            found.append(str(file))
    return found


def differences(installed: dict[str, Distribution], lock: str) -> list[str]:
    """What is installed and not as locked, and what was changed since; a line of the lock without a hash is one too."""
    lines = [line for line in lock.splitlines() if line and not line.startswith("#")]
    problems = [f"{line} is locked without a hash" for line in lines if "--hash=sha256:" not in line]
    locked = dict(line.split(" ")[0].split("==") for line in lines)
    for name, distribution in sorted(installed.items()):
        if name in OURS:
            continue
        # the same release of torch is built for several devices, as 2.13.0+cpu
        same = locked.get(name, "").partition("+")[0] == distribution.version.partition("+")[0]
        if not same and not name.startswith(DEVICE):
            problems.append(f"{name} {distribution.version} is installed, {locked.get(name, 'nothing')} is locked")
        problems += [f"{name}: {file} was changed after installation" for file in changed(distribution)]
    return problems


def main() -> int:
    if sys.argv[1:2] == ["--write"]:
        write(Path(sys.argv[2]))
        return 0
    installed = {canonical(d.metadata["Name"]): d for d in distributions()}
    problems = differences(installed, LOCK.read_text())
    asked = subprocess.run([sys.executable, "-m", "pip_audit", "-r", LOCK, "--no-deps", "--disable-pip"], capture_output=True)
    missing = b"No module named" in asked.stderr
    told = "no known faults" if asked.returncode == 0 else "not installed" if missing else "its data cannot be reached"
    if asked.returncode == 1 and b"Found" in asked.stderr:
        problems.append(asked.stdout.decode())
    print("\n".join(problems) or f"{len(installed)} distributions are as locked, every file as it came; pip-audit: {told}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
