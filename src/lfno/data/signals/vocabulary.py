"""Words that show the role of a variable if they are its name."""

from __future__ import annotations

import re

#: names of time vectors
TIMES = {"t", "time", "times", "timestamp", "timestamps", "datetime", "zeit", "tid", "samplinginstants"}
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
    "kraft", "anregung", "eingang", "entree", "entrada",
}  # fmt: skip
#: names of outputs
OUTPUTS = {
    "output", "outputs", "out", "response", "uout", "yout", "y", "displacement", "velocity", "acceleration", "outputdata",
    "disp", "position", "deflection", "vel", "acc", "accel", "weg", "auslenkung", "verschiebung", "beschleunigung",
    "geschwindigkeit", "ausgang", "antwort", "sortie", "salida",
}  # fmt: skip
#: names of inputs or outputs: u is the output in mechanics and the input in control. The names of the other signals decide
EITHER = {"u", "x"}
#: names of a column of row numbers (pandas writes such a column with an empty name)
COUNTERS = {"", "column", "index", "indexlevel", "row", "unnamed"}
#: names of a number that is the sampling rate in Hz
RATES = {"fs", "rate", "samplerate", "samplingrate", "samplefrequency", "samplingfrequency"}
#: names of a number that is the time step in seconds
STEPS = {"dt", "ts", "step", "timestep", "sampletime"}


def bare_word(name: str) -> str:
    """Return the letters of the last part of a name in lower case: "force" for "run1/Force_2"."""
    return re.sub(r"[^a-z]", "", re.split(r"[/.]", name)[-1].lower())
