"""The public model: `load` and `fit` return a `Surrogate`, which answers every question in the user's units."""

from lfno.surrogate.fitting import fit
from lfno.surrogate.model import Answer, Surrogate, load
from lfno.surrogate.scores import Scores

__all__ = ["Answer", "Scores", "Surrogate", "fit", "load"]
