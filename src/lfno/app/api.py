"""What the page may ask: functions from JSON to JSON, by name. They know nothing of HTTP."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from lfno.app.judgement import Judgement
from lfno.app.signals import Upload
from lfno.app.systems import OWN, Bench, catalogue
from lfno.app.training import Run, Workshop
from lfno.core.errors import LfnoError

FILE = "file"  # the source of a run on the user's own signals
MOST_BENCHES = 4  # systems kept warm; one more and the oldest is put away

Query = dict[str, Any]


class Desk:
    """The state behind the page: systems kept warm, the file dropped last, and the training run.

    >>> Desk().ask("explore", {"system": "heat", "value": 5.0})["models"]["LFNO"]["l2"] < 0.01
    True
    """

    def __init__(self) -> None:
        self.benches: dict[str, Bench] = {}
        self.upload: Upload | None = None
        self.workshop = Workshop()
        self.lock = threading.Lock()
        self.questions: dict[str, Callable[[Query], Any]] = {
            "systems": lambda query: {"systems": catalogue()},
            "explore": self.explore,
            "read": self.read,
            "signals": self.signals,
            "train": self.train,
            "progress": self.progress,
            "stop": lambda query: self.workshop.stop().progress(),
            "outcome": lambda query: self._judged(self.workshop.finished()).report(),
            "sample": lambda query: self._judged(self.workshop.finished()).sample(_whole(query, "place")),
        }

    def ask(self, question: str, query: Query) -> Any:
        if question not in self.questions:
            raise LfnoError(f"there is no question {question!r}; there are {', '.join(self.questions)}")
        if not isinstance(query, dict):
            raise LfnoError("a question comes with an object of its options")
        return self.questions[question](query)

    # -- the systems ---------------------------------------------------------------------------------------------

    def bench(self, name: str) -> Bench:
        with self.lock:
            if name not in self.benches:
                self.benches[name] = Bench(name)
                own = self._own_model(name)
                if own is not None:
                    self.benches[name].models[OWN] = own
                while len(self.benches) > MOST_BENCHES:
                    del self.benches[next(iter(self.benches))]
            return self.benches[name]

    def explore(self, query: Query) -> Any:
        value = query.get("value")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise LfnoError(f"the amplitude {value!r} is not a number")
        return self.bench(str(query.get("system"))).explore(float(value))

    def _own_model(self, name: str) -> Any:
        run = self.workshop.run
        return None if run is None or run.source != name or run.result is None else run.result.networks[0]

    # -- the user's signals --------------------------------------------------------------------------------------

    def receive(self, name: str, content: bytes) -> Any:
        """A dropped file; the one before it is forgotten."""
        upload = Upload(name, content)
        with self.lock:
            before, self.upload = self.upload, upload
        if before is not None:
            before.remove()
        return upload.inspect()

    def read(self, query: Query) -> Any:
        return self._uploaded().read(query)

    def signals(self, query: Query) -> Any:
        upload = self._uploaded()
        if upload.prepared is None:
            raise LfnoError(f"{upload.name} has not been read yet; say what is input and output first")
        return upload.drawn(_whole(query, "sample"))

    def _uploaded(self) -> Upload:
        if self.upload is None:
            raise LfnoError("there is no file yet; drop one on the page first")
        return self.upload

    # -- training ------------------------------------------------------------------------------------------------

    def train(self, query: Query) -> Any:
        source, model, epochs = str(query.get("source")), str(query.get("model", "lfno")), query.get("epochs")
        if source != FILE:
            self.bench(source)  # an unknown system is refused here
            return self.workshop.start(source, model, epochs, None, self._finish).progress()
        upload = self._uploaded()
        if upload.prepared is None:
            raise LfnoError(f"{upload.name} has not been read yet; say what is input and output first")
        return self.workshop.start(upload.name, model, epochs, upload.prepared, self._finish).progress()

    def _finish(self, run: Run) -> Judgement:
        judgement = Judgement(run)
        if run.prepared is None:
            bench = self.bench(run.source)
            assert run.result is not None
            with bench.lock:
                bench.models[OWN] = run.result.networks[0]
        return judgement

    @staticmethod
    def _judged(run: Run) -> Judgement:
        judgement: Judgement = run.judgement
        return judgement

    def progress(self, query: Query) -> Any:
        run = self.workshop.run
        return {"stage": "idle", "over": True} if run is None else run.progress(_whole(query, "since"))

    def close(self) -> None:
        if self.upload is not None:
            self.upload.remove()


def _whole(query: Query, name: str) -> int:
    value = query.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int):
        raise LfnoError(f"{name} = {value!r} is not a whole number")
    return value
