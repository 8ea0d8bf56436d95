"""Write an option of the library as a flag of the command line."""

from __future__ import annotations

import shlex

from lfno.core.errors import Option


def flag(option: Option) -> str:
    """Return the text of an option on the command line.

    >>> flag(Option("from_rest", True)), flag(Option("axes", "sample,t")), flag(Option("dt", 0.01))
    ('--from-rest', '--axes sample,t', '--dt 0.01')
    """
    name = f"--{option.name.replace('_', '-')}"
    if option.value is None or option.value is True:
        return name
    value = f"{option.value:g}" if isinstance(option.value, float) else str(option.value)
    return f"{name} {shlex.quote(value)}"
