"""Any arguments of `lfno` and any request to the page give a result, or one error message with the documented exit code."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from hypothesis import strategies as st
from typer.testing import CliRunner

import lfno
from lfno.app.api import Desk
from lfno.app.server import Server
from lfno.cli import build
from lfno.core.errors import LfnoError
from lfno.systems import REGISTRY
from tests.fuzz.strategies import FLOATS, JSON, NAMES, SIZES, attempt, counts, mostly, tried
from tests.fuzz.test_files import damaged
from tests.paper.report.builder import record

SMALL = ["--epochs", "1", "--set", "width=2", "--set", "modes=4", "--set", "n_poles=2", "--device", "cpu"]
#: command → arguments of a right call; other tests are for `demo`, `app` and `benchmark`
RIGHT = {
    "systems": [],
    "inspect": ["rig.csv"],
    "train": ["tiny", "--out", "run", "--set", "steady_decay=1e-4", *SMALL],
    "fit": ["rig.csv", "--out", "run", "--linear"],
    "predict": ["lno.safetensors", "rig.csv", "--input", "f", "--output", "u", "--out", "answer.csv"],
    "decompose": ["lno.safetensors", "rig.csv", "--input", "f", "--output", "u", "--out", "parts"],
    "poles": ["lno.safetensors", "--out", "figures"],
    "response": ["lno.safetensors", "--out", "figures"],
    "export": ["lno.safetensors", "--to", "torch", "--out", "lno.pt2"],
    "reproduce": ["--tasks", "tiny", "--models", "lno", "--seeds", "1", "--out", "records", *SMALL],
    "report": ["--results", "records", "--markdown", "pages", "--baseline-seconds", "0"],
    "data make": ["tiny", "--count", "2", "--out", "sets"],
    "data show": ["tiny", "--out", "figure.png"],
    "data check": ["tiny", "--samples", "1"],
}
#: names of options that the tests do not change: a study runs for hours, and a scheduler waits for a network
LEFT = {"scheduler", "study", "help"}
#: option → the values that the tests use; options that are not listed get any value
FEW = {
    "epochs": [-1, 0, 1],
    "samples": [-1, 0, 1],
    "seeds": [-1, 0, 1],
    "ensemble": [-1, 0, 2, 10**9],
    "count": [-1, 0, 3, 10**12],
}
WORDS = ["f", "u", "t", "f,u", "f*", "cpu", "cuda", "onnx", "torch", "lno", "fno", "paper", "0:3", "c=1", "sample,t", "f=t"]
PATHS = ["rig.csv", "lno.safetensors", ".", "none", "none.h5", "/dev/null/x", "a.csv", "a.npz", "run", "rig.csv/x"]


def tree() -> dict[str, Any]:
    """Return a dictionary: the words of a command, such as "data make" → the command."""
    top: Any = typer.main.get_command(build())
    found: dict[str, Any] = {}
    for name, command in top.commands.items():
        inner = getattr(command, "commands", None)
        found |= {name: command} if inner is None else {f"{name} {second}": each for second, each in inner.items()}
    return found


ANY = st.one_of(SIZES.map(str), FLOATS.map(str), NAMES, st.sampled_from(WORDS), st.sampled_from(PATHS))


def commands(data: Any) -> None:
    """Add options to a right call, or replace one of its words, and run the command."""
    name = data.draw(st.sampled_from(sorted(RIGHT)))
    words = [*name.split(), *RIGHT[name]]
    if data.draw(st.integers(0, 9)) == 0:
        words[data.draw(st.integers(1, len(words) - 1)) if len(words) > 1 else 0] = data.draw(NAMES)
    for option in tree()[name].params:
        if option.param_type_name == "option" and option.name not in LEFT and data.draw(st.integers(0, 7)) == 0:
            few = st.sampled_from(FEW[option.name]).map(str) if option.name in FEW else ANY
            words += [option.opts[0], *([] if option.is_flag else [data.draw(few)])]
    for path in data.given.iterdir():
        shutil.copy(path, path.name)
    told = CliRunner().invoke(build(), words)
    if isinstance(told.exception, (SystemExit, type(None))):
        assert told.exit_code in (0, 1, 2), words
    elif not isinstance(told.exception, (LfnoError, OSError)):  # these give one error message and the exit code 2
        raise RuntimeError(f"lfno {words}") from told.exception


def page(data: Any) -> None:
    """Ask the desk, which answers the questions of the page, and upload damaged files."""
    desk: Desk = data.desk
    if data.draw(st.booleans()):
        content = damaged(data, (data.given / "rig.csv").read_bytes())
        attempt(lambda: desk.receive(data.draw(st.one_of(NAMES, st.sampled_from(["a.csv", "../a.npz", "a.mat"]))), content))
    question = data.draw(st.sampled_from([*desk.questions, "what"]))
    kept = desk.workspace.items("files")
    good = {"system": "duffing-c05", "value": 1.0, "model": "none", "sample": 0, "input": {"kind": "sine", "amplitude": 1}}
    good |= {"file": kept[0].identity if kept else "0" * 12, "options": {"input": "f"}}
    good |= {"kind": "files", "name": "a", "amplitude": 1}
    query: Any = {key: data.draw(mostly(right, JSON)) for key, right in good.items() if data.draw(st.booleans())}
    if question == "train":
        query["models"] = ["none"]  # refused: nothing is trained here
    attempt(lambda: desk.ask(question, data.draw(mostly(query, JSON)) if question != "train" else query))


def requests(data: Any) -> None:
    """Send any bytes to the socket: the server gives a valid reply or none, and continues to run."""
    port = data.server.server_port
    method = data.draw(st.sampled_from(["GET", "POST", "PUT", "", "G\0T"]))
    paths = ["/", "/api/truth", "/api/predict", "/api/upload", "/api/systems", "//x", "/..%2f"]
    path = data.draw(st.one_of(NAMES, st.sampled_from(paths)))
    headers = {"Host": data.draw(mostly(f"127.0.0.1:{port}", NAMES)), "X-File-Name": data.draw(mostly("a.csv", NAMES))}
    body = data.draw(st.one_of(st.binary(max_size=60), st.sampled_from([b"{}", b"[]", b'{"system": []}', b"null"])))
    headers["Content-Length"] = str(data.draw(mostly(len(body), st.sampled_from([-1, 0, 10**30, len(body) + 5]))))
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items()), "", ""])
    told = exchange(port, head.encode(errors="replace") + body)
    assert not told or told.startswith((b"HTTP/1.", b"{", b"<")), told
    assert b" 500 " not in told.split(b"\r\n")[0], head
    assert exchange(port, f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()).startswith(b"HTTP/1.1 200")


def exchange(port: int, content: bytes) -> bytes:
    """Send bytes to the server and return its reply; b"" if the connection breaks."""
    with socket.create_connection(("127.0.0.1", port), timeout=600) as connection:
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            parts = []
            while part := connection.recv(2**16):
                parts.append(part)
        except ConnectionError:
            return b""
    return b"".join(parts)


CASES = [commands, page, requests]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(workspace=tmp_path_factory.mktemp("workspace")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def given_to_cases(tmp_path, monkeypatch, server):
    """Make the files and the small data set that the commands use. Give the argument `data` of the cases its attributes."""
    given, inside = tmp_path / "given", tmp_path / "inside"
    given.mkdir()
    inside.mkdir()
    t = np.arange(300) * 0.05
    rows = [f"{a:.4f},{b:.6f},{c:.6f}" for a, b, c in zip(t, np.sin(t**1.2), np.cos(2 * t) * np.exp(-t), strict=True)]
    (given / "rig.csv").write_text("\n".join(["t,f,u", *rows]) + "\n")
    lfno.LNO(lfno.Grid.line(64, 0.05), width=2, modes=4, n_poles=2, projection=2).save(given / "lno.safetensors")
    record("heat", "LNO", 0.1).write(inside / "records")
    monkeypatch.chdir(inside)
    tiny = replace(REGISTRY["duffing-c05"], name="tiny", count=12, grid=lfno.Grid.line(64, 0.05))
    monkeypatch.setitem(REGISTRY, "tiny", tiny)
    monkeypatch.setattr("lfno.paper.report.costs.LATENCY_MILLISECONDS", 1.0)  # few timed passes of each model
    for name, what in {"given": given, "desk": server.desk, "server": server}.items():
        monkeypatch.setattr(st.DataObject, name, what, raising=False)


def test_every_command_is_in_the_list():
    # benchmarks need published files; tests/challenges has files with the same layouts
    assert set(tree()) == {*RIGHT, "demo", "app", "benchmark"}


def test_every_command_has_json_and_every_long_one_quiet():
    options = {name: {flag for option in command.params for flag in option.opts} for name, command in tree().items()}
    assert [name for name, flags in options.items() if "--json" not in flags] == ["app"]
    assert {name for name, flags in options.items() if "--quiet" not in flags} == {"app", "systems", "inspect", "export"}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("flag", ["--quiet", "--json"])
def test_a_right_call_gives_a_result(name, flag):
    """With --quiet a command prints only the result as text, with --json only one JSON document."""
    if flag == "--quiet" and name in ("systems", "inspect", "export"):
        pytest.skip("this command has no --quiet")
    for path in (Path.cwd().parent / "given").iterdir():
        shutil.copy(path, path.name)
    told = CliRunner().invoke(build(), [*name.split(), *RIGHT[name], flag])
    assert told.exit_code == 0, told.output
    assert told.stderr == ""
    assert told.stdout.strip()
    if flag == "--json":
        json.loads(told.stdout)


@counts(CASES, {commands: 20}, {commands: 200})
def test_any_call_gives_a_result_or_an_error_message(case, count):
    tried(case, count)
