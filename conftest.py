"""Set-up shared by the tests in tests/ and the examples in docstrings (src/)."""

import numpy as np
import pytest
import torch

import lfno


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Small tensors are faster on one thread, and results are reproducible bit by bit only for a fixed number of threads."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the search for a feedback model end by itself: under its usual time limit a busy machine finds another model."""
    monkeypatch.setattr("lfno.identification.feedback.fit.SECONDS", float("inf"))


@pytest.fixture(autouse=True)
def example_folder(request: pytest.FixtureRequest, doctest_namespace: dict[str, object]) -> None:
    """Run every docstring example in a folder of its own, with `lfno` and `np` imported."""
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace.update(lfno=lfno, np=np)
        patch = request.getfixturevalue("monkeypatch")
        folder = request.getfixturevalue("tmp_path")
        patch.chdir(folder)
        patch.setenv("LFNO_CACHE", str(folder / "cache"))
