"""FNO, LNO and LFNO: neural operators built on the pole–residue and Fourier transforms of `lfno.spectral`."""

from lfno.models.fno import FNO, FNOConfig
from lfno.models.lfno import LFNO, LFNOConfig
from lfno.models.lno import LNO, LNOConfig
from lfno.models.operator import Operator
from lfno.models.pole_operator import PoleTable
from lfno.models.storage import MODELS, load

__all__ = ["FNO", "LFNO", "LNO", "MODELS", "FNOConfig", "LFNOConfig", "LNOConfig", "Operator", "PoleTable", "load"]
