"""Published identification benchmarks, run by their official protocols.

>>> from lfno import challenges
>>> "silverbox" in challenges.CHALLENGES
True
"""

from lfno.challenges.load import Data, load
from lfno.challenges.run import Result, run
from lfno.challenges.table import CHALLENGES

__all__ = ["CHALLENGES", "Data", "Result", "load", "run"]
