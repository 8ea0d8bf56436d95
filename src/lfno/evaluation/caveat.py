"""Whether the split of a model into a transient part and a steady part is physical."""

from __future__ import annotations

from typing import Any

import numpy as np

from lfno.evaluation.truth import trained_entry
from lfno.models.fno import FNO
from lfno.models.lfno import LFNO
from lfno.models.marching import Marching
from lfno.systems.families import Curve
from lfno.systems.registry import Entry

#: first words of the caveat if the kind of model or the training data make the split and the poles wrong
NOT_PHYSICAL = "The split into transient and steady, and the poles behind it, are not physical"
#: first words of the caveat if only the measured errors of the parts are large; the poles may be right
SPLIT_WRONG = "The split into transient and steady is not physical"
#: a reason: the model has no transient part at all
WHOLE = "the model has no poles, so it calls its whole answer steady"
#: the transient part has not faded if its RMS in the last quarter of a test exceeds this share of the RMS of the response
LASTING = 0.2
TOLERATED = 3.0  # factor: a part of a physical split has at most this many times the error of the prediction


def split_caveat(model: Any, provenance: dict[str, Any] | None = None) -> str:
    """Return the reason why the model's split into transient and steady is not physical; "" if no reason is known.

    model: the model.
    provenance: the provenance in the model file, which names the data set; by default `model.provenance`.

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
    system with several steady responses is another cause: its response can stay far from the steady part of the model.

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


# A model file stores the caveat in the words of the version that wrote the file. lfno does not read this text: it computes the
# caveat again, in the words of this version.


def _measured(errors: Any) -> list[str]:
    """Return a reason if an error of a part, measured on test samples, is much larger than the error of the prediction.

    errors: dictionary with the relative errors `prediction`, `steady` and `transient`; None if they were not measured.
    """
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
    """Return the reasons that follow from the kind of network."""
    if isinstance(model, FNO | Marching):
        return [WHOLE]
    if isinstance(model, LFNO) and model.config.steady != "exact":
        return ["the steady part of the network has free parameters for the length of the training signals, and these "
                "parameters can take up a part of the transient"]  # fmt: skip
    return []


def _of_data(entry: Entry | None) -> list[str]:
    """Return the reasons that follow from the training data.

    entry: the registry entry of the training data; None for data that are not built in.
    """
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
