"""Prepare records with repeated periods for training.

A realisation is one periodic input and the response to it. The periods of a realisation are averaged, and this average belongs
to one part of the split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.core.short import Short
from lfno.data.dataset import INPUT_GAPS, Dataset
from lfno.data.gaps import after_gaps
from lfno.data.periods import Periods, average, find_period
from lfno.data.signals.record import Record
from lfno.data.signals.runs import extended
from lfno.data.split import Split, borders
from lfno.data.stretches import PARTS, PERIODIC, REST, SAMPLE_START, UNKNOWN, Span
from lfno.data.window_length import LEAST

AUTO = "auto"  # value of the option `periodic`: take the period that the file states, or search for one
NO = "no"  # value of the option `periodic`: treat the inputs as not periodic
LONGEST_WHOLE = 16384  # time steps: a period up to this length is one sample; longer periods are cut into windows
FEWEST_WINDOWS = 20  # windows of the shortest length: a single period is split in time only if this many fit into it


def period_of(records: Sequence[Record], periodic: str | float, told: int | None = None) -> int | None:
    """Return the period of the inputs in samples; None if there is none, or if the records have different periods.

    periodic: "auto" to search for the period, "no" to return None, or the period in the unit of time.
    told: the period in samples if the file states it; then "auto" takes this period without a search.
    Raises LfnoError if `periodic` is another word, if the period is shorter than two samples, or if two periods do not fit into
    the shortest record.
    """
    axis, shortest = records[0].grid.axes[-1], min(map(len, records))
    if periodic == NO:
        return None
    if periodic == AUTO:
        found = {told} if told else {find_period(record.inputs, record.provenance.get(INPUT_GAPS, [])) for record in records}
        return found.pop() if len(found) == 1 else None
    try:
        period = round(float(periodic) / axis.step)
    except (ValueError, OverflowError):
        raise LfnoError(Option("periodic", str(periodic)), f" is not a period in {axis.unit}, {AUTO} or {NO}") from None
    if not 2 <= period <= shortest // 2:
        raise LfnoError(
            Option("periodic", str(periodic)),
            f" {axis.unit} is {period} samples; at least two periods must fit into the shortest record of {shortest} samples",
        )
    return period


@dataclass(frozen=True, repr=False)
class Realisations(Short):
    """One averaged period for each realisation, and the transient before its settled periods if the system started at rest.

    A transient is here the part of a record before its first settled period; see `lfno.data.periods`.

    records: first the averaged period of each realisation, then the transients.
    whose: for each record, the index of its realisation.
    noise: (outputs,) RMS of the measurement noise; None if the noise is not known.
    notes: sentences about the averaging, for the user.
    """

    records: tuple[Record, ...]
    whose: tuple[int, ...]
    noise: np.ndarray | None
    notes: tuple[str, ...]

    def spans(self, parts: Sequence[str], window: int, warmup: int) -> tuple[list[Record], list[Span]]:
        """Return (records to cut windows from, their spans).

        parts: the part of each realisation: "train", "validation" or "test".
        window, warmup: length of a window and of its warm-up, in samples.

        Each period is preceded by its own last samples, which are the warm-up of its first window. If no realisation is for
        validation, the last tenth of each training period, but at least one window, is for validation. The transient of a
        training realisation is then cut to the length of the training span, because it has the same input as the period and
        must not contain the input of the validation span. Transients shorter than a window are padded.
        Raises LfnoError if a training span is shorter than a window.
        """
        records: list[Record] = []
        spans: list[Span] = []
        period = len(self.records[0])
        lead, held = max(warmup, window - period), 0 if "validation" in parts else max(period // 10, window)
        for k, (record, own) in enumerate(zip(self.records, self.whose, strict=True)):
            if k >= len(parts):
                whole = period - held if parts[own] == "train" and held else len(record)
                records.append(extended(record.part(0, whole), window))
                spans.append(Span(parts[own], 0, len(records[-1]), REST, k))
                continue
            records.append(with_lead(record, lead))
            stop = lead + period
            if parts[k] == "train" and held:
                border = stop - held
                if border - lead < window:
                    raise LfnoError(
                        f"a period of {period} samples leaves too few samples for training windows of {window}; "
                        "use shorter windows: ",
                        Option("window", "SAMPLES"),
                    )
                spans += [Span("train", lead, border, UNKNOWN, k), Span("validation", border, stop, UNKNOWN, k)]
            else:
                spans.append(Span(parts[k], lead, stop, PERIODIC, k))
        return records, spans

    def in_phases(self) -> Realisations:
        """Return a single realisation as three records of the same period, for training, validation and test.

        The period is split in time into three phases, one for each record. The records have the whole input. The outputs
        outside the phase of a record are masked, and replaced by the mean of the training outputs, so that no part of the
        split contains outputs of another part.
        """
        period = self.records[0]
        edges = (0, *borders(len(period)), len(period))
        known = np.ones(period.outputs.shape, dtype=bool) if period.mask is None else period.mask
        trained = np.where(known, period.outputs, np.nan)[..., : edges[1]]
        mean = np.nan_to_num(np.nanmean(trained, axis=-1, keepdims=True))
        phases = []
        for start, stop in pairwise(edges):
            mask = np.zeros_like(known)
            mask[..., start:stop] = known[..., start:stop]
            phases.append(replace(period, outputs=np.where(mask, period.outputs, mean), mask=mask))
        return replace(self, records=(*phases,), whose=(0, 1, 2))

    def answered_whole(self, parts: Sequence[str]) -> bool:
        """Return whether whole periods can be the samples of the data set.

        For this, every part of the split must have a realisation, a period must have at most LONGEST_WHOLE time steps, and the
        grid must have no axis of space.
        """
        return {*parts} == {*PARTS} and len(self.records[0]) <= LONGEST_WHOLE and self.records[0].grid.ndim == 1

    def whole(self, parts: Sequence[str]) -> tuple[list[Record], list[Span], Dataset, Split]:
        """Return (records, spans, data set, split). Each sample of the data set is a whole period.

        parts: the part of each realisation.

        The records and spans contain the averaged periods and also the transients; the data set contains the periods only. The
        outputs of a sample are one period of the steady state: the response to the input repeated for ever.
        """
        records = [*self.records]
        spans = [
            Span(parts[own], 0, len(record), PERIODIC if k < len(parts) else REST, k)
            for k, (record, own) in enumerate(zip(records, self.whose, strict=True))
        ]
        periods, first = records[: len(parts)], records[0]
        masks = None
        if any(record.mask is not None for record in periods):
            masks = np.stack([np.ones(one.outputs.shape, bool) if one.mask is None else one.mask for one in periods])
        dataset = Dataset(
            np.stack([record.inputs for record in periods]),
            np.stack([record.outputs for record in periods]),
            first.grid.change(first.grid.axes[-1].name, origin=0.0),
            {"record": np.arange(len(parts))},
            first.input_channels,
            first.output_channels,
            {**first.provenance, SAMPLE_START: PERIODIC},
            masks,
        )
        return records, spans, dataset, Split(*(np.flatnonzero(np.array(parts) == part) for part in PARTS))


def realisations(records: Sequence[Record], states: Sequence[str], period: int) -> Realisations | None:
    """Average the periods of each record and return the realisations; None if the outputs of a record do not repeat.

    states: the state at the beginning of each record, "rest" or "unknown".
    period: the period in samples.
    """
    found: list[Periods] = []
    for record, state in zip(records, states, strict=True):
        one = average(after_gaps(record, period), period, state == REST)
        if one is None:
            return None
        found.append(one)
    begins = [
        (k, record.part(0, one.before * period))
        for k, (record, state, one) in enumerate(zip(records, states, found, strict=True))
        if state == REST and one.before
    ]
    noises = [one.noise for one in found if one.noise is not None]
    noise = np.sqrt(np.mean(np.square(noises), axis=0)) if noises else None
    axis = records[0].grid.axes[-1]
    counts = sorted({one.count for one in found})
    times = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    what = "realisation" if len(records) == 1 else "realisations"
    notes = [
        f"the input repeats every {period} samples ({period * axis.step:.4g} {axis.unit}): {times} steady periods of "
        f"{len(records)} {what} are averaged (the option “periodic” can turn this off)"
    ]
    if noise is not None:
        pairs = zip(records[0].output_channels, noise, strict=True)
        words = ", ".join(f"{channel.name} {value:.3g} {channel.unit}".rstrip() for channel, value in pairs)
        notes.append(f"noise floor, the RMS of the noise, estimated from the differences between the periods: {words}")
    return Realisations(
        (*(one.mean for one in found), *(record for _, record in begins)),
        (*range(len(found)), *(k for k, _ in begins)),
        noise,
        tuple(notes),
    )


def with_lead(record: Record, lead: int) -> Record:
    """Return a record of one period with `lead` more samples at its beginning, as if the period had been repeated before."""
    times = -(-lead // len(record))

    def longer(values: np.ndarray) -> np.ndarray:
        tiled = np.tile(values, (*[1] * (values.ndim - 1), times + 1))
        return tiled[..., times * len(record) - lead :]

    axis = record.grid.axes[-1]
    grid = record.grid.change(axis.name, size=len(record) + lead, origin=axis.origin - lead * axis.step)
    mask = None if record.mask is None else longer(record.mask)
    return replace(record, inputs=longer(record.inputs), outputs=longer(record.outputs), grid=grid, mask=mask)


def too_short(period: int) -> bool:
    """Return whether a single period is too short to be split in time. period: its length in samples."""
    return period < FEWEST_WINDOWS * LEAST
