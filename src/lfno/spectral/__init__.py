"""The mathematics of the layers: pure functions on tensors, written like the formulas.

There is no `nn.Module` here, no cache, and no code for one kind of device. `lfno.backends` has faster versions of some of
these functions.

Modules:
    axes: frequencies and kept modes of one axis
    fourier: Fourier transforms that keep the low modes, and the product with one channel matrix for each mode
    waves: Fourier transforms along one axis as matrix products
    bases: sine, cosine and Chebyshev bases for an axis that is not periodic
    poles: the matrices of a pole–residue layer along one axis: resolvent, analysis and synthesis
    pole_residue: the response of poles and residues in the frequency domain, in any number of dimensions
    hold: one pole as an exact recurrence, for inputs that are polynomials between samples
    recurrence: the response of poles and residues as a recurrence along time
    linear_hold: coefficients of a recurrence for real signals, with the linear hold and poles that all channels share
    tables: the matrices for a recurrence in chunks of samples
    chunks: a recurrence in chunks of samples, with the matrices of `tables`
    physics: poles as frequency, damping ratio and time constant
    reference: the formulas without optimisation, for tests
"""
