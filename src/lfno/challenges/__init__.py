"""Published identification benchmarks, run by their official protocols.

>>> from lfno import challenges
>>> "silverbox" in challenges.CHALLENGES
True

Modules:
    table: the nine benchmarks: files, samples, figures of merit, published results
    protocol: training and test records, and the computation of the figures of merit
    layout: classes that describe which array of a file holds which samples
    reading: read the files of a benchmark
    load: load the records of a benchmark by its name
    bouc_wen: training records of the Bouc–Wen benchmark
    run: run a benchmark
    methods: the methods that fit a model
    linear: linear models
    band: linear models of long records whose signals occupy a small frequency band
    rectified: absolute value of a linear model, for sensors that do not measure the sign
    feedback: modes with feedback, with the initial state estimated from the first outputs
    steady: LFNO for records in periodic steady state
    windows: LFNO for records that are not periodic
    networks: train the networks of all seeds together
    guard: replace a diverging nonlinear model by a safe model
    fitted: settings and result of a fit
"""

from lfno.challenges.load import Data, load
from lfno.challenges.run import Result, run
from lfno.challenges.table import CHALLENGES

__all__ = ["CHALLENGES", "Data", "Result", "load", "run"]
