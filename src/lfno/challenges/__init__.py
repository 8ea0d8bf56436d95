"""Published identification benchmarks, run by their official protocols.

>>> from lfno import challenges
>>> "silverbox" in challenges.CHALLENGES
True

Modules:
    table: the benchmarks: files, samples, figures of merit, published results
    protocol: training and test records, and how figures of merit are computed
    layout: which array of a file holds which samples
    reading: read the files of a benchmark
    load: the records of a benchmark by name
    bouc_wen: training records of the Bouc–Wen benchmark
    run: run a benchmark
    methods: the methods that can be fitted
    linear: linear models
    rectified: absolute values of linear models, for sensors that are blind to the sign
    feedback: modes with feedback, whose initial state comes from the first outputs
    steady: LFNO for records in periodic steady state
    windows: LFNO for records that are not periodic
    networks: train the seeds of a network as one stack
    guard: answer by a safe model where a nonlinear one diverges
    fitted: what a fit takes and returns
"""

from lfno.challenges.load import Data, load
from lfno.challenges.run import Result, run
from lfno.challenges.table import CHALLENGES

__all__ = ["CHALLENGES", "Data", "Result", "load", "run"]
