"""The reproduction of the paper. No other module of the library, except the command line, imports this package.

A run is the training of one model on one data set with one seed. Its result is a record: a small JSON file.

Modules:
    commands: `lfno reproduce` and `lfno report`
    presets: the hyper-parameters of the paper
    matrix: `Cell`, the settings of one run, and groups of runs that are trained together
    studies: the runs of each named study
    stacked: train a group of runs as one stack (one batched model)
    scoring: make the record of a trained run
    record: `RunRecord`, the record of one run
    linear_paths: linear models of nearly linear fields; an LFNO learns the residual of such a model
    cost: parameters, arithmetic operations, time and memory of a model
    report: tables, figures and pages made from the records
"""
