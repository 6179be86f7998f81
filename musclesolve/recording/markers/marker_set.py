"""Marker sets: the mapping of a common laboratory protocol, as data files that replace [mapping].

A set is a file in ``recording/markers/sets`` or a user's file. Only its markers in the recordings are used; tables of
the trial file add to the set and override it. A user's set is checked line by line.

Labels of a file are converted to names of the mapping: persons, cases and aliases. Capture software may write the
person before every label, "Ann:LASI", depending on the export. So both forms of a label are the same marker, as long as
one person is in the file.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

from musclesolve._util.message_text import as_text
from musclesolve.errors import InputError, file_error
from musclesolve.recording.data import SIDES, Markers
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.mapping_tables import (
    follows_segment,
    markers_of,
    read_clusters,
    read_weights,
)
from musclesolve.recording.markers.marker_names import split_label
from musclesolve.recording.schema import Document
from musclesolve.recording.text.text_file import is_file


@dataclass(frozen=True)
class MarkerNames:
    """The names of the mapping.

    `written` are the names in the trial file, `known` the folded names and aliases of a marker set; `person` is the
    subject among several persons, None: the only one.
    """

    written: frozenset[str] = frozenset()
    known: Mapping[str, str] = field(default_factory=dict)
    person: str | None = None

    def name_of(self, label: str) -> str | None:
        """Return the mapping's name of a label without a person, None if the mapping does not use it."""
        return label if label in self.written else self.known.get(label.strip().casefold())

    def renamed(self, markers: Markers) -> Markers:
        """Return the markers by the names of the mapping.

        Other labels do not change, nor does a label whose name is already in use.
        """
        exact = set(markers.names) & (self.written | set(self.known.values()))
        short = {name: label for label, name in markers.aliases.items()}
        others = (
            set(self.persons(markers)) - {self.person} if self.person is not None else self._doubles(markers)
        )
        names: list[str] = []
        for label in markers.names:
            person, plain = split_label(label)
            new = label if label in exact else self.name_of(label)
            if new is None and person not in others:
                new = self.name_of(plain)
            if new is None and label in short:
                new = self.name_of(short[label])
            in_use = exact | set(names) | set(markers.names)
            names.append(new if new is not None and (new == label or new not in in_use) else label)
        return _with_names(markers, names)

    def persons(self, markers: Markers) -> list[str]:
        """Return the persons in front of labels of the mapping."""
        exact = self.written & set(markers.names)
        parts = [split_label(label) for label in markers.names if label not in exact]
        return list(
            dict.fromkeys(person for person, plain in parts if person and self.name_of(plain) is not None)
        )

    def _doubles(self, markers: Markers) -> set[str]:
        """Return the persons with a marker that is also present without a person: they are not the subject."""
        alone = {self.name_of(label) for label in markers.names} - {None}
        parts = [split_label(label) for label in markers.names]
        return {person for person, plain in parts if person and self.name_of(plain) in alone}

    def checked(self, document: Document, markers: Markers) -> Markers:
        """Return the markers by the names that the mapping uses."""
        persons = self.persons(markers)
        if self.person is None:
            left = [person for person in persons if person not in self._doubles(markers)]
            if len(left) > 1:
                raise file_error(
                    "conflict",
                    markers.path,
                    f"the same markers are there of {' and '.join(map(str, left))}",
                    "the markers of one person",
                    f'add person = "{left[0]}" to [markers] in {document.path.name}',
                )
        elif persons:
            words = {"after": f" in {markers.path}", "code": "missing_marker"}
            place = "markers", "person"
            document.check_known([self.person], "there are no markers of", persons, *place, **words)
        return self.renamed(markers)


def without_person(markers: Markers) -> Markers:
    """Return the markers without the name of the person, if there is only one; labels without one stay."""
    persons = {person for person, _ in map(split_label, markers.names)} - {""}
    plain = [split_label(name)[1] for name in markers.names]
    if len(persons) != 1 or len(set(plain)) < len(plain):
        return markers
    return _with_names(markers, plain)


def _with_names(markers: Markers, names: Sequence[str]) -> Markers:
    """Return the markers by other names, in the same order."""
    new = dict(zip(markers.names, names, strict=True))
    repeated = {new[name]: where for name, where in markers.repeated.items()}
    return replace(markers, names=tuple(names), repeated=repeated)


_FEWEST_IN_CLUSTER = 3
TABLES = ("mapping", "clusters", "carried", "aliases")
KEYS = ("description", "source", "letters", "sided", *TABLES)


