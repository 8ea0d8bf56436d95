"""The mathematics: pure functions on tensors that read like the formulas.

This room contains no torch modules, files, caches or choices of a device. `lfno.backends` computes the same functions faster.

Modules:
    axes: frequencies and kept modes of one axis
    fourier: Fourier transforms that keep the low modes, and one channel matrix for each mode
    waves: the same transforms as matrix products
    bases: sine, cosine and Chebyshev bases for an axis that is not periodic
    poles: matrices of exponentials and resolvents along one axis
    pole_residue: the pole–residue transform in any number of dimensions (frequency form)
    hold: one pole as an exact recurrence, for inputs that are polynomials between samples
    recurrence: pole–residue layers as recurrences along time
    linear_hold: the coefficients of a recurrence for signals, the linear hold and shared poles
    tables: the matrices with which a recurrence runs in chunks
    chunks: run a recurrence in chunks with these matrices
    physics: poles as frequency, damping ratio and time constant
    reference: the dense formulas, for tests
"""
