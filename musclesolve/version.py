"""Version of musclesolve."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("musclesolve")
except PackageNotFoundError:  # run from a copy of the sources
    __version__ = "not installed"
