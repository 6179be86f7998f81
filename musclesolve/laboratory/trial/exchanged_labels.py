"""Labels of markers that [[exchanged]] of a trial file gives to each other."""

import numpy as np

from musclesolve._util.arrays import Mask
from musclesolve._util.messages import few
from musclesolve.laboratory.recording.trial_settings import RecordedSettings
from musclesolve.tables.document import Document
from musclesolve.tables.sampled import Markers


def check_exchanged(document: Document, settings: RecordedSettings, stands: bool) -> None:
    """Refuse tables [[exchanged]] of which a part would exchange nothing; stands: whether there is a standing trial."""
    for number, entry in enumerate(settings.exchanged):
        if not (entry.markers or entry.static):
            said = "markers", "no labels are stated", "state the markers, or remove the table"
        elif entry.times_s is not None and not entry.markers:
            said = "times_s", "times are of the motion, whose markers are not stated", "leave times_s out"
        elif entry.static and not stands:
            said = "static", "there is no standing trial", "leave static out, or name the trial in [files]"
        else:
            continue
        key, problem, remedy = said
        raise document.fault(
            "conflict", ("exchanged", key, number), problem, "markers of a file of this trial", remedy
        )


def with_exchanged(
    document: Document, settings: RecordedSettings, role: str, before: Markers, notes: list[str]
) -> Markers:
    """Return the markers of a file with the labels of [[exchanged]] the other way around, and add a note.

    Tables act one after another: a second exchange of a pair takes the first one back.
    """
    markers = before
    for number, entry in enumerate(settings.exchanged):
        pairs, place = entry[role], ("exchanged", role, number)
        if not pairs:
            continue
        names = [name for pair in pairs.items() for name in pair]
        document.check_known(
            names, "there is no marker", markers.names, *place, after=f" in {markers.path.name}"
        )
        if twice := [name for name in names if names.count(name) > 1]:
            expected = 'each marker once: A = "B" gives both of them the label of the other'
            remedy = f"keep one pair of {twice[0]} and another marker"
            raise document.fault(
                "conflict", place, f"{twice[0]!r} stands twice in this table", expected, remedy
            )
        frames: Mask = np.full(markers.time.size, role == "static" or entry.times_s is None)
        for first, last in entry.times_s or () if role == "markers" else ():
            within = (first <= markers.time) & (markers.time <= last)
            if not within.any():
                begin, end = markers.time[[0, -1]]
                raise document.fault(
                    "no_overlap",
                    ("exchanged", "times_s", number),
                    f"{markers.path.name} has no frame from {first:g} to {last:g} s",
                    f"times within {begin:g} to {end:g} s",
                    "correct the times, by the clock of this file",
                )
            frames |= within
        markers = markers.exchanged(pairs, frames)
    if markers is not before:
        same: Mask = np.asarray(np.isclose(markers.position, before.position, 0.0, 0.0, equal_nan=True))
        changed: Mask = np.asarray(~same.all(axis=2))
        names, file = [markers.names[k] for k in np.flatnonzero(changed.any(axis=0))], markers.path.name
        count = int(changed.any(axis=1).sum())
        said = f"By the trial file labels are exchanged in {count} frames of {file}: {few(names, 4)}."
        notes.append(said if names else f"[[exchanged]] changes nothing in {file}: leave these tables out.")
    return markers
