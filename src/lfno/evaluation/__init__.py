"""Errors of a model, its modes and frequency response, and its range of validity.

Modules:
    metrics: errors of predictions
    comparison: whether one model is better than another, from an interval of the ratio of their errors
    baselines: mean, persistence, interpolation and linear models to compare with
    regimes: error over time, transient and steady
    splitting: errors of a split into transient and steady part
    repeats: the same for a measured record whose input repeats
    caveat: whether the split of a model is physical
    ringing: the contribution of each pole to a response
    modes: small-signal modes of a network
    field_modes: the same for fields on a line, one spatial mode at a time
    response: the nonlinear frequency response of a model
    backbone: frequency and damping over the amplitude
    truth: modes and frequency response of the equation behind a data set
    coverage: the range of the training inputs
    seen_inputs: recognise inputs of the training data
    conformal: prediction intervals
"""
