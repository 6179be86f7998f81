"""The tables of a model definition: their keys, the rule for each key, and the defaults of optional keys."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve._util.bundled_toml import locate, read_text, toml_of
from musclesolve._util.message_text import as_text
from musclesolve._util.names import suggestion
from musclesolve.dynamics.model.topology import (
    NO_DIRECTION,
    Direction,
    Dof,
    Point,
    RigidBody,
    Topology,
    check_topology,
)
from musclesolve.errors import InputError, input_error

_NEEDED = object()


@dataclass(frozen=True)
class _Key:
    """Rule for a key: the expected value in words, the test of a value, and the value where the file omits the key."""

    expected: str
    accepts: Callable[[Any], bool]
    default: Any = _NEEDED


def _number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def _text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _listed(accepts: Callable[[Any], bool], count: int | None = None) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) == (count or len(value)) and all(map(accepts, value))
    )


def _arrow(value: Any) -> bool:
    return _text(value) and all(part.strip() for part in value.split("->")) and value.count("->") <= 1


_TEXT, _WHOLE = _Key("a text", _text), _Key("a whole number", lambda value: type(value) is int, None)
_NAMES = _Key("a list of names", _listed(_text))
_TRIPLE = _Key("three finite numbers", _listed(_number, 3))
_LINE = _Key('a vector, or two points as in "a -> b"', _arrow)
_TABLES = _Key("a list of tables", _listed(lambda value: isinstance(value, dict)))

_KEYS: dict[str, dict[str, _Key]] = {
    "model": {
        "name": _TEXT,
        "source": _Key("a text", _text, ""),
        "root": _TEXT,
        "origin": _TEXT,
        "point": _TABLES,
        "vector": replace(_TABLES, default=[]),
        "body": _TABLES,
        "universal": _Key("pairs of vectors", _listed(_listed(_text, 2)), []),
        "dof": replace(_TABLES, default=[]),
        "spherical": replace(_TABLES, default=[]),
    },
    "point": {
        "number": _WHOLE,
        "name": _TEXT,
        "from": _TEXT,
        "offset": _TRIPLE,
        "scale": _Key("a text", lambda value: isinstance(value, str), ""),
    },
    "vector": {"number": _WHOLE, "name": _TEXT, "direction": _TRIPLE},
    "body": {
        "number": _WHOLE,
        "name": _TEXT,
        "points": _NAMES,
        "vectors": _NAMES,
        "extra": replace(_NAMES, default=[]),
        "segment": _Key("a text", _text, None),
        "share": _Key("a number from 0 to 1", lambda value: _number(value) and 0.0 <= value <= 1.0, 1.0),
    },
    "dof": {
        "number": _WHOLE,
        "name": _TEXT,
        "parent": _TEXT,
        "child": _TEXT,
        "axis": _LINE,
        "sign": _Key("1 or -1", lambda value: type(value) is int and value in (-1, 1)),
        "pivot": _TEXT,
        "driver": _Key("a direction of the parent and one of the child", _listed(_arrow, 2)),
        "rest": _Key("a length [m], not negative", lambda value: _number(value) and value >= 0.0, 0.0),
        "nominal": _Key("true or false", lambda value: isinstance(value, bool), False),
    },
    "spherical": {
        "number": _WHOLE,
        "name": _TEXT,
        "parent": _TEXT,
        "child": _TEXT,
        "pivot": _TEXT,
        "axes": _Key(
            "three perpendicular unit vectors by the names of the rotations about them",
            lambda value: isinstance(value, dict) and _perpendicular(list(value.values())),
        ),
    },
}


def load_topology(name: str | Path = "inverse_human") -> Topology:
    """Read a model definition; files of the same text give the same object.

    Args:
        name: of a bundled definition, "inverse_human" or "forward_human", or the path of a file.

    Returns:
        Points, vectors, bodies and degrees of freedom.

    Raises:
        InputError: the file is not a model definition; with the faulty entry.

    Examples:
        >>> len(ms.dynamics.load_topology("forward_human").bodies)
        12
    """
    return _of_file(Path(name)) if Path(name).suffix == ".toml" else _bundled(str(name))


def _of_file(path: Path) -> Topology:
    return _parsed(read_text(path, "model definition"), path)


@lru_cache(maxsize=4)
def _bundled(name: str) -> Topology:
    return _of_file(locate(name, __package__, "definitions"))


@lru_cache(maxsize=16)
def _parsed(text: str, path: Path) -> Topology:
    """Topology from the text of a file, parsed and checked once for each text.

    `number`, `scale`, `segment` (the body's name) and `share` (1) may be left out.
    """
    top = _read(toml_of(text), "model", 0, path)
    rows = {
        kind: [_read(entry, kind, k, path) for k, entry in enumerate(top[kind])]
        for kind in ("point", "vector", "body", "dof", "spherical")
    }
    vectors = {row["name"]: tuple(row["direction"]) for row in rows["vector"]}
    if len(vectors) < len(rows["vector"]):
        names = [row["name"] for row in rows["vector"]]
        twice = min(name for name in names if names.count(name) > 1)
        raise input_error("duplicate_name", file=path, problem=f"two vectors have the name {twice!r}")
    points = tuple(
        Point(row["number"], row["name"], row["from"], tuple(row["offset"]), row["scale"])
        for row in rows["point"]
    )
    bodies = tuple(
        RigidBody(
            row["number"],
            row["name"],
            tuple(row["points"]),
            tuple(row["vectors"]),
            row["segment"] or row["name"],
            float(row["share"]),
            tuple(row["extra"]),
        )
        for row in rows["body"]
    )
    dofs = []
    for row in rows["dof"]:
        lines: list[Direction] = []
        for line in (row["axis"], *row["driver"]):
            start, arrow, end = (part.strip() for part in line.partition("->"))
            lines.append((start, end) if arrow else (None, start))
        axis, reference, follower = lines
        joint = row["parent"], row["child"], axis, row["sign"], row["pivot"], reference, follower
        dofs.append(Dof(row["name"], *joint, rest=float(row["rest"]), nominal=row["nominal"]))
    for row in rows["spherical"]:  # three degrees of freedom, about perpendicular axes of the parent
        joint = row["parent"], row["child"], NO_DIRECTION, 1, row["pivot"], NO_DIRECTION, NO_DIRECTION
        dofs += [Dof(name, *joint, tuple(direction)) for name, direction in row["axes"].items()]

    # Each parent is reached before its children.
    root, ordered, waiting = top["root"], [], dofs
    reached = {root}
    while waiting:
        ready = [dof for dof in waiting if dof.parent in reached]
        if not ready:
            known = [*(body.name for body in bodies), *(dof.child for dof in dofs)]
            # a joint with an unknown parent is the cause; errors of joints beyond it follow from it
            lost = next((dof for dof in waiting if dof.parent not in known), waiting[0])
            parent = lost.parent
            near = "" if parent in known else suggestion(parent, known)
            raise input_error(
                "bad_model",
                file=path,
                problem=f"no chain of joints leads from the root {root!r} to {parent!r}, the parent "
                f"of {lost.name!r}",
                expected="joints that form a tree from the root on",
                remedy=near
                or f"name a body, or the child of another joint, as the parent of {lost.name!r}, or remove the joint",
            )
        ordered += ready
        reached |= {dof.child for dof in ready}
        waiting = [dof for dof in waiting if dof not in ready]
    universal = tuple((one, other) for one, other in top["universal"])
    topology = Topology(top["name"], root, top["origin"], points, vectors, bodies, universal, tuple(ordered))
    check_topology(topology, path)
    return topology


def _read(entry: Mapping[str, Any], kind: str, index: int, file: Path) -> dict[str, Any]:
    """One table with its defaults; refuses keys that are missing, unknown or against their rule."""
    keys = _KEYS[kind]
    where = "model definition" if kind == "model" else f"{kind} {entry.get('name', f'number {index + 1}')!r}"

    def wrong(key: str, /, **fields: Any) -> InputError:
        return input_error(key, file=file, where=where, **fields)

    for key_read in entry:
        if key_read not in keys:
            raise wrong(
                "unknown_key",
                problem=f"unknown key {as_text(key_read)}",
                expected=f"some of {', '.join(map(str, keys))}",
                remedy=suggestion(key_read, keys),
            )
    read = {}
    for name, key in keys.items():
        value = entry.get(name, key.default)
        if value is _NEEDED:
            raise wrong(
                "missing_key",
                problem=f"{name!r} is missing",
                expected=f"{name} = {key.expected}",
                remedy=f"add a line {name} = ...",
            )
        if name in entry and not key.accepts(value):
            raise wrong("bad_value", problem=f"{name} = {as_text(value)}", expected=key.expected)
        read[name] = value
    if "number" in keys and read["number"] is None:
        read["number"] = index + 1
    return read


def _perpendicular(axes: list[Any]) -> bool:
    if len(axes) != 3 or not all(map(_TRIPLE.accepts, axes)):
        return False
    matrix = np.array(axes, dtype=float)
    return np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
