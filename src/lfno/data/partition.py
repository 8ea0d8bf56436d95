"""Which samples of a record train, validate and test a model: uninterrupted spans that never overlap."""

from __future__ import annotations

from lfno.core.errors import LfnoError, Option
from lfno.data.split import borders
from lfno.data.stretches import REST, UNKNOWN, Span


def in_time(size: int, window: int, test: tuple[int, int] | None = None, from_rest: bool = False) -> list[Span]:
    """Split one record of `size` samples in time.

    test: the samples kept for the test, by default the last fifth. The tenth of the record beside them, on the longer side,
        validates; all other samples train. A rest shorter than `window` is left out.
    from_rest: whether the record begins with the system at rest.
    Returns spans that are at least `window` long, except the test. Raises LfnoError if nothing is left to train.

    >>> [(span.part, span.start, span.stop) for span in in_time(1000, window=50)]
    [('train', 0, 700), ('validation', 700, 800), ('test', 800, 1000)]
    """
    start, stop = test or (borders(size)[1], size)
    chosen = max(size // 10, window)
    before, after = (0, start), (stop, size)
    if start >= size - stop:
        before, validation = (0, start - chosen), (start - chosen, start)
    else:
        validation, after = (stop, stop + chosen), (stop + chosen, size)
    trained = [part for part in (before, after) if part[1] - part[0] >= window]
    if not trained or validation[0] < 0 or validation[1] > size:
        raise LfnoError(
            f"a record of {size} samples with the test in samples {start} to {stop} leaves no training window of {window}; "
            "use a longer record or shorter windows: ",
            Option("window", "SAMPLES"),
        )
    found = [("train", part) for part in trained] + [("validation", validation), ("test", (start, stop))]
    return [Span(name, *part, _state(part[0], from_rest)) for name, part in found]


def with_test(size: int, test_size: int, window: int, from_rest: bool = False) -> list[Span]:
    """Use all of record 0 (`size` samples) for training and validation, and all of record 1 for the test."""
    border = size - max(size // 10, window)
    if border < window:
        raise LfnoError(
            f"a record of {size} samples leaves no training window of {window}; use shorter windows: ",
            Option("window", "SAMPLES"),
        )
    start = _state(0, from_rest)
    return [Span("train", 0, border, start), Span("validation", border, size), Span("test", 0, test_size, start, 1)]


def _state(start: int, from_rest: bool) -> str:
    return REST if from_rest and start == 0 else UNKNOWN
