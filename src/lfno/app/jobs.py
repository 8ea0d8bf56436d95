"""The queue of runs. A run fits a model in its own process, the worker (`lfno.app.worker`).

The end of the process frees its memory, and the process can be killed at any time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import Any

from lfno.app.diary import GOING, Diary
from lfno.app.workspace import ABOUT, Item, Workspace
from lfno.core.errors import LfnoError

THREADS = max(1, (os.cpu_count() or 2) // 2)  # threads of a run; the other cores serve the page
ERRORS = "errors.txt"  # file with the standard error of a worker
PATIENCE = 20.0  # s; longest wait for the end of the queue when the server closes
CLOSED = "The page was closed while this run was active. Continue the run, or delete it."

#: stage in which a run was stopped -> message for the user
STOPPED = {
    "waiting": "Stopped before the run began. There is no model.",
    "starting": "Stopped before the run began. There is no model.",
    "preparing": "Stopped while the data were read. There is no model.",
    "pilot": "Stopped during the short trial runs before the training. There is no model.",
    "training": "Stopped during the training, without a test. There is no model.",
    "fitting": "Stopped while the model was fitted. There is no model.",
    "judging": "Stopped during the test. There is no model.",
}


class Jobs:
    """The queue of runs. If the server ends during a run, the run gets the stage "interrupted" and can be continued later."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.queue: list[str] = []
        self.running: tuple[str, subprocess.Popen[bytes]] | None = None
        self.stopping: set[str] = set()
        self.closed = False
        self.changed = threading.Condition()
        for item in workspace.items("runs"):
            if Diary(item.folder).read()["stage"] in GOING and not _alive(item.about.get("server")):
                Diary(item.folder).write(stage="interrupted", words=CLOSED)
        self.thread = threading.Thread(target=self._work, name="lfno runs", daemon=True)
        self.thread.start()

    def submit(self, item: Item) -> None:
        """Add a run to the end of the queue."""
        with self.changed:
            if self.closed:
                raise LfnoError("the page is being closed; start it again with `lfno app`")
            item.change(server=os.getpid())
            Diary(item.folder).write(stage="waiting", words="", seconds_left=None)
            self.queue.append(item.identity)
            self.changed.notify_all()

    def stop(self, item: Item) -> None:
        """Stop a run.

        During training, the run stops at the next validation. Its best parameters so far are then tested and kept. In any other
        stage, or at a second request, the process is killed, and there is no model.
        """
        with self.changed:
            stage = Diary(item.folder).read()["stage"]
            if item.identity in self.queue:
                self.queue.remove(item.identity)
                Diary(item.folder).write(stage="stopped", words=STOPPED["waiting"])
                return
            if self.running is None or self.running[0] != item.identity:
                raise LfnoError("this run is not active, so it cannot be stopped")
            process = self.running[1]
            if stage == "training" and item.identity not in self.stopping:
                assert process.stdin is not None
                process.stdin.write(b"stop\n")
                process.stdin.flush()
            else:
                process.kill()
            self.stopping.add(item.identity)

    def going(self, item: Item) -> bool:
        """Return True if a run is active or waits in the queue."""
        with self.changed:
            mine = self.running is not None and self.running[0] == item.identity
            return item.identity in self.queue or (mine and Diary(item.folder).read()["stage"] in GOING)

    def close(self) -> None:
        """Kill the active run and empty the queue. These runs can be continued later."""
        with self.changed:
            self.closed = True
            self.queue.clear()
            process = self.running[1] if self.running else None
            self.changed.notify_all()
        if process is not None:
            process.kill()
        self.thread.join(PATIENCE)

    def _work(self) -> None:
        """Carry out the runs of the queue, one after the other, until the queue is closed."""
        while True:
            with self.changed:
                while not self.queue and not self.closed:
                    self.changed.wait()
                if self.closed:
                    return
                identity = self.queue.pop(0)
                try:
                    item = self.workspace.find("runs", identity)
                except LfnoError:  # the run was deleted while it waited
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
        """Start the worker of a run and return its process."""
        environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
        with (item.folder / ERRORS).open("wb") as errors:
            # the worker ends when its standard input closes, so it ends even if the server is killed
            command = [sys.executable, "-m", "lfno.app.worker", str(item.folder)]
            return subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors, env=environment,
                start_new_session=True,  # Ctrl-C in the terminal reaches only the server; the server then ends the worker
            )  # fmt: skip

    def _finish(self, item: Item, code: int) -> None:
        """Write the last stage of a run if its worker did not do so."""
        diary = Diary(item.folder)
        stage = diary.read()["stage"]
        if stage not in GOING or not (item.folder / ABOUT).is_file():  # the worker wrote the stage, or the run was deleted
            return
        if item.identity in self.stopping:
            diary.write(stage="stopped", words=STOPPED[stage], seconds_left=None)
        elif self.closed:
            diary.write(stage="interrupted", words=CLOSED, seconds_left=None)
        else:
            words = f"The run ended unexpectedly (exit code {code}). {_last_line(item)}"
            diary.write(stage="failed", words=words, seconds_left=None)


def _last_line(item: Item) -> str:
    """Return the last line that the worker of a run printed on standard error."""
    lines = (item.folder / ERRORS).read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1][:300] if lines else "There may have been too little memory."


def _alive(process: Any) -> bool:
    """Return True if another process with this process number is running."""
    if not isinstance(process, int) or process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True
