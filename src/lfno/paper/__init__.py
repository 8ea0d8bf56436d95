"""The reproduction of the paper. The library never imports this room.

Modules:
    commands: `lfno reproduce` and `lfno report`
    presets: the hyper-parameters of the paper
    matrix: the matrix of runs
    studies: the runs of each named study
    stacked: train runs of one shape as one stack
    scoring: from a trained run to its record
    record: `RunRecord`, the figures of one run as JSON
    linear_paths: linear models that LFNO corrects on nearly linear fields
    cost: parameters, arithmetic, time and memory of a model
    report: tables, figures and pages from the records
"""
