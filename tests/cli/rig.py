"""Help for the tests of the commands: a simulated record, options for a small network, and functions that run a command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import lfilter
from typer.testing import CliRunner

from lfno.cli import build
from tests.core.strict import strictly_read

STEP = 0.05  # s; time step of the record

#: options of `lfno fit` for a network that is trained in a second
SMALL = ["--model", "lfno", "--set", "width=4", "--set", "n_poles=4", "--set", "projection=8", "--set", "steady_decay=1"]
SMALL += ["--set", "transient_layers=2", "--device", "cpu"]


def signals(size: int, seed: int = 0, saturated: bool = True) -> dict[str, np.ndarray]:
    """Return time, force and response of an oscillator with low-frequency random forces. The response saturates slightly.

    saturated: False for the linear response.
    """
    rng = np.random.default_rng(seed)
    force = lfilter([0.1], [1, -0.9], rng.normal(size=size))
    pole = np.exp((-0.5 + 3j) * STEP)
    motion = lfilter([0.05], [1, -2 * pole.real, abs(pole) ** 2], force)
    return {"t": STEP * np.arange(size), "force": force, "u": np.tanh(motion) if saturated else motion}


def write_csv(path: Path, columns: dict[str, np.ndarray]) -> Path:
    """Write a CSV file with units in the header and an extra delimiter at the end of each line."""
    heading = {"t": "t (s)", "force": "force [N]", "u": "u [m]"}
    rows = np.stack(list(columns.values()), 1)
    lines = [",".join(heading[name] for name in columns) + ",", *(",".join(f"{v:.8g}" for v in row) + "," for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def call(*words: Any) -> str:
    """Run `lfno WORDS` and return the text that the command prints. Raises the exception of the command, if there is one."""
    result = CliRunner().invoke(build(), [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def answer(*words: Any) -> dict[str, Any]:
    """Run `lfno WORDS --json` and return the JSON object that the command prints."""
    return strictly_read(call(*words, "--json"))
