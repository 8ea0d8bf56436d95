"""`import lfno` is fast, because heavy packages are imported on first use. Public names are documented."""

import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lfno

HEAVY = ("torch", "scipy", "matplotlib", "pandas", "xarray", "h5py", "jinja2", "dask", "onnx", "tensorboard")


def modules_after(statement):
    """Return the packages that a new Python process has imported after a statement."""
    code = f"import sys\n{statement}\nprint(*sorted(name.split('.')[0] for name in sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("statement", ["import lfno", "import lfno; lfno.Grid.line(8, dt=0.1)", "import lfno.cli"])
def test_importing_the_package_imports_nothing_heavy(statement):
    assert not modules_after(statement) & set(HEAVY)


def test_models_need_torch_and_nothing_heavier():
    assert not modules_after("import lfno; lfno.LFNO") & (set(HEAVY) - {"torch"})


def test_every_public_name_exists():
    assert set(dir(lfno)) == set(lfno.__all__)
    for name in lfno.__all__:
        assert getattr(lfno, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = lfno.nonsense


def public_names():
    """Yield name and value of everything in the `__all__` of the packages for users."""
    for package in ("lfno", "lfno.surrogate", "lfno.models", "lfno.systems", "lfno.challenges"):
        module = importlib.import_module(package)
        yield from ((f"{package}.{name}", getattr(module, name)) for name in module.__all__ if name != "__version__")


def test_every_public_name_has_a_docstring():
    silent = []
    for name, value in public_names():
        if not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        told = inspect.cleandoc(value.__doc__ or "")
        if not told or told.startswith(value.__name__ + "("):  # a dataclass has an automatic docstring that begins like this
            silent.append(name)
        for member, inside in vars(value).items() if inspect.isclass(value) else ():
            spoken = inspect.getdoc(getattr(value, member))
            if not member.startswith("_") and (inspect.isfunction(inside) or isinstance(inside, property)) and not spoken:
                silent.append(f"{name}.{member}")
    assert not silent


def test_wrong_commands_do_not_show_a_traceback():
    run = subprocess.run([sys.executable, "-m", "lfno", "nonsense"], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert "Traceback" not in run.stderr


def test_the_first_lines_of_the_readme_run():
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    first = re.search(r"```python\n(.*?)```", readme, re.DOTALL).group(1)
    names: dict = {}
    exec(first, names)
    assert names["answer"].shape == names["force"].shape == (1024,)
    error = abs(names["answer"] - names["truth"]).max() / abs(names["truth"]).max()
    assert error < 1e-5
    assert abs(names["transient"] + names["steady"] - names["answer"]).max() < 1e-9
    assert names["mode"].damping_ratio == pytest.approx(0.25, rel=1e-4)


def test_links_of_the_documentation_lead_somewhere():
    root = Path(__file__).parent.parent
    for page in [root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} points to {target}"


def test_every_name_in_the_reference_exists():
    for page in (Path(__file__).parent.parent / "docs" / "reference").glob("*.md"):
        for name in re.findall(r"^::: (\S+)", page.read_text(encoding="utf-8"), re.MULTILINE):
            module, _, last = name.rpartition(".")
            try:
                importlib.import_module(name)
            except ModuleNotFoundError:
                assert hasattr(importlib.import_module(module), last), f"{page.name} names {name}"
