"""The web page of `lfno app`, served on this machine alone.

Modules:
    server: the HTTP server on 127.0.0.1
    memory: return freed memory to the operating system
    handler: answer one HTTP request
    connection: a connection with a time limit
    api: the requests of the page, each a function from JSON to JSON
    values: check the values of a request
    json_values: arrays and numbers as JSON
    wording: options of the library in the terms of the page
    catalogue: systems and shipped models
    bench: one system with its models: reference solutions and predictions
    oscillator: the bench of an ordinary differential equation
    fieldbench: the bench of a field over space and time
    single: solve one trajectory in milliseconds
    inputs: the inputs that a user can choose or draw
    physics: transient and steady part, frequency response
    workspace: the folder of files and runs
    files: files of the user
    example: an example file
    jobs: the queue of runs
    worker: one run in its own process
    diary: the progress of a run, stored as files
    outcome: the results of a run, stored as files
    predictions: predict the outputs for a new file
    curves: reduce the number of points of a signal for a plot
    exports: model files and exports for download
"""
