"""The command lines of the programs in `benchmarks/`. The measurements themselves are no tests."""

import runpy
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"
#: programs with options
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.py") if "ArgumentParser" in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_has_a_help_text(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(sys, "argv", [f"{name}.py", "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert ended.value.code == 0
    assert "usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "pairs"),
    [
        (["heat-rich"], {"heat-rich": "heat-rich"}),
        (["heat-rich=runs/heat", "lorenz-rho5-rich"], {"heat-rich": "runs/heat", "lorenz-rho5-rich": "lorenz-rho5-rich"}),
        (["heat-rich=a=b.safetensors"], {"heat-rich": "a=b.safetensors"}),
    ],
)
def test_split_takes_the_shipped_model_of_the_same_name_by_default(words, pairs):
    assert runpy.run_path(str(FOLDER / "split.py"))["pairs_of"](words) == pairs


def test_split_measures_all_its_data_sets_without_names():
    found = runpy.run_path(str(FOLDER / "split.py"))
    assert found["pairs_of"]([]) == {name: name for name in found["RICH"]}
