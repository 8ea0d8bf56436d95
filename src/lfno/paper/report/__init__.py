"""The report: claims, goals, tables, figures and pages, made from the records of runs.

A record is the JSON file of one training run; see `lfno.paper.record`. Rich inputs (data sets NAME-rich) are random inputs.
Out-of-family inputs (NAME-out) are of kinds that no training set has.

Modules:
    document: the sections of the report, for HTML and Markdown
    page: the report as HTML
    task_pages: one HTML page for each data set
    markdown: the report as pages of the documentation
    readme: the table and the chart of errors in the README
    mirror: the table of the Fine Steering Mirror benchmark in README and documentation
    split: the table with the errors of transient and steady parts in the documentation
    story: the first screen of the HTML report
    claims: the claims of the paper
    goals: the goals of this library
    verdicts: `Claim`, its findings, and the verdict that follows from the findings
    comparisons: comparisons of errors, for claims and goals
    behaviour: measures for claims about training curves, shocks, variance and harder systems
    selection: select the records of a row of a table
    paper: the published numbers
    tables: `Table`, for HTML and Markdown
    headline: the table with the most important errors
    errors: tables of test errors
    baselines: errors of the baselines
    studies: tables of the studies
    costs: the table of costs
    times: the table of training times
    tried: experiments that led to the default preset
    flip: Lorenz ρ = 10, errors of the samples near the amplitude where the final x changes its sign
    gallery: all figures with their captions
    figures: functions that draw the figures
"""
