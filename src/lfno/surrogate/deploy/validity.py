"""The range of the training inputs in words, for the header of exported code."""

from __future__ import annotations

from collections.abc import Sequence

from lfno.core.grid import with_unit
from lfno.evaluation.coverage import QUANTILES, Coverage
from lfno.surrogate.deploy.program import Channel


def validity(coverage: Coverage | None, inputs: Sequence[Channel]) -> list[str]:
    """Return one sentence for every input: peak, rms and band of the training inputs.

    >>> import numpy as np
    >>> from lfno.core.grid import Grid
    >>> force = np.sin(np.arange(512) * 0.2)[None, None]
    >>> validity(Coverage.of(force, Grid.line(512, 0.1)), [("force", "N")])
    ['range of training of force [N]: peak up to 1, rms up to 0.707, 95 % of the energy below 0.332 Hz']
    """
    if coverage is None or len(coverage.peak) != len(inputs):
        return ["range of training: not stored with the model"]
    place, unit = QUANTILES.index(0.95), "Hz" if coverage.unit == "s" else f"1/{coverage.unit}" if coverage.unit else ""
    return [
        f"range of training of {with_unit(*channel)}: peak up to {coverage.peak[k]:.3g}, rms up to {coverage.rms[k]:.3g}, "
        f"95 % of the energy below {coverage.band[place][k][1]:.3g} {unit}".rstrip()
        for k, channel in enumerate(inputs)
    ]
