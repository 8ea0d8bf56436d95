"""Errors of a model, its modes and frequency response, and its range of validity.

Modules:
    metrics: errors of predictions
    baselines: mean, persistence, interpolation and linear models to compare with
    comparison: the ratio of the errors of two predictions, with an interval
    regimes: errors during the transient and in steady state
    splitting: errors of the transient part and of the steady part of a model
    repeats: errors of both parts on a measured record whose input repeats
    caveat: whether the transient part and the steady part of a model are physical
    ringing: the contribution of each pole to a response
    modes: small-signal modes of a network
    field_modes: small-signal modes of a network for fields on a line
    response: the nonlinear frequency response of a model
    backbone: frequency and damping over the amplitude
    truth: the equation behind a built-in data set: its band of inputs and its poles
    coverage: whether an input is in the range of the training inputs
    seen_inputs: whether an input was part of the training data
    conformal: prediction intervals
"""
