"""The one error class a user of `lfno` needs to know."""


class LfnoError(ValueError):
    """Something the user can put right: the message says what was found, where, and what to do."""
