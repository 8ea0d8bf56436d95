"""Data: from files and equations to samples with a split.

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
    gathering: read one file or many into one form
    describe: the content of a file, and the options that read it
    prepare: samples with a split from files, records or arrays
    prepared: `Prepared`, the result of `prepare`
    split: the split of a data set into training, validation and test samples
    partition: the split of a record
    trajectories: the split of trajectories
    realisations: the split of records with repeated periods
    windows: a long record as windows
    window_length: the length of these windows
    stretches: uninterrupted pieces of a record
    periods: find and average repeated periods, and estimate the noise
    gaps: mask the outputs after a gap in the inputs
    starts: whether a run starts at rest
    scaling: offset and scale of each channel
    variation: refuse signals that never change
"""
