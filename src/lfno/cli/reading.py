"""The options for reading files. All commands that take a file of signals have these options."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

Input = Annotated[str | None, typer.Option(help="Names of the input variables, as f or f1,f2 or f*.")]
Output = Annotated[str | None, typer.Option(help="Names of the output variables, as u or u1,u2 or u*.")]
Time = Annotated[
    str | None, typer.Option(help="Name of the time vector. If inputs and outputs have separate clocks: TIME_IN,TIME_OUT.")
]
Sample = Annotated[str | None, typer.Option(help="Column of a table with the number of the trajectory.")]
Axes = Annotated[str | None, typer.Option(help='Names of the array axes, as "sample,t" or "f=sample,t;u=sample,x,t".')]
Dt = Annotated[float | None, typer.Option(help="Time step, for data without a time vector.")]
Resample = Annotated[bool, typer.Option("--resample", help="Interpolate irregular samples to a uniform time step.")]

Reading = dict[str, Any]  # the options for reading a file by name, as the function `options` returns them


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
    """Return `command` with the options for reading in its signature, where typer finds them.

    The command receives the values of these options as one dictionary, its argument `reading`.
    """
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
