"""The page on this machine: the standard library's server on 127.0.0.1, for one browser and nobody else."""

from __future__ import annotations

import json
import sys
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import unquote, urlsplit

from lfno.core.errors import LfnoError

HOST = "127.0.0.1"
UPLOAD_LIMIT = 64 * 2**20  # bytes of a file
QUESTION_LIMIT = 64 * 2**10  # bytes of a question
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refusal(Exception):
    """A request that is not answered: its status and one sentence."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Server(ThreadingHTTPServer):
    """Serves the page and its questions; port 0 takes any that is free."""

    daemon_threads = True

    def __init__(self, port: int = 0) -> None:
        # what may be served is listed once: a request can only name one of these, never a path
        folder = resources.files("lfno.app").joinpath("static")
        self.pages = {file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES}
        self._desk: Any = None
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
        return f"http://{HOST}:{self.server_port}/"

    @property
    def desk(self) -> Any:
        """Made on the first question, because it brings in torch; the page itself opens at once."""
        if self._desk is None:
            from lfno.app.api import Desk

            self._desk = Desk()
        return self._desk

    def server_close(self) -> None:
        super().server_close()
        if self._desk is not None:
            self._desk.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away in the middle of an answer is no news."""
        if not isinstance(sys.exception(), (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds a silent connection is kept

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def _guarded(self, action: Any) -> None:
        try:
            if self.headers.get("Host", "") not in self.server.names:
                raise Refusal(HTTPStatus.FORBIDDEN, f"this page is only served as {self.server.address}")
            action()
        except Refusal as refusal:
            self.close_connection = True  # what is left of a refused request is not read as the next one
            self._send_json(refusal.status, {"error": str(refusal)})
        except LfnoError as error:
            # an answer like any other: a browser would log another status as a fault of the page
            self._send_json(HTTPStatus.OK, {"error": str(error)})
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            traceback.print_exc()
            sentence = f"something went wrong inside lfno ({type(error).__name__}: {error}); the terminal shows where"
            self._send_json(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": sentence})

    def _get(self) -> None:
        path = urlsplit(self.path).path
        if path == "/api/model":
            name, content = self.server.desk.workshop.model_file()
            disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
            self._send(HTTPStatus.OK, "application/octet-stream", content, disposition)
            return
        name = path.removeprefix("/") or "index.html"
        if name not in self.server.pages:
            raise Refusal(HTTPStatus.NOT_FOUND, f"there is nothing at {path[:80]}")
        self._send(HTTPStatus.OK, TYPES[name.rpartition(".")[2]], self.server.pages[name])

    def _post(self) -> None:
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self.server.names:
            raise Refusal(HTTPStatus.FORBIDDEN, "questions are only answered to the page itself, not to other sites")
        path = urlsplit(self.path).path
        if path == "/api/upload":
            name = unquote(self.headers.get("X-File-Name", "file"))
            self._send_json(HTTPStatus.OK, self.server.desk.receive(name, self._body(UPLOAD_LIMIT, "the file")))
            return
        body = self._body(QUESTION_LIMIT, "the question")
        try:
            query = json.loads(body or b"{}")
        except (ValueError, RecursionError):
            raise Refusal(HTTPStatus.BAD_REQUEST, "the question is not JSON") from None
        if not path.startswith("/api/") or path.removeprefix("/api/") not in self.server.desk.questions:
            raise Refusal(HTTPStatus.NOT_FOUND, f"there is nothing at {path[:80]}")
        self._send_json(HTTPStatus.OK, self.server.desk.ask(path.removeprefix("/api/"), query))

    def _body(self, limit: int, what: str) -> bytes:
        text = self.headers.get("Content-Length", "")
        if not text.isascii() or not text.isdigit():
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "the length of the request is missing")
        length = int(text)
        if length > limit:
            self._discard(min(length, 4 * limit))
            size = f"{length / 2**20:.1f} MB" if limit >= 2**20 else f"{length} bytes"
            most = f"{limit // 2**20} MB" if limit >= 2**20 else f"{limit} bytes"
            hint = "; use `lfno fit FILE`, which has no such limit" if limit == UPLOAD_LIMIT else ""
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{what} has {size}, the page takes {most}{hint}")
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refusal(HTTPStatus.BAD_REQUEST, "the request ended before its stated length")
        return body

    def _discard(self, length: int) -> None:
        """Read and forget: a browser shows our sentence only after it could send what it has begun to send."""
        while length > 0 and (part := self.rfile.read(min(length, 2**20))):
            length -= len(part)

    def _send_json(self, status: HTTPStatus, tree: Any) -> None:
        self._send(status, "application/json", json.dumps(tree, allow_nan=False).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes, more: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**HEADERS, **(more or {}), "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def version_string(self) -> str:
        return "lfno"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the page says what happens."""
