"""Meaning of the markers of the open trial: landmark by landmark, with its source, its faults, and texts on both."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import capitalized
from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.apps.desk.trial_document import Place, TrialDocument
from musclesolve.apps.desk.work_folder import Recordings
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.case import Case, checks_of, examine, load_markers
from musclesolve.laboratory.checks.observed_body import landmark
from musclesolve.laboratory.checks.recording import landmarks as landmark_checks
from musclesolve.laboratory.checks.recording import sides
from musclesolve.laboratory.draft.choose_mapping import MarkerChoice, choose_mapping
from musclesolve.laboratory.draft.laboratory_axes import LaboratoryAxes, laboratory_axes
from musclesolve.laboratory.markers.landmarks import functional_joints, landmarks, markers_of
from musclesolve.laboratory.markers.marker_names import (
    MarkerNames,
    MarkerSet,
    marker_names_of,
    marker_sets,
    split_label,
)
from musclesolve.laboratory.markers.marker_places import Body
from musclesolve.laboratory.recording.axes import global_from_laboratory, standing_axes
from musclesolve.laboratory.recording.data import SIDES, Trial
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.trial.marker_mapping import requested_mapping
from musclesolve.tables.sampled import Markers

Source = Literal["file", "set", "left out", ""]
"""Source of a mapping: a line of [mapping], the marker set, left out by a line of [mapping], or not mapped."""
Recording = Literal["standing", "motion"]
LONGEST_TEXT, LONGEST_TITLE = 400, 40
"""Largest length of a shown sentence, and of the name of a row."""
RECORDINGS: dict[Recording, str] = {"motion": "motion", "standing": "standing trial"}


@dataclass(frozen=True)
class LandmarkGroup:
    """A part of the body: its landmarks, without side where they have both, and pairs between which a line is drawn."""

    title: str
    landmarks: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]


@cache
def parts() -> tuple[LandmarkGroup, ...]:
    """The parts of the body in `marker_parts.toml`; lines by the names of landmarks with side."""
    described = []
    for entry in bundled_toml(__package__, "marker_parts.toml")["part"]:
        lines = [
            pair
            for one, other in entry["lines"]
            for suffix in ("", "_r", "_l")
            if set(pair := (_of_side(one, suffix), _of_side(other, suffix))) <= set(landmarks())
        ]
        described.append(
            LandmarkGroup(entry["title"], tuple(entry["landmarks"]), tuple(dict.fromkeys(lines)))
        )
    return tuple(described)


def _of_side(name: str, suffix: str) -> str:
    return name if name in landmarks() else name + suffix


@dataclass(frozen=True)
class Mapped:
    """One landmark.

    way: as a trial file writes it: a marker, a midpoint, or weights; None where it is not mapped. problem: why what is
    mapped cannot be used, or why a marker is needed; suggestion: what the names of the markers mean, None where
    nothing.
    needed: the motion cannot be measured without it, as the others are mapped; missing: needed, and not mapped.
    """

    name: str
    way: Any = None
    source: Source = ""
    problem: str = ""
    suggestion: Any = None
    missing: bool = False
    needed: bool = False

    @property
    def markers(self) -> list[str]:
        """The markers that it is mapped to."""
        return markers_of(self.way)


@dataclass(frozen=True)
class Meaning:
    """Meaning of the markers of a trial.

    case: motion and standing trial in the global frame, by the names that the mapping uses; None where there is no
    motion. findings: what is wrong, causes first. mapped: landmark -> what is known of it. clusters: as they are
    requested; carried: marker of the standing trial -> the cluster that carries it. files: that it was read from.
    """

    case: Case | None
    findings: tuple[Finding, ...]
    mapped: Mapping[str, Mapped]
    clusters: Mapping[str, list[str]] = field(default_factory=dict)
    carried: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    chosen_set: str | None = None
    proposed: "Proposal | None" = None

    @property
    def missing(self) -> list[str]:
        """Landmarks that are needed and not mapped."""
        return [name for name, meaning in self.mapped.items() if meaning.missing]

    @property
    def suggestions(self) -> dict[str, Any]:
        """Landmark -> suggested mapping, for landmarks that are not mapped."""
        return {
            name: meaning.suggestion
            for name, meaning in self.mapped.items()
            if meaning.suggestion is not None
        }

    @property
    def faults(self) -> list[Finding]:
        """Findings besides missing landmarks, and besides axes that the markers show."""
        said = {"[mapping]" if self.missing else None, "[laboratory]" if self.axes_to_state else None}
        return [finding for finding in self.findings if finding.where.field not in said - {None}]

    @property
    def axes_to_state(self) -> dict[str, str | None]:
        """The axes that the markers show, where another one is stated as pointing up, or one is not stated; else empty.

        The walking direction is not compared: a subject may walk backward, or on a treadmill.
        """
        if self.case is None or self.proposed is None or not (shown := self.proposed.laboratory):
            return {}
        table = self.case.document.content.get("laboratory")
        stated: Mapping[str, Any] = table if isinstance(table, dict) else {}
        upward = [(axes.get("up"), axes.get("static_up") or axes.get("up")) for axes in (stated, shown)]
        return {} if upward[0] == upward[1] and stated.get("forward") else shown

    @cached_property
    def landmark_of(self) -> dict[str, str]:
        """Marker -> the first landmark that it shows."""
        shown = dict[str, str]()
        for name, meaning in self.mapped.items():
            for marker in meaning.markers:
                shown.setdefault(marker, name)
        return shown

    def recording(self, which: Recording) -> Markers | None:
        """The motion or the standing trial."""
        trial = None if self.case is None else self.case.trial
        return None if trial is None else trial.static if which == "standing" else trial.markers

    @cached_property
    def marker_names(self) -> list[str]:
        """The markers of both recordings, the markers of the motion first."""
        both = (self.recording("motion"), self.recording("standing"))
        return list(dict.fromkeys(name for markers in both if markers is not None for name in markers.names))

    @cached_property
    def _bodies(self) -> list[tuple[Markers, Body]]:
        """The recordings that show an upright body, the standing trial first."""
        shown = []
        for which in ("standing", "motion"):
            markers = self.recording(which)
            if self.case is not None and markers is not None:
                body = Body.of(landmark_paths(self.case.trial, markers))
                shown += [] if body is None else [(markers, body)]
        return shown

    def place_of(self, marker: str) -> str:
        """The place of a marker on the body, in words; "" where its recordings do not show it."""
        words = (body.where(markers[marker]) for markers, body in self._bodies if marker in markers)
        return next(filter(None, words), "")

    def written(self, marker: str) -> str:
        """The name by which a trial file names a marker."""
        return self.labels.get(marker, marker)

    def changes_of(self, suggestions: Mapping[str, Any]) -> dict[Place, Any]:
        """Return the changes of the trial file by accepted suggestions: landmarks, and the clusters that carry them."""
        changes: dict[Place, Any] = {("mapping", name): way for name, way in suggestions.items()}
        moving = self.recording("motion")
        for marker in (marker for way in suggestions.values() for marker in markers_of(way)):
            cluster = None if self.proposed is None else self.proposed.carried.get(marker)
            if moving is not None and marker not in moving and cluster and marker not in self.carried:
                changes["carried", marker] = cluster
                if cluster not in self.clusters and self.proposed is not None:
                    changes["clusters", cluster] = list(self.proposed.clusters[cluster])
        return changes


@dataclass(frozen=True)
class Proposal:
    """Meaning of the markers by their names: landmarks, and clusters that carry the points of the standing trial only.

    set: a bundled marker set whose names are there, None where none is. axes: of the files, as the markers show them.
    """

    set: MarkerSet | None
    mapping: Mapping[str, Any]
    clusters: Mapping[str, list[str]]
    carried: Mapping[str, str]
    axes: LaboratoryAxes

    @property
    def laboratory(self) -> dict[str, str | None]:
        """The axes that the markers show, by the keys of [laboratory], None of what is not to be stated; else empty."""
        if not self.axes.complete:
            return {}
        standing = {line.key: line.value for line in self.axes.standing}
        stated = {"forward": self.axes.forward, "up": self.axes.up}
        return stated | {key: standing.get(key) for key in ("static_forward", "static_up")}


class Meanings:
    """Meanings of the markers of the trial, computed once for each text and state of the files.

    Args:
        recordings: that were read.
    """

    def __init__(self, recordings: Recordings) -> None:
        self._recordings = recordings
        self._last: tuple[Path, str, Meaning] | None = None
        self._proposed: tuple[tuple[Markers, Markers | None], MarkerChoice] | None = None

    def known(self, path: Path, text: str) -> Meaning | None:
        """The known meaning if no file has changed; reads nothing."""
        if self._last is None or self._last[:2] != (path, text):
            return None
        meaning = self._last[2]
        return meaning if all(self._recordings.known(file) is not None for file in meaning.files) else None

    def read(self, path: Path, text: str) -> Meaning:
        """The meaning; reads the files where they are new, which takes a moment."""
        meaning = self.known(path, text)
        if meaning is None:
            meaning = self._found(path)
            if TrialDocument(path).text == text:  # otherwise the text has changed meanwhile
                self._last = path, text, meaning
        return meaning

    def _found(self, path: Path) -> Meaning:
        read = list[Path]()

        def reader(file: Path) -> Markers:
            read.append(file)
            return self._recordings.markers(file)

        case, findings = load_markers(path, reader)
        if case is None:
            lines = TrialDocument(path).value("mapping") or {}
            mapped = {
                name: Mapped(name, lines[name], "file") if lines.get(name) else Mapped(name)
                for name in landmarks()
            }
            return Meaning(None, tuple(findings), mapped, files=tuple(read))
        settings, document = case.settings, case.document
        raw = _raw(case, read, self._recordings)
        tables: Mapping[str, Mapping[str, Any]] = {
            name: settings[name] for name in ("mapping", "clusters", "carried")
        }
        names = MarkerNames()
        with suppress(InputError):
            requested = requested_mapping(document, settings, *raw)
            tables, names = requested.tables, requested.names
        labels = _written_names(raw, names)
        proposal = self._proposal(raw, names, labels)
        # How landmarks lie to each other is judged in the axes that the markers show, whatever is stated; the picture
        # has those that are stated.
        upright = case
        if proposal.laboratory:
            with_axes, _ = load_markers(path, reader, proposal.laboratory)
            upright = with_axes or case
        examined = examine(upright, checks_of(landmark_checks, sides))
        if {"up", "forward"} & case.unknown:
            case = upright
        errors = [finding for finding in examined if finding.severity == "error"]
        wrong = {finding.where.field: finding.what for finding in errors}
        functional = functional_joints(settings)
        mapped = {}
        for name, known in landmarks().items():
            stated, way = settings.mapping.get(name), tables["mapping"].get(name)
            source: Source = (
                "left out" if stated is False else "file" if stated is not None else "set" if way else ""
            )
            needed = (
                known.required
                and name.partition("_")[0] not in functional
                and not any(other in tables["mapping"] for other in known.instead)
            )
            way = None if stated is False else way
            mapped[name] = Mapped(
                name,
                way,
                source,
                problem=wrong.get(f"[mapping] {name}", "") if way is not None else "",
                suggestion=proposal.mapping.get(name) if way is None and source == "" else None,
                missing=needed and way is None,
                needed=needed,
            )
        taken = [meaning.way for meaning in mapped.values() if meaning.way is not None]
        for name, meaning in mapped.items():
            if meaning.suggestion in taken:  # another landmark is mapped to this point
                mapped[name] = replace(meaning, suggestion=None)
        return Meaning(
            case,
            tuple(examined),
            mapped,
            {
                name: list(markers)
                for name, markers in tables["clusters"].items()
                if isinstance(markers, list)
            },
            {marker: cluster for marker, cluster in tables["carried"].items() if isinstance(cluster, str)},
            tuple(read),
            labels,
            settings.markers.set,
            proposal,
        )

    def _proposal(
        self, raw: tuple[Markers, Markers | None], names: MarkerNames, labels: Mapping[str, str]
    ) -> Proposal:
        """Return the proposal of drafting for the markers, by the names of the trial."""
        if self._proposed is None or any(a is not b for a, b in zip(self._proposed[0], raw, strict=True)):
            self._proposed = raw, choose_mapping(*raw)
        choice = self._proposed[1]
        chosen = None if choice.set is None else marker_sets()[choice.set]
        used = frozenset(marker for weights in choice.resolved.values() for marker in weights)
        theirs = (
            MarkerNames(used, person=choice.person)
            if chosen is None
            else marker_names_of(chosen, used, choice.person)
        )
        name_of = dict[str, str]()
        for markers in (one for one in raw if one is not None):
            here = names.renamed(markers).names
            for their, mine, label in zip(theirs.renamed(markers).names, here, markers.names, strict=True):
                name_of.setdefault(their, labels.get(mine, mine))
                name_of.setdefault(split_label(label)[1], labels.get(mine, mine))

        def named(markers: Iterable[str]) -> list[str]:
            return [name_of[marker] for marker in markers if marker in name_of]

        clusters = {} if chosen is None else dict(chosen.clusters)
        carried = {} if chosen is None else dict(chosen.carried)
        return Proposal(
            chosen,
            {
                name: way
                for name, weights in choice.resolved.items()
                if (way := _way(weights, name_of)) is not None
            },
            {name: named(markers) for name, markers in (clusters | dict(choice.clusters)).items()},
            {
                name_of[marker]: cluster
                for marker, cluster in (carried | dict(choice.carried)).items()
                if marker in name_of
            },
            laboratory_axes(choice, None),
        )


def _raw(case: Case, read: list[Path], recordings: Recordings) -> tuple[Markers, Markers | None]:
    """Motion and standing trial in the axes of their files."""
    trial = case.trial

    # Where a file was repaired to be read, what was read of it stands in the case alone.
    def original(markers: Markers) -> Markers:
        try:
            return recordings.markers(markers.path) if markers.path in read else markers
        except InputError:
            return markers

    return original(trial.markers), None if trial.static is None else original(trial.static)


def _written_names(raw: tuple[Markers, Markers | None], names: MarkerNames) -> dict[str, str]:
    """Marker by the name of the mapping -> its name in a trial file: without the person where that is clear."""
    written = dict[str, str]()
    for markers in (one for one in raw if one is not None):
        persons = {split_label(label)[0] for label in markers.names} - {""}
        plain = [split_label(label)[1] for label in markers.names]
        for name in names.renamed(markers).names:
            person, short = split_label(name)
            alone = persons == {person} or (names.person is not None and names.person == person)
            written.setdefault(name, short if person and alone and plain.count(short) == 1 else name)
    return written


def _way(weights: Mapping[str, float], name_of: Mapping[str, str]) -> Any:
    """Return weights of markers as a trial file writes them; None where a marker is missing."""
    if not set(weights) <= set(name_of):
        return None
    named = {name_of[marker]: weight for marker, weight in weights.items()}
    if len(named) == 1:
        return next(iter(named))
    if len(named) == 2 and set(named.values()) == {0.5}:
        return {"midpoint": list(named)}
    return {"weights": named}


def way_text(way: Any) -> str:
    """Return the mapping of a landmark, in words."""
    if isinstance(way, str):
        return way
    if isinstance(way, dict) and isinstance(way.get("midpoint"), list):
        return "midway between " + " and ".join(map(str, way["midpoint"]))
    if isinstance(way, dict) and isinstance(way.get("weights"), dict):
        return " + ".join(f"{weight:g} {marker}" for marker, weight in way["weights"].items())
    return str(way)


def laboratory_rotation(meaning: Meaning, which: Recording) -> Array | None:
    """The rotation (3, 3) from the axes of a file to the axes of the picture; None where there is no motion."""
    if meaning.case is None:
        return None
    laboratory = meaning.case.settings.laboratory
    axes = standing_axes(laboratory) if which == "standing" else (laboratory.forward, laboratory.up)
    return global_from_laboratory(*axes)


def landmark_paths(trial: Trial, markers: Markers) -> dict[str, Array]:
    """Landmark -> its path (T, 3) [m] in one recording, of those that it shows."""
    paths = {name: landmark(trial, name, markers) for name in trial.mapping}
    return {name: path for name, path in paths.items() if path is not None and np.isfinite(path).any()}


def in_words(name: str) -> str:
    """A landmark in words: "asis_r" is "Right anterior superior iliac spine"."""
    return capitalized(landmarks()[name].description)


def names_of(stem: str) -> list[str]:
    """The landmarks of a row: right and left, or the one in the middle."""
    return [stem] if stem in landmarks() else [f"{stem}_{side}" for side in SIDES]


def plain_words(name: str) -> str:
    """A landmark in words, without its side."""
    return landmarks()[name].description.removeprefix("right ").removeprefix("left ")


def row_title(name: str) -> str:
    """A landmark in few words, without its side."""
    words = plain_words(name).partition(" (")[0]
    words = words if len(words) <= LONGEST_TITLE else words.partition(",")[0]
    return capitalized(words)


def missing_text(names: Sequence[str]) -> str:
    """Landmarks in words, both sides of one together."""
    sides = dict[str, list[str]]()
    for name in names:
        side = SIDE_NAMES.get(side_of(name))
        sides.setdefault(plain_words(name), []).extend([side] if side else [])
    return "; ".join(f"{words} ({' and '.join(of)})" if of else words for words, of in sides.items())


def cell_text(mapped: Mapped) -> tuple[str, str, str]:
    """Return the text of a cell, its kind, and its words for a screen reader."""
    if mapped.problem:
        return way_text(mapped.way), "bad", f"{way_text(mapped.way)}, cannot be used"
    if mapped.way is not None:
        by = "by the marker set" if mapped.source == "set" else "stated"
        return way_text(mapped.way), mapped.source, f"{way_text(mapped.way)}, {by}"
    if mapped.suggestion is not None:
        return f"{way_text(mapped.suggestion)} ?", "suggested", f"suggested: {way_text(mapped.suggestion)}"
    if mapped.source == "left out":
        return "left out", "none", "left out"
    return (
        ("missing", "missing", "missing: needed and not mapped")
        if mapped.missing
        else ("choose", "none", "choose: not mapped")
    )


def source_text(mapped: Mapped, meaning: Meaning) -> str:
    """Return the source of the mapping of a landmark."""
    return {
        "file": "A line of [mapping] in the trial file maps it.",
        "set": f"The marker set {meaning.chosen_set} maps it; another marker here overrides the set.",
        "left out": "A line of [mapping] leaves it out.",
    }.get(mapped.source, "")


def seen_text(meaning: Meaning, marker: str) -> list[str]:
    """Return the share of each recording that shows a marker, in words."""
    said = []
    for which, title in RECORDINGS.items():
        markers = meaning.recording(which)
        if markers is None:
            continue
        if marker not in markers:
            said.append(f"Not in the {title}")
            continue
        share = float(np.isfinite(markers[marker]).all(axis=1).mean())
        said.append(f"Seen in {100.0 * share:.0f} % of the {title}")
    return said


def clipped(text: str) -> str:
    """A sentence, with a capital, without the long list of names behind it."""
    text = capitalized(text)
    return text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT].rsplit(" ", 1)[0] + " ..."
