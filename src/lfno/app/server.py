"""The HTTP server of the page. The server listens on 127.0.0.1 only, so no other machine can reach the page."""

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
MOST_CONNECTIONS = 64  # largest number of open connections; a browser opens up to six connections to one host
#: the response if there are too many connections
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Server(ThreadingHTTPServer):
    """The HTTP server: it sends the page and answers the questions of the page.

    Args:
        port: The port; 0 for any free port.
        workspace: The folder of files and runs.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port: int = 0, workspace: Path | None = None) -> None:
        self.workspace = workspace or default_workspace()
        # read all static files here: a request can then name one of these files, but never another file
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
            raise LfnoError(f"port {port} cannot be used ({error.strerror}); choose another port with --port") from None
        # accept only requests to these host names: the host name of a hostile site may have the address 127.0.0.1
        self.names = {f"{host}:{self.server_port}" for host in (HOST, "localhost")}

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def desk(self) -> Any:
        """The `Desk` that answers the questions. It is created at the first question."""
        with self._making:
            if self._desk is None:
                from lfno.app.api import Desk

                self._desk = Desk(self.workspace)
            return self._desk

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a new thread. If MOST_CONNECTIONS are open, send status 503 and close the connection."""
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
        """Close the port and all connections, and stop the queue of runs."""
        super().server_close()
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        if self._desk is not None:
            self._desk.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error in the terminal, unless the browser closed the connection or a request took too long."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def default_workspace() -> Path:
    """Return the folder of files and runs that is used if the user names no other folder."""
    import platformdirs

    return platformdirs.user_data_path("lfno") / "workspace"
