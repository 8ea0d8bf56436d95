"""FNO, LNO, LFNO and Marching: neural operators built on the pole–residue and Fourier transforms of `lfno.spectral`.

Modules:
    operator: the base class: units, checks, lift, projection, prediction, decomposition, saving
    inputs: arrays of one sample or one channel as a batch
    fno: the Fourier neural operator
    lno: the Laplace neural operator
    lfno: the Laplace–Fourier neural operator
    marching: a network that predicts a field step by step in time
    pole_operator: the base class of models with poles, and the table of poles
    config: options of the models, one frozen dataclass for each model
    layers: one layer: linear response, channel map, activation, gate
    responses: the linear response of a layer, computed from Fourier transforms of the window; one class for each kind
    recurrences: the linear response of a layer as a recurrence along time
    real_basis: the linear response of a layer for fields in a sine, cosine or Chebyshev basis
    kernel: the poles and residues of a layer
    fourier_weights: R, the learned channel matrices at the low Fourier modes
    pointwise: channel maps, activations and gates, which act on each point alone
    storage: load a network from a file, and the models by name
    frozen: a network on one grid as real matrix products, for exports
    terms: the linear response of a layer as real matrix products, for exports
    export: write a network as an ONNX or PyTorch program
"""

from lfno.models.fno import FNO, FNOConfig
from lfno.models.lfno import LFNO, LFNOConfig
from lfno.models.lno import LNO, LNOConfig
from lfno.models.marching import Marching, MarchingConfig
from lfno.models.operator import Operator
from lfno.models.pole_operator import PoleTable
from lfno.models.storage import MODELS, load_network

__all__ = [
    "FNO", "LFNO", "LNO", "MODELS", "FNOConfig", "LFNOConfig", "LNOConfig", "Marching", "MarchingConfig", "Operator",
    "PoleTable", "load_network",
]  # fmt: skip
