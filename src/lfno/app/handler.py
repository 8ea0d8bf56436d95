"""Answer HTTP requests: check host, origin and length of a request, then send a page, a file or the answer to a question."""

from __future__ import annotations

import io
import json
import time
import traceback
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from lfno.app.connection import TimedReader
from lfno.core.errors import LfnoError
from lfno.core.json_text import to_json

if TYPE_CHECKING:
    from lfno.app.server import Server

UPLOAD_LIMIT = 64 * 2**20  # bytes; largest uploaded file
QUESTION_LIMIT = 64 * 2**10  # bytes; largest question
LINGER = 1.0  # s; time for which the rest of a refused request is received, so that the browser shows the error message
#: ending of a static file -> its content type
TYPES = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
}
#: headers of every response: the page loads nothing from other sites, and other sites cannot embed the page
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'; base-uri 'none'; "
    "form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Refusal(Exception):
    """The reason why a request is refused: an HTTP status and an error message."""

    def __init__(self, status: HTTPStatus, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    """Answer the requests of one connection, one after the other."""

    server: Server
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.timed = TimedReader(self.connection)
        self.rfile = io.BufferedReader(self.timed)

    def handle_one_request(self) -> None:
        self.timed.await_request()
        try:
            super().handle_one_request()
        except (TimeoutError, ConnectionError):
            self.close_connection = True

    def do_GET(self) -> None:
        self._guarded(self._get)

    def do_POST(self) -> None:
        self._guarded(self._post)

    def _guarded(self, action: Any) -> None:
        """Run `action` if the request names the right host. Send every error as a JSON object with an error message."""
        try:
            if self.headers.get("Host", "") not in self.server.names:
                raise Refusal(HTTPStatus.FORBIDDEN, f"this page is only served as {self.server.address}")
            action()
        except Refusal as refusal:
            self.close_connection = True  # the unread rest of a refused request must not be read as the next request
            self._send_json(refusal.status, {"error": str(refusal)})
            self._linger()
        except LfnoError as error:
            # status 200: a browser would log any other status as an error of the page
            self._send_json(HTTPStatus.OK, {"error": str(error)})
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception as error:
            traceback.print_exc()
            what = f"{type(error).__name__}: {str(error)[:300]}"
            sentence = f"there was an error inside lfno ({what}); the terminal shows the details"
            self._send_json(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": sentence})

    def _get(self) -> None:
        """Send a static file, or a file for download."""
        address = urlsplit(self.path)
        path = address.path
        if path == "/api/save":
            name, content = self.server.desk.saved(dict(parse_qsl(address.query)))
            disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
            self._send(HTTPStatus.OK, "application/octet-stream", content, disposition)
            return
        name = path.removeprefix("/") or "index.html"
        if name not in self.server.pages:
            raise Refusal(HTTPStatus.NOT_FOUND, f"there is nothing at {path[:80]}")
        self._send(HTTPStatus.OK, TYPES[name.rpartition(".")[2]], self.server.pages[name])

    def _post(self) -> None:
        """Receive an uploaded file or a question, and send the answer."""
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in self.server.names:
            raise Refusal(HTTPStatus.FORBIDDEN, "the server answers only its own page, not other sites")
        path = urlsplit(self.path).path
        if path in ("/api/upload", "/api/predict"):
            name, content = unquote(self.headers.get("X-File-Name", "file")), self._body(UPLOAD_LIMIT, "the file")
            if path == "/api/upload":
                answer = self.server.desk.receive(name, content, self.headers.get("X-Beside") or None)
            else:
                answer = self.server.desk.predict(name, content, self.headers.get("X-Run"))
            self._send_json(HTTPStatus.OK, answer)
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
        """Return the content of the request. Raise Refusal if it is longer than `limit`, or if its stated length is wrong.

        limit: largest number of bytes.
        what: the subject of the error message, for example "the file".
        """
        text = self.headers.get("Content-Length", "")
        if not text.isascii() or not text.isdigit():
            raise Refusal(HTTPStatus.LENGTH_REQUIRED, "the length of the request is missing")
        length = int(text[:30])  # `int` raises ValueError for more than 4300 digits
        if length > limit:
            size = f"{min(length, 10**15) / 2**20:.1f} MB" if limit >= 2**20 else f"{length} bytes"
            most = f"{limit // 2**20} MB" if limit >= 2**20 else f"{limit} bytes"
            hint = "; use `lfno fit FILE` in a terminal, which has no such limit" if limit == UPLOAD_LIMIT else ""
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"{what} has {size}, and the limit is {most}{hint}")
        body = self.rfile.read(length)
        if len(body) < length:
            raise Refusal(HTTPStatus.BAD_REQUEST, "the request ended before its stated length")
        return body

    def _linger(self) -> None:
        """Read and discard the rest of a request for LINGER seconds.

        A browser shows the error message only if the connection stays open while the browser is still sending.
        """
        until = time.monotonic() + LINGER
        self.timed.until = until
        try:
            while time.monotonic() < until and self.rfile.read1(2**16):
                pass
        except (OSError, ValueError):
            pass

    def _send_json(self, status: HTTPStatus, tree: Any) -> None:
        self._send(status, "application/json", to_json(tree).encode())

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
        """Print nothing in the terminal, because the page shows errors."""
