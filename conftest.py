"""Set-up shared by the tests in tests/ and the examples in docstrings (src/)."""

import numpy as np
import pytest
import torch

import lfno


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """Use one thread. Small tensors are then faster, and results do not depend on the number of cores."""
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove the time limit of the search for a feedback model, because a busy machine would find another model."""
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
