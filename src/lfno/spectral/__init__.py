"""The mathematics of the layers: pure functions on tensors, written like the formulas.

There are no torch modules and no caches here, and no code for a special device. `lfno.backends` has faster versions of some
of these functions.

Modules:
    axes: frequencies and kept modes of one axis
    fourier: Fourier transforms that keep the low modes, and the product with one channel matrix for each mode
    waves: Fourier transforms of `fourier` as matrix products
    bases: sine, cosine and Chebyshev bases for an axis that is not periodic
    poles: matrices of exponentials and resolvents along one axis
    pole_residue: the response of poles and residues in the frequency domain, in any number of dimensions
    hold: one pole as an exact recurrence, for inputs that are polynomials between samples
    recurrence: the response of poles and residues as a recurrence along time
    linear_hold: coefficients of a recurrence for real signals, with the linear hold and poles that all channels share
    tables: the matrices for a recurrence in chunks of samples
    chunks: a recurrence in chunks of samples, with the matrices of `tables`
    physics: poles as frequency, damping ratio and time constant
    reference: the formulas without optimisation, for tests
"""
