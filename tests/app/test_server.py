"""The server accepts requests from its own page on this machine, and refuses all other requests."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from importlib import resources
from typing import Any

import pytest
from typer.testing import CliRunner

from lfno.app import connection, handler
from lfno.app.handler import QUESTION_LIMIT, UPLOAD_LIMIT
from lfno.app.server import MOST_CONNECTIONS, Server
from lfno.cli import build
from lfno.core.errors import LfnoError
from lfno.plots.style import COLOURS


def request(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    """Send a request and return status, headers and content of the response."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=600)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def sentence(answer: tuple[int, Any, bytes]) -> str:
    """Return the error message in a response."""
    return json.loads(answer[2])["error"]


def test_the_page_loads_nothing_from_other_sites(server: Server) -> None:
    status, headers, page = request(server, "GET", "/")
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert b"<title>lfno</title>" in page
    folder = resources.files("lfno.app").joinpath("static")
    for file in folder.iterdir():
        if file.is_dir():
            continue
        text = file.read_text(encoding="utf-8")
        addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file.name
        assert "innerHTML" not in text
        assert request(server, "GET", f"/{file.name}")[0] == 200
    for name in ("uPlot.esm.js", "uPlot.min.css", "uPlot.LICENSE.txt"):
        assert request(server, "GET", f"/vendor/{name}")[0] == 200
    assert b"MIT License" in request(server, "GET", "/vendor/uPlot.LICENSE.txt")[2]


def test_the_server_answers_only_under_its_own_host_name(server: Server) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1", ""):
        answer = request(server, "GET", "/", Host=host)
        assert answer[0] == 403
        assert sentence(answer) == f"this page is only served as {server.address}"
    assert request(server, "GET", "/", Host=f"localhost:{server.server_port}")[0] == 200


def test_questions_of_other_sites_are_refused(server: Server) -> None:
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.server_port}", "http://127.0.0.1:1"):
        answer = request(server, "POST", "/api/systems", b"{}", Origin=origin)
        assert answer[0] == 403, origin
        assert "not other sites" in sentence(answer)
    own = request(server, "POST", "/api/systems", b"{}", Origin=server.address.rstrip("/"))
    assert own[0] == 200
    assert len(json.loads(own[2])["systems"]) == 12


def test_only_known_paths_are_served(server: Server) -> None:
    for path in ("/../server.py", "/..%2fserver.py", "/static/style.css", "//etc/passwd", "/api/systems"):
        assert request(server, "GET", path)[0] == 404, path
    assert request(server, "POST", "/api/close", b"{}")[0] == 404
    assert request(server, "PUT", "/api/systems", b"{}")[0] == 501


def test_requests_that_are_too_long_or_damaged_are_refused(server: Server) -> None:
    answer = request(server, "POST", "/api/truth", b" " * (QUESTION_LIMIT + 1))
    assert (answer[0], sentence(answer)) == (413, "the question has 65537 bytes, and the limit is 65536 bytes")
    assert sentence(request(server, "POST", "/api/truth", b"{")) == "the question is not JSON"
    assert sentence(request(server, "POST", "/api/truth", b"[" * 60_000)) == "the question is not JSON"
    assert request(server, "POST", "/api/truth", b"", Content_Length="-1")[0] == 411


def test_an_error_of_the_user_has_status_200_and_a_message(server: Server) -> None:
    answer = request(server, "POST", "/api/upload", b"not a table\n", X_File_Name="my%20notes.csv")
    assert answer[0] == 200
    assert sentence(answer).startswith("my notes.csv: no table of numbers was found")
    assert "is not in the workspace any more" in sentence(request(server, "GET", "/api/save?run=1&form=c"))
    assert "is not a number" in sentence(request(server, "POST", "/api/truth", b'{"system": "heat"}'))
    huge = b'{"system": "heat", "value": 1' + b"0" * 400 + b"}"
    assert "is too large" in sentence(request(server, "POST", "/api/truth", huge))


