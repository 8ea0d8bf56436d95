"""Full disk, no permission, no memory, Ctrl-C: one error message, no incomplete file, and the run can be resumed."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
import torch

from lfno.core import tensorfile
from lfno.core.errors import LfnoError
from lfno.training import checkpoint, run
from lfno.training.loop import Trainer
from tests.faults import victims

SMALL = {"epochs": 6, "steady_decay": 1e-4, "width": 2, "n_poles": 2, "modes": 4}


def crowded(limit: int, folder: Path, work: Any) -> None:
    """Call `work(folder)` with files limited to `limit` bytes, so that writing fails as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    work(folder)


def as_nobody(folder: Path, work: Any) -> None:
    """Call `work(folder)` as a user without rights."""
    if os.getuid() == 0:
        os.setuid(65534)
    work(folder)


def train_small(folder: Path) -> None:
    victims.train(folder, save_every=-1.0, **SMALL)


def said(tmp_path: Path, work: Any, *arguments: Any) -> str:
    """Call `work(*arguments)` in a process. The call must raise LfnoError; return its message."""
    sentence = tmp_path / "sentence"
    assert victims.finish(victims.telling, sentence, work, *arguments) == 2
    return sentence.read_text()


def test_a_full_disk_gives_one_error_message(tmp_path):
    whole = tmp_path / "whole"
    train_small(whole)
    size = (whole / checkpoint.NAME).stat().st_size
    folder = tmp_path / "run"
    sentence = said(tmp_path, crowded, size // 2, folder, train_small)
    assert "cannot write" in sentence
    assert "too large" in sentence
    assert not list(folder.glob("*.safetensors"))
    train_small(folder)  # with free disk space, the run continues
    assert (folder / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


@pytest.mark.parametrize("limit", [500, 3000, 20_000])
def test_a_full_disk_leaves_no_data_set(tmp_path, limit):
    sentence = said(tmp_path, crowded, limit, tmp_path / "sets", victims.make_data)
    assert "cannot write" in sentence
    assert not list((tmp_path / "sets" / "data").glob("[!.]*"))


@pytest.mark.parametrize("work", [train_small, victims.make_data])
def test_a_folder_without_write_permission_gives_one_error_message(tmp_path, work):
    outer = Path(tempfile.mkdtemp(prefix="lfno-"))
    try:
        outer.chmod(0o555)
        sentence = said(tmp_path, as_nobody, outer / "run", work)
        assert "cannot write" in sentence
        assert "ermission denied" in sentence
    finally:
        outer.chmod(0o755)
        shutil.rmtree(outer)


@pytest.mark.parametrize(
    "error", [MemoryError(), torch.OutOfMemoryError("CUDA out of memory"), RuntimeError("DefaultCPUAllocator: no")]
)
def test_a_run_without_memory_saves_its_state_explains_the_error_and_can_be_resumed(tmp_path, monkeypatch, error):
    folder, whole = tmp_path / "run", Trainer._pass

    def short_of_memory(self: Trainer) -> None:
        if self.epoch == 3:
            raise error
        whole(self)

    monkeypatch.setattr(Trainer, "_pass", short_of_memory)
    with pytest.raises(LfnoError, match=r"out of memory in epoch 4, batches of 5; .*--resume.*batch=2"):
        victims.train(folder, save_every=60.0, **SMALL)  # no checkpoint is due before the end
    tree, _ = tensorfile.read(folder / checkpoint.NAME, checkpoint.KEY, "checkpoint")
    assert tree["epoch"] == 3
    monkeypatch.setattr(Trainer, "_pass", whole)
    victims.train(folder, **{**SMALL, "batch": 2})
    assert (folder / "model.safetensors").exists()


def test_a_loss_that_is_never_finite_gives_an_error_message_and_no_model(tmp_path, monkeypatch):
    whole = Trainer._pass

    def lost(self: Trainer) -> None:
        whole(self)
        self.adam.theta.fill_(float("nan"))

    monkeypatch.setattr(Trainer, "_pass", lost)
    with pytest.raises(LfnoError, match=r"not finite|never finite"):
        train_small(tmp_path / "run")
    assert not (tmp_path / "run" / "model.safetensors").exists()


def test_other_errors_of_torch_are_not_reported_as_errors_of_memory(monkeypatch, tmp_path):
    def broken(self: Trainer) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr(Trainer, "_pass", broken)
    with pytest.raises(RuntimeError, match="something else"):
        train_small(tmp_path / "run")


def test_an_interruption_within_an_epoch_ends_at_the_same_bits(tmp_path, monkeypatch):
    """After Ctrl-C in the middle of an epoch, the saved state is the state before that epoch."""
    whole, folder = tmp_path / "whole", tmp_path / "run"
    train_small(whole)
    steps, step = 0, Trainer._pass

    def interrupted(self: Trainer) -> None:
        nonlocal steps
        steps += 1
        step(self)
        if steps == 4:
            raise KeyboardInterrupt

    monkeypatch.setattr(Trainer, "_pass", interrupted)
    train_small(folder)  # ends early with the best model so far
    assert steps == 4
    monkeypatch.setattr(Trainer, "_pass", step)
    with (folder / run.LOG).open("a") as log:  # a killed run may leave lines after the checkpoint; the last line is incomplete
        log.write('{"epoch": 4, "train": [1]}\n{"epoch": 5, "tra')
    train_small(folder)
    lines = (folder / run.LOG).read_text().splitlines()
    assert [json.loads(line)["epoch"] for line in lines] == [1, 2, 3, 4, 5, 6]
    assert (folder / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_the_exit_code_of_an_interruption_at_an_odd_moment(tmp_path):
    """Ctrl-C comes inside `exec`, as in some imports. Without protection, Python would end without our exit code."""
    odd = "import lfno.cli as cli\ncli.build = lambda: lambda: exec('raise KeyboardInterrupt')\ncli.main()\n"
    (tmp_path / "odd.py").write_text(odd)
    ended = subprocess.run([sys.executable, "-m", "odd"], cwd=tmp_path, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr[:18]) == (130, "lfno: interrupted;")


def _heed():
    """Restore the default handling of SIGINT. Background jobs of a shell, and their children, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.long
def test_interrupting_the_command_line(tmp_path):
    """SIGINT and SIGTERM give the exit code 130 and a message, and --resume continues the run."""
    options = ["train", "duffing-c05-small", "--set", "width=2", "--set", "modes=4", "--set", "n_poles=2", "--device", "cpu"]
    command = [sys.executable, "-m", "lfno", *options, "--epochs", "60", "--out", str(tmp_path / "run")]
    command += ["--set", "validate_every=1"]
    log = tmp_path / "run" / run.LOG
    for sent in (signal.SIGINT, signal.SIGTERM):
        more = ["--resume"] if log.exists() else []
        before = len(log.read_text().splitlines()) if more else 0
        process = subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=_heed)
        while not (log.exists() and len(log.read_text().splitlines()) > before) and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=victims.HANG)
        assert process.returncode == 130, errors
        assert "interrupted" in errors
        assert "Traceback" not in errors
        tensorfile.read(tmp_path / "run" / checkpoint.NAME, checkpoint.KEY, "checkpoint")
    assert subprocess.run([*command, "--resume", "--quiet"], cwd=tmp_path, timeout=victims.HANG).returncode == 0
