"""Modes with feedback: a compact nonlinear model of few parameters."""

from lfno.identification.feedback.fit import fit_feedback
from lfno.identification.feedback.model import KEY, FeedbackModel

__all__ = ["KEY", "FeedbackModel", "fit_feedback"]
