"""`lfno app`: a page in the browser, served on this machine alone."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("app")(page)


def page(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes any that is free.", min=0, max=65535)] = 8050,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
) -> None:
    """Look at the systems, the models and your own signals in a page that runs on this machine alone."""
    import signal
    import threading
    import webbrowser

    from lfno.app.server import Server

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ended by a kill, it also clears up
    with Server(port) as server:
        typer.echo(f"lfno is at {server.address} (stop it with Ctrl-C)")
        # torch takes seconds to come in: let it do so while the browser opens
        threading.Thread(target=lambda: server.desk, daemon=True).start()
        if not no_browser:
            webbrowser.open(server.address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            typer.echo("stopped")