def test_a_port_in_use_gives_an_error_message(server: Server) -> None:
    with pytest.raises(LfnoError, match=rf"port {server.server_port} cannot be used \(Address already in use\)"):
        Server(server.server_port)
    result = CliRunner().invoke(build(), ["app", "--help"])
    assert result.exit_code == 0
    assert "--no-browser" in result.output


def test_the_page_has_the_colours_of_the_figures() -> None:
    style = resources.files("lfno.app").joinpath("static", "style.css").read_text(encoding="utf-8")
    light = style[: style.index("@media")]
    for name in ("truth", "LFNO", "FNO", "LNO", "feedback", "transient", "steady"):
        assert f"--{name.lower()}: {COLOURS[name]};" in light


def raw(server: Server, content: bytes) -> socket.socket:
    """Open a connection to the server and send these bytes."""
    opened = socket.create_connection(("127.0.0.1", server.server_port), timeout=60)
    opened.sendall(content)
    return opened


def everything(opened: socket.socket) -> bytes:
    """Return all bytes that the server sends until it closes the connection."""
    told = b""
    while part := opened.recv(2**16):
        told += part
    return told


def head(server: Server, path: str, length: str) -> bytes:
    """Return the headers of a request that declares this length of its content."""
    host = f"Host: 127.0.0.1:{server.server_port}"
    lines = [f"POST {path} HTTP/1.1", host, f"Content-Length: {length}", "X-File-Name: a.csv"]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize("length", [str(UPLOAD_LIMIT + 1), "9" * 20, "9" * 5000])
def test_an_upload_with_too_large_a_length_is_refused_before_it_is_received(server: Server, length: str) -> None:
    with raw(server, head(server, "/api/upload", length)) as opened:
        told = everything(opened)
    assert told.startswith(b"HTTP/1.1 413")
    assert b"and the limit is 64 MB" in told


def test_six_uploads_at_once_are_six_files(server: Server) -> None:
    rows = "\n".join(f"{0.1 * n:.1f},{n % 7},{n % 5}" for n in range(400))
    found: list[Any] = []

    def upload(name: str) -> None:
        found.append(request(server, "POST", "/api/upload", f"t,f,u\n{rows}\n".encode(), X_File_Name=name))

    threads = [threading.Thread(target=upload, args=(f"{k}.csv",)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer[0] for answer in found] == [200] * 6
    told = [json.loads(answer[2]) for answer in found]
    assert {one["name"] for one in told} == {f"{k}.csv" for k in range(6)}
    assert len({one["id"] for one in told}) == 6


class SlowSocket:
    """A socket that receives one byte in each call. The test sets the clock before each call."""

    def __init__(self) -> None:
        self.timeout = 0.0

    def settimeout(self, seconds: float) -> None:
        self.timeout = seconds

    def recv_into(self, buffer: Any) -> int:
        buffer[:1] = b"x"
        return 1


def test_a_slow_request_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    reader = connection.TimedReader(SlowSocket(), idle=60, request=20)  # type: ignore[arg-type]
    now[0] = 59
    reader.read(1)  # the first byte comes late; the time limit of the request starts with it
    for second in range(60, 78):
        now[0] = second
        reader.read(1)
    now[0] = 79.5
    with pytest.raises(TimeoutError):
        reader.read(1)


def test_too_many_connections_get_status_503_until_others_close(server: Server) -> None:
    opened = [raw(server, b"") for _ in range(MOST_CONNECTIONS)]
    while server._free._value:  # type: ignore[attr-defined]  # the server accepts all connections, and each waits for a request
        time.sleep(0.01)
    with raw(server, b"GET / HTTP/1.1\r\n\r\n") as one_more:
        assert one_more.recv(100).startswith(b"HTTP/1.1 503")
    for one in opened:
        one.close()
    while not server._free._value:  # type: ignore[attr-defined]
        time.sleep(0.01)
    assert request(server, "GET", "/")[0] == 200


def test_a_refused_request_is_answered_without_waiting_for_its_content(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "LINGER", 0.0)
    with raw(server, head(server, "/api/upload", str(10**12))) as opened:
        assert b"413" in everything(opened).split(b"\r\n")[0]
