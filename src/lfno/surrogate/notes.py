"""Warnings about a prediction: inputs unlike the training data, inputs that were in the training data, unreliable outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lfno.surrogate.model import Surrogate
    from lfno.surrogate.question import Question


def notes_on(model: Surrogate, question: Question) -> list[str]:
    """Return the warnings about the prediction for the inputs of `question`, one sentence each."""
    own, axis = model.grid.axes[-1], question.grid.axes[-1]
    outside = model.coverage.excesses(question.inputs, question.grid) if model.coverage else []
    notes = [f"out of the range of training: {excess.message}" for excess in outside]
    if share := model.seen.share(question.inputs):
        part = "these inputs" if share == 1 else f"{100 * share:.0f} % of these inputs"
        notes.append(f"the model was trained on {part}: the error on training inputs says nothing about new data")
    if abs(axis.step / own.step - 1) > 1e-6:
        steps = [f"{step:g} {axis.unit}".strip() for step in (axis.step, own.step)]
        notes.append(f"the data have a time step of {steps[0]}; the model was trained with {steps[1]}")
    if model.linear is not None or model.equation:
        return notes
    if question.record:
        return [*notes, *_on_record(model, question)]
    if abs(axis.length / own.length - 1) > 1e-6 and not model.causal and not model.marches:
        notes.append(
            f"the trajectories last {axis.length:g} {axis.unit} and the training trajectories {own.length:g}: the steady part "
            "was learned for the training trajectories, so trust the prediction less"
        )
    return notes


def _on_record(model: Surrogate, question: Question) -> list[str]:
    """Return the notes on a prediction of a long record: windows and warm-up."""
    own, axis = model.grid.axes[-1], question.grid.axes[-1]
    warm = model.signals.warmup * own.step
    longer = axis.length > 1.001 * own.length and not model.causal
    notes = []
    if longer:
        notes.append(f"the prediction consists of windows of {own.length:g} {axis.unit}")
    if warm and model.signals.from_rest:
        notes.append(f"the first {warm:g} {axis.unit} assume that the system starts from rest")
    elif warm:
        notes.append(f"the first {warm:g} {axis.unit} are warm-up, which training did not score: do not rely on them")
    if warm and axis.length <= warm:
        notes.append("the record is shorter than the warm-up of the model")
    if warm == 0 and longer:
        notes.append(
            f"the model was trained on whole responses from rest, without a warm-up: after the first {own.length:g} "
            f"{axis.unit} every window starts from rest again, and is wrong if the system is in motion there"
        )
    return notes
