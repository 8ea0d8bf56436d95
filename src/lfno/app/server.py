"""The page on this machine: the standard library's server on 127.0.0.1, for one user and nobody else."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from http.server import ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any

from lfno.app.handler import TYPES, Handler
from lfno.core.errors import LfnoError

HOST = "127.0.0.1"
MOST_CONNECTIONS = 64  # at a time; a browser opens six for each of its windows
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Server(ThreadingHTTPServer):
    """Serves the page and its questions; port 0 takes any that is free. Files and runs live in the folder `workspace`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0, workspace: Path | None = None) -> None:
        self.workspace = workspace or default_workspace()
        # what may be served is listed once: a request can only name one of these, never a path
        static = resources.files("lfno.app").joinpath("static")
        self.pages = {}
        for prefix, folder in (("", static), ("vendor/", static.joinpath("vendor"))):
            for file in folder.iterdir():
                if file.name.rpartition(".")[2] in TYPES:
                    self.pages[prefix + file.name] = file.read_bytes()
        self._desk: Any = None
        self._making = threading.Lock()
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._open: set[socket.socket] = set()
        try:
            super().__init__((HOST, port), Handler)
        except OverflowError:
            raise LfnoError(f"port {port} does not exist; choose one between 1 and 65535") from None
        except OSError as error:
            raise LfnoError(f"port {port} cannot be used ({error.strerror}); choose another with --port") from None
        # another site may point its own name at this machine; only these names are ours
        self.names = {f"{host}:{self.server_port}" for host in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def desk(self) -> Any:
        """What answers the questions, made on the first of them."""
        with self._making:
            if self._desk is None:
                from lfno.app.api import Desk

                self._desk = Desk(self.workspace)
            return self._desk

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own; beyond MOST_CONNECTIONS the answer is that the page is busy."""
        if self._free.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except BaseException:
                self._free.release()
                raise
            return
        with contextlib.suppress(OSError):
            request.settimeout(0.1)
            request.sendall(BUSY)
        self.shutdown_request(request)

    def process_request_thread(self, request: socket.socket, client_address: Any) -> None:  # type: ignore[override]
        self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.discard(request)
            self._free.release()

    def server_close(self) -> None:
        """Close the port and all connections, and end what is under way."""
        super().server_close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if self._desk is not None:
            self._desk.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away in the middle of an answer is no news."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def default_workspace() -> Path:
    """The folder in which files and runs of the page live if no other is named."""
    import platformdirs

    return platformdirs.user_data_path("lfno") / "workspace"
