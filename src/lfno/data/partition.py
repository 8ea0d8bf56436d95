"""Split records into training, validation and test. Each part consists of uninterrupted spans, and spans never overlap."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from lfno.core.errors import LfnoError, Option
from lfno.data.split import FOLDS, STANDARD_SEED, borders, permutation
from lfno.data.stretches import REST, UNKNOWN, Span

TEST = 0.2  # share of the samples of all runs for the test
VALIDATION = 0.1  # share of the samples of all runs for validation
ENOUGH = 0.5  # share: if fewer of the samples of the validation span are scored, the span is moved


def in_time(
    size: int, window: int, test: tuple[int, int] | None = None, from_rest: bool = False, scored: np.ndarray | None = None,
    warmup: int = 0,
) -> list[Span]:  # fmt: skip
    """Split one record in time and return the spans.

    size: length of the record in samples.
    window: length of a window in samples.
    test: (start, stop), the range of samples for the test; by default the last fifth of the record.
    from_rest: whether the record begins with the system at rest.
    scored: (size,) True at samples with a scored output; None if all outputs are scored.
    warmup: number of samples at the beginning of a window that are not scored.

    The validation span is a tenth of the record, but at least one window. It lies next to the test span, on the side with more
    samples. If less than half of its samples are scored there, it lies where most samples are scored. All other samples are for
    training. Training spans shorter than `window` are left out.
    Raises LfnoError if too few samples are left for validation, or for a training window.

    >>> [(span.part, span.start, span.stop) for span in in_time(1000, window=50)]
    [('train', 0, 700), ('validation', 700, 800), ('test', 800, 1000)]
    """
    start, stop = test or (borders(size)[1], size)
    chosen = max(size // 10, window)
    before, after = (0, start), (stop, size)
    begin = start - chosen if start >= size - stop else stop
    if scored is not None and 0 <= begin <= size - chosen and scored[begin + warmup : begin + chosen].mean() < ENOUGH:
        step = max(chosen // 4, 1)
        places = [*range(start - chosen, -1, -step), *range(stop, size - chosen + 1, step)]
        begin = max(places, key=lambda place: int(scored[place + warmup : place + chosen].sum()))
    validation = (begin, begin + chosen)
    pieces = [(low, min(high, begin)) for low, high in (before, after)]
    pieces += [(max(low, begin + chosen), high) for low, high in (before, after)]
    trained = sorted(part for part in pieces if part[1] - part[0] >= window)
    if not trained or validation[0] < 0 or validation[1] > size:
        raise LfnoError(
            f"a record of {size} samples with the test in samples {start} to {stop} leaves too few samples for training "
            f"windows of {window}; use a longer record or shorter windows: ",
            Option("window", "SAMPLES"),
        )
    found = [("train", part) for part in trained] + [("validation", validation), ("test", (start, stop))]
    return [Span(name, *part, _state(part[0], from_rest)) for name, part in found]


def _state(start: int, from_rest: bool) -> str:
    """Return the state of the system at the beginning of a span."""
    return REST if from_rest and start == 0 else UNKNOWN


def whole_runs(sizes: Sequence[int], test: Collection[int] | None = None) -> list[str]:
    """Return the part of each run: "train", "validation" or "test".

    sizes: length of each run in samples, at least two runs.
    test: indices of the runs for the test; by default runs with about a fifth of all samples.

    Runs with about a tenth of all samples are for validation. The longest run outside the test is always for training. If only
    one run is left beside the test, no run is for validation; `of_runs` then splits this run in time. With five runs or more,
    the choice is random but the same on every machine. With fewer runs, the last runs are chosen first.
    Raises LfnoError if no run is left for training.

    >>> whole_runs([300, 100, 100])
    ['train', 'validation', 'test']
    """
    count, total = len(sizes), sum(sizes)
    order = np.arange(count)[::-1] if count < FOLDS else permutation(count, STANDARD_SEED)
    free = [k for k in order.tolist() if k != int(np.argmax(sizes))]
    tested = set(_until(sizes, free, TEST * total, len(free) - 1)) if test is None else set(test)
    rest = [k for k in range(count) if k not in tested]
    if not rest:
        raise LfnoError(f"all {count} runs are for the test; at least one run must be left for training")
    longest = max(rest, key=lambda k: sizes[k])
    chosen = set(_until(sizes, [k for k in order.tolist() if k in rest and k != longest], VALIDATION * total, len(rest) - 1))
    return ["test" if k in tested else "validation" if k in chosen else "train" for k in range(count)]


def _until(sizes: Sequence[int], order: Sequence[int], wanted: float, most: int) -> list[int]:
    """Return the first runs of `order`: as many runs as have about `wanted` samples together.

    sizes: length of each run in samples.
    order: indices of runs.
    most: largest number of runs; 0 counts as 1, so that the result has at least one run unless `order` is empty.
    """
    found: list[int] = []
    for k in order[: max(most, 1)]:
        if found and sum(sizes[j] for j in found) + sizes[k] / 2 > wanted:
            break
        found.append(k)
    return found


def of_runs(sizes: Sequence[int], states: Sequence[str], parts: Sequence[str], window: int) -> list[Span]:
    """Return one span for each run. If no run is for validation, the end of the training run becomes a second span.

    sizes: length of each run in samples.
    states: state at the beginning of each run, "rest" or "unknown".
    parts: part of each run, from `whole_runs`.
    window: length of a window in samples.
    The second span, for validation, has a tenth of the samples of the training run, but at least one window.
    Raises LfnoError if the training run must be split and is shorter than two windows.
    """
    spans = [Span(part, 0, size, state, k) for k, (part, size, state) in enumerate(zip(parts, sizes, states, strict=True))]
    if "validation" in parts:
        return spans
    k = parts.index("train")
    border = sizes[k] - max(sizes[k] // 10, window)
    if border < window:
        raise _too_short(sizes[k], window)
    spans[k : k + 1] = [Span("train", 0, border, states[k], k), Span("validation", border, sizes[k], UNKNOWN, k)]
    return spans


def _too_short(size: int, window: int) -> LfnoError:
    said = f"a record of {size} samples leaves too few samples for training windows of {window}; use shorter windows: "
    return LfnoError(said, Option("window", "SAMPLES"))
