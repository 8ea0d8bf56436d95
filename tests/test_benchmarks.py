"""The arguments of a program in `benchmarks/`. The measurements themselves are no tests."""

import runpy
from pathlib import Path

import pytest

SPLIT = Path(__file__).parents[1] / "benchmarks" / "split.py"


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        (["heat-rich"], {"heat-rich": "heat-rich"}),
        (["heat-rich=runs/heat", "lorenz-rho5-rich"], {"heat-rich": "runs/heat", "lorenz-rho5-rich": "lorenz-rho5-rich"}),
        (["heat-rich=a=b.safetensors"], {"heat-rich": "a=b.safetensors"}),
    ],
)
def test_the_default_model_of_a_data_set_is_the_shipped_model_of_this_name(words, pairs):
    assert runpy.run_path(str(SPLIT))["pairs_of"](words) == pairs


def test_without_names_all_data_sets_with_random_inputs_are_measured():
    found = runpy.run_path(str(SPLIT))
    assert found["pairs_of"]([]) == {name: name for name in found["RICH"]}
