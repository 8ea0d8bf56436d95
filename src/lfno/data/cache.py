"""Where made data sets are kept: the platform's cache directory, or `LFNO_CACHE`."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """`$LFNO_CACHE`, else the platform's own place (`~/.cache/lfno` on Linux). It is not created by asking."""
    chosen = os.environ.get("LFNO_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    try:
        from platformdirs import user_cache_path
    except ImportError:
        # the convention of the free desktops, where the package that knows the others is not installed
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lfno"
    return user_cache_path("lfno", appauthor=False)


def data_directory() -> Path:
    return cache_directory() / "data"


def partial_directory() -> Path:
    """Finished parts of long data sets that were interrupted; emptied when the set is complete."""
    return cache_directory() / "partial"
