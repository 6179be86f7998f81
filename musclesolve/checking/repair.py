"""Repairs of a recording under examination: values that a finding proposes. They change nothing on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from musclesolve._util.arrays import Array, Mask, time_spans
from musclesolve._util.long_arrays import in_blocks
from musclesolve.recording.data import Markers, Trial
from musclesolve.settings.trial import LaboratorySettings

Role = Literal["markers", "static"]
ROLES: tuple[Role, ...] = ("markers", "static")


@dataclass(frozen=True)
class Recorded:
    """Parts of a recording that a repair may change."""

    trial: Trial  # the recording
    laboratory: LaboratorySettings  # which axes of the files point forward and up


Repair = Callable[[Recorded], Recorded]


def in_order(*repairs: Repair) -> Repair:
    """Return the repair that applies some others one after the other."""

    def repair(recorded: Recorded) -> Recorded:
        for change in repairs:
            recorded = change(recorded)
        return recorded

    return repair


def replace_fields(**changes: Any) -> Repair:
    """Replace fields of the trial."""
    return lambda recorded: replace(recorded, trial=replace(recorded.trial, **changes))


def change_markers(role: Role, change: Callable[[Markers], Markers]) -> Repair:
    """Change the motion or the standing trial."""
    return lambda recorded: replace_fields(**{role: change(getattr(recorded.trial, role))})(recorded)


def exchange_labels(
    trial: Trial, pairs: Mapping[Role, Mapping[str, str]], frames: Mask | None = None
) -> tuple[Repair, dict[tuple[str | int, ...], Any]]:
    """Return the repair that exchanges pairs of markers of files, in some frames (T,), and its table [[exchanged]]."""
    place, time = ("exchanged", len(trial.settings.exchanged)), trial.markers.time
    change: dict[tuple[str | int, ...], Any] = {(*place, role): dict(own) for role, own in pairs.items()}
    if frames is not None:
        half = 0.5 * float(np.median(np.diff(time)))  # a stretch of one frame has a length, too
        spans = time_spans(frames, time)
        change[(*place, "times_s")] = [[round(a - half, 4), round(b + half, 4)] for a, b in spans]

    def exchange(recorded: Recorded) -> Recorded:
        when = slice(None) if frames is None else frames
        files = {role: getattr(recorded.trial, role).exchanged(own, when) for role, own in pairs.items()}
        return replace_fields(**files)(recorded)

    return exchange, change


def exchange_landmarks(one: str, other: str) -> Repair:
    """Exchange two landmarks of the mapping."""

    def repair(recorded: Recorded) -> Recorded:
        mapping = recorded.trial.mapping
        return replace_fields(mapping={**mapping, one: mapping[other], other: mapping[one]})(recorded)

    return repair


def remove_samples(name: str, frames: Mask) -> Repair:
    """Take a marker as not seen in some frames (T,)."""

    def change(markers: Markers) -> Markers:
        position = in_blocks(np.ndarray.copy, markers.position)
        position[frames, markers.names.index(name)] = float("nan")
        return replace(markers, position=position)

    return change_markers("markers", change)


def move_back(name: str, slips: Sequence[tuple[int, int, Array]]) -> Repair:
    """Take back slips of a marker: last frame before, first frame after, displacement (3,) [m].

    The segment is taken to keep its orientation after the slip: good enough to say what the slip costs.
    """

    def change(markers: Markers) -> Markers:
        position = in_blocks(np.ndarray.copy, markers.position)
        column = markers.names.index(name)
        for before, after, moved in slips:
            position[after:, column] -= moved
            share = np.linspace(0.0, 1.0, after - before + 1)[:, None]
            start, end = position[before, column].copy(), position[after, column].copy()
            position[before : after + 1, column] = start + share * (end - start)
        return replace(markers, position=position)

    return change_markers("markers", change)


def change_plate(index: int, **changes: Any) -> Repair:
    """Replace fields of one plate."""

    def repair(recorded: Recorded) -> Recorded:
        plates = list(recorded.trial.forces)
        plates[index] = replace(plates[index], **changes)
        return replace_fields(forces=tuple(plates))(recorded)

    return repair


def rotate_plate(index: int, rotation: Array) -> Repair:
    """Rotate forces, points and moments of one plate by a rotation (3, 3).

    Where this turns up into down, forces on the foot were read as those on the plate, or the reverse.
    """

    def repair(recorded: Recorded) -> Recorded:
        plate, over = recorded.trial.forces[index], rotation[2, 2] < 0.0
        columns = {name: getattr(plate, name) @ rotation.T for name in ("force", "point", "moment")}
        for name in ("force", "moment") if over else ():
            columns[name] = -columns[name]
        return change_plate(index, **columns, turned=plate.turned != over)(recorded)

    return repair


def rotate_recordings(rotation: Array, laboratory: Mapping[str, str] | None) -> Repair:
    """Rotate all recordings by a rotation (3, 3), but a standing trial whose axes are stated apart.

    laboratory: the right axes of the files; None where the forces are right as they are.
    """

    def repair(recorded: Recorded) -> Recorded:
        trial = recorded.trial
        apart = {"static_up", "static_forward"} & recorded.laboratory.stated.keys()
        changes: dict[str, Any] = {
            role: markers.rotated(rotation)
            for role in ROLES
            if (markers := getattr(trial, role)) is not None and not (role == "static" and apart)
        }
        changes["functional"] = {
            side: markers.rotated(rotation) for side, markers in trial.functional.items()
        }
        changes["hinges"] = {
            joint: replace(movement, markers=movement.markers.rotated(rotation))
            for joint, movement in trial.hinges.items()
        }
        recorded = replace_fields(**changes)(recorded)
        if laboratory is None:
            return recorded
        plates = in_order(*(rotate_plate(index, rotation) for index in range(len(trial.forces))))
        return replace(plates(recorded), laboratory=recorded.laboratory.changed(**laboratory))

    return repair
