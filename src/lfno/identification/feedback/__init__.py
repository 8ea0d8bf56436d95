"""Modes with feedback: a compact nonlinear model of few parameters.

    x′ = A x + B u + Γ φ(z),   z = E x,   y = C x + D u + offset

Symbols: u is the input, x is the state, and y is the output. The signals z are a few linear combinations of the states. The
terms φ are nonlinear functions of the signals. The docstring of `law` describes the matrices.

Words:
- law: the arrays of these equations. A linear law has no terms φ.
- structure: the terms φ, the number of modes, and the list of fitted arrays.
- decay: a mode with a real pole. Oscillation: a mode with a complex pole.
- stretch: an uninterrupted piece of a record (`lfno.data.stretches.Stretch`).
- window: a short stretch, or a piece of a long stretch. All windows form one batch and are simulated together.
- horizon: number of samples at the beginning of each window that a short fit uses.
- hold: interpolation of the input between samples.
- sub-step: a step of the integration. A sampling step has one or several sub-steps of equal length.
- dead time: the delay after which an input acts on the system.
- knee: a term φ that consists of two straight lines with a rounded corner between them (see `terms`).
- candidate: a law that is fitted to the training windows, with its errors on the validation windows.

Modules:
    model: `FeedbackModel` in the user's units
    dense: fit a model to stretches of any sampling rate
    fit: fit a model to stretches at their own sampling rate
    refit: fit the parameters of a model again to more data
    check: check the stretches before a fit
    search: search for the structure on validation data
    candidate: one fitted structure, and the choice between several structures
    families: families of nonlinearities
    sensor: linear modes with a curved sensor
    actuator: linear modes with curved actuators and dead times
    plant: fast linear fits of a plant with curved actuators and dead times
    plant_search: the search for poles, dead times and curves of a plant
    dead_time: delayed inputs
    cascade: filter, static nonlinearity and filter in series
    knees: laws with one more knee, for curved sensors and for cascades
    blocks: fast fits of cascades
    branches: the nonlinearities of a fast fit, and its law
    friction: a mass with dry friction, such as a positioning axis
    thin: reduce the sampling rate of records that are sampled very densely
    structure: which entries of the equations are free
    terms: basis functions of the nonlinearity
    law: the equations, and one sub-step of their solution
    internal: laws from physical matrices, and the state of a hysteresis
    hold: the input between samples
    initial: the linear model for the initialisation of a fit
    windows: stretches as one batch of windows
    observe: the initial state of a record, estimated from its first outputs
    problem: residuals and their derivatives
    steady: the steady response to a periodic input
    pieces: the steady response to a periodic input with a long period
    simulate: simulate all windows together
    sensitivity: derivatives of simulated states with respect to the parameters
    levenberg: the Levenberg–Marquardt method
    precision: covariance of the parameters, and physical units
    curve: the static characteristic of the nonlinearity
    linearised: modes in small motion, and modes as functions of the amplitude
"""

from lfno.identification.feedback.dense import fit_feedback
from lfno.identification.feedback.model import KEY, FeedbackModel

__all__ = ["KEY", "FeedbackModel", "fit_feedback"]
