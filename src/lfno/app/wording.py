"""Write an option of the library as a field of the page, for error messages."""

from __future__ import annotations

from lfno.core.errors import Option

#: option of the library -> the name of its field on the page
FIELDS = {
    "dt": "“Time step”",
    "axes": "“Axes of the arrays”",
    "resample": "“Resample to even time steps”",
    "input": "the role “input” in the table",
    "output": "the role “output” in the table",
    "time": "the role “time” in the table",
    "sample": "the role “run number” in the table",
    "periodic": "“Period of the input”",
    "epochs": "“epochs of the networks”",
}


def field(option: Option) -> str:
    """Return the name of an option on the page, with the recommended value.

    >>> field(Option("resample", True)), field(Option("dt", 0.01)), field(Option("time", "NAME"))
    ('“Resample to even time steps”', '“Time step” = 0.01', 'the role “time” in the table')
    """
    known = FIELDS.get(option.name)
    value = option.value
    if known is None:
        return f"`{option}` (in a terminal)"
    if value is None or isinstance(value, bool) or option.name in ("input", "output", "time", "sample"):
        return known
    if isinstance(value, str) and value.isupper():
        return known
    return f"{known} = {value:g}" if isinstance(value, float) else f"{known} = {value}"
