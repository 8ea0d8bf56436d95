"""Modules that all other folders of the library use: grids, errors, tensor files, memory, progress.

Modules:
    allocator: options of the memory allocation of the GNU C library
    checks: check arrays that come from the user
    cluster: run jobs on a Dask cluster and collect the files that they write
    environment: hardware, versions and git commit, stored with each measurement
    errors: `LfnoError`, and the options that an error message names
    grid: `Axis` and `Grid`: names, spacing, units and boundaries of the axes of a field
    json_text: write JSON, with null for numbers that are not finite
    memory: limits on the memory of an array; larger arrays are stored in files on disk
    progress: a progress bar on a terminal, lines of text elsewhere
    short: a `repr` of one short line for dataclasses with large fields
    tensorfile: safetensors files with a description and a checksum
    version: the version of the library
"""
