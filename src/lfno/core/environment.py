"""The environment of a measurement: hardware, versions and git commit."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

from lfno.core.version import __version__


def environment(device: str | None = None) -> dict[str, str]:
    """Return the hardware, the versions of torch and lfno, and the git commit, all as text.

    device: "cpu" or "cuda"; by default "cuda" if torch finds a GPU, else "cpu".

    The commit is "unknown" if lfno does not run from a git repository.

    >>> sorted(environment("cpu"))
    ['commit', 'hardware', 'lfno', 'torch']
    """
    import torch

    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    hardware = torch.cuda.get_device_name(0) if place.startswith("cuda") else f"{platform.machine()} CPU"
    try:
        command = ["git", "rev-parse", "--short", "HEAD"]
        here = Path(__file__).parent
        commit = subprocess.run(command, capture_output=True, text=True, cwd=here, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        commit = ""
    return {"hardware": hardware, "torch": torch.__version__, "lfno": __version__, "commit": commit or "unknown"}
