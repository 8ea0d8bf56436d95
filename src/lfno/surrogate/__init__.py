"""The public model: `load` and `fit` return a `Surrogate`, which predicts in the user's units.

Words that the modules of this folder use:
    member — one network of an ensemble, or the only model of a `Surrogate`
    modes with feedback — linear modes with a nonlinear function in a feedback loop; also called a model with feedback
    equation — an identified partial differential equation of a field on a line
    candidate — a fitted model; `fit` fits several candidates and chooses one
    baseline — a simple prediction that a model should beat
    hold — the interpolation of the input between samples
    from rest — with zero input before the first sample, and every output at its equilibrium

Modules:
    model: `Surrogate` and `load`: predict and decompose
    description: members, grid, channels, range and scores of a model
    dynamics: modes, frequency response, backbone and stabilisation diagram
    deployment: streams and exports
    storage: model files of every kind
    question: check the inputs of a prediction and bring them to one form
    notes: warnings that belong to a prediction
    passes: predict long signals block by block with a state
    stitch: predict long records window by window, for networks without a state
    running_mean: mean and spread of the predictions of an ensemble
    sum: a linear model and a network whose outputs are added
    stream: predict sample by sample
    fitting: `fit`, from data to a model
    source: data of any kind as samples with a split
    search: fit the candidates within a time budget
    candidates: the candidates, and the choice between them
    responses: predictions for training, validation and test samples, with the inputs before each window
    contest: test errors of a model and of the baselines
    verdict: which candidate to use, and its test error compared with the baselines, in words
    scores: test errors, as a model file stores them
    signals: names and units of the channels, and whether records start at rest
    evidence: range, intervals and overfitting, measured after a fit
    trust: the error of the split into transient and steady
    deploy: C, FMU and ONNX
"""

from lfno.surrogate.fitting import fit
from lfno.surrogate.model import Answer, Surrogate, load
from lfno.surrogate.scores import Scores

__all__ = ["Answer", "Scores", "Surrogate", "fit", "load"]
