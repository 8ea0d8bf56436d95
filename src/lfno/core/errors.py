"""The one error class a user of `lfno` needs to know, and warnings as one reads them in a terminal."""

import warnings


class LfnoError(ValueError):
    """Something the user can put right: the message says what was found, where, and what to do."""


def plain_warnings() -> None:
    """From now on a warning is its sentence alone, without the place in the code it came from."""
    warnings.formatwarning = lambda message, *_, **__: f"lfno: {message}\n"
