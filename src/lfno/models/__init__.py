"""FNO, LNO, LFNO and Marching: neural operators built on the pole–residue and Fourier transforms of `lfno.spectral`.

Modules:
    operator: the base class: units, checks, lift, projection, prediction, decomposition, saving
    fno: FNO
    lno: LNO
    lfno: LFNO
    marching: a network that goes from frame to frame
    pole_operator: the base class of the models with poles, and the table of poles
    config: one frozen dataclass of options for each model
    layers: one layer: linear response, channel map, activation, gate
    responses: the linear response of a layer in the frequency form, one class for each kind
    recurrences: the linear response as a recurrence along time
    real_basis: the same for fields in a sine, cosine or Chebyshev basis
    kernel: parameters of the poles and residues of a layer
    fourier_weights: R, the channel matrices at the low Fourier modes
    pointwise: channel maps, activations and gates at every point
    storage: load a network from a file, and the models by name
    frozen: a network on one grid as real matrix products, for exports
    terms: the linear response of a layer as such products
    export: ONNX and PyTorch programs of a network
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
