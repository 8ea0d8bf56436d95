"""`make audit`, which continuous integration runs first, finds what is not as locked."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

CI = Path(__file__).parents[1] / ".ci"
spec = importlib.util.spec_from_file_location("audit", CI / "audit.py")
assert spec is not None
assert spec.loader is not None
audit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit)

LOCKED = "thing==1.2 --hash=sha256:00\n"


@pytest.fixture
def thing(tmp_path: Path) -> dict[str, PathDistribution]:
    """An installed distribution of one file."""
    info = tmp_path / "thing-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: thing\nVersion: 1.2\n")
    (tmp_path / "thing.py").write_bytes(b"good")
    # sha256 of b"good", as wheels write it
    hashed = "thing.py,sha256=dw5gdiTWiSZcpsRIhNCAfZsFTSPEc8EGxyvp3gi3N2w,4"
    (info / "RECORD").write_text(f"{hashed}\nthing-1.2.dist-info/RECORD,,\n")
    return {"thing": PathDistribution(info)}


def test_what_is_as_locked_passes(thing):
    assert audit.differences(thing, LOCKED) == []


def test_what_is_not_as_locked_is_told(thing, tmp_path):
    assert "1.2 is installed, 1.3 is locked" in audit.differences(thing, LOCKED.replace("1.2", "1.3"))[0]
    assert "nothing is locked" in audit.differences(thing, "")[0]
    assert "without a hash" in audit.differences(thing, "thing==1.2\n")[0]
    for content in (b"bad!", b""):
        (tmp_path / "thing.py").write_bytes(content)
        assert "thing.py was changed" in audit.differences(thing, LOCKED)[0]
    (tmp_path / "thing.py").unlink()
    assert "thing.py was changed" in audit.differences(thing, LOCKED)[0]


def test_continuous_integration_asks_for_it():
    assert "make audit" in (CI / "run").read_text()
