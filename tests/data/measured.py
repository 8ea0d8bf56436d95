"""One record, shared by the tests of lfno.data.signals."""

from __future__ import annotations

import numpy as np

from lfno.data.signals import Record, read_signals

T = 2 + np.arange(400) * 0.05
F = np.sin(2 * T)
U = np.exp(-0.1 * T) * np.cos(T)


def record(**arrays: np.ndarray) -> Record:
    """Return the record with time T, input F and output U. `arrays` replaces signals or adds others."""
    loaded = read_signals({"t": T, "f": F, "u": U} | arrays)
    assert isinstance(loaded, Record)
    return loaded
