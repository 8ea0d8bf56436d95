"""The diary of a run: state, messages and learning curve. They are stored in files that the server can read at any time."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from lfno.app.workspace import read_json, write_json
from lfno.core.json_text import jsonable, to_json

STATE = "state.json"  # file with the state and the messages
LOSSES = "losses.jsonl"  # file with one line of JSON for each point of the learning curve
#: stages of a run that is not finished
GOING = ("waiting", "starting", "preparing", "pilot", "training", "fitting", "judging")
#: stages of a run that is finished
OVER = ("done", "stopped", "failed", "interrupted")
MOST_MESSAGES = 40  # largest number of messages that are kept


class Diary:
    """The state, the messages and the learning curve of one run, stored in the folder of the run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self) -> dict[str, Any]:
        """Return the state of the run as a dictionary.

        Keys: `stage` (of GOING or OVER), `done` and `total` epochs, `seconds_left`, `messages` (from the fit), `words` (the
        reason of the stage, for the user), `ready` (True if there is a model), `changed` (time of the last change) and `server`
        (number of the process of the server). Before their first change, all keys but `stage` and `messages` are missing.
        """
        state = read_json(self.folder / STATE)
        return {"stage": "waiting", "messages": [], **state}

    def write(self, **entries: Any) -> None:
        """Change entries of the state."""
        write_json(self.folder / STATE, jsonable({**self.read(), **entries, "changed": time.time()}))

    def say(self, message: str) -> None:
        """Add a message, for example a choice of the fit and its reason."""
        self.write(messages=[*self.read()["messages"], message][-MOST_MESSAGES:])

    def add_loss(self, loss: dict[str, float]) -> None:
        """Add one point of the learning curve."""
        with (self.folder / LOSSES).open("a", encoding="utf-8") as file:
            file.write(to_json(loss) + "\n")

    def losses(self, since: int = 0) -> list[dict[str, float]]:
        """Return the points of the learning curve from index `since` on. An incomplete last line is left out."""
        try:
            lines = (self.folder / LOSSES).read_text(encoding="utf-8").split("\n")[:-1]
        except OSError:
            return []
        found = []
        for line in lines[since:]:
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return found
