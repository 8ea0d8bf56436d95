"""The error class of the library, and the form of its warnings."""

import warnings


class LfnoError(ValueError):
    """An error that the user can correct. The message says what was found, where, and what to do."""


def plain_warnings() -> None:
    """Print warnings as their message alone, without file and line. The command line calls this function."""
    warnings.formatwarning = lambda message, *_, **__: f"lfno: {message}\n"
