"""Data: read files, solve equations, and split the samples into training, validation and test.

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
    stretches: uninterrupted pieces of a record
    periods: find and average repeated periods, and estimate the noise
    gaps: mask the outputs after a gap in the inputs
    starts: find out whether a run starts at rest
    scaling: offset and scale of each channel
    variation: refuse signals that never change
"""
