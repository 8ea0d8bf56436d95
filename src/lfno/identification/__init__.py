"""Models that are fitted without a training loop: linear, modal, modes with feedback, and equations of fields.

Modules:
    feedback: modes with feedback, a compact nonlinear model
    linear: the best linear time-invariant model of signals
    modal: `ModalModel`, a linear model with poles, residues and mode shapes
    identify: fit poles and residues to responses
    search: choose the number of poles by the error on held-out data
    candidates: a table of candidate poles, and how much each of them explains
    projection: variable projection, which solves for the residues and searches for the poles only
    realisation: the eigensystem realisation algorithm
    fir: finite impulse responses by ridge regression
    response: the exact response of a pole to a sampled input
    field: modal analysis of fields
    field_law: the partial differential equation of a field on a line
    frequency: the frequency response of measured data, with coherence
    periodic: the frequency response of records in periodic steady state
    mode: `Mode`: frequency, damping and time constant with intervals
    modes: modes with intervals, from forced responses, free decays, or a function
    probe: the small-signal response of any model
    pulse: modes from pulses and free decays
    stabilisation: the stabilisation diagram
    uncertainty: covariance of poles, and intervals of frequency and damping
    pairs: check the arrays of inputs and outputs before a fit
    split: the split of a response into a transient and a steady part
    stacking: put stretches of unequal length into arrays of one shape (stretch: an uninterrupted piece of a record)
"""
