"""From the labels of a file to the names that the mapping uses: persons, cases and aliases.

Capture software may write the person before every label, "Ann:LASI". Whether it does is up to the way of export, so
both forms of a label are the same marker, as long as one person is in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from musclesolve.recording.data import Markers
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.schema import Document


@dataclass(frozen=True)
class MarkerNames:
    """The names that the mapping uses.

    `written` are the names in the trial file, `known` the folded names and aliases of a marker set; `person` is the one
    whose markers are meant, None: the only one.
    """

    written: frozenset[str] = frozenset()
    known: Mapping[str, str] = field(default_factory=dict)
    person: str | None = None

    def name_of(self, label: str) -> str | None:
        """Return the name that a label without a person stands for, None where the mapping does not use it."""
        return label if label in self.written else self.known.get(label.strip().casefold())

    def renamed(self, markers: Markers) -> Markers:
        """Return the markers by the names that the mapping uses.

        Other labels stay as they are, and so does one whose name is taken already.
        """
        exact = set(markers.names) & (self.written | set(self.known.values()))
        others = (
            set(self.persons(markers)) - {self.person} if self.person is not None else self._doubles(markers)
        )
        names: list[str] = []
        for label in markers.names:
            person, plain = split_label(label)
            new = label if label in exact else self.name_of(label)
            if new is None and person not in others:
                new = self.name_of(plain)
            taken = exact | set(names) | set(markers.names)
            names.append(new if new is not None and (new == label or new not in taken) else label)
        return _with_names(markers, names)

    def persons(self, markers: Markers) -> list[str]:
        """Return the persons before labels that the mapping uses."""
        exact = self.written & set(markers.names)
        parts = [split_label(label) for label in markers.names if label not in exact]
        return list(
            dict.fromkeys(person for person, plain in parts if person and self.name_of(plain) is not None)
        )

    def _doubles(self, markers: Markers) -> set[str]:
        """Return the persons one of whose markers is there without a person as well: they are not the subject."""
        alone = {self.name_of(label) for label in markers.names} - {None}
        parts = [split_label(label) for label in markers.names]
        return {person for person, plain in parts if person and self.name_of(plain) in alone}

    def checked(self, document: Document, markers: Markers) -> Markers:
        """Return the markers by the names that the mapping uses."""
        persons = self.persons(markers)
        if self.person is None:
            left = [person for person in persons if person not in self._doubles(markers)]
            if len(left) > 1:
                problem = f"the same markers are there of {' and '.join(left)}"
                expected = "the markers of one person"
                remedy = f'add person = "{left[0]}" to [markers] in {document.path.name}'
                raise error_at(markers.path, None, problem, expected, remedy, code="conflict")
        elif persons and self.person not in persons:
            problem = f"there are no markers of '{self.person}' in {markers.path}"
            raise document.unknown(problem, self.person, persons, "markers", "person", code="missing_marker")
        return self.renamed(markers)


def split_label(label: str) -> tuple[str, str]:
    """Return person and name of a label such as "Ann:LASI"; the person is "" where there is none."""
    person, _, plain = label.partition(":")
    return (person, plain) if person and plain else ("", label)


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
