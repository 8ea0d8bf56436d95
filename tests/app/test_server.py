"""The server answers its own page on this machine, and nothing and nobody else."""

from __future__ import annotations

import http.client
import json
import re
import threading
from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from typer.testing import CliRunner

from lfno.app.server import QUESTION_LIMIT, UPLOAD_LIMIT, Server
from lfno.cli import build
from lfno.core.errors import LfnoError
from lfno.plots.style import COLOURS


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()


def request(
    server: Server, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=600)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


def sentence(answer: tuple[int, Any, bytes]) -> str:
    return json.loads(answer[2])["error"]


def test_the_page_allows_nothing_from_outside(server: Server) -> None:
    status, headers, page = request(server, "GET", "/")
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert b"<title>lfno</title>" in page
    folder = resources.files("lfno.app").joinpath("static")
    for file in folder.iterdir():
        text = file.read_text(encoding="utf-8")
        addresses = set(re.findall(r"https?://[^\s\"'`)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, file.name
        assert "innerHTML" not in text
        assert request(server, "GET", f"/{file.name}")[0] == 200


def test_only_on_this_machine_and_under_its_own_name(server: Server) -> None:
    assert server.socket.getsockname()[0] == "127.0.0.1"
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1", ""):
        answer = request(server, "GET", "/", Host=host)
        assert answer[0] == 403
        assert sentence(answer) == f"this page is only served as {server.address}"
    assert request(server, "GET", "/", Host=f"localhost:{server.server_port}")[0] == 200


def test_other_sites_may_not_ask(server: Server) -> None:
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{server.server_port}", "http://127.0.0.1:1"):
        answer = request(server, "POST", "/api/systems", b"{}", Origin=origin)
        assert answer[0] == 403, origin
        assert "not to other sites" in sentence(answer)
    own = request(server, "POST", "/api/systems", b"{}", Origin=server.address.rstrip("/"))
    assert own[0] == 200
    assert len(json.loads(own[2])["systems"]) == 12


def test_no_path_leads_out(server: Server) -> None:
    for path in ("/../server.py", "/..%2fserver.py", "/static/style.css", "//etc/passwd", "/api/systems"):
        assert request(server, "GET", path)[0] == 404, path
    assert request(server, "POST", "/api/close", b"{}")[0] == 404
    assert request(server, "PUT", "/api/systems", b"{}")[0] == 501


def test_limits_and_broken_requests(server: Server) -> None:
    answer = request(server, "POST", "/api/explore", b" " * (QUESTION_LIMIT + 1))
    assert (answer[0], sentence(answer)) == (413, "the question has 65537 bytes, the page takes 65536 bytes")
    answer = request(server, "POST", "/api/upload", b"\0" * (UPLOAD_LIMIT + 2**20), X_File_Name="a.csv")
    expected = "the file has 65.0 MB, the page takes 64 MB; use `lfno fit FILE`, which has no such limit"
    assert (answer[0], sentence(answer)) == (413, expected)
    assert sentence(request(server, "POST", "/api/explore", b"{")) == "the question is not JSON"
    assert sentence(request(server, "POST", "/api/explore", b"[" * 60_000)) == "the question is not JSON"
    assert request(server, "POST", "/api/explore", b"", Content_Length="-1")[0] == 411


def test_a_refusal_is_an_answer(server: Server) -> None:
    answer = request(server, "POST", "/api/upload", b"not a table\n", X_File_Name="my%20notes.csv")
    assert answer[0] == 200
    assert sentence(answer).startswith("my notes.csv: no table of numbers was found")
    assert sentence(request(server, "GET", "/api/model")) == "no training run has finished yet; start one first"
    assert "is not a number" in sentence(request(server, "POST", "/api/explore", b'{"system": "heat"}'))


def test_a_port_that_is_taken(server: Server) -> None:
    with pytest.raises(LfnoError, match=rf"port {server.server_port} cannot be used \(Address already in use\)"):
        Server(server.server_port)
    result = CliRunner().invoke(build(), ["app", "--help"])
    assert result.exit_code == 0
    assert "--no-browser" in result.output


def test_one_colour_for_each_model_everywhere() -> None:
    style = resources.files("lfno.app").joinpath("static", "style.css").read_text(encoding="utf-8")
    light = style[: style.index("@media")]
    for name in ("truth", "LFNO", "FNO", "LNO", "transient", "steady"):
        assert f"--{name.lower()}: {COLOURS[name]};" in light
