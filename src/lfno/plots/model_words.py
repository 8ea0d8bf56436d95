"""Explain the names of models and baselines in one sentence each, for readers of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lfno.surrogate.verdict import MODAL, NAMES

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate

NETWORK = "a neural operator: a network that maps the whole input to the whole output"
#: name in the table of test errors → explanation
EXPLAINED: dict[str, str] = {
    MODAL: "linear: a sum of damped oscillations and decays, the modes",
    "feedback": "a model of linear modes with a static nonlinear function, such as a hardening spring or a valve",
    "equation": "a partial differential equation that was identified from the data",
    "LFNO": f"{NETWORK}, with poles for the transient part and Fourier modes for the steady part",
    "FNO": f"{NETWORK}, with Fourier modes",
    "LNO": f"{NETWORK}, with poles",
    NAMES["mean"]: "baseline: the mean of the outputs that the fit used",
    NAMES["persistence"]: "baseline: the last output before the test, or the first output of a sample, held constant",
    NAMES["interpolation"]: "baseline: interpolation between training samples with similar parameters",
    NAMES["linear"]: "baseline: a linear model of any form, impulse response or transfer function, chosen by held-out data",
}
FIELDS = "baseline: a linear map from the whole input field to the whole output field"


def explained(label: str, model: Surrogate) -> str:
    """Return the explanation of a name in the table of test errors of `model`; "" for an unknown name."""
    if label == NAMES["linear"] and model.grid.ndim > 1:
        return FIELDS
    words = EXPLAINED.get(label) or EXPLAINED.get(label.split(" ")[0], "")
    correction = model.linear_path is not None and words.startswith(NETWORK)
    return f"{words}; it corrects a linear model" if correction else words
