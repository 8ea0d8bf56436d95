"""The error class of the library, the options that an error message names, and the format of warnings."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    """An option that an error message tells the user to set.

    name: the keyword in Python, as "from_rest".
    value: the value to set; True for an option that is on or off. A word in capital letters stands for a value that the user
        chooses. With None, the message gives the name without a value.

    `str` gives a keyword argument of Python. The command line and the web page use `LfnoError.worded` instead.

    >>> str(Option("resample", True)), str(Option("dt", 0.01)), str(Option("time", "NAME")), str(Option("axes"))
    ('resample=True', 'dt=0.01', 'time=NAME', 'axes')
    """

    name: str
    value: str | float | bool | None = None

    def __str__(self) -> str:
        if self.value is None:
            return self.name
        own = isinstance(self.value, str) and self.value.isupper()
        return f"{self.name}={self.value if own else repr(self.value)}"


class LfnoError(ValueError):
    """An error that the user can correct. The message says what was found, where, and what to do.

    parts: pieces of the message, text or `Option`. `options` lists the options among them.

    >>> error = LfnoError("there is no time vector; give the step with ", Option("dt", "SECONDS"))
    >>> str(error)
    'there is no time vector; give the step with dt=SECONDS'
    >>> error.worded(lambda option: f"--{option.name}")
    'there is no time vector; give the step with --dt'
    """

    def __init__(self, *parts: str | Option) -> None:
        super().__init__(*parts)
        self.parts = parts

    @property
    def options(self) -> tuple[Option, ...]:
        """The options that can correct the error."""
        return tuple(part for part in self.parts if isinstance(part, Option))

    def worded(self, wording: Callable[[Option], str]) -> str:
        """Return the message with each option replaced by the text `wording(option)`."""
        return "".join(wording(part) if isinstance(part, Option) else str(part) for part in self.parts)

    def __str__(self) -> str:
        return self.worded(str)


def plain_warnings() -> None:
    """Make Python print a warning as `lfno: MESSAGE`, without file and line. The command line calls this function."""
    warnings.formatwarning = lambda message, *_, **__: f"lfno: {message}\n"
