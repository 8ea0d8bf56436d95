"""The folders of the library ("rooms"): each lists its modules, and `spectral` has no caches and no code for one device."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "lfno"
ROOMS = sorted(str(path.parent.relative_to(SOURCE)) for path in SOURCE.rglob("__init__.py") if path.parent != SOURCE)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_lists_its_modules_with_one_line_each(room):
    folder = SOURCE / room
    told = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    listed = re.findall(r"^    (\w+): \S", told.partition("Modules:\n")[2], re.MULTILINE)
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    rooms = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert sorted(listed) == sorted(modules | rooms)


@pytest.mark.parametrize("path", sorted((SOURCE / "spectral").glob("*.py")), ids=lambda path: path.stem)
def test_the_mathematics_has_no_cache_no_device_and_no_private_part_of_torch(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    assert not names & {"cache", "lru_cache", "is_cuda", "cuda", "_C", "triton", "Module"}
    imported = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    assert not [name for name in imported if name.startswith("lfno") and not name.startswith(("lfno.spectral", "lfno.core"))]
    # no function writes to a dictionary of its module: such a dictionary would be a cache
    written = {node.value.id for node in ast.walk(tree) if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
               and isinstance(node.value, ast.Name)}  # fmt: skip
    constants = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets
                 if isinstance(target, ast.Name)}  # fmt: skip
    assert not written & constants
