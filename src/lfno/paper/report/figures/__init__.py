"""Functions that draw the figures of the report.

Modules:
    overview: the chart of the errors of all models on all data sets
    claims: the figure of a claim
    curves: losses over epochs, and errors over time, input amplitude and number of training samples
    examples: read the example of a record
    overlays: predictions of signals, with their errors and parts
    fields: predictions of fields, with their errors and parts
    poles: poles of a trained LFNO
    data: samples of the data sets
    variants: errors of the variants of a study
"""
