"""The web page of `lfno app`, served on this machine alone.

Modules:
    server: the HTTP server on 127.0.0.1
    memory: freed memory returns to the system
    handler: one HTTP request
    connection: a connection with a time limit
    api: the questions of the page, from JSON to JSON
    values: check the values of a question
    json_values: arrays and numbers as JSON
    wording: options of the library in the terms of the page
    catalogue: systems and shipped models
    bench: one system with its models: solve and predict
    oscillator: a bench with an ordinary differential equation
    fieldbench: a bench with a field over space and time
    single: solve one trajectory in milliseconds
    inputs: the inputs that a user can choose or draw
    physics: transient and steady part, frequency response
    workspace: the folder of files and runs
    files: files of the user
    example: an example file
    jobs: the queue of runs
    worker: one run in its own process
    diary: progress of a run as files
    outcome: results of a run as files
    predictions: predictions for a new file
    curves: signals thinned for a plot
    exports: model files and exports to save
"""