@dataclass(frozen=True)
class MarkerSet:
    """A marker set: the markers that show each landmark, by common names of laboratories.

    Examples:
        >>> ms.files.marker_sets()["plug_in_gait"].mapping["asis_r"]
        ['RASI']
    """

    name: str  # of the set
    description: str  # one sentence
    source: str  # where the protocol is described
    # landmark -> its possible mappings, the best first, each as in a trial file
    mapping: Mapping[str, list[Any]]
    # cluster -> markers that move as one body, of which three or more must be there
    clusters: Mapping[str, list[str]]
    carried: Mapping[str, str]  # marker that only the standing trial shows -> the cluster that carries it
    aliases: Mapping[str, list[str]]  # marker -> other names that laboratories give it

    @property
    def markers(self) -> list[str]:
        """The names of all markers of the set."""
        mapped = (
            marker
            for ways in self.mapping.values()
            for definition in ways
            for marker in markers_of(definition)
        )
        clustered = (marker for markers in self.clusters.values() for marker in markers)
        return list(dict.fromkeys([*mapped, *clustered, *self.carried]))


@cache
def marker_sets() -> dict[str, MarkerSet]:
    """Return the bundled marker sets by name.

    Examples:
        >>> "plug_in_gait" in ms.files.marker_sets()
        True
    """
    folder = resources.files(__package__).joinpath("sets")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))
    return {
        name.removesuffix(".toml"): _marker_set(
            name.removesuffix(".toml"), tomllib.loads(folder.joinpath(name).read_text(encoding="utf-8"))
        )
        for name in files
    }


def find_marker_set(document: Document, name: str) -> MarkerSet:
    """Return the marker set of a trial file: a bundled one by name, or a user's file by path."""
    sets = marker_sets()
    if name in sets:
        return sets[name]
    try:
        beside = name.endswith(".toml") or is_file(document.path.parent / name)
    except InputError as error:
        raise document.placed(error, "markers", "set") from None
    if not beside:
        expected = f"one of {', '.join(map(str, sets))}, or the path of your own (.toml)"
        document.check_known([name], "there is no marker set", sets, "markers", "set", expected=expected)
    file = Document(document.input_file("markers", "set", name))
    check_own_set(file)
    return _marker_set(file.path.stem, file.content)


def _marker_set(name: str, content: Mapping[str, Any]) -> MarkerSet:
    letters = content.get("letters", {"r": "R", "l": "L"})
    tables = {table: dict(content.get(table, {})) for table in TABLES}
    for side in SIDES:
        for table, lines in content.get("sided", {}).items():
            for key, value in lines.items():
                # Markers are named by their letter, landmarks and clusters by the suffix of the side.
                of_side = (
                    _lettered(key, letters[side]) if table in ("carried", "aliases") else f"{key}_{side}"
                )
                tables[table][of_side] = (
                    f"{value}_{side}" if table == "carried" else _lettered(value, letters[side])
                )
    return MarkerSet(
        name,
        str(content.get("description", "")),
        str(content.get("source", "")),
        {key: value if isinstance(value, list) else [value] for key, value in tables["mapping"].items()},
        tables["clusters"],
        tables["carried"],
        tables["aliases"],
    )


def _lettered(value: Any, letter: str) -> Any:
    """Replace {S} by the letter of a side in all texts of a value."""
    if isinstance(value, str):
        return value.replace("{S}", letter)
    if isinstance(value, list):
        return [_lettered(part, letter) for part in value]
    if isinstance(value, dict):
        return {_lettered(key, letter): _lettered(part, letter) for key, part in value.items()}
    return value


def marker_names_of(chosen: MarkerSet, written: Iterable[str] = (), person: str | None = None) -> MarkerNames:
    """Return the names of the mapping: the names of the set in any case, its aliases, the trial file's names."""
    folded = {name.casefold(): name for name in chosen.markers}
    folded |= {alias.casefold(): name for name, others in chosen.aliases.items() for alias in others}
    return MarkerNames(frozenset(written), folded, person)


