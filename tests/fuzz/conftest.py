from __future__ import annotations

import pytest
from hypothesis import strategies as st


@pytest.fixture(autouse=True)
def quiet(tmp_path, monkeypatch):
    """Give every test its own cache and folder. A case (see `strategies`) finds the folder as `data.folder` of its argument."""
    monkeypatch.setenv("LFNO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(st.DataObject, "folder", tmp_path, raising=False)
