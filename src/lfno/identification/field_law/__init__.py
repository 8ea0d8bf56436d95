"""The partial differential equation of a field on a line, identified from samples of the field.

Modules:
    model: `FieldLaw`, which predicts and decomposes
    identify: `identify_law`, which finds the `FieldLaw` of samples
    terms: the terms that an equation may contain
    equation: an equation with coefficients, and its solution
    regression: initial values of the coefficients
    fit: the coefficients with the smallest squared error
    search: the choice of order and terms
    spectrum: modes of small motion
"""

from lfno.identification.field_law.identify import identify_law
from lfno.identification.field_law.model import KEY, FieldLaw

__all__ = ["KEY", "FieldLaw", "identify_law"]
