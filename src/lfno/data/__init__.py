"""Data: from files and equations to samples with a split.

Modules:
    files: readers and writers of file formats
    signals: inputs and outputs found in the variables of a file
    dataset: `Dataset`, inputs and outputs on a grid
    storage: a `Dataset` as one HDF5 file
    make: make a data set of the registry
    plan: what a data set will be, and how it is solved in parts
    parallel: make many data sets in parallel processes
    check: compare samples with an independent solver
    cache: the directory in which data sets are kept
    gathering: read one file or many into one form
    describe: what a file contains and how it can be read
    prepare: samples with a split from files, records or arrays
    prepared: `Prepared`, the result of `prepare`
    split: the split of a data set into training, validation and test samples
    partition: the split of a record
    trajectories: the split of trajectories
    realisations: the split of records with repeated periods
    windows: a long record as windows
    window_length: how long these windows must be
    stretches: uninterrupted pieces of a record
    periods: find and average repeated periods, and estimate the noise
    gaps: outputs that do not count after a gap in the inputs
    starts: whether a run starts at rest
    scaling: offset and scale of each channel
    variation: refuse signals that never change
"""
