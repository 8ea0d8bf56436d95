"""`Desk`: the questions of the page and their answers. A question has a name and options; options and answer are JSON.

The module `handler` receives the questions by HTTP.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lfno.app import exports, files, predictions
from lfno.app.bench import Bench
from lfno.app.catalogue import catalogue, training_data
from lfno.app.diary import GOING, Diary
from lfno.app.fieldbench import Field
from lfno.app.jobs import Jobs
from lfno.app.memory import trim
from lfno.app.oscillator import Oscillator
from lfno.app.values import Query, number, whole, word
from lfno.app.workspace import Item, Workspace
from lfno.core.errors import LfnoError
from lfno.systems.registry import find
from lfno.systems.titles import ALL

MOST_BENCHES = 3  # systems in memory; one more system replaces the system that was not used for the longest time
#: model of `lfno.fit` -> its name on the page
MODELS = {"linear": "linear model", "feedback": "feedback model", "lfno": "LFNO", "fno": "FNO", "lno": "LNO"}
MOST_EPOCHS = 5000  # largest number of epochs that the page accepts


class Desk:
    """Answers the questions of the page. A desk holds the systems in memory, the workspace (files, runs) and the queue of runs.

    >>> import tempfile
    >>> desk = Desk(Path(tempfile.mkdtemp()))
    >>> desk.ask("answer", {"system": "heat", "value": 5.0, "model": "LFNO"})["l2"] < 0.01
    True
    >>> desk.close()
    """

    def __init__(self, folder: Path) -> None:
        self.workspace = Workspace(folder)
        self.jobs = Jobs(self.workspace)
        self.reader = files.Reader()
        self.benches: OrderedDict[str, Bench] = OrderedDict()
        self.lock = threading.Lock()
        self.shown = threading.Event()  # set when the page has received its first reference solution
        self.questions: dict[str, Callable[[Query], Any]] = {
            "systems": lambda query: catalogue(),
            "truth": self.truth,
            "answer": lambda query: self.bench(query).answer(query, word(query, "model")),
            "models": lambda query: {"models": [{"key": k, "label": v} for k, v in self.bench(query).labels.items()]},
            "split": self.split,
            "modes": lambda query: self.bench(query).modes(word(query, "model")),
            "poles": lambda query: {"poles": self.bench(query).poles(query, word(query, "model"))},
            "sweep": self.sweep,
            "workspace": self.listing,
            "file": lambda query: self.reader.inspect(self._file(query)),
            "read": self.read,
            "signals": lambda query: self.reader.drawn(self._file(query), whole(query, "sample")),
            "example": lambda query: self.example(),
            "rename": self.rename,
            "delete": self.delete,
            "train": self.train,
            "progress": self.progress,
            "stop": self.stop,
            "continue": self.go_on,
            "outcome": self.outcome,
            "sample": self.sample,
            "predicted": lambda query: predictions.predicted(
                self.workspace.find("answers", query.get("answer")), whole(query, "sample")
            ),
        }

    def ask(self, question: str, query: Query) -> Any:
        """Return the answer to a question. Raise LfnoError if the question is unknown or its options are wrong.

        question: name of the question, a key of `questions`.
        query: options of the question.
        """
        if question not in self.questions:
            raise LfnoError(f"there is no question {question[:60]!r}; the questions are {', '.join(self.questions)}")
        if not isinstance(query, dict):
            raise LfnoError("the options of a question must be a JSON object")
        return self.questions[question](query)

    def close(self) -> None:
        """Stop the queue of runs and the active run."""
        self.jobs.close()

    # -- the systems ---------------------------------------------------------------------------------------------

    def bench(self, query: Query) -> Bench:
        """Return the bench of the system named in the query, with the shipped models and the user's own models."""
        name = word(query, "system", tuple(ALL))
        with self.lock:
            if name not in self.benches:
                self.benches[name] = Oscillator(name) if find(name).grid.ndim == 1 else Field(name)
                if len(self.benches) > MOST_BENCHES:
                    self.benches.popitem(last=False)
                    trim()
            self.benches.move_to_end(name)
            bench = self.benches[name]
        own = {}
        for item in self.workspace.items("runs"):
            about = item.about
            if about.get("system") == name and Diary(item.folder).read().get("ready"):
                own[item.identity] = (str(about["name"]), item.folder / "model.safetensors")
        for key in [key for key in bench.files if len(key) == 12 and key not in own]:
            del bench.files[key], bench.labels[key]
            bench.models.pop(key, None)
        for key, (label, path) in own.items():
            bench.add(key, label, path)
        return bench

    def truth(self, query: Query) -> Any:
        """Return the reference solution of a system for an input."""
        found = self.bench(query).truth(query)
        self.shown.set()
        return found

    def split(self, query: Query) -> Any:
        """Return the transient and the steady part of a model's prediction, and the true parts if there are any."""
        from lfno.app.physics import split

        return split(self.bench(query), query, word(query, "model"))

    def sweep(self, query: Query) -> Any:
        """Return the frequency response of a model at one amplitude. The model "truth" stands for the equation."""
        from lfno.app.physics import model_sweep, true_sweep

        bench = self.bench(query)
        if not isinstance(bench, Oscillator):
            raise LfnoError("the page shows the frequency response of oscillators only")
        amplitude = number(query, "amplitude", 1e-3, 40.0)
        key = word(query, "model")
        return true_sweep(bench, amplitude) if key == "truth" else model_sweep(bench, key, amplitude)

    # -- files -----------------------------------------------------------------------------------------------------

    def receive(self, name: str, content: bytes, into: str | None = None) -> Any:
        """Store an uploaded file and return a description of its content.

        Args:
            name: The file name that the user sees.
            content: The bytes of the file.
            into: The identity of the item that receives the file as a further file; None for a new item.
        """
        beside = self.workspace.find("files", into) if into else None
        item = files.receive(self.workspace, name, content, beside)
        try:
            return self.reader.inspect(item)
        except LfnoError:
            if beside is None:
                self.workspace.delete("files", item.identity)  # do not keep a file that cannot be opened
            raise

    def example(self) -> Any:
        """Store the example file and return a description of its content.

        The file is a simulated measurement of an oscillator with a stiffening spring and a random force.
        """
        from lfno.app.example import example_table

        return self.receive("example.csv", example_table())

    def read(self, query: Query) -> Any:
        """Read a file with the roles of the variables and the other fields of the form.

        Return a description of the signals with their curves, and the sizes of the split into training, validation and test.
        """
        options = query.get("options")
        if not isinstance(options, dict):
            raise LfnoError("the roles of the variables and the fields of the form are missing")
        return self.reader.read(self._file(query), options)

    def _file(self, query: Query) -> Item:
        return self.workspace.find("files", query.get("file"))

    # -- the workspace ---------------------------------------------------------------------------------------------

    def listing(self, query: Query) -> Any:
        """Return all files and runs, the newest first, and the models and the forms of export that the page offers."""
        listed = []
        for item in self.workspace.items("files"):
            about = item.about
            listed.append({"id": item.identity, "name": about.get("name"), "created": about.get("created"),
                           "count": len(about.get("files", [])), "read": bool(about.get("reading"))})  # fmt: skip
        runs = [self._run(item) for item in self.workspace.items("runs")]
        return {"files": listed, "runs": runs, "models": MODELS, "forms": exports.forms()}

    def _run(self, item: Item) -> dict[str, Any]:
        """Return name, data, options and state of a run."""
        about, state = item.about, Diary(item.folder).read()
        told = {key: about.get(key) for key in ("name", "created", "model", "system", "file", "epochs")}
        source = about.get("system") or ", ".join(one["name"] for one in about.get("files", []))
        return {**told, "id": item.identity, "source": source, **state, "over": state["stage"] not in GOING}

    def rename(self, query: Query) -> Any:
        """Change the name of a file or run. Return the result of `listing`."""
        self.workspace.rename(word(query, "kind", ("files", "runs")), query.get("id"), query.get("name"))
        return self.listing(query)

    def delete(self, query: Query) -> Any:
        """Delete a run, or a file and its runs. Return the result of `listing`."""
        kind = word(query, "kind", ("files", "runs"))
        item = self.workspace.find(kind, query.get("id"))
        own = [run for run in self.workspace.items("runs") if kind == "files" and run.about.get("file") == item.identity]
        runs = own if kind == "files" else [item]
        if active := next((run for run in runs if self.jobs.going(run)), None):
            raise LfnoError(f"the run {active.name} is active; stop the run before you delete it")
        for run in own:
            self.workspace.delete("runs", run.identity)
        self.workspace.delete(kind, item.identity)
        return self.listing(query)

    # -- runs ------------------------------------------------------------------------------------------------------

    def train(self, query: Query) -> Any:
        """Add a run for each of the chosen models to the queue, and return the runs.

        The training data come from a system or from a file of the user.
        """
        models = query.get("models")
        if not isinstance(models, list) or not models:
            raise LfnoError("choose at least one model to fit")
        chosen = [word({"model": one}, "model", tuple(MODELS)) for one in models]
        epochs = query.get("epochs")
        if epochs is not None and (isinstance(epochs, bool) or not isinstance(epochs, int) or not 1 <= epochs <= MOST_EPOCHS):
            raise LfnoError(f"epochs must be a whole number from 1 to {MOST_EPOCHS}")
        if query.get("system") is not None:
            name = word(query, "system", tuple(ALL))
            source, order = ALL[name], {"system": name, "data": training_data(name)}
        else:
            item = self._file(query)
            about = item.about
            self.reader.drawn(item, 0)  # raises LfnoError for a file that cannot be read
            source, order = item.name, {"file": item.identity, "files": about["files"], "reading": about["reading"]}
        started = []
        for model in chosen:
            run = self.workspace.create("runs", f"{MODELS[model]} of {source}", model=model, epochs=epochs, **order)
            self.jobs.submit(run)
            started.append(self._run(run))
        return {"runs": started}

    def progress(self, query: Query) -> Any:
        """Return the state of a run, and the points of its learning curve from index `since` on."""
        item = self.workspace.find("runs", query.get("run"))
        return {**self._run(item), "losses": Diary(item.folder).losses(whole(query, "since"))}

    def stop(self, query: Query) -> Any:
        """Stop a run and return its state."""
        item = self.workspace.find("runs", query.get("run"))
        self.jobs.stop(item)
        return self._run(item)

    def go_on(self, query: Query) -> Any:
        """Continue an interrupted, stopped or failed run and return its state. A network continues from its last checkpoint."""
        item = self.workspace.find("runs", query.get("run"))
        if Diary(item.folder).read()["stage"] not in ("interrupted", "stopped", "failed") or self.jobs.going(item):
            raise LfnoError(f"the run {item.name} cannot be continued: it is finished, active or in the queue")
        self.jobs.submit(item)
        return self._run(item)

    def outcome(self, query: Query) -> Any:
        """Return the results of a run."""
        from lfno.app.outcome import read_outcome

        item = self.workspace.find("runs", query.get("run"))
        return {**self._run(item), "outcome": read_outcome(item.folder)}

    def sample(self, query: Query) -> Any:
        """Return the signals of one test sample of a run, or of one piece of its test record."""
        from lfno.app.outcome import sample

        return sample(self.workspace.find("runs", query.get("run")).folder, whole(query, "place"))

    def predict(self, name: str, content: bytes, run: str | None) -> Any:
        """Predict the outputs for the inputs in an uploaded file, with the model of a run."""
        return predictions.predict_file(self.workspace, self.workspace.find("runs", run), name, content)

    def saved(self, query: dict[str, str]) -> tuple[str, bytes]:
        """Return name and content of a file for download: the table of a prediction, or an export of a run's model."""
        if "answer" in query:
            return predictions.saved_table(self.workspace.find("answers", query["answer"]))
        return exports.export(self.workspace.find("runs", query.get("run")), query.get("form", ""))
