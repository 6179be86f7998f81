"""Model definitions: reading one from its file, and laying its points out in the standing pose.

The file gives the standing pose, in which every angle is zero and every local frame is parallel to the global one.
What a model consists of is in `topology_data`, what is asked of it in `topology_checks`.
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np

from muscle_db.regular_file import SETTINGS, read_regular
from musclesolve._util.checks import check_array
from musclesolve.dynamics.model.topology_checks import check_drivers, check_topology
from musclesolve.dynamics.model.topology_data import (
    BASE_DOFS,
    BODY_KINDS,
    NO_DIRECTION,
    Body,
    Direction,
    Dof,
    Point,
    Topology,
)
from musclesolve.dynamics.model.topology_file import from_tables
from musclesolve.errors import InputError

__all__ = [
    "BASE_DOFS",
    "BODY_KINDS",
    "NO_DIRECTION",
    "Body",
    "Direction",
    "Dof",
    "Point",
    "Topology",
    "load_topology",
    "standing_layout",
]


def load_topology(name: str | Path = "inverse_human") -> Topology:
    """Read a model definition, bundled (by name) or a person's own (by path); the same object for the same text.

    Raises:
        InputError: the file is not a model definition; says which entry is at fault.
    """
    path = Path(name)
    if path.suffix != ".toml":
        path = Path(str(resources.files("musclesolve.dynamics.model") / "definitions" / f"{name}.toml"))
    try:
        return _parsed(read_regular(path, SETTINGS).decode("utf-8"), path)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as fault:
        raise InputError(f"cannot read the model definition: {fault}", file=path) from fault


@lru_cache(maxsize=16)
def _parsed(text: str, path: Path) -> Topology:
    """Parsed and checked once for each text: a file that was edited is another text."""
    raw = tomllib.loads(text)
    topology = from_tables(raw, path)
    check_topology(topology, path)
    check_drivers(topology, standing_layout(topology), path)
    return topology


def standing_layout(
    topology: Topology,
    scale: dict[str, float] | None = None,
    offsets: dict[str, np.ndarray] | None = None,
) -> np.ndarray:
    """Points and vectors of one model in the standing pose.

    Args:
        topology: the model.
        scale: factor on the file's offsets by scale group (1 where absent).
        offsets: measured offsets of points from their parents [m], or directions of vectors; they win over the file.

    Returns:
        (N, 3): points [m], then unit vectors.

    Raises:
        InputError: an offset that is not three finite numbers.
    """
    scale, offsets = scale or {}, offsets or {}
    measured = {
        name: check_array(value, f"the offset of {name!r}", (3,), axis=0) for name, value in offsets.items()
    }
    position = {topology.origin: np.zeros(3)}
    for point in topology.layout_order():
        step = measured.get(point.name, np.asarray(point.offset) * scale.get(point.scale, 1.0))
        position[point.name] = position[point.parent] + step
    rows = [position[point.name] for point in topology.points]
    rows += [np.asarray(measured.get(name, direction), float) for name, direction in topology.vectors.items()]
    return np.array(rows, dtype=float)
