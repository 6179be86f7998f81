"""Recordings of other subjects: the reference stride by another size and mass, with markers at other places.

A body k times as long and c times as heavy walks alike in sqrt(k) times the time, with c times the force and c k times
the moment: gravity is the same, so that Froude's number is, and Newton's law holds as it did.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from trial_copy import TrialCopy

from musclesolve.studies.synthetic import reference_stride
from musclesolve.studies.synthetic.places import Places, marker_places
from musclesolve.studies.synthetic.recording_options import RecordingOptions
from musclesolve.studies.synthetic.synthetic_recording import (
    FORCES,
    STANDING,
    TRIAL,
    WALK,
    plates,
    standing,
    trial_text,
    walking,
)
from musclesolve.tables import write_mot, write_trc

Offset = Sequence[float]


def subject_recording(
    folder: Path,
    moved: Mapping[str, Offset] | None = None,
    *,
    stature: float | None = None,
    mass: float | None = None,
    stride=None,
    **options: object,
) -> Path:
    """Record the reference stride of another subject.

    Args:
        folder: where to.
        moved: marker -> how far it sits from where it should, on the standing subject of the reference stride: forward,
            left and up [m]. Without a marker set every landmark has a marker of its name.
        stature: of the subject [m]; that of the reference stride when None.
        mass: of the subject [kg]; that of the reference stride when None.
        stride: another stride than the reference stride.
        options: those of `RecordingOptions` without cameras and faults.

    Returns:
        The trial file.
    """
    copy = _recorded(stride or reference_stride(), moved or {}, RecordingOptions(**options))  # type: ignore[arg-type]
    given = copy.settings.subject
    length = 1.0 if stature is None else stature / given.stature_m
    weight = 1.0 if mass is None else mass / given.mass_kg
    _scale(copy, length, weight)
    copy.set_key("subject", "stature_m", repr(length * given.stature_m))
    copy.set_key("subject", "mass_kg", repr(weight * given.mass_kg))
    return copy.write(folder)


def _recorded(stride, moved: Mapping[str, Offset], options: RecordingOptions) -> TrialCopy:
    places = _moved(marker_places(stride.person, options.marker_set), moved)
    with tempfile.TemporaryDirectory(prefix="musclesolve-") as name:
        folder = Path(name)
        write_trc(folder / f"{WALK}.trc", walking(stride, options, places), decimals=options.decimals)
        write_trc(folder / f"{STANDING}.trc", standing(stride, options, places), decimals=options.decimals)
        write_mot(folder / FORCES, plates(stride, options))
        (folder / TRIAL).write_text(trial_text(stride, options), encoding="utf-8")
        return TrialCopy(folder / TRIAL)


def _moved(places: Places, moved: Mapping[str, Offset]) -> Places:
    standing = places.standing.copy()
    for name, offset in moved.items():
        standing[places.names.index(name)] += np.asarray(offset, float)
    return replace(places, standing=standing)


def _scale(copy: TrialCopy, length: float, weight: float) -> None:
    """Change size, time and force of a recording so that the laws of motion still hold."""
    duration, (start, end) = length**0.5, copy.span
    copy.walk = replace(copy.walk, time=duration * copy.walk.time, position=length * copy.walk.position)
    if copy.static is not None:
        copy.static = replace(copy.static, position=length * copy.static.position)
    copy.forces = replace(copy.forces, time=duration * copy.forces.time)
    for plate in copy.plates():
        for role, factor in (("force", weight), ("point", length), ("moment", weight * length)):
            copy.set_plate(plate, role, factor * copy.plate(plate, role))
    copy.set_key("time", "start_s", repr(duration * start))
    copy.set_key("time", "end_s", repr(duration * end))
