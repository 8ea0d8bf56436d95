"""Training: the loop, losses, schedules, checkpoints, and stacks of runs. A stack is a set of runs that are trained together.

Modules:
    networks: train the networks of a fit, one network or an ensemble
    run: one run with checkpoints and a log, which can be stopped and resumed
    loop: `Trainer`, the training loop for a stack of runs
    task: `Task`, the model and the samples of one run
    stack: many networks of one shape as one
    adam: the optimiser
    losses: losses by name
    frames: training samples of a network that predicts each frame from the frame before
    labels: training samples with their labels, and the loss on them
    config: `TrainingConfig`, the options of training
    presets: the default hyper-parameters
    options: options of the command line as Python values
    sizing: the size of a network from the data
    pilot: short trial runs that choose initialisation and weight decay
    pace: epochs that fit into a time budget
    estimate: memory, time and disk of a run before it begins
    checkpoint: the state of a trainer as a file
    device: which device computes
    graph: replay a training step as a CUDA graph
    parallel: data parallelism under torchrun
    live: show a running training on the terminal
    tensorboard: the curves of a run for TensorBoard
"""
