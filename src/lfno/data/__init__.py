"""Data: read files, solve equations, and split the samples into training, validation and test.

Words that the modules of this folder use:
    record — one long measurement of inputs and outputs
    run — one of several measurements with the same channels and time step; runs may have unequal lengths
    trajectory — a run in a data set in which all runs have one length
    realisation — one periodic input and the response to it
    window — a piece of a record; all windows have one length and are the samples of a data set
    warm-up — the first time steps of a window: the model receives them, but they are not scored
    memory — the time after which the past has no more influence on the outputs of a system
    stretch — an uninterrupted piece of a record, of any length
    at rest — every output is at its equilibrium, and the input was zero before

Modules:
    files: readers and writers of file formats
    signals: inputs and outputs found in the variables of a file
    dataset: `Dataset`, inputs and outputs on a grid
    storage: a `Dataset` as one HDF5 file
    make: make a data set of the registry
    plan: the recipe of a data set, and its solution in parts
    parallel: make many data sets in parallel processes
    check: compare samples with an independent solver
    cache: the directory that contains the made data sets
    gathering: read one file, or several files of one experiment
    describe: the variables of a file, and the options that read its signals
    prepare: turn files, records or arrays into samples with a split
    prepared: `Prepared`, the result of `prepare`
    split: the split of a data set into training, validation and test samples
    partition: split records into training, validation and test
    trajectories: split trajectories into training, validation and test
    realisations: split records with repeated periods into training, validation and test
    windows: cut a long record into windows
    window_length: choose the length of the windows
    system_memory: estimate the memory of a system from a record
    response_poles: the poles of the impulse response of one output
    stretches: uninterrupted pieces of a record
    periods: find and average repeated periods, and estimate the noise
    mismatch: decide whether the differences between periods are noise
    gaps: mask the outputs after a gap in the inputs
    starts: find out whether a run starts at rest
    scaling: offset and scale of each channel
    variation: refuse signals that never change
"""
