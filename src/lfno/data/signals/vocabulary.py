"""Words in the names of variables that identify their roles."""

from __future__ import annotations

import re

TIMES = {"t", "time", "times", "timestamp", "timestamps", "datetime", "zeit", "tid", "samplinginstants"}
SAMPLES = {
    "sample", "samples", "trajectory", "trajectories", "batch", "run", "case", "experiment", "realization", "realisation",
}  # fmt: skip
CHANNELS = {"channel", "channels", "feature", "features", "component", "components"}
COORDINATES = ("x", "y", "z")
INPUTS = {
    "f", "force", "forcing", "input", "inputs", "in", "uin", "excitation", "stimulus", "load", "drive", "inputdata", "shaker",
    "kraft", "anregung", "eingang", "entree", "entrada",
}  # fmt: skip
OUTPUTS = {
    "output", "outputs", "out", "response", "uout", "yout", "y", "displacement", "velocity", "acceleration", "outputdata",
    "disp", "position", "deflection", "vel", "acc", "accel", "weg", "auslenkung", "verschiebung", "beschleunigung",
    "geschwindigkeit", "ausgang", "antwort", "sortie", "salida",
}  # fmt: skip
#: u is the response in mechanics and the input in control; the role of the other variable decides
EITHER = {"u", "x"}
#: columns that may only number the rows (pandas writes such a column with an empty name)
COUNTERS = {"", "column", "index", "indexlevel", "row", "unnamed"}
#: names of single numbers: the sampling rate in Hz, and the time step in seconds, of a file without a time vector
RATES = {"fs", "rate", "samplerate", "samplingrate", "samplefrequency", "samplingfrequency"}
STEPS = {"dt", "ts", "step", "timestep", "sampletime"}


def bare_word(name: str) -> str:
    """Return the letters of the last part of a name, in lower case: `run1/Force_2` becomes `force`."""
    return re.sub(r"[^a-z]", "", re.split(r"[/.]", name)[-1].lower())
