"""lfno: Laplace–Fourier neural operators for dynamical systems.

>>> import lfno
>>> grid = lfno.Grid.line(2048, dt=0.01)
>>> model = lfno.LFNO(grid, width=16, modes=32)
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from lfno.core.errors import LfnoError
from lfno.core.grid import Axis, Grid
from lfno.core.version import __version__

if TYPE_CHECKING:
    from lfno.data.make import dataset
    from lfno.models import FNO, LFNO, LNO, Marching
    from lfno.surrogate import Surrogate, fit, load

# Names that are imported on first use. `import lfno` and `lfno --help` are fast, because they do not load torch.
_LAZY = {
    "FNO": "lfno.models",
    "LFNO": "lfno.models",
    "LNO": "lfno.models",
    "Marching": "lfno.models",
    "load": "lfno.surrogate",
    "dataset": "lfno.data.make",
    "fit": "lfno.surrogate",
    "Surrogate": "lfno.surrogate",
}

__all__ = ["FNO", "LFNO", "LNO", "Axis", "Grid", "LfnoError", "Marching", "Surrogate", "__version__", "dataset", "fit", "load"]


def __getattr__(name: str) -> Any:
    """Import a name of `_LAZY` when it is first used."""
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'lfno' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
