"""kill -9 at random moments: all files are complete, and a resumed run gives the same bits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from lfno.core import tensorfile
from lfno.data import storage
from lfno.data.plan import Plan
from lfno.models.storage import load_network
from lfno.systems import Duffing
from lfno.training import checkpoint
from tests.faults import victims

KILLS = [3, pytest.param(30, marks=pytest.mark.long)]
DATA_KILLS = [2, pytest.param(10, marks=pytest.mark.long)]


def whole(folder: Path) -> None:
    """Assert that every file with a final name can be read. The log is not checked, because it may end with half a line."""
    for path in folder.glob("[!.]*.safetensors"):
        if path.name.startswith("checkpoint"):
            tensorfile.read(path, checkpoint.KEY, "checkpoint")
        else:
            load_network(path)
    for path in folder.glob("*.json"):
        json.loads(path.read_text())


def disturb(work, root: Path, kills: int, last: float, check) -> list[Path]:
    """Kill processes that call `work(folder)`, `kills` times in all, and return the folders of all runs.

    A killed run is continued. After every second kill, or when a run has finished, a new run begins in a new folder.
    last: a process is killed at a random Python call, from call 1 to call `last` of `work`.
    check: called with the folder after each kill.
    """
    places = [root / "0"]
    moment = iter(victims.moments(10 * kills, last, seed=kills))
    for count in range(1, kills + 1):
        while not victims.killed_at(next(moment), work, places[-1]):
            places.append(root / str(len(places)))
        check(places[-1])
        if count % 2 == 0 and count < kills:
            places.append(root / str(len(places)))
    return [place for place in places if place.exists()]


@pytest.mark.parametrize("kills", KILLS)
def test_a_killed_training_ends_at_the_same_bits(tmp_path, kills):
    undisturbed = tmp_path / "undisturbed"
    last = 0.9 * victims.calls(tmp_path / "calls", victims.train, undisturbed)
    for place in disturb(victims.train, tmp_path / "runs", kills, last, whole):
        assert victims.finish(victims.train, place) == 0
        assert (place / "model.safetensors").read_bytes() == (undisturbed / "model.safetensors").read_bytes()
        epochs = [json.loads(line)["epoch"] for line in (place / "log.jsonl").read_text().splitlines()]
        assert epochs == list(range(1, victims.EPOCHS + 1))
        assert not list(place.glob(".*")), "a temporary file was left"


def parts_are_whole(place: Path) -> None:
    """Assert that every finished part and every data set can be read."""
    for part in place.glob("cache/partial/*/[!.]*"):
        with np.load(part) as stored:
            assert len(stored["inputs"]) == 4
    for path in place.glob("data/[!.]*"):
        storage.load(path)


def test_parts_that_a_kill_left_beside_a_finished_data_set_are_removed(tmp_path, monkeypatch):
    """The last two steps write the data set and delete its parts. If a process is killed between them, both exist."""
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(Duffing, "chunk", 4)
    with monkeypatch.context() as killed:
        killed.setattr(Plan, "forget_parts", lambda self: None)
        victims.make_data(tmp_path)
    assert list((tmp_path / "cache" / "partial").glob("*"))
    victims.make_data(tmp_path)
    assert not list((tmp_path / "cache" / "partial").glob("*"))


@pytest.mark.parametrize("kills", DATA_KILLS)
def test_a_killed_data_set_ends_at_the_same_bits(tmp_path, kills):
    undisturbed = tmp_path / "undisturbed"
    last = 0.9 * victims.calls(tmp_path / "calls", victims.make_data, undisturbed)
    (wanted,) = (undisturbed / "data").glob("*.h5")
    for place in disturb(victims.make_data, tmp_path / "sets", kills, last, parts_are_whole):
        assert victims.finish(victims.make_data, place) == 0
        assert (place / "data" / wanted.name).read_bytes() == wanted.read_bytes()
        assert not list((place / "cache" / "partial").glob("*")), "finished parts were left"
