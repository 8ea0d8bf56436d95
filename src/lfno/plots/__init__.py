"""Figures and pages that command line, web page and report share.

Modules:
    style: colours and sizes of every figure
    answers: predictions, transient and steady part
    samples: samples of a data set
    modes: poles, modes and decompositions of a model
    mode_rows: modes as rows of a table
    bode: frequency responses
    response: nonlinear frequency responses, backbones, stabilisation diagrams
    characteristic: restoring force and hysteresis loop of a nonlinearity
    fit_figures: figures of a fitted model on its test data
    parts: input, output, transient and steady part of a fitted model
    fit_page: the page about a fitted model
    page: one self-contained HTML page about one model
"""
