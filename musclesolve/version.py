"""Version of musclesolve, and of the packages that it uses."""

from importlib.metadata import PackageNotFoundError, version


def version_of(package: str) -> str:
    """The version of a package, "not installed" without it."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


__version__ = version_of("musclesolve")  # without one it runs from a copy of the sources
