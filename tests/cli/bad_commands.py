"""Wrong commands and the page docs/how-to/bad-commands.md, which lists the error message of each.

`test_bad_commands.py` compares the page with the error messages of the commands. After an intended change of an error message,
run `python -m tests.cli.bad_commands` to write the page again.
"""

from __future__ import annotations

import os
import re
import shlex
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from typer.testing import CliRunner

from lfno.cli import build
from lfno.cli.wording import flag
from lfno.core.errors import LfnoError
from tests.cli.rig import SMALL, STEP, call, signals, write_csv

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "bad-commands.md"

INTRODUCTION = """# Error messages for commands

If a command cannot run, `lfno` prints one error message, writes no file, and ends with the [exit
code](../reference/exit-codes.md) 2. This page lists the messages of each command. [Another page](bad-input.md) lists the
messages for files. A test runs every command of this page and compares the message.

| name in the examples | content |
|---|---|
| `rig.csv` | one record of 3000 samples: the time `t`, the input `force`, the output `u` |
| `many.npz` | 20 trajectories of the same signals |
| `pair.npz` | a record with other names: `t`, `a` and `b` |
| `slow.npz` | a record with a time step of 2 s |
| `one`, `two` | folders of models of `rig.csv`: one network, and an ensemble of two networks |
| `many` | the folder of a network of `many.npz` |
| `modes` | the folder of a linear model of `rig.csv` |
| `gone`, `gone.csv` | names that do not exist |
| … | a long list |
"""

COMMANDS = (
    "lfno inspect gone.csv",
    "lfno inspect .",
    "lfno fit gone.csv",
    "lfno fit rig.csv --input x",
    "lfno fit rig.csv --input force --output u,u",
    "lfno fit rig.csv --set depth=3",
    "lfno fit rig.csv --set width",
    "lfno fit rig.csv --set width=wide",
    "lfno fit rig.csv --set modes=1000",
    "lfno fit rig.csv --epochs 0",
    "lfno fit rig.csv --model mlp",
    "lfno fit rig.csv --device tpu9",
    "lfno fit rig.csv --window 5000",
    "lfno fit rig.csv --window 100 --warmup 100",
    "lfno fit rig.csv --test gone.csv",
    "lfno fit rig.csv --test rig.csv",
    "lfno fit rig.csv --test 9000:9100",
    "lfno fit many.npz --test 0:20",
    "lfno fit many.npz --window 100 --warmup 100",
    "lfno fit rig.csv --out one",
    "lfno fit rig.csv --out gone --resume",
    "lfno fit rig.csv --linear --epochs 10",
    "lfno train dufing-c05",
    "lfno train duffing-c05 --preset best",
    "lfno train duffing-c05 --fold 7",
    "lfno predict gone rig.csv",
    "lfno predict . rig.csv",
    "lfno predict rig.csv rig.csv",
    "lfno predict one gone.csv",
    "lfno predict one rig.csv -o rig.csv",
    "lfno predict one rig.csv -o a.xlsx",
    "lfno predict one rig.csv --input force,u",
    "lfno predict one pair.npz --input a,b",
    "lfno predict one pair.npz",
    "lfno predict one many.npz --axes x,t",
    "lfno predict one slow.npz",
    "lfno decompose many many.npz --trajectory 99",
    "lfno decompose many many.npz --start 1",
    "lfno decompose one rig.csv --start 149",
    "lfno poles one --amplitude -1",
    "lfno poles modes --amplitude 1",
    "lfno poles one --data pair.npz --input a",
    "lfno export one --to tflite",
    "lfno export two --member 5",
    "lfno export one --dt -1",
    "lfno export one --dt 1.0",
    "lfno export modes --to torch",
    "lfno export modes --to c --size 512",
    "lfno export modes --to fmu --precision float",
    "lfno export modes --to c --precision half",
    "lfno export modes --to c --fmi 3.0",
    "lfno export modes --to fmu --fmi 1.0",
    "lfno export modes --to c --out 2rig.c",
)


def workshop(folder: Path) -> None:
    """Write the files and the models that the commands use into `folder`."""
    write_csv(folder / "rig.csv", signals(3000))
    parts = [signals(600, seed) for seed in range(20)]
    stacked = {name: np.stack([part[name] for part in parts]) for name in ("force", "u")}
    np.savez(folder / "many.npz", t=parts[0]["t"], **stacked)
    np.savez(folder / "pair.npz", t=STEP * np.arange(300), a=np.sin(np.arange(300.0)), b=np.arange(300.0))
    np.savez(folder / "slow.npz", t=2.0 * np.arange(300), force=np.sin(np.arange(300.0)))
    record = ["fit", folder / "rig.csv", "--window", 128, "--quiet"]
    call(*record, "--epochs", 1, *SMALL, "--out", folder / "one")
    call(*record, "--epochs", 1, *SMALL, "--ensemble", 2, "--out", folder / "two")
    call(*record, "--linear", "--out", folder / "modes")
    call("fit", folder / "many.npz", "--epochs", 1, *SMALL, "--out", folder / "many", "--quiet")


def sentence(command: str) -> str:
    """Return the error message of the command. The current folder must be the one that `workshop` filled."""
    result = CliRunner().invoke(build(), shlex.split(command)[1:])
    if isinstance(result.exception, LfnoError):
        # shorten the lists of all options and of all shipped models: they are long and grow
        return re.sub(r"(there are|the options are):? [\w, -]{99,}", r"\1 …", result.exception.worded(flag))
    raise AssertionError(f"{command}: {result.exception!r} {result.output}") from result.exception


def section(command: str) -> str:
    """Return the heading of the section on the page that lists the command."""
    return f"## `lfno {command.split()[1]}`"


def row(command: str, said: str) -> str:
    """Return the row of the table on the page for a command with the error message `said`."""
    return f"| `{command}` | {said} |"


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        os.chdir(name)
        workshop(Path())
        lines = [INTRODUCTION]
        for heading, commands in groupby(COMMANDS, section):
            lines.append(f"\n{heading}\n\n| command | error message |\n|---|---|\n")
            lines += [row(command, sentence(command)) + "\n" for command in commands]
        PAGE.write_text("".join(lines))
