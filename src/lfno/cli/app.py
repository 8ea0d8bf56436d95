"""`lfno app`: a page in the browser, served on this machine alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

PATIENCE = 5.0  # seconds to wait for a browser before torch is imported


def register(app: typer.Typer) -> None:
    """Add `lfno app` to the command line."""
    app.command("app")(page)


def page(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes any that is free.", min=0, max=65535)] = 8050,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    workspace: Annotated[Path | None, typer.Option(help="Folder for files and runs; by default one for each user.")] = None,
) -> None:
    """Look at the systems, the models and your own signals in a page that runs on this machine alone."""
    import signal
    import threading
    import webbrowser

    from lfno.app.memory import return_freed_memory
    from lfno.app.server import Server

    return_freed_memory()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # clean up after SIGTERM, too
    with Server(port, workspace) as server:
        typer.echo(f"lfno is at {server.address} (stop it with Ctrl-C); files and runs are kept in {server.workspace}")

        def warm_up() -> None:
            """Import torch, which takes seconds, after the first picture is shown or after PATIENCE seconds."""
            server.desk.shown.wait(PATIENCE)
            import lfno.surrogate  # noqa: F401

        threading.Thread(target=warm_up, daemon=True).start()
        if not no_browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped")
