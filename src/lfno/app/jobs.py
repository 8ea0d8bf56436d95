"""Runs, one after the other, each in a process of its own: its memory returns when it ends, and it can be stopped at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

from lfno.app.diary import GOING, Diary
from lfno.app.workspace import ABOUT, Item, Workspace
from lfno.core.errors import LfnoError

THREADS = max(1, (os.cpu_count() or 2) // 2)  # of a run; the others are for the page
ERRORS = "errors.txt"  # what a worker printed
PATIENCE = 20.0  # seconds that a worker may take to end after the server has closed

#: stage in which a run was stopped -> what there is
STOPPED = {
    "waiting": "Stopped before it began: there is no model.",
    "starting": "Stopped before it began: there is no model.",
    "preparing": "Stopped while the data were read: there is no model.",
    "pilot": "Stopped in the pilot, before the training itself: there is no model.",
    "training": "Stopped at once, without a test: there is no model.",
    "fitting": "Stopped while the model was fitted: there is no model.",
    "judging": "Stopped during the test: there is no model.",
}


class Jobs:
    """The queue of runs. A run that was under way when its server ended is "interrupted" and can go on."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.queue: list[str] = []
        self.running: tuple[str, subprocess.Popen[bytes]] | None = None
        self.stopping: set[str] = set()
        self.closed = False
        self.changed = threading.Condition()
        for item in workspace.items("runs"):
            if Diary(item.folder).read()["stage"] in GOING and not _alive(item.about.get("server")):
                words = "The page was closed while this run was under way. Continue it, or delete it."
                Diary(item.folder).write(stage="interrupted", words=words)
        self.thread = threading.Thread(target=self._work, name="lfno runs", daemon=True)
        self.thread.start()

    def submit(self, item: Item) -> None:
        """Put a run at the end of the queue."""
        with self.changed:
            if self.closed:
                raise LfnoError("the page is being closed; start it again with `lfno app`")
            item.change(server=os.getpid())
            Diary(item.folder).write(stage="waiting", words="", seconds_left=None)
            self.queue.append(item.identity)
            self.changed.notify_all()

    def stop(self, item: Item) -> None:
        """Stop a run: in training the best weights so far are tested and kept; at any other time, or asked twice, at once."""
        with self.changed:
            stage = Diary(item.folder).read()["stage"]
            if item.identity in self.queue:
                self.queue.remove(item.identity)
                Diary(item.folder).write(stage="stopped", words=STOPPED["waiting"])
                return
            if self.running is None or self.running[0] != item.identity:
                raise LfnoError("this run is not under way, so there is nothing to stop")
            process = self.running[1]
            if stage == "training" and item.identity not in self.stopping:
                assert process.stdin is not None
                process.stdin.write(b"stop\n")
                process.stdin.flush()
            else:
                process.kill()
            self.stopping.add(item.identity)

    def going(self, item: Item) -> bool:
        """Whether a run is under way or waits for its turn."""
        with self.changed:
            mine = self.running is not None and self.running[0] == item.identity
            return item.identity in self.queue or (mine and Diary(item.folder).read()["stage"] in GOING)

    def close(self) -> None:
        """End the run that is under way and start no other; both can go on later."""
        with self.changed:
            self.closed = True
            self.queue.clear()
            process = self.running[1] if self.running else None
            self.changed.notify_all()
        if process is not None:
            process.kill()
        self.thread.join(PATIENCE)

    def _work(self) -> None:
        while True:
            with self.changed:
                while not self.queue and not self.closed:
                    self.changed.wait()
                if self.closed:
                    return
                identity = self.queue.pop(0)
                try:
                    item = self.workspace.find("runs", identity)
                except LfnoError:  # deleted while it waited
                    continue
                Diary(item.folder).write(stage="starting", server=os.getpid())
                process = self._start(item)
                self.running = identity, process
            code = process.wait()
            if process.stdin is not None:
                process.stdin.close()
            with self.changed:
                self.running = None
                self._finish(item, code)
                self.stopping.discard(identity)

    def _start(self, item: Item) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
        with (item.folder / ERRORS).open("wb") as errors:
            # the worker ends when its standard input does: a server that is killed leaves nothing running
            command = [sys.executable, "-m", "lfno.app.worker", str(item.folder)]
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, env=environment,
                start_new_session=True,  # Ctrl-C in the terminal is for the server, which then ends its worker
            )  # fmt: skip

    def _finish(self, item: Item, code: int) -> None:
        """Say how a run ended that could not say so itself."""
        diary = Diary(item.folder)
        stage = diary.read()["stage"]
        if stage not in GOING or not (item.folder / ABOUT).is_file():  # it said so itself, or it was deleted
            return
        if item.identity in self.stopping:
            diary.write(stage="stopped", words=STOPPED[stage], seconds_left=None)
        elif self.closed:
            words = "The page was closed while this run was under way. Continue it, or delete it."
            diary.write(stage="interrupted", words=words, seconds_left=None)
        else:
            words = f"The run ended unexpectedly (exit code {code}). {_last_line(item)}"
            diary.write(stage="failed", words=words, seconds_left=None)


def _last_line(item: Item) -> str:
    lines = (item.folder / ERRORS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "It may have run out of memory."


def _alive(process: Any) -> bool:
    """Whether another server with this process number is running."""
    if not isinstance(process, int) or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
