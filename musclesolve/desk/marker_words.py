"""Texts on landmarks and their mapping."""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.message_text import capitalized
from musclesolve._util.sides import SIDE_NAMES, side_of
from musclesolve.desk.marker_meaning import Mapped, Meaning, Recording, way_text
from musclesolve.recording.data import SIDES
from musclesolve.recording.markers.landmark_names import landmarks

LONGEST_TEXT, LONGEST_TITLE = 400, 40
"""Largest length of a shown sentence, and of the name of a row."""
RECORDINGS: dict[Recording, str] = {"motion": "motion", "standing": "standing trial"}


def in_words(name: str) -> str:
    """A landmark in words: "asis_r" is "Right anterior superior iliac spine"."""
    words = landmarks()[name].description
    return capitalized(words)


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
