"""Data sets made in parallel have the same bytes as data sets made alone. After an error, no incomplete file is left."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from lfno.core.errors import LfnoError
from lfno.data.make import make, plan
from lfno.data.parallel import make_all


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path / "cache"))


def ignore(name, done, total):
    pass


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_parallel_data_sets_have_the_same_bytes_and_a_failure_stops_no_other(tmp_path):
    told = []
    with pytest.raises(LfnoError, match="no parameter 'D'"):  # "duffing-c05" has no parameter D and fails; "heat" is made
        make_all(["duffing-c05", "heat"], {"count": 3, "D": "2"}, tmp_path / "a", 2, lambda *news: told.append(news))
    assert [news for news in told if news[0] == "heat"] == [("heat", 0, 3), ("heat", 3, 3)]
    alone, _ = make(plan("heat", count=3, D=2), tmp_path / "b")
    assert (tmp_path / "a" / alone.name).read_bytes() == alone.read_bytes()
    assert files(tmp_path / "a") == files(tmp_path / "b")
    assert not multiprocessing.active_children()


def test_an_interruption_ends_every_process_and_leaves_nothing(tmp_path):
    def interrupt(name, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_all(["navier-stokes-rich", "navier-stokes-out"], {}, tmp_path, 2, interrupt)
    assert not multiprocessing.active_children()
    assert files(tmp_path) == []


def test_a_killed_process_is_an_error_message(tmp_path):
    def kill(name, done, total):
        for child in multiprocessing.active_children():
            os.kill(child.pid, signal.SIGKILL)

    with pytest.raises(LfnoError, match="the system ended a process"):
        make_all(["navier-stokes-rich", "navier-stokes-out"], {}, tmp_path, 2, kill)
    assert not multiprocessing.active_children()
