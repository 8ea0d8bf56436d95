"""Modules for all rooms: grids, errors, tensor files, memory, progress.

Modules:
    checks: check arrays that come from the user
    cluster: run jobs on a Dask cluster and collect the files that they write
    environment: hardware, versions and commit of a measurement
    errors: `LfnoError`, and the options that an error message names
    grid: `Axis` and `Grid`: names, spacing, units and boundaries of the axes of a field
    memory: how much memory an array may take, and arrays on disk where that is exceeded
    progress: a progress bar on a terminal, lines of text elsewhere
    tensorfile: safetensors files with a description and a checksum, written atomically
    version: the version of the library
"""
