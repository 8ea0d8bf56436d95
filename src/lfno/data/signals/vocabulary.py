"""Words that show the role of a variable if they are its name."""

from __future__ import annotations

import re

#: names of time vectors
TIMES = {
    "t", "ts", "time", "times", "timestamp", "timestamps", "datetime", "date", "zeit", "datum", "uhrzeit", "tid",
    "samplinginstants", "xvalue",
}  # fmt: skip
#: names of a column with the number of the run, and of an axis of samples
SAMPLES = {
    "sample", "samples", "trajectory", "trajectories", "batch", "run", "case", "experiment", "realization", "realisation",
}  # fmt: skip
#: names of an axis of channels
CHANNELS = {"channel", "channels", "feature", "features", "component", "components"}
#: names of coordinates of space
COORDINATES = ("x", "y", "z")
#: names of inputs
INPUTS = {
    "f", "force", "forcing", "input", "inputs", "in", "uin", "excitation", "stimulus", "load", "drive", "inputdata", "shaker",
    "kraft", "anregung", "eingang", "entree", "entrada", "heater", "heating", "valve", "pump", "throttle", "pwm", "torque",
    "command", "cmd", "actuator", "inflow",
}  # fmt: skip
#: names of outputs
OUTPUTS = {
    "output", "outputs", "out", "response", "uout", "yout", "y", "displacement", "velocity", "acceleration", "outputdata",
    "disp", "position", "deflection", "vel", "acc", "accel", "weg", "auslenkung", "verschiebung", "beschleunigung",
    "geschwindigkeit", "ausgang", "antwort", "sortie", "salida", "temperature", "temp", "temperatur", "level",
    "angle", "strain",
}  # fmt: skip
#: words of signals that are more often inputs than outputs, or the reverse. They are only for examples, which the user corrects
LIKELY_INPUTS = {
    "voltage", "current", "power", "duty", "setpoint", "reference", "spannung", "strom", "leistung", "sollwert", "steering",
}  # fmt: skip
LIKELY_OUTPUTS = {
    "speed", "rpm", "omega", "theta", "drehzahl", "winkel", "yaw", "pitch", "roll", "vibration", "sensor", "measured",
    "concentration", "humidity", "istwert",
}  # fmt: skip
#: names of inputs or outputs: u is the output in mechanics and the input in control. The names of the other signals decide
EITHER = {"u", "x"}
#: names of a column of row numbers (pandas writes such a column with an empty name)
COUNTERS = {"", "column", "index", "indexlevel", "row", "unnamed"}
#: names of a number that is the sampling rate in Hz
RATES = {"fs", "rate", "samplerate", "samplingrate", "samplefrequency", "samplingfrequency"}
#: names of a number that is the time step in seconds
STEPS = {"dt", "ts", "step", "timestep", "sampletime"}


SHORTEST = 3  # letters: a shorter word in a longer name does not tell its role; `out` in `Q_out` does, `y` in `acc y` does not


def side(name: str) -> str:
    """Return "input" or "output" if the name, or one word of it, tells the role; "" if it does not.

    >>> side("Shaker Force"), side("InputGasRate"), side("temp_chamber"), side("valve position"), side("u")
    ('input', 'input', 'output', '', '')
    """
    return _side(name, INPUTS, OUTPUTS)


def likely(name: str) -> int:
    """Return a number that is larger for a name that is more like an input: 2, 1 (input), 0 (neither), −1 or −2 (output).

    ±2 means that the name tells the role (see `side`), ±1 that signals of this name often have this role.

    >>> [likely(name) for name in ("force", "motor_voltage", "a", "Speed", "Q_out")]
    [2, 1, 0, -1, -2]
    """
    number = {"input": 1, "output": -1, "": 0}
    return 2 * number[side(name)] or number[_side(name, LIKELY_INPUTS, LIKELY_OUTPUTS)]


def _side(name: str, inputs: set[str], outputs: set[str]) -> str:
    """Return "input" or "output" if the name, or one word of it, is in one of these sets; "" if not, or if it is in both."""
    whole = bare_word(name)
    if whole in inputs or whole in outputs:
        return "input" if whole in inputs else "output"
    words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", re.split(r"[/.]", name)[-1])}
    words = {word for word in words if len(word) >= SHORTEST}
    sides = [side for side, known in (("input", inputs), ("output", outputs)) if words & known]
    return sides[0] if len(sides) == 1 else ""


def bare_word(name: str) -> str:
    """Return the letters of the last part of a name in lower case: "force" for "run1/Force_2"."""
    return re.sub(r"[^a-z]", "", re.split(r"[/.]", name)[-1].lower())
