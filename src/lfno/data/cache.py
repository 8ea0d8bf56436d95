"""The directory of the made data sets: `$LFNO_CACHE`, or the cache directory of the platform."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Return `$LFNO_CACHE`, or the cache directory of the platform (`~/.cache/lfno` on Linux). The directory may not exist."""
    chosen = os.environ.get("LFNO_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    try:
        from platformdirs import user_cache_path
    except ImportError:
        # platformdirs is not installed: use the directory that the XDG standard gives for Linux
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lfno"
    return user_cache_path("lfno", appauthor=False)


def data_directory() -> Path:
    """Return the folder for complete data sets."""
    return cache_directory() / "data"


def partial_directory() -> Path:
    """Return the folder for finished parts of data sets. The parts are deleted when the data set is complete."""
    return cache_directory() / "partial"
