"""The options for reading files, shared by all commands that take a file."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

Input = Annotated[str | None, typer.Option(help="Input variables: f, or f1,f2, or f*.")]
Output = Annotated[str | None, typer.Option(help="Output variables.")]
Time = Annotated[str | None, typer.Option(help="Time vector. If inputs and outputs have separate clocks: TIME_IN,TIME_OUT.")]
Sample = Annotated[str | None, typer.Option(help="Column that numbers the trajectories of a table.")]
Axes = Annotated[str | None, typer.Option(help='Names of the array axes: "sample,t" or "f=sample,t;u=sample,x,t".')]
Dt = Annotated[float | None, typer.Option(help="Time step of data without a time vector.")]
Resample = Annotated[bool, typer.Option("--resample", help="Interpolate irregular samples to a uniform time step.")]

Reading = dict[str, Any]  # the result of `options`


def options(
    input: Input = None,
    output: Output = None,
    time: Time = None,
    sample: Sample = None,
    axes: Axes = None,
    dt: Dt = None,
    resample: Resample = False,
) -> Reading:
    """Return the keyword arguments of `lfno.data.signals.read_signals`."""
    return dict(locals())


def with_reading(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has these options in its signature, for typer, and passes them as the argument `reading`."""
    shared = inspect.signature(options, eval_str=True).parameters
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        parameters += shared.values() if parameter.name == "reading" else [parameter]

    @wraps(command)
    def called(**given: Any) -> None:
        reading = options(**{name: given.pop(name) for name in shared})
        command(**given, reading=reading)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return called
