"""The Bode plot of `lfno poles --data`: frequency responses of the data, of the linear baseline and of the model."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lfno.cli.reading import Reading
from lfno.core.errors import LfnoError

if TYPE_CHECKING:
    from lfno.surrogate import Surrogate

#: with at least this many trajectories, a segment of the spectra is a whole trajectory. Long segments resolve frequencies best
MANY = 16
FLOOR = 1e-3  # smallest input power relative to its peak; at frequencies with less power, leakage hides the response


def bode(surrogate: Surrogate, file: Path, reading: Reading, folder: Path) -> tuple[Path, list[str]]:
    """Draw the frequency responses of the data, of the linear baseline and of `surrogate`.

    The responses of data and model are measured with the inputs in `file`. The linear baseline is fitted to the data. Returns
    the path of the figure, and notes on the data. Raises LfnoError if the file has no measured outputs, or holds fields.
    """
    import numpy as np

    from lfno.data.signals.record import Record
    from lfno.data.variation import check_variation
    from lfno.identification.frequency import measure_response
    from lfno.identification.linear import fit_record, fit_trajectories
    from lfno.plots.bode import pair_label
    from lfno.plots.modes import MOST_CHANNELS, bode_figure, save

    data, known = surrogate.read(file, **reading)
    if not known or data.grid.ndim > 1:
        raise LfnoError(f"{file.name}: a Bode plot needs signals over time with their measured outputs in the file")
    more = check_variation(data)
    one = isinstance(data, Record)
    mean = surrogate.ask(data).values
    inputs, outputs, answers = (values[None] if one else values for values in (data.inputs, data.outputs, mean))
    warm = surrogate.signals.warmup if one else 0
    step = data.grid.steps[0]
    fit = fit_record if one else fit_trajectories
    linear = fit(data.inputs, data.outputs, data.grid, data.mask)
    segment = inputs.shape[-1] if len(inputs) >= MANY else None
    measured = measure_response(inputs[..., warm:], outputs[..., warm:], step, segment, floor=FLOOR)
    network = measure_response(inputs[..., warm:], answers[..., warm:], step, segment, floor=FLOOR)
    responses = {
        "data": measured.response,
        "linear baseline": linear.frequency_response(measured.frequencies),
        "this model": network.response,
    }
    pairs = {(k, n): pair_label(out, into) for k, out in enumerate(data.output_channels)
             for n, into in enumerate(data.input_channels) if np.isfinite(measured.response[k, n]).any()}  # fmt: skip
    draw = partial(bode_figure, measured.frequencies, responses, measured.coherence, pairs, data.grid.axes[-1].unit)
    more += [f"the Bode plot shows {MOST_CHANNELS} of {len(pairs)} pairs"] if len(pairs) > MOST_CHANNELS else []
    return save(folder / "bode.png", draw), [*data.provenance.get("notes", []), *more]
