"""A person's own marker set: every line of its file is tested, so that what is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from musclesolve._util.names import suggestion
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.mapping_tables import read_clusters, read_weights
from musclesolve.recording.trial.schema import Document

TABLES = ("mapping", "clusters", "carried", "aliases")
KEYS = ("description", "source", "letters", "sided", *TABLES)
_SHOW = "start from a bundled set: musclesolve markers NAME shows one"


def check_own_set(own: Document) -> None:
    """Refuse a marker set whose tables are not what they should be.

    Raises:
        InputError: naming the line.
    """
    content = own.content
    for key in content:
        if key not in KEYS:
            raise _unknown(own, f"there is no such key: {key!r}", key, None, key, KEYS)
    _check_letters(own, content.get("letters"))
    sided = _table(own, "sided", content.get("sided", {}))
    for key in sided:
        if key not in TABLES:
            raise _unknown(own, "there is no such table", f"sided.{key}", None, key, TABLES)
    clusters = {*_table(own, "clusters", content.get("clusters", {}))}
    clusters |= {
        f"{name}_{side}"
        for name in _table(own, "sided.clusters", sided.get("clusters", {}))
        for side in SIDES
    }
    for tables, prefix, suffix in ((content, "", ""), (sided, "sided.", "_r")):
        for kind in TABLES:
            for key, value in _table(own, prefix + kind, tables.get(kind, {})).items():
                _check_line(own, kind, prefix + kind, key, value, suffix, clusters)


def _check_line(
    own: Document, kind: str, table: str, key: str, value: Any, suffix: str, clusters: set[str]
) -> None:
    if kind == "mapping":
        if key + suffix not in landmarks():
            known = [name.removesuffix(suffix) for name in landmarks() if name.endswith(suffix)]
            raise _unknown(own, "there is no such landmark", table, key, key, known)
        ways = value if isinstance(value, list) else [value]
        for way in ways or [None]:
            read_weights(own, key, way, table)
    elif kind == "clusters":
        read_clusters(own, {key: value}, table)
    elif kind == "carried":
        if not isinstance(value, str) or value + suffix not in clusters:
            known = [name.removesuffix(suffix) for name in sorted(clusters) if name.endswith(suffix)]
            raise _unknown(own, f"there is no cluster {value!r}", table, key, str(value), known)
    elif not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise own.error(
            f"the value is {value!r}", table, key, expected="a list of marker names", remedy=_SHOW
        )


def _unknown(
    own: Document, problem: str, table: str, key: str | None, name: str, known: Sequence[str]
) -> InputError:
    return own.error(
        problem,
        table,
        key,
        code="unknown_name",
        expected=f"one of {', '.join(known)}",
        remedy=suggestion(name, known) or "correct the name, or remove it",
    )


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
        raise own.error(
            "right and left have one letter", "letters", "l", code="conflict", expected="two letters"
        )
