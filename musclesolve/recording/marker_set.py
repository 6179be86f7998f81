"""Marker sets: what the markers of a common laboratory protocol mean, as data files that stand in for [mapping].

A set is asked for by the name of a file in ``recording/sets`` or by the path of a person's own. Of a set only that is
taken whose markers the recordings have; tables of the trial file add to it and win over it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES, Markers
from musclesolve.recording.schema import Document
from musclesolve.recording.textfile import suggestion

TABLES = ("mapping", "clusters", "carried", "aliases")
_KEYS = {"description", "source", "letters", "sided", *TABLES}
_FEWEST_IN_CLUSTER = 3


@dataclass(frozen=True)
class MarkerSet:
    """A marker set.

    Args:
        name: of the set.
        description: one sentence.
        source: where the protocol is described.
        mapping: landmark -> the ways to map it, the best first, each as a trial file would write it.
        clusters: cluster -> markers that move as one body, of which three or more must be there.
        carried: marker that only the standing trial shows -> the cluster that carries it.
        aliases: marker -> other names that laboratories give it.
    """

    name: str
    description: str
    source: str
    mapping: Mapping[str, list[Any]]
    clusters: Mapping[str, list[str]]
    carried: Mapping[str, str]
    aliases: Mapping[str, list[str]]

    @property
    def markers(self) -> list[str]:
        """The names of all markers of the set."""
        mapped = (marker for ways in self.mapping.values() for way in ways for marker in markers_of(way))
        clustered = (marker for markers in self.clusters.values() for marker in markers)
        return list(dict.fromkeys([*mapped, *clustered, *self.carried]))


@cache
def marker_sets() -> dict[str, MarkerSet]:
    """Return the bundled marker sets by name."""
    folder = resources.files(__package__).joinpath("sets")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return {
        name.removesuffix(".toml"): _marker_set(
            name.removesuffix(".toml"), tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8"))
        )
        for name in files
    }


def find_marker_set(document: Document, name: str) -> MarkerSet:
    """Return the marker set that a trial file asks for: a bundled one by name, or a person's own by path.

    Raises:
        InputError: there is neither, or the person's own file is not a marker set.
    """
    known = marker_sets()
    if name in known:
        return known[name]
    path = document.path.parent / name
    if path.suffix != ".toml" and not path.is_file():
        raise document.error(
            f"there is no marker set {name!r}",
            "markers",
            "set",
            expected=f"one of {', '.join(known)}, or the path of your own (.toml)",
            remedy=suggestion(name, known) or "leave set out, and write [mapping]",
        )
    own = Document(document.input_file("markers", "set", name))
    for key in own.content:
        if key not in _KEYS:
            raise InputError(
                f"there is no such key: {key!r}",
                file=own.path,
                expected=f"some of {', '.join(sorted(_KEYS))}",
                remedy=suggestion(key, _KEYS) or "remove it",
            )
    try:
        return _marker_set(path.stem, own.content)
    except (KeyError, TypeError, ValueError) as reason:
        raise InputError(
            f"this is not a marker set: {reason}",
            file=own.path,
            expected="tables like those of the bundled sets: musclesolve markers NAME shows one",
            remedy="start from a bundled set",
        ) from None


def _marker_set(name: str, content: Mapping[str, Any]) -> MarkerSet:
    letters = content.get("letters", {"r": "R", "l": "L"})
    tables = {table: _table(content, table) for table in TABLES}
    sided = _table(content, "sided")
    for side in SIDES:
        for table in sided:
            for key, value in _table(sided, table).items():
                # Markers are named by their letter, landmarks and clusters by the suffix of the side.
                own = _lettered(key, letters[side]) if table in ("carried", "aliases") else f"{key}_{side}"
                tables[table][own] = (
                    f"{value}_{side}" if table == "carried" else _lettered(value, letters[side])
                )
    return MarkerSet(
        name,
        str(content.get("description", "")),
        str(content.get("source", "")),
        {key: value if isinstance(value, list) else [value] for key, value in tables["mapping"].items()},
        {key: _names(key, value) for key, value in tables["clusters"].items()},
        {key: str(value) for key, value in tables["carried"].items()},
        {key: _names(key, value) for key, value in tables["aliases"].items()},
    )


def _table(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    table = content.get(name, {})
    if not isinstance(table, dict):
        raise ValueError(f"{name} is not a table")
    return dict(table)


def _names(key: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError(f"{key} is not a list of marker names")
    return value


def _lettered(value: Any, letter: str) -> Any:
    """Put the letter of a side where a text says {S}, in whatever holds the text."""
    if isinstance(value, str):
        return value.replace("{S}", letter)
    if isinstance(value, list):
        return [_lettered(part, letter) for part in value]
    if isinstance(value, dict):
        return {_lettered(key, letter): _lettered(part, letter) for key, part in value.items()}
    return value


def markers_of(way: Any) -> list[str]:
    """Return the markers of one way to map a landmark: a name, a midpoint or weights."""
    if isinstance(way, str):
        return [way]
    named = [way.get(form) for form in ("midpoint", "weights")] if isinstance(way, dict) else []
    return [str(marker) for form in named if form is not None for marker in form]


def renamed(markers: Markers, chosen: MarkerSet) -> Markers:
    """Return the markers by the names of the set: without the person before a colon, whatever the case, aliases too.

    A name that fits none stays as it is, and so does one whose name in the set is taken already.
    """
    known = {name.casefold(): name for name in chosen.markers}
    known |= {alias.casefold(): name for name, others in chosen.aliases.items() for alias in others}
    exact = set(chosen.markers) & set(markers.names)
    names: list[str] = []
    for name in markers.names:
        plain = name.rpartition(":")[2].strip().casefold()
        new = name if name in exact else known.get(name.casefold(), known.get(plain, name))
        names.append(new if new == name or new not in exact | set(names) | set(markers.names) else name)
    return replace(markers, names=tuple(names))


def applied(
    chosen: MarkerSet, tables: Mapping[str, Mapping[str, Any]], walk: Markers, static: Markers | None
) -> dict[str, dict[str, Any]]:
    """Return mapping, clusters and carried of a trial: those of the set that the recordings serve, and its own.

    Args:
        chosen: the set.
        tables: "mapping", "clusters" and "carried" of the trial file.
        walk: markers of the motion, by the names of the set.
        static: those of the standing trial, if there is one.
    """
    moving = set(walk.names)
    standing = moving if static is None else set(static.names)
    clusters = {
        name: kept
        for name, markers in chosen.clusters.items()
        if static is not None
        and len(kept := [m for m in markers if m in moving & standing]) >= _FEWEST_IN_CLUSTER
    }
    clusters |= tables["clusters"]
    carried = {
        marker: cluster
        for marker, cluster in chosen.carried.items()
        if marker in standing - moving and cluster in clusters
    }
    carried |= tables["carried"]
    mapping = {
        landmark: way
        for landmark, ways in chosen.mapping.items()
        if (way := _served(ways, moving | standing)) is not None
    }
    return {"mapping": mapping | dict(tables["mapping"]), "clusters": clusters, "carried": carried}


def _served(ways: Iterable[Any], markers: set[str]) -> Any:
    """Return the first way to map a landmark whose markers are there."""
    return next((way for way in ways if set(markers_of(way)) <= markers), None)


def fitting(markers: Markers) -> tuple[str, int] | None:
    """Return the bundled set most of whose landmarks a recording shows, and how many; None if none has half of them."""
    counts = {}
    for name, chosen in marker_sets().items():
        names = set(renamed(markers, chosen).names)
        served = sum(_served(ways, names) is not None for ways in chosen.mapping.values())
        if served >= 0.5 * len(chosen.mapping):
            counts[name] = served
    return max(counts.items(), key=lambda item: item[1]) if counts else None
