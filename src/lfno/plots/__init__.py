"""Figures and HTML pages, shared by the command line, the web page and the report.

Modules:
    style: colours and sizes of all figures
    answers: predictions of models beside the true response, with transient and steady part
    samples: samples of a data set
    modes: poles, modes and decompositions of a model
    mode_rows: modes as rows of a table
    bode: frequency responses
    response: nonlinear frequency responses, backbones, stabilisation diagrams
    characteristic: restoring force and hysteresis loop of a nonlinearity
    compared: the signals of the test data beside their predictions, with the times of the file
    model_words: explanations of the names of models and baselines
    fit_figures: figures of a fitted model on its test data
    parts: the first figure of the page about a fitted model: input, output, transient and steady part
    fit_tiles: the first screen of the page about a fitted model
    fit_tables: the tables of the page about a fitted model
    fit_page: the HTML page about a fitted model
    page: the parts of an HTML page, and how they become one file
"""
