"""`set_options` passes every option to the C library, and says whether the library accepts it."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from lfno.core.allocator import M_ARENA_MAX, M_MMAP_MAX, set_options


class Library:
    """A C library that accepts the option M_ARENA_MAX only."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def mallopt(self, option: int, value: int) -> int:
        self.told.append((option, value))
        return int(option == M_ARENA_MAX)


def test_the_answer_is_false_if_the_library_refuses_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    library = Library()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    assert set_options({M_ARENA_MAX: 2})
    assert not set_options({M_ARENA_MAX: 2, M_MMAP_MAX: 0})
    assert library.told == [(M_ARENA_MAX, 2), (M_ARENA_MAX, 2), (M_MMAP_MAX, 0)]


@pytest.mark.parametrize("error", [AttributeError, OSError, TypeError])
def test_the_answer_is_false_for_another_c_library(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: Any) -> Any:
        raise error

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert not set_options({M_ARENA_MAX: 2})
