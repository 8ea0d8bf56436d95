"""JSON text has only finite numbers, and every strict reader accepts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lfno.core.json_text import jsonable, to_json, with_nan
from tests.core.strict import strictly_read

trees = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(trees)
def test_every_tree_becomes_valid_json_and_only_numbers_that_are_not_finite_change(tree: Any) -> None:
    read = strictly_read(to_json(tree))
    assert read == jsonable(tree)
    assert to_json(read) == to_json(tree)


def test_arrays_tensors_and_sets_become_lists_of_plain_numbers() -> None:
    tree = {"a": np.float32(np.inf), "b": torch.tensor([1.5, torch.nan]), 3: {np.int64(4)}, "c": (np.bool_(True), None)}
    assert strictly_read(to_json(tree)) == {"a": None, "b": [1.5, None], "3": [4], "c": [True, None]}


def test_null_in_a_tree_of_numbers_is_read_as_nan() -> None:
    found = with_nan(strictly_read(to_json({"l2": [0.5, np.inf]})))
    assert found["l2"][0] == 0.5
    assert np.isnan(found["l2"][1])


def test_other_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        to_json([object()])
