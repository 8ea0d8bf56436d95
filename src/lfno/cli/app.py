"""`lfno app`: a page in the browser that only this machine can open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PATIENCE = 5.0  # s; longest wait for the first picture in the browser before torch is imported


def register(app: typer.Typer) -> None:
    """Add `lfno app` to the command line."""
    app.command("app")(page)


def page(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1. 0 chooses a free port.", min=0, max=65535)] = 8050,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Print the address of the page and do not open a browser.")
    ] = False,
    workspace: Annotated[
        Path | None, typer.Option(help="Folder for files and runs. By default lfno/workspace in the user's application data.")
    ] = None,
) -> None:
    """Open a page in the browser for the systems, the models and your own signals.

    Only this machine can open the page.
    """
    import signal
    import threading
    import webbrowser

    from lfno.app.memory import return_freed_memory
    from lfno.app.server import Server

    return_freed_memory()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up after SIGTERM, too
    with Server(port, workspace) as server:
        typer.echo(f"lfno is at {server.address} (stop with Ctrl-C); files and runs are kept in {server.workspace}")

        def warm_up() -> None:
            """Import torch after the first picture is shown, at the latest after PATIENCE. The import takes seconds."""
            server.desk.shown.wait(PATIENCE)
            import lfno.surrogate  # noqa: F401

        threading.Thread(target=warm_up, daemon=True).start()
        if not no_browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped")
