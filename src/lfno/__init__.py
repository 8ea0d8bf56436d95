"""lfno: Laplace-Fourier neural operators for dynamical systems."""

from lfno.errors import LfnoError
from lfno.grid import Axis, Grid

__version__ = "0.1.0"

__all__ = ["Axis", "Grid", "LfnoError", "__version__"]
