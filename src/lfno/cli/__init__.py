"""The command line: `lfno --help`. One module per command; this file only gathers them.

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
    demo_outcome: errors and modes of the demo
    demo_page: the page of the demo
    app: `lfno app`
    reading: options for reading files, shared by the commands
    outcome: tables, metrics and figures of a finished run
    wording: options of the library as flags of the command line
    allocator: keep freed memory in the process of the command line
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

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130


def build() -> typer.Typer:
    """Return the command line with all its commands."""
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        help="Laplace-Fourier neural operators: fast surrogates of dynamical systems that tell transient from steady.",
    )

    @app.callback()
    def root() -> None: ...

    for name in COMMANDS:
        importlib.import_module(name).register(app)
    return app


def main() -> None:
    """Run the command line. An error that the user can correct is one message on stderr, never a traceback."""
    # waiting threads must not spin: on a busy machine, many small products would take a hundred times as long
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # batch systems stop a job with SIGTERM. Handle it like Ctrl-C, so that a run saves its state
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
        if not isinstance(error, MemoryError) and "allocate" not in str(error):  # torch has no class for this error on a CPU
            raise
        print(f"lfno: out of memory ({error}); use a part of the data, or a machine with more", file=sys.stderr)
        sys.exit(EXIT_USER_ERROR)
    except (KeyboardInterrupt, SystemExit) as stop:  # typer turns the first into the second
        if isinstance(stop, SystemExit) and stop.code != EXIT_INTERRUPTED:
            raise
        print("lfno: interrupted; nothing half-written was left behind", file=sys.stderr)
        # an interruption inside `exec` of a string, as in imports of large packages, makes Python end by the signal instead
        # of with our exit code. Another `exec` resets this
        eval("None")
        sys.exit(EXIT_INTERRUPTED)
