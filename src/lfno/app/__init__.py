"""The web page of `lfno app`. A server on this machine answers the page; no other machine can reach the server.

Modules:
    server: the HTTP server on 127.0.0.1
    memory: return freed memory to the operating system
    handler: answer one HTTP request
    connection: a connection with time limits
    api: `Desk`, which answers the questions of the page; a question is a function from JSON to JSON
    values: check the values of a request
    json_values: arrays and numbers as JSON
    wording: options of the library in the terms of the page
    catalogue: systems and shipped models
    bench: `Bench`, a system with its reference solutions and its models
    oscillator: the bench of an ordinary differential equation
    fieldbench: the bench of a field over space and time
    single: solve an ordinary differential equation for one input, in milliseconds
    inputs: the inputs that a user can choose or draw
    physics: transient and steady part, frequency response
    workspace: the folder of files and runs
    files: files of the user
    example: an example file
    jobs: the queue of runs
    worker: one run in its own process
    diary: state, messages and learning curve of a run, stored as files
    outcome: the results of a run, stored as files
    bode: measured and predicted frequency response
    predictions: predict the outputs for a new file
    curves: reduce the number of points of a signal for a plot
    exports: model files and exports for download
"""
