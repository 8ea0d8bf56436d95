"""Fixtures: a signal file of a user, a desk, a server, and a browser if one is installed."""

from __future__ import annotations

import base64
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lfno.app.api import Desk
from lfno.app.server import Server

T = np.arange(3000) * 0.05  # s; times of the signals
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
#: options of the browser: no sandbox, and no requests of its own
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def signals() -> np.ndarray:
    """Return the columns time, force (a random multisine) and displacement of the oscillator x″ + 0.8 x′ + 2 x = f."""
    phase = np.random.default_rng(0).uniform(0, 2 * np.pi, 12)
    force = sum(np.sin(0.4 * k * T + p) for k, p in enumerate(phase, 1))
    place = speed = 0.0
    places = []
    for f in np.asarray(force):
        places.append(place)
        speed += 0.05 * (f - 0.8 * speed - 2 * place)
        place += 0.05 * speed
    return np.stack([T, force, np.array(places)], 1)


def unpack(tree: dict[str, Any]) -> np.ndarray:
    """Return the array that `lfno.app.json_values.packed` packed."""
    return np.frombuffer(base64.b64decode(tree["data"]), "<f8" if tree["double"] else "<f4").reshape(tree["shape"])


def finish(desk: Desk, run: str) -> dict[str, Any]:
    """Wait for the end of a run and return its state."""
    while not (progress := desk.ask("progress", {"run": run}))["over"]:
        time.sleep(0.05)
    return progress


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes `signals()` to a CSV file. `cell` replaces the response in the line number `line`."""

    def write(name: str = "rig.csv", line: int = 0, cell: str = "") -> Path:
        rows = [",".join(f"{value:.6g}" for value in row) for row in signals()]
        if line:
            rows[line - 2] = rows[line - 2].rpartition(",")[0] + "," + cell
        path = tmp_path / name
        path.write_text("\n".join(["time (s),force [N],u [mm]", *rows]) + "\n")
        return path

    return write


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Yield a desk with an empty workspace."""
    desk = Desk(tmp_path / "workspace")
    yield desk
    desk.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield a server with an empty workspace, for all tests of a module."""
    with serving(tmp_path_factory.mktemp("workspace")) as server:
        yield server


class serving:
    """Run a server in its own thread. At the end of the `with` block, stop the server and all processes that it started."""

    def __init__(self, workspace: Path, port: int = 0) -> None:
        self.server = Server(port, workspace)

    def __enter__(self) -> Server:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self.server

    def __exit__(self, *_: Any) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Yield one headless Chromium for all tests."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def browse(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Yield a function that opens pages. No page may write to its console or send a request to another server."""
    contexts: list[Any] = []
    said: list[str] = []

    def open_page(address: str, width: int = 1280, height: int = 900, restarts: bool = False, **options: Any) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, accept_downloads=True, **options)
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        # after a restart of the server, the browser itself writes network errors to the console
        away = "net::ERR_" if restarts else "\0"
        page.on("console", lambda message: said.append(f"{message.type}: {message.text}") if away not in message.text else None)
        page.on("pageerror", lambda error: said.append(f"exception: {error}"))
        page.on("request", lambda request: said.append(f"request to {request.url}") if _outside(request.url, address) else None)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert said == []


def _outside(url: str, address: str) -> bool:
    """Return True if a request goes to another server than the one of the page."""
    return not url.startswith((address.split("#")[0], "blob:", "data:"))