def apply_marker_set(
    chosen: MarkerSet, tables: Mapping[str, Mapping[str, Any]], walk: Markers, static: Markers | None
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return mapping, clusters and carried of a trial: from the set as far as the recordings show it, and from the
    trial.

    A landmark that is ``false`` in the mapping of the trial file is omitted, and so is a landmark that only the
    standing trial shows if no cluster carries it; the tables come with a note on each of these.
    """
    moving = set(walk.names)
    standing = moving if static is None else set(static.names)
    clusters = {
        name: seen_markers
        for name, markers in chosen.clusters.items()
        if static is not None
        and len(seen_markers := [m for m in markers if m in moving & standing]) >= _FEWEST_IN_CLUSTER
    }
    clusters |= tables["clusters"]
    carried = {
        marker: cluster
        for marker, cluster in chosen.carried.items()
        if marker in standing - moving and cluster in clusters
    }
    carried |= tables["carried"]
    known, everywhere = landmarks(), moving | standing
    written = {
        name: definition
        for name, definition in tables["mapping"].items()
        if definition is not False or name not in known
    }
    offered = {name: ways for name, ways in chosen.mapping.items() if name not in tables["mapping"]}
    mapping: dict[str, Any] = {}
    # The motion must show a landmark, unless a cluster or its segment carries it; the standing trial as well, where it
    # is measured there. Medial ones follow the marker on the side of their segment, which is resolved before them.
    for name in sorted(offered, key=lambda name: "_medial" in name):
        shown = (moving & standing if known[name].standing else moving) | set(carried)
        if follows_segment(written | mapping, name):
            shown = shown | standing
        if (definition := first_way(offered[name], shown)) is not None:
            mapping[name] = definition
    notes = []
    for name, ways in offered.items():
        definition, there = None if name in mapping else first_way(ways, everywhere), {*mapping, *written}
        # Kept, so that its absence is reported: required, or the only substitute for a required one.
        needed = known[name].required or any(
            other.required and name in other.instead and not {other.name, *other.instead} & there
            for other in known.values()
        )
        if definition is not None and needed:
            mapping[name] = definition
        elif definition is not None:
            lacking = sorted(set(markers_of(definition)) - moving) or sorted(
                set(markers_of(definition)) - standing
            )
            recording = "motion" if lacking[0] not in moving else "standing trial"
            notes.append(f"{name} is left out: the {recording} has no marker '{lacking[0]}'.")
    mapping = {name: mapping[name] for name in offered if name in mapping} | written
    return {"mapping": mapping, "clusters": clusters, "carried": carried}, notes


def best_marker_set(markers: Markers) -> tuple[str, int] | None:
    """Return the bundled set with most landmarks in a recording, and their number; None if no set has half of them."""
    counts = {}
    for name, chosen in marker_sets().items():
        names = set(marker_names_of(chosen).renamed(markers).names)
        count = sum(first_way(ways, names) is not None for ways in chosen.mapping.values())
        if count >= 0.5 * len(chosen.mapping):
            counts[name] = count
    return max(counts.items(), key=lambda item: item[1]) if counts else None


def check_own_set(file: Document) -> None:
    """Refuse a marker set with invalid tables."""
    content = file.content
    for key in content:
        if key not in KEYS:
            raise file.unknown("unknown_key", key, KEYS, key, problem=f"there is no such key: {key!r}")
    letters = content.get("letters", {"r": "R", "l": "L"})
    right = isinstance(letters, dict) and set(letters) == set(SIDES)
    if not right or not all(isinstance(letter, str) and letter for letter in letters.values()):
        raise file.fault(
            "bad_value",
            "letters",
            f"the value is {as_text(letters)}",
            'r = "R" and l = "L", or others',
            "start from a bundled set: musclesolve markers NAME shows one",
        )
    if letters["r"] == letters["l"]:
        raise file.fault(
            "conflict",
            ("letters", "l"),
            "right and left have one letter",
            "two letters",
            "correct one of them",
        )
    sided = _table(file, "sided", content.get("sided", {}))
    for key in sided:
        if key not in TABLES:
            raise file.unknown("unknown_key", key, TABLES, f"sided.{key}", problem="there is no such table")
    clusters = {*_table(file, "clusters", content.get("clusters", {}))}
    clusters |= {
        f"{name}_{side}"
        for name in _table(file, "sided.clusters", sided.get("clusters", {}))
        for side in SIDES
    }
    for tables, prefix, suffix in ((content, "", ""), (sided, "sided.", "_r")):
        for kind in TABLES:
            table = prefix + kind
            for key, value in _table(file, table, tables.get(kind, {})).items():
                if kind == "mapping":
                    if key + suffix not in landmarks():
                        stems = _stems(landmarks(), suffix)
                        problem = "there is no such landmark"
                        raise file.unknown("unknown_name", key, stems, table, key, problem=problem)
                    ways = value if isinstance(value, list) else [value]
                    for definition in ways or [None]:
                        read_weights(file, key, definition, table)
                elif kind == "clusters":
                    read_clusters(file, {key: value}, table)
                elif kind == "carried":
                    file.check_known(
                        [value], "there is no cluster", _stems(sorted(clusters), suffix), table, key
                    )
                elif not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
                    raise file.fault(
                        "bad_value",
                        (table, key),
                        f"the value is {as_text(value)}",
                        "a list of marker names",
                        "start from a bundled set: musclesolve markers NAME shows one",
                    )


def _stems(names: Iterable[str], suffix: str) -> list[str]:
    return [name.removesuffix(suffix) for name in names if name.endswith(suffix)]


def _table(file: Document, name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise file.fault(
            "bad_value",
            name,
            "this is not a table",
            f"[{name}] and its keys below",
            "start from a bundled set: musclesolve markers NAME shows one",
        )
    return value


def first_way(ways: Iterable[Any], markers: set[str]) -> Any:
    """Return the first definition of a landmark whose markers are all present, or None."""
    return next((definition for definition in ways if set(markers_of(definition)) <= markers), None)
