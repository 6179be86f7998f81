"""The tables [markers], [mapping], [clusters] and [carried] of a draft, with comments."""

from __future__ import annotations

from musclesolve.drafting.markers.choose_mapping import MarkerChoice
from musclesolve.drafting.writing.draft_text import DraftTable, Line
from musclesolve.recording.markers.landmark_names import landmarks
from musclesolve.recording.markers.marker_set import marker_sets

MOST_NAMES = 24


def marker_tables(choice: MarkerChoice) -> tuple[DraftTable, ...]:
    """The tables that state what the markers mean."""
    return tuple(
        table
        for table in (_markers(choice), _mapping(choice), *_clusters(choice))
        if table.lines or table.about or table.todos
    )


def _markers(choice: MarkerChoice) -> DraftTable:
    lines: list[Line] = []
    about: tuple[str, ...] = ()
    if choice.set is not None:
        chosen = marker_sets()[choice.set]
        count = sum(name in choice.resolved for name in chosen.mapping)
        comment = (
            f"{count} of its {len(chosen.mapping)} landmarks are there: musclesolve markers {choice.set}"
        )
        lines.append(Line("set", choice.set, comment))
        about = (f"By the names of the markers: {chosen.description}.",)
    if choice.person is not None:
        others = ", ".join(choice.persons[1:])
        todo = f"check whose markers are meant: the file also has those of {others}"
        lines.append(Line("person", choice.person, "most markers", todo))
    return DraftTable("markers", tuple(lines), about)


def _mapping(choice: MarkerChoice) -> DraftTable:
    lines = [Line(name, way) for name, way in choice.mapping.items()]
    left = ", ".join(choice.leftover[:MOST_NAMES]) + (", ..." if len(choice.leftover) > MOST_NAMES else "")
    for name, reason in choice.missing.items():
        landmark = landmarks()[name]
        other = f" (or map {' or '.join(landmark.instead)})" if landmark.instead else ""
        todo = f"enter the marker of {name}, {landmark.description}{other}: {reason}"
        lines = [line for line in lines if line.key != name]
        lines.append(Line(name, "MARKER", "", todo, open=True))
    about = []
    if choice.set is None:
        about.append(
            "Landmarks by the words in the names of the markers: no bundled set fits (musclesolve markers)."
        )
    elif lines:
        about.append("What the set does not know, by the words in the names of the markers.")
    if left and choice.set is None:
        about.append(f"Markers that no name explains: {left}.")
    if choice.seldom:
        about.append(
            f"Left out, because the motion shows their markers in too few frames: {', '.join(choice.seldom)}."
        )
    return DraftTable("mapping", tuple(lines), tuple(about) if lines or choice.set is None else ())


def _clusters(choice: MarkerChoice) -> tuple[DraftTable, ...]:
    if not choice.clusters.markers:
        return ()
    clusters = tuple(Line(name, list(markers)) for name, markers in choice.clusters.markers.items())
    carried = tuple(Line(marker, cluster) for marker, cluster in choice.clusters.carried.items())
    return (
        DraftTable(
            "clusters",
            clusters,
            (
                "Markers that keep their distances in the motion, and those that they have in the standing trial.",
            ),
        ),
        DraftTable(
            "carried", carried, ("Only the standing trial shows these; the cluster carries them on.",)
        ),
    )
