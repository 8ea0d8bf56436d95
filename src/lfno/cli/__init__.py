"""The command line: `lfno --help`. Each command has a module. This file builds the command line from the modules.

Every command module defines `register(app)`. Heavy imports happen inside the commands, so that `lfno --help` answers at once.

Modules:
    systems: `lfno systems`
    data: `lfno data`
    inspect: `lfno inspect`
    train: `lfno train`
    fit: `lfno fit`
    predict: `lfno predict`
    decompose: `lfno decompose`
    poles: `lfno poles`
    record_modes: modes of a measured record, for `lfno poles`
    bode: Bode plot of `lfno poles --data`
    mode_table: tables of modes and poles
    response: `lfno response`
    export: `lfno export`
    benchmark: `lfno benchmark`
    demo: `lfno demo`
    demo_outcome: the result of the demo: errors, transient and steady part, modes
    demo_page: the page of the demo
    app: `lfno app`
    shared: options that several commands have
    reading: options for reading files
    outcome: tables, metrics and figures of a finished run
    wording: options of the library as flags of the command line
    allocator: make the C library keep freed memory

The commands `lfno reproduce` and `lfno report` are in `lfno.paper.commands`.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys

import typer

from lfno.cli.allocator import keep_freed_memory
from lfno.cli.wording import flag
from lfno.core.errors import LfnoError, plain_warnings

#: modules that define `register(app)`, in the order in which `lfno --help` lists their commands
COMMANDS: tuple[str, ...] = (
    "lfno.cli.systems",
    "lfno.cli.data",
    "lfno.cli.inspect",
    "lfno.cli.train",
    "lfno.cli.fit",
    "lfno.cli.predict",
    "lfno.cli.decompose",
    "lfno.cli.poles",
    "lfno.cli.response",
    "lfno.cli.export",
    "lfno.cli.benchmark",
    "lfno.paper.commands.reproduce",
    "lfno.paper.commands.report",
    "lfno.cli.demo",
    "lfno.cli.app",
)

EXIT_USER_ERROR = 2  # exit code after an error that the user can correct
EXIT_INTERRUPTED = 130  # exit code after Ctrl-C or SIGTERM; shells use this code for Ctrl-C

HELP = """
Laplace–Fourier neural operators: fast models of dynamical systems. They predict the response to an input and split the response
into a transient and a steady part.

\b
To see what lfno does:     lfno demo
For your own signals:      lfno inspect FILE
                           lfno fit FILE --out MODEL
                           lfno predict MODEL FILE
"""


def build() -> typer.Typer:
    """Return the command line with all its commands."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help=HELP,
    )

    @app.callback()
    def root() -> None: ...

    for name in COMMANDS:
        importlib.import_module(name).register(app)
    return app


def main() -> None:
    """Run the command line. For an error that the user can correct, print one message on stderr and no traceback."""
    # threads that wait must sleep: if other programs run too, busy waiting makes small matrix products a hundred times slower
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # batch systems stop a job with SIGTERM; handle SIGTERM like Ctrl-C, so that a run saves its state
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    plain_warnings()
    keep_freed_memory()
    try:
        build()()
    except LfnoError as error:
        print(f"lfno: {error.worded(flag)}", file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)
    except OSError as error:  # no write permission, or a full disk
        print(f"lfno: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)
    except (MemoryError, RuntimeError) as error:
        # when memory runs out on a CPU, torch raises a plain RuntimeError
        if not isinstance(error, MemoryError) and "allocate" not in str(error):
            raise
        print(f"lfno: out of memory ({error}); use a part of the data, or a machine with more memory", file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)
    except (KeyboardInterrupt, SystemExit) as stop:  # typer turns KeyboardInterrupt into SystemExit
        if isinstance(stop, SystemExit) and stop.code != EXIT_INTERRUPTED:
            raise
        print("lfno: interrupted; no incomplete file was left", file=sys.stderr)
        # large packages run `exec` on a string while they are imported. If Ctrl-C comes inside such an `exec`, Python ignores
        # our exit code and ends by the signal. One more `exec` or `eval` restores the exit code
        eval("None")
        sys.exit(EXIT_INTERRUPTED)
