"""How good a model is, what it means, and how far it can be trusted.

Modules:
    metrics: errors of predictions
    baselines: errors of the mean, persistence, interpolation and linear models
    regimes: error over time, transient and steady
    splitting: errors of a split into transient and steady part
    repeats: the same for a measured record whose input repeats
    caveat: whether the split of a model is that of the system
    ringing: which poles ring for an input
    modes: small-signal modes of a network
    field_modes: the same for fields on a line, one spatial mode at a time
    response: the nonlinear frequency response of a model
    backbone: frequency and damping over the amplitude
    truth: modes and frequency response of the equation behind a data set
    coverage: the range of the training inputs
    seen_inputs: recognise inputs of the training data
    conformal: prediction intervals
"""
