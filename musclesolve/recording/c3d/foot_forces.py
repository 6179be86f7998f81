"""The plates of a C3D file as forces on feet: by the trial file, or by the contacts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.recording.c3d.c3d_file import C3D
from musclesolve.recording.c3d.force_platforms import read_plates
from musclesolve.recording.data import SIDE_NAMES, SIDES, Markers, PlateForce, Side
from musclesolve.recording.place_errors import error_at
from musclesolve.recording.plates.plate_assignment import (
    Contact,
    Feet,
    contacts,
    feet_of,
    force_on_foot,
    on_feet,
    on_plates_whole,
)
from musclesolve.recording.plates.plate_wrench import PlateRecording
from musclesolve.recording.plates.steps_across_plates import SURE, check_steps
from musclesolve.recording.trial.analysed_range import finds_range
from musclesolve.recording.trial.schema import Document

# The center of pressure lies on the plate to within this [m].
_BESIDE = 0.1
# Cosine of the steepest slope of a walkway.
_LEVEL = 0.7


def c3d_forces(
    document: Document,
    content: Mapping[str, Any],
    file: C3D,
    walk: Markers,
    mapping: Mapping[str, Mapping[str, float]],
    rotation: Array,
) -> tuple[tuple[PlateForce, ...], list[str]]:
    """Return the force on each foot in the global frame, and notes on how it was derived.

    The [[force]] tables of the trial file name plates; without any the contacts decide. `walk` and `mapping` show the
    feet, global frame; `rotation` (3, 3) leads there from the axes of the file.
    """
    recordings, notes = read_plates(file, rotation)
    if not recordings:
        problem, expected = f"{file.path.name} has no force plates", "ground reaction forces"
        remedy = "name the file of the forces under forces in [files]"
        key = "forces" if content["files"]["forces"] else "markers"
        raise document.error(problem, "files", key, 0, expected, remedy, code="bad_plate")
    if walk.path != file.path:
        notes += file.notes
    for recording in recordings:
        _check_level(document, recording)
        _check_on_plate(recording)
    found = _contacts(content, recordings, walk, feet_of(walk, mapping))
    if content["force"]:
        forces, more = _named(document, content, recordings, found), _unused_notes(content, recordings, found)
    else:
        forces, more = _assigned(content, recordings, found)
    return forces, notes + more


def _contacts(
    content: Mapping[str, Any], recordings: list[PlateRecording], walk: Markers, feet: Feet
) -> dict[int, list[Contact]]:
    """Return number of a plate -> its contacts, with the foot of each as far as it is clear."""
    threshold = float(content["filter"]["unloaded_below_n"])
    found = {r.plate.number: contacts(r, walk, feet, threshold) for r in recordings}
    if finds_range(content):
        plates = [recording.plate for recording in recordings]
        found = {number: on_plates_whole(own, feet, plates) for number, own in found.items()}
    for recording in recordings:
        check_steps(recording, found[recording.plate.number], feet)
    return found


def _check_level(document: Document, recording: PlateRecording) -> None:
    """Refuse a plate that stands upright: another axis of the file points up."""
    if abs(recording.plate.axes[2, 2]) < _LEVEL:
        problem = f"plate {recording.plate.number} of {recording.path.name} is not horizontal: its surface is vertical"
        expected = "the axis of the files that points up, square to the plates"
        remedy = "look up in the capture software which axis points up"
        raise document.error(problem, "laboratory", "up", 0, expected, remedy, code="bad_axes")


def _check_on_plate(recording: PlateRecording) -> None:
    """Refuse a plate whose force acts beside it: corners, origin or the unit of moments are wrong."""
    sure = recording.force[:, 2] > SURE
    if sure.any() and np.mean(recording.plate.contains(recording.point[sure], _BESIDE)) < 0.5:
        away = np.median(np.linalg.norm((recording.point[sure] - recording.plate.center)[:, :2], axis=1))
        plate = f"plate {recording.plate.number}"
        problem = f"the center of pressure of {plate} lies beside it, {away:.3g} m from its middle"
        remedy = "correct CORNERS, ORIGIN, or the unit of the moments (ANALOG:UNITS) in the capture software"
        expected = "a center of pressure between CORNERS"
        raise error_at(recording.path, "FORCE_PLATFORM", problem, expected, remedy, code="bad_plate")


def _named(
    document: Document,
    content: Mapping[str, Any],
    recordings: list[PlateRecording],
    found: Mapping[int, list[Contact]],
) -> tuple[PlateForce, ...]:
    """Return the plates that [[force]] names."""
    forces = []
    entries: list[dict[str, Any]] = content["force"]
    for index, entry in enumerate(entries):
        number = entry["plate"]
        if number not in range(1, len(recordings) + 1):
            problem = f"there is no plate {number} in {recordings[0].path.name}"
            expected = f"a number from 1 to {len(recordings)}"
            remedy = "correct the number, or leave out all [[force]]"
            raise document.error(problem, "force", "plate", index, expected, remedy)
        if number in [before["plate"] for before in entries[:index]]:
            remedy = "leave out all [[force]] where both feet step on one plate"
            problem = f"plate {number} is named twice"
            raise document.error(problem, "force", "plate", index, code="conflict", remedy=remedy)
        _check_owner(document, content, index, found[number])
        forces.append(_of_foot(content, entry["side"], recordings[number - 1], found[number]))
    return tuple(forces)


def _of_foot(
    content: Mapping[str, Any], side: Side, recording: PlateRecording, found: list[Contact]
) -> PlateForce:
    """Return the force of a plate on its foot; where the range is found, without the contacts of the other foot."""
    others = np.zeros(recording.time.size, bool)
    for contact in found if finds_range(content) else ():
        if contact.significant and contact.side != side:
            others[contact.first : contact.last] = True
    return force_on_foot(recording, side, ~others)


def _check_owner(document: Document, content: Mapping[str, Any], index: int, found: list[Contact]) -> None:
    """Refuse a plate that [[force]] gives to one foot while the other one stands on it."""
    side: Side = content["force"][index]["side"]
    others = [c for c in found if c.significant and c.side not in (side, None) and _in_range(content, c)]
    if others:
        other: Side = "l" if side == "r" else "r"
        problem = f"the {SIDE_NAMES[other]} foot stands on {others[0]}"
        expected = f"only the {SIDE_NAMES[side]} foot on this plate, in the time range"
        remedy = f'leave out all [[force]]: the contacts decide then; or side = "{other}"'
        raise document.error(problem, "force", "side", index, expected, remedy, code="conflict")


def _unused_notes(
    content: Mapping[str, Any], recordings: list[PlateRecording], found: Mapping[int, list[Contact]]
) -> list[str]:
    """Return a sentence for every contact with a plate that [[force]] does not name."""
    used = {entry["plate"] for entry in content["force"]}
    return [
        f"The force on {contact}, up to {contact.peak:.0f} N, is left out: [[force]] does not name that plate."
        for recording in recordings
        if recording.plate.number not in used
        for contact in found[recording.plate.number]
        if contact.significant and _in_range(content, contact)
    ]


def _assigned(
    content: Mapping[str, Any], recordings: list[PlateRecording], found: Mapping[int, list[Contact]]
) -> tuple[tuple[PlateForce, ...], list[str]]:
    """Return the plates divided among the feet by their contacts."""
    path = recordings[0].path
    significant = [contact for own in found.values() for contact in own if contact.significant]
    for contact in significant:
        if contact.side is None and _in_range(content, contact):
            problem = f"it is not clear which foot the force is on: {contact.reason}"
            expected = "one foot on a plate at a time, seen by the markers of heel and toe"
            remedy = "choose a range without this contact ([time]), or name plates and feet in [[force]]"
            raise error_at(path, contact, problem, expected, remedy, code="unassigned_plate")
    forces = tuple(force for r in recordings for force in on_feet(r, found[r.plate.number]))
    if not forces:
        problem, remedy = "no foot stands on a plate", "choose another recording, or other forces in [files]"
        raise error_at(path, "FORCE_PLATFORM", problem, "a step on a plate", remedy, code="unassigned_plate")
    notes = []
    for side in SIDES:
        own = "; ".join(str(contact) for contact in significant if contact.side == side)
        if own:
            notes.append(f"The {SIDE_NAMES[side]} foot was found on {own}.")
    notes += [
        f"The force on {contact}, up to {contact.peak:.0f} N, is left out: {contact.reason}."
        for contact in significant
        if contact.side is None
    ]
    return forces, notes


def _in_range(content: Mapping[str, Any], contact: Contact) -> bool:
    """Return whether a contact lies in the time range that is given; a range that is found leaves it out."""
    if finds_range(content):
        return False
    start, end = content["time"]["start_s"], content["time"]["end_s"]
    return (end is None or contact.start <= end) and (start is None or contact.end >= start)
