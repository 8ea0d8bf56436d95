"""The version of the library. `pyproject.toml` reads the version from this file."""

__version__ = "0.1.0"
