"""Figures of the report.

Modules:
    overview: errors of every model on every data set
    claims: one figure for each claim
    curves: losses and errors over epochs, time and training size
    examples: the examples inside records
    overlays: predictions of signals
    fields: predictions of fields
    poles: poles of a trained LFNO
    data: samples of the data sets
    variants: variants of one model side by side
"""
