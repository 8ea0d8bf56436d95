"""Whether a model's split into transient and steady is physical. All places that show a split use this function."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.evaluation.truth import trained_entry
from lfno.models.fno import FNO
from lfno.models.lfno import LFNO
from lfno.models.marching import Marching
from lfno.systems.families import Curve
from lfno.systems.registry import Entry

#: the first words of every caveat; tests look for them
NOT_PHYSICAL = "The split into transient and steady, and the poles behind it, are not physical"
#: the same where nothing speaks against the poles, but the split was measured and is wrong
SPLIT_WRONG = "The split into transient and steady is not physical"
#: a reason: the model has no transient part at all
WHOLE = "the model has no poles, so it calls its whole answer steady"
#: rms of the transient part in the last quarter of a test, relative to the rms of the response; above it, it has not faded
LASTING = 0.2
#: parts whose measured error is more than this many times that of the prediction are not the system's own
TOLERATED = 3.0


def split_caveat(model: Any, provenance: dict[str, Any] | None = None) -> str:
    """Return the reason why the model's split into transient and steady is not physical; "" if no reason is known.

    model: the model.
    provenance: the description in the model file, which names the data set; by default that of the model.

    The steady part of a model is physical if it equals the response of the system to the same input repeated for ever. A
    prediction can be accurate although the split is not physical. This function does not run the model.

    >>> split_caveat(lfno.load("duffing-c05"))                                          # doctest: +SKIP
    'The split into transient and steady, and the poles behind it, are not physical: …'
    """
    told = model.provenance if provenance is None else provenance
    reasons, measured = [*_of_network(model), *_of_data(trained_entry(told))], _measured(told.get("split_errors"))
    if reasons:
        return f"{NOT_PHYSICAL}: {'; '.join([*reasons, *measured])}."
    return f"{SPLIT_WRONG}: {measured[0]}." if measured else ""


def lasting_caveat(transient: np.ndarray, response: np.ndarray) -> str:
    """Return a sentence if the transient part of a response is still large at the end; else "".

    Poles that hardly decay give two large parts that cancel each other. Such parts say little about the system. A nonlinear
    system with several steady responses can also be far from the one that repeated inputs lead to.

    transient, response: (…, time); NaN in the response where it was not measured.

    >>> lasting_caveat(np.exp(-np.arange(20.0)), np.ones(20)), lasting_caveat(np.ones(20), np.ones(20))[:22]
    ('', 'The transient part has')
    """
    last = transient[..., -max(1, transient.shape[-1] // 4) :]
    if not np.sqrt(np.mean(last**2)) > LASTING * np.sqrt(np.nanmean(response**2)):
        return ""
    return (
        "The transient part has not faded at the end of the test data: a mode of the model hardly decays, or the response "
        "is still far from its steady one. Read the two parts with care."
    )


def _measured(errors: Any) -> list[str]:
    """The errors of the parts on test samples, where they are much larger than that of the prediction."""
    if not isinstance(errors, dict):
        return []
    worst = max(float(errors["steady"]), float(errors["transient"]))
    if worst <= TOLERATED * float(errors["prediction"]):
        return []
    return [
        f"on test samples the prediction is {100 * float(errors['prediction']):.2g} % wrong, but the steady part is "
        f"{100 * float(errors['steady']):.2g} % and the transient part {100 * float(errors['transient']):.2g} %"
    ]


def _of_network(model: Any) -> list[str]:
    if isinstance(model, FNO | Marching):
        return [WHOLE]
    if isinstance(model, LFNO) and model.config.steady != "exact":
        return ["its steady layers have free weights (R) beside the exact response of the poles"]
    return []


def _of_data(entry: Entry | None) -> list[str]:
    if entry is None:
        return []
    system = entry.system(**entry.parameters)
    if system.kind == "initial":
        return ["the system is started and not driven, so it has no periodic steady state"]
    reasons = []
    if not system.damped:
        reasons.append("the system is not damped, so a transient never dies and there is no periodic steady state")
    if isinstance(entry.family, Curve):
        reasons.append(
            f"the model was trained on one shape of forcing ({entry.name}), which cannot show what belongs to the start "
            "and what to the forcing"
        )
    return reasons
