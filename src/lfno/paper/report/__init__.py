"""The report: claims, goals, tables, figures and pages, made from the records of runs.

Modules:
    document: all sections of the report, before they have a format
    page: the report as HTML
    task_pages: one HTML page for each data set
    markdown: the report as pages of the documentation
    readme: the results in the README
    mirror: the Fine Steering Mirror in README and docs
    split: transient and steady part against the equations, in the docs
    story: the first screen of the HTML report
    claims: the claims of the paper
    goals: the goals of this library
    verdicts: a claim, its measurements, and whether they support it
    comparisons: comparisons of errors, for claims and goals
    behaviour: measures of training, shocks, steady regime and hardening
    selection: which record belongs to which row
    paper: the published figures
    tables: tables without a format
    headline: the headline table
    errors: tables of test errors
    baselines: errors of the baselines
    studies: tables of the studies
    costs: the table of costs
    times: training times
    tried: experiments and their results
    flip: Lorenz ρ = 10, samples beside the sign flip
    gallery: all figures with captions
    figures: how each figure is drawn
"""
