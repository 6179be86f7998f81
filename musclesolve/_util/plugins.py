"""Plug-ins: costs, solvers and readers that other installed packages add by entry points.

# pyproject.toml of the other package
[project.entry-points."musclesolve.solvers"]
my_solver = "my_package.my_solver:MySolver"
"""

from collections.abc import Container
from importlib.metadata import entry_points
from typing import Any
from warnings import warn


def plugins(kind: str, taken: Container[str]) -> dict[str, Any]:
    """Return the objects of the entry points `musclesolve.{kind}` by name.

    An object whose name is already in use, or that cannot be imported, is skipped with a warning.
    """
    objects: dict[str, Any] = {}
    for point in entry_points(group=f"musclesolve.{kind}"):
        try:
            if point.name in taken or point.name in objects:
                raise ImportError("its name is taken")
            objects[point.name] = point.load()
        except Exception as reason:
            whose = point.dist.name if point.dist else point.value
            warn(f"{point.name!r} of {whose} is left out of musclesolve.{kind}: {reason}", stacklevel=2)
    return objects
