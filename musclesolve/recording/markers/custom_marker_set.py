"""Checks of a user's own marker set: every line of its file is tested, so that an error names its line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from musclesolve.recording.data import SIDES
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.mapping_tables import read_clusters, read_weights
from musclesolve.recording.trial.schema import Document

TABLES = ("mapping", "clusters", "carried", "aliases")
KEYS = ("description", "source", "letters", "sided", *TABLES)
_SHOW = "start from a bundled set: musclesolve markers NAME shows one"


def check_own_set(own: Document) -> None:
    """Refuse a marker set whose tables are not what they should be."""
    content = own.content
    for key in content:
        if key not in KEYS:
            raise own.unknown(f"there is no such key: {key!r}", key, KEYS, key, code="unknown_key")
    _check_letters(own, content.get("letters"))
    sided = _table(own, "sided", content.get("sided", {}))
    for key in sided:
        if key not in TABLES:
            raise own.unknown("there is no such table", key, TABLES, f"sided.{key}", code="unknown_key")
    clusters = {*_table(own, "clusters", content.get("clusters", {}))}
    clusters |= {
        f"{name}_{side}"
        for name in _table(own, "sided.clusters", sided.get("clusters", {}))
        for side in SIDES
    }
    for tables, prefix, suffix in ((content, "", ""), (sided, "sided.", "_r")):
        for kind in TABLES:
            for key, value in _table(own, prefix + kind, tables.get(kind, {})).items():
                _check_line(own, prefix + kind, key, value, suffix, clusters)


def _check_line(own: Document, table: str, key: str, value: Any, suffix: str, clusters: set[str]) -> None:
    """Refuse a line of a table; `suffix` is what the names of a sided one lack."""
    kind = table.removeprefix("sided.")
    if kind == "mapping":
        if key + suffix not in landmarks():
            raise own.unknown("there is no such landmark", key, _stems(landmarks(), suffix), table, key)
        ways = value if isinstance(value, list) else [value]
        for way in ways or [None]:
            read_weights(own, key, way, table)
    elif kind == "clusters":
        read_clusters(own, {key: value}, table)
    elif kind == "carried":
        if not isinstance(value, str) or value + suffix not in clusters:
            problem = f"there is no cluster {value!r}"
            raise own.unknown(problem, value, _stems(sorted(clusters), suffix), table, key)
    elif not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise own.error(
            f"the value is {value!r}", table, key, expected="a list of marker names", remedy=_SHOW
        )


def _stems(names: Iterable[str], suffix: str) -> list[str]:
    return [name.removesuffix(suffix) for name in names if name.endswith(suffix)]


def _table(own: Document, name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise own.error("this is not a table", name, expected=f"[{name}] and its keys below", remedy=_SHOW)
    return value


def _check_letters(own: Document, letters: Any) -> None:
    if letters is None:
        return
    right = isinstance(letters, dict) and set(letters) == set(SIDES)
    if not right or not all(isinstance(letter, str) and letter for letter in letters.values()):
        raise own.error(
            f"the value is {letters!r}", "letters", expected='r = "R" and l = "L", or others', remedy=_SHOW
        )
    if letters["r"] == letters["l"]:
        problem, remedy = "right and left have one letter", "correct one of them"
        raise own.error(problem, "letters", "l", 0, "two letters", remedy, code="conflict")
