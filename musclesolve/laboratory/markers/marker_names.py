"""Names of markers: persons, sides, landmarks and segments in labels, and marker sets.

A label joins the person and the name, "Ann:LASI"; other signs and the other order serve where most labels share them
("S01_LASI", "LASI-S01"). Capture software may write the person before every label, depending on the export: both forms
of a label are the same marker, as long as one person is in the file.

A name is known by its words (`marker_words`), by the vocabulary that most names of the recording are of
(`marker_vocabularies.toml`), by the same name on the other side, and, where it may mean several landmarks, by the place
of the marker on the body (`marker_places`).

A marker set is the mapping of a common laboratory protocol, a file in ``laboratory/markers/sets`` or of a user, that
replaces [mapping]. Only its markers in the recordings are used; tables of the trial file add to the set and override
it. A set of a user is checked line by line.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import as_text, with_sizes
from musclesolve._util.sides import SAID_SIDES, SIDES, Side, has_side
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.markers.landmarks import (
    follows_segment,
    landmarks,
    markers_of,
    read_clusters,
    read_weights,
)
from musclesolve.laboratory.markers.marker_places import Body, decided_by_limbs, without_centers
from musclesolve.laboratory.markers.marker_words import (
    HEEL_BOTTOM,
    HEEL_TOP,
    meaning_of,
    plain_name,
    without_side,
)
from musclesolve.laboratory.recording.trial_document import trial_kind
from musclesolve.tables.document import Document
from musclesolve.tables.sampled import Markers
from musclesolve.tables.text_file import is_file


def with_places(markers: Markers, needless: Collection[str] = ()) -> Markers:
    """Return the markers that are seen: a label without any place in a file is none of its markers.

    Labels that occur twice stay, so that they are refused by their name, and so do `needless` ones, without which the
    legs are known.
    """
    seen: Mask = np.asarray(np.isfinite(markers.position).all(axis=2).any(axis=0))
    stays = {*markers.repeated, *needless}
    kept = [k for k, name in enumerate(markers.names) if seen[k] or name in stays]
    if len(kept) == len(markers.names):
        return markers
    names = tuple(markers.names[k] for k in kept)
    return replace(markers, names=names, position=markers.position[:, kept])


def split_label(label: str) -> tuple[str, str]:
    """Return person and name of a label such as "Ann:LASI"; the person is "" for a label without one."""
    person, _, plain = label.partition(":")
    return (person, plain) if person and plain else ("", label)


def without_one_person(labels: Iterable[str], wanted: Collection[str]) -> list[str]:
    """Return labels without the person of "Ann:LASI", where one person alone has the wanted names."""
    labels = list(labels)
    people = {person for person, plain in map(split_label, labels) if plain in wanted}
    person = f"{people.pop()}:" if len(people) == 1 else ""
    return [label.removeprefix(person) for label in labels]


FEWEST_NAMED = 6
"""Least number of landmarks that labels show where a common word before or behind them is a person."""


def by_person(markers: Markers) -> Markers:
    """Return the markers of labels that join person and name by a sign as "S01:LASI": "S01_LASI", "LASI-S01".

    A person is a word in most labels that together show landmarks once it is left out, where the labels show none.
    """
    labels = [name for name in markers.names if not split_label(name)[0]]
    of_word: dict[str, dict[str, str]] = {}
    for label in labels:
        for word, rest in _parted(label):
            of_word.setdefault(word, {})[label] = rest
    of_word = {word: rests for word, rests in of_word.items() if len(rests) >= FEWEST_NAMED}
    if not of_word or len(named_markers(labels).mapping) >= FEWEST_NAMED:
        return markers
    new: dict[str, str] = {}
    # The word of most labels; of equal ones the longest, so that no part of it stays before the names.
    for word in sorted(of_word, key=lambda word: (-len(of_word[word]), -len(word))):
        rests = {label: rest for label, rest in of_word[word].items() if label not in new}
        if len(rests) >= FEWEST_NAMED and len(named_markers(rests.values()).mapping) >= FEWEST_NAMED:
            new |= {label: f"{word}:{rest}" for label, rest in rests.items()}
    names = tuple(new.get(name, name) for name in markers.names)
    if not new or len(set(names)) < len(names):
        return markers
    repeated = {new.get(name, name): where for name, where in markers.repeated.items()}
    return replace(markers, names=names, repeated=repeated, aliases={**markers.aliases, **new})


def _parted(label: str) -> Iterator[tuple[str, str]]:
    """Yield (word, rest) at every sign of a label, the word before or behind it; the word of a side is none."""
    for sign in re.finditer(r"[\W_]+", label):
        before, behind = label[: sign.start()], label[sign.end() :]
        for word, rest in ((before, behind), (behind, before)):
            if word and rest and word.casefold() not in SAID_SIDES:
                yield word, rest


@dataclass(frozen=True)
class NamedMarkers:
    """Landmark -> its mapping; segment with side -> tracking markers; markers without a known meaning; the vocabulary
    of the recording, and its source; landmark -> wand or computed marker, where no better one is; marker -> landmarks
    of which its name means one.
    """

    mapping: dict[str, Any]
    tracking: dict[str, list[str]] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    vocabulary: str = ""
    instead: dict[str, str] = field(default_factory=dict)
    possible: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def markers(self) -> tuple[str, ...]:
        """The markers that show a landmark."""
        return tuple(marker for way in self.mapping.values() for marker in markers_of(way))


def _spoken(names: Iterable[str]) -> tuple[dict[str, str], str]:
    """Folded name -> landmark of the best matching vocabulary, and its name; empty without a match."""
    sides: dict[str, set[Side]] = {}
    for name in names:
        for rest, side in without_side(plain_name(name)):
            sides.setdefault(rest, set()).add(side)
    best, share = None, SPOKEN
    for vocabulary in bundled_toml(__package__, "marker_vocabularies.toml")["vocabulary"]:
        landmarks_of = vocabulary["spoken"].values()
        there = sum(any(len(sides.get(word, ())) == 2 for word in words) for words in landmarks_of)
        if there / len(landmarks_of) > share:
            best, share = vocabulary, there / len(landmarks_of)
    if best is None:
        return {}, ""
    words = {word: landmark for landmark, several in best["spoken"].items() for word in several}
    return words, f"{best['name']} ({best['source']})"


def named_markers(names: Iterable[str], recordings: Sequence[Mapping[str, Array]] = ()) -> NamedMarkers:
    """The landmarks that some markers show, by their names; the first of several possible markers.

    Args:
        names: without persons before them.
        recordings: marker -> its path (T, 3) [m], of each recording: the places on the body decide between possible
            meanings of a name.
    """
    names = list(names)
    plains = [split_label(label)[1] for label in names]
    for words in (plains, _with_english_sides(plains)):
        spoken, vocabulary = _spoken(words)
        meant = {plain: meaning_of(word, spoken) for plain, word in zip(plains, words, strict=True)}
        sure = {plain: meaning.landmark for plain, meaning in meant.items() if not meaning.instead}
        sure = _with_mirrors(sure, dict(zip(plains, words, strict=True)))
        if sum(map(bool, sure.values())) >= FEWEST_NAMED:
            break
    shown: dict[str, str] = {}
    offered: dict[str, list[str]] = {}
    for plain in plains:
        if sure.get(plain):
            shown.setdefault(sure[plain], plain)
        elif meant[plain].instead:
            offered.setdefault(meant[plain].landmark, []).append(plain)
    possible = {
        plain: meaning.possible
        for plain, meaning in meant.items()
        if meaning.possible and not sure.get(plain)
    }
    bodies = 0
    for paths in recordings:
        shown = without_centers(shown, paths)
        computed = {name: markers[0] for name, markers in offered.items()}
        body = Body.of(
            {name: paths[marker] for name, marker in (computed | shown).items() if marker in paths}
        )
        if body is None:
            continue
        bodies += 1
        undecided = {m: of for m, of in possible.items() if m in paths and m not in shown.values()}
        for marker, landmark in body.decided(undecided, paths).items():
            shown.setdefault(landmark, marker)
        for marker in possible.keys() & paths.keys():
            place = body.place(paths[marker][body.frames])
            if np.isfinite(
                place
            ).all():  # a label without a place in this recording is decided by another one
                possible[marker] = tuple(name for name in possible[marker] if body.may_be(name, place))
        for name, markers in offered.items():
            markers[:] = [
                m for m in markers if m not in paths or body.may_be(name, body.place(paths[m][body.frames]))
            ]
    if not bodies:
        for marker, landmark in decided_by_limbs(possible, shown).items():
            shown.setdefault(landmark, marker)
    instead = {name: markers[0] for name, markers in offered.items() if markers and bodies}
    possible = {marker: of for marker, of in possible.items() if of and marker not in shown.values()}
    taken = {*shown.values(), *(marker for marker, meaning in meant.items() if meaning.instead)}
    tracking: dict[str, list[str]] = {}
    for plain in plains:
        if plain not in shown.values() and (segment := meant[plain].segment):
            tracking.setdefault(segment, []).append(plain)
            taken.add(plain)
    unknown = tuple(plain for plain in plains if plain not in taken)
    # Two markers beside a wrist show it between them, and so do those at the neck.
    mapping: dict[str, Any] = dict(shown)
    for side in SIDES:
        # The forefoot lies between its first and its fifth metatarsal head; a marker on it comes first.
        head_1, head_5 = mapping.pop(f"metatarsal_1_{side}", None), mapping.get(f"metatarsal_5_{side}")
        if head_1 is not None and head_5 is not None:
            mapping.setdefault(f"toe_{side}", {"midpoint": [head_1, head_5]})
        if head_1 is not None:
            tracking.setdefault(f"foot_{side}", []).append(head_1)
    pairs = [
        *((f"wrist_{s}", f"wrist_thumb_{s}", f"wrist_finger_{s}") for s in SIDES),
        *((f"heel_{s}", f"{HEEL_TOP}_{s}", f"{HEEL_BOTTOM}_{s}") for s in SIDES),
        ("neck_base", "neck_back", "neck_front"),
    ]
    for between, one, other in pairs:
        first, second = mapping.pop(one, None), mapping.pop(other, None)
        if between in mapping:
            continue
        if first is not None and second is not None:
            mapping[between] = {"midpoint": [first, second]}
        elif (single := first or second) and between != "neck_base":
            mapping[between] = single
    known = {name: mapping[name] for name in landmarks() if name in mapping}
    return NamedMarkers(known, tracking, unknown, vocabulary, instead, possible)


def _with_english_sides(names: list[str]) -> list[str]:
    """Names with R for D, droite, and L for G, gauche, where the same name has the other letter, first or last."""
    other, english = str.maketrans("dgDG", "gdGD"), str.maketrans("dgDG", "rlRL")
    there, names_ = set(names), list[str]()
    for name in names:
        first, last = name[:1].translate(other) + name[1:], name[:-1] + name[-1:].translate(other)
        if last != name and last in there:
            name = name[:-1] + name[-1].translate(english)
        elif first != name and first in there:
            name = name[0].translate(english) + name[1:]
        names_.append(name)
    return names_


SPOKEN = 0.6
"""Least share of a vocabulary in a recording that uses it, with both sides of each landmark."""


def _with_mirrors(meant: Mapping[str, str], words: Mapping[str, str]) -> dict[str, str]:
    """Marker -> landmark, also of a name that is unknown beside the same name of the other side: "RFCL" beside "LFCL".

    words: marker -> its name with an English side.
    """
    of_ways: dict[tuple[str, Side], str] = {}
    for name, landmark in meant.items():
        if has_side(landmark):
            of_ways |= {
                (rest, side): landmark
                for rest, side in without_side(plain_name(words[name]))
                if landmark.endswith(f"_{side}")
            }
    there, both = set(meant.values()), dict(meant)
    for name in [name for name, landmark in meant.items() if not landmark]:
        for rest, side in without_side(plain_name(words[name])):
            other: Side = "l" if side == "r" else "r"
            mirrored = of_ways.get((rest, other), "")
            if mirrored and (landmark := f"{mirrored[:-2]}_{side}") not in there:
                both[name] = landmark
                there.add(landmark)
                break
    return both


@dataclass(frozen=True)
class MarkerNames:
    """The names of the mapping.

    `written` are the names in the trial file, `of_set` the folded names and aliases of a marker set; `person` is the
    subject among several persons, None: the only one.
    """

    written: frozenset[str] = frozenset()
    of_set: Mapping[str, str] = field(default_factory=dict)
    person: str | None = None

    def name_of(self, label: str) -> str | None:
        """Return the mapping's name of a label without a person, None if the mapping does not use it."""
        return label if label in self.written else self.of_set.get(label.strip().casefold())

    def renamed(self, markers: Markers) -> Markers:
        """Return the markers by the names of the mapping.

        Other labels do not change, nor does a label whose name is already in use.
        """
        exact = set(markers.names) & (self.written | set(self.of_set.values()))
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
        >>> ms.laboratory.marker_sets()["plug_in_gait"].mapping["asis_r"]
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

    __repr__ = with_sizes

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
        >>> "plug_in_gait" in ms.laboratory.marker_sets()
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
    file = Document(document.input_file("markers", "set", name), trial_kind)
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
        raise _wrong(file, "letters", f"the value is {as_text(letters)}", 'r = "R" and l = "L", or others')
    if letters["r"] == letters["l"]:
        problem, place = "right and left have one letter", ("letters", "l")
        raise file.fault("conflict", place, problem, "two letters", "correct one of them")
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
                    problem = f"the value is {as_text(value)}"
                    raise _wrong(file, (table, key), problem, "a list of marker names")


def _stems(names: Iterable[str], suffix: str) -> list[str]:
    return [name.removesuffix(suffix) for name in names if name.endswith(suffix)]


def _table(file: Document, name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(file, name, "this is not a table", f"[{name}] and its keys below")
    return value


def _wrong(file: Document, place: str | tuple[str, str], problem: str, expected: str) -> InputError:
    remedy = "start from a bundled set: musclesolve list markers NAME shows one"
    return file.fault("bad_value", place, problem, expected, remedy)


def first_way(ways: Iterable[Any], markers: set[str]) -> Any:
    """Return the first definition of a landmark whose markers are all present, or None."""
    return next((definition for definition in ways if set(markers_of(definition)) <= markers), None)
