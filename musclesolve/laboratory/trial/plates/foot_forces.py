"""Forces on the feet: the columns or plates that [[force]] of a trial file names, or the plates by their contacts.

A column is one component of one vector, in a suitable unit. The plates of a C3D file are verified by the steps across
them. During a contact the center of pressure travels along the path of the subject, forward or backward, and the ground
first brakes and then propels. If the corners of a plate begin at the wrong one, or are listed in the wrong direction,
one or both of these signs are inverted. If the moments are in another unit than stated, the center of pressure stays
near the middle of the plate.

[plates] of a trial file corrects clock, point, vertical force and free moment. The results state each change:

    t' = t + offset        p' = p + shift        Fz' = gain (Fz - zero) while the plate is loaded
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask, nearest_times, time_spans, true_runs
from musclesolve._util.messages import WarningNote, count_of
from musclesolve.errors import InputError, file_error
from musclesolve.laboratory.files.c3d.c3d_file import C3D
from musclesolve.laboratory.files.c3d.force_platforms import PlateRecording, beside_plate, read_plates
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, PlateForce, PlateGap, Side, pulls_down
from musclesolve.laboratory.recording.trial_settings import AUTO, METERS, ForceSettings, RecordedSettings
from musclesolve.laboratory.trial.plates.foot_contacts import (
    NOWHERE,
    Contact,
    Feet,
    Loaded,
    Unclear,
    clock_difference,
    clock_note,
    contacts,
    feet_of,
    force_on_foot,
    on_feet,
    on_plates_whole,
    stands_on,
    to_center_of_pressure,
)
from musclesolve.laboratory.trial.time_range import finds_range
from musclesolve.tables.document import Document
from musclesolve.tables.number_rows import check_used
from musclesolve.tables.sampled import ZERO, Markers, Table

# Cosine of the steepest slope of a walkway.
_LEVEL = 0.7
# A foot that stands in a contact does so at most so long before and after it [s], and stands still in this share of it.
_AROUND, _STANDS = 0.15, 0.4
ROLES = ("force", "point", "moment")
# No number of a plate that was measured is larger, in N, m and N m: one is enough to spoil everything.
LARGEST_PLATE_NUMBER = 1e5


def is_stated(entry: ForceSettings) -> bool:
    """Return whether a [[force]] of a trial file has the keys that a plate needs: a foot, and columns or a number."""
    source = [entry.force, entry.point] if entry.plate is None else [entry.plate]
    return None not in (entry.side, *source)


def columns_of(entry: ForceSettings, known: Sequence[str] = ()) -> dict[str, list[str]]:
    """Role -> the three columns of a [[force]], stated as such or as their beginning, before x, or X where known."""
    return {
        role: [names + axis for axis in ("XYZ" if names + "X" in known else "xyz")]
        if isinstance(names := entry[role], str)
        else names
        for role in ROLES
        if entry[role] is not None
    }


def plate_of(
    document: Document, settings: RecordedSettings, index: int, table: Table, rotation: Array
) -> PlateForce:
    """Return the force of the columns that table number `index` of [[force]] names, in the global frame.

    Missing numbers are gaps of the plate, see `across_gaps`. Refuses columns that are absent or repeated in the file,
    whose unit belongs to another vector, or that this [[force]] or an earlier one names for another component.
    """
    entry = settings.force[index]
    columns, *earlier = (columns_of(force, table.names) for force in (entry, *settings.force[:index]))
    for role, names in columns.items():
        measured, place = [name for name in names if name != ZERO], ("force", role, index)
        words = {"after": f" in {table.path}", "code": "missing_column", "expected": "a column of this file"}
        document.check_known(measured, "there is no column", table.names, *place, **words)
        check_used(names, "column", table.repeated, table.path)
    scales = {"force": 1.0, "point": METERS[entry.point_unit], "moment": METERS[entry.moment_unit[2:]]}
    table_of = {name: k for k, vectors in enumerate(earlier) for names in vectors.values() for name in names}
    for role, name in [(role, name) for role, names in columns.items() for name in names]:
        stated = table.roles[table.names.index(name)] if table.roles and name != ZERO else ""
        if stated and scales[role] != 1.0:
            raise document.fault(
                "conflict",
                ("force", f"{role}_unit", index),
                f"the header of {table.path.name} states the unit of the column '{name}' already",
                "the unit once",
                f"leave out {role}_unit",
            )
        if stated not in ("", role):
            raise document.fault(
                "bad_units",
                ("force", role, index),
                f"the column '{name}' of {table.path.name} is in the unit of a {stated}",
                f"the columns of the {role}",
                "correct the name of the column here, or its unit in the header of the file",
            )
        # `ZERO`, or a column of zeros, may be used for all components that are not measured.
        if name in table_of and np.nan_to_num(table[name]).any():
            plates = ", for two plates" if table_of[name] != index else ""
            raise document.fault(
                "conflict",
                ("force", role, index),
                f"the column '{name}' is named twice{plates}",
                "a different column for every component",
                "correct the name of one of them",
            )
        table_of[name] = index
    stored = {role: np.stack([table[name] for name in names], axis=-1) for role, names in columns.items()}
    vectors = {role: scales[role] * values @ rotation.T for role, values in stored.items()}
    force, point = vectors["force"], vectors["point"]
    moment = vectors.get("moment", 0.0 * np.nan_to_num(force))
    if turned := pulls_down(np.nan_to_num(force[:, 2])):
        force, moment = -force, -moment
    # The point of application of a zero force is arbitrary.
    loaded = np.abs(force[:, 2]) >= settings.filter.unloaded_below_n
    for role, values in stored.items():
        beyond = (np.abs(values) > LARGEST_PLATE_NUMBER) & (loaded[:, None] | (role == "force"))
        if beyond.any():
            row, column = np.argwhere(beyond)[0]
            raise file_error(
                "bad_units",
                (table.path, _cell(table, row, columns[role][column])),
                f"the number is {values[row, column]:.3g}",
                "a number that was measured, in newtons and meters",
                "correct it in the software that exported the file",
            )
    side = SIDES[0] if entry.side == AUTO else entry.side  # of AUTO see `with_feet`
    point, moment = to_center_of_pressure(force, point, moment)
    plate = PlateForce(side, table.time, force, point, moment, table.path, turned=turned)
    lacking = np.isnan(force).any(axis=1)
    lacking |= loaded & (np.isnan(point) | np.isnan(moment)).any(axis=1)
    if not lacking.any():
        return plate
    places = []
    for first, _ in true_runs(lacking):
        empty = [name for names in columns.values() for name in names if np.isnan(table[name][first])]
        places.append(_cell(table, first, empty[0]))
    filled = across_gaps(plate, lacking, places, settings.gaps.spline_s)
    if lacking.all():
        raise plate_gap_error(filled, filled.gaps[0])
    return filled


def _cell(table: Table, row: int, column: str) -> str:
    return f"line {table.lines[row]}, column '{column}'"


def across_gaps(plate: PlateForce, lacking: Mask, places: Sequence[str], longest: float) -> PlateForce:
    """Return a plate with a straight line wherever its samples (S,) have no numbers, and its gaps.

    Args:
        plate: measured samples, NaN where missing.
        lacking: samples (S,) without numbers.
        places: place of each gap in the file. longest: longest gap that the line fills [s]; a longer one counts as not
            measured.
    """
    time, step = plate.time, 1.0 / plate.rate
    gaps = tuple(
        PlateGap(
            first, last, last - first + step <= longest + 1e-9 and time[0] < first and last < time[-1], place
        )
        for (first, last), place in zip(time_spans(lacking, time), places, strict=True)
    )
    if lacking.all():
        return replace(plate, gaps=gaps)
    bears = (np.abs(plate.force[:, 2]) > 0.0) & np.isfinite(plate.point).all(axis=1)
    return replace(interpolated(plate, lacking, bears), gaps=gaps)


def interpolated(plate: PlateForce, lacking: Mask, bears: Mask) -> PlateForce:
    """Return a plate with straight lines of force, and of moment about a fixed point, in place of some samples (S,).

    An unloaded plate has no force, at any point: `bears` are the samples (S,) whose point means something. The point of
    a replaced sample is the one of the nearest of them.
    """
    time, known = plate.time, ~lacking
    force, point, moment = plate.force.copy(), plate.point.copy(), plate.moment.copy()
    about = np.where(bears[:, None], np.cross(point, force) + moment, 0.0)
    for column in (*force.T, *about.T):
        column[lacking] = np.interp(time[lacking], time[known], column[known])
    near = np.flatnonzero(bears & known)
    point[lacking] = point[near[nearest_times(time[near], time[lacking])]] if near.size else 0.0
    moment[lacking] = about[lacking] - np.cross(point[lacking], force[lacking])
    return replace(plate, force=force, point=point, moment=moment)


def plate_gap_error(plate: PlateForce, gap: PlateGap) -> InputError:
    """Return the error of a stretch in which a plate has no numbers."""
    until = f", and up to {gap.last:g} s" if gap.last > gap.first else ""
    remedy = "fill the gap in the software that exported the file (an unloaded plate has a force of 0)"
    whole = (gap.first, gap.last) == tuple(plate.time[[0, -1]])
    return file_error(
        "missing_samples",
        (plate.path, gap.where),
        f"a number is missing at {gap.first:g} s{until}",
        "a force in every row; its point and moment wherever it is not zero",
        f"{remedy}, or leave this plate out" if whole else f"{remedy}, or choose a range without it ([time])",
    )


def plate_notes(forces: Sequence[PlateForce]) -> list[str]:
    """Return notes on plates whose sign is inverted, and on gaps that a straight line fills, one for each plate."""
    return [
        f"{plate.path.name} holds the force of the {SIDE_NAMES[plate.side]} foot on the plate: its sign is inverted."
        for plate in forces
        if plate.turned
    ] + [
        f"The force on the {SIDE_NAMES[plate.side]} foot is missing {count_of(len(short), 'time')}, up to "
        f"{1000.0 * max(gap.last - gap.first + 1.0 / plate.rate for gap in short):.0f} ms: filled by straight lines."
        for plate in forces
        if (short := [gap for gap in plate.gaps if gap.filled])
    ]


def later(plate: PlateForce, seconds: float) -> PlateForce:
    """Return a plate with its times and gaps moved by some seconds."""
    gaps = tuple(replace(gap, first=gap.first + seconds, last=gap.last + seconds) for gap in plate.gaps)
    return replace(plate, time=plate.time + seconds, gaps=gaps)


def with_feet(
    document: Document,
    settings: RecordedSettings,
    plates: Mapping[int, PlateForce],
    walk: Markers,
    mapping: Mapping[str, Mapping[str, float]],
) -> tuple[tuple[PlateForce, ...], list[str]]:
    """Return the forces of columns on each foot, and notes on the assignment of feet.

    Plates by their numbers in [[force]], from `plate_of`. Plates whose side is `AUTO` are divided by their contacts:
    each contact belongs to the foot nearest to the center of pressure. `walk` and `mapping` show the feet.
    """
    sides = [entry.side for entry in settings.force]
    feet, clock = feet_of(walk, mapping), list[str]()
    loads: list[Loaded] = [
        (plate.time, plate.force, plate.point, plate.side if sides[place] != AUTO else None)
        for place, plate in plates.items()
    ]
    if late := clock_difference(loads, feet, settings.plates.offset_s):
        plates = {place: later(plate, late) for place, plate in plates.items()}
        names = (next(iter(plates.values())).path.name, walk.path.name)
        clock.append(clock_note(late, *names, float(walk.time[0])))
    stated = tuple(plate for place, plate in plates.items() if sides[place] != AUTO)
    automatic = {place + 1: plate for place, plate in plates.items() if sides[place] == AUTO}
    if not automatic:
        return stated, clock
    recordings = [
        PlateRecording(
            replace(NOWHERE, number=number), plate.time, plate.force, plate.point, plate.moment, plate.path
        )
        for number, plate in automatic.items()
    ]
    threshold = settings.filter.unloaded_below_n
    steps = {recording.plate.number: contacts(recording, walk, feet, threshold) for recording in recordings}
    forces, notes = _assigned_plates(settings, recordings, steps, feet, bool(stated))
    assigned = (
        replace(force, gaps=automatic[force.number].gaps) for force in forces if force.number is not None
    )
    return (*stated, *assigned), [*clock, *notes]


def c3d_forces(
    document: Document,
    settings: RecordedSettings,
    file: C3D,
    walk: Markers,
    mapping: Mapping[str, Mapping[str, float]],
    rotation: Array,
) -> tuple[tuple[PlateForce, ...], list[str]]:
    """Return the force on each foot in the global frame, and notes on the derivation.

    The [[force]] tables of the trial file name plates; without any the contacts decide. `walk` and `mapping` show the
    feet, global frame; `rotation` (3, 3) is from the axes of the file to it. Refuses a vertical plate (another axis of
    the file points up), and a plate whose force acts beside it.
    """
    recordings, notes, left_out, places = read_plates(file, rotation, settings.plates.origin)
    if not recordings:
        key = "forces" if settings.files.forces else "markers"
        raise document.fault(
            "bad_plate",
            ("files", key),
            f"{file.path.name} has no force plates",
            "ground reaction forces",
            "name the file of the forces under forces in [files]",
        )
    feet, threshold = feet_of(walk, mapping), settings.filter.unloaded_below_n
    if walk.path != file.path:
        notes += file.notes
        loads: list[Loaded] = [(r.time, r.force, r.point, None) for r in recordings]
        if late := clock_difference(loads, feet, settings.plates.offset_s):
            recordings = [replace(r, time=r.time + late) for r in recordings]
            notes.append(clock_note(late, file.path.name, walk.path.name, float(walk.time[0])))
    for entry in settings.force:
        if entry.plate in left_out:
            raise left_out[entry.plate]
    for recording in recordings:
        plate, name = recording.plate, f"plate {recording.plate.number}"
        if abs(plate.axes[2, 2]) < _LEVEL:
            raise document.fault(
                "bad_axes",
                ("laboratory", "up"),
                f"{name} of {file.path.name} is not horizontal: its surface is vertical",
                "the axis of the files that points up, square to the plates",
                "look up in the capture software which axis points up",
            )
        if (away := beside_plate(recording)) is not None:
            raise file_error(
                "bad_plate",
                (file.path, "FORCE_PLATFORM"),
                f"the center of pressure of {name} is beside the plate, {away:.3g} m from its middle",
                "a center of pressure between CORNERS",
                "correct CORNERS, ORIGIN, or the unit of the moments (ANALOG:UNITS) in the capture software",
            )
    steps = {r.plate.number: contacts(r, walk, feet, threshold) for r in recordings}
    for number, plate in places.items():
        for side, start, end in stands_on(plate, feet):
            carried = [c for of in steps.values() for c in of if c.side == side and c.significant]
            if not any(c.start < end and c.end > start for c in carried) and _in_range(settings, start, end):
                raise left_out[number]
    if finds_range(settings):
        plates = [recording.plate for recording in recordings]
        steps = {r.plate.number: on_plates_whole(r, steps[r.plate.number], feet, plates) for r in recordings}
    if settings.force:
        forces, more = _named_plates(document, settings, recordings, steps)
    else:
        forces, more = _assigned_plates(settings, recordings, steps, feet)
    return forces, notes + more


def _named_plates(
    document: Document,
    settings: RecordedSettings,
    recordings: list[PlateRecording],
    steps: Mapping[int, list[Contact]],
) -> tuple[tuple[PlateForce, ...], list[str]]:
    """Return the forces of the plates that [[force]] names, and a note on every contact with another plate.

    Refuses a plate of one foot on which the other foot stands; if the time range is chosen automatically, it leaves out
    the contacts of the other foot instead.
    """
    forces: list[PlateForce] = []
    used: list[int] = []
    notes: list[str] = []
    for index, entry in enumerate(settings.force):
        number, side = entry.plate, entry.side
        if side == AUTO:
            raise document.fault(
                "conflict",
                ("force", "side", index),
                "the foot on a plate of a C3D file is to be found",
                "no [[force]] at all",
                "leave out all [[force]]: the contacts decide then",
            )
        if number is None or number not in steps:
            raise document.fault(
                "bad_value",
                ("force", "plate", index),
                f"there is no plate {number} in {recordings[0].path.name}",
                f"a number from 1 to {max(steps)}",
                "correct the number, or leave out all [[force]]",
            )
        if number in used:
            raise document.fault(
                "conflict",
                ("force", "plate", index),
                f"plate {number} is named twice",
                remedy="leave out all [[force]] where both feet step on one plate",
            )
        used.append(number)
        (recording,) = (candidate for candidate in recordings if candidate.plate.number == number)
        significant = [step for step in steps[number] if step.significant]
        of_other_foot = [
            step
            for step in significant
            if step.side not in (side, None) and _in_range(settings, step.start, step.end)
        ]
        if of_other_foot:
            other: Side = "l" if side == "r" else "r"
            raise document.fault(
                "conflict",
                ("force", "side", index),
                f"the {SIDE_NAMES[other]} foot stands on {of_other_foot[0]}",
                f"only the {SIDE_NAMES[side]} foot on this plate, in the time range",
                f'leave out all [[force]]: the contacts decide then; or side = "{other}"',
            )
        under = np.ones(recording.time.size, bool)
        for step in significant if finds_range(settings) else ():
            if step.side != side:
                under[step.first : step.last] = False
                reason = step.reason or f"the {SIDE_NAMES[step.side or side]} foot stands there"
                notes.append(f"The force on {step}, up to {step.peak:.0f} N, is left out: {reason}.")
        forces.append(force_on_foot(recording, side, under))
    notes += [
        f"The force on {step}, up to {step.peak:.0f} N, is left out: [[force]] does not name that plate."
        for number, of_plate in steps.items()
        for step in of_plate
        if number not in used and step.significant and _in_range(settings, step.start, step.end)
    ]
    return tuple(forces), notes


def _assigned_plates(
    settings: RecordedSettings,
    recordings: list[PlateRecording],
    steps: Mapping[int, list[Contact]],
    feet: Feet,
    others: bool = False,
) -> tuple[tuple[PlateForce, ...], list[str]]:
    """Return the plates divided among the feet by their contacts, and notes on the assignment.

    Refuses plates none of which shows the force of one foot, unless there are others, and a plate that shows steps at
    another place.
    """
    path = recordings[0].path
    significant = [step for of_plate in steps.values() for step in of_plate if step.significant]
    for number in steps if len(steps) > 1 else ():
        loads = [step for step in significant if step.plate == number]
        if loads and all(_elsewhere(step, significant, feet) for step in loads):
            raise file_error(
                "bad_plate",
                (path, loads[0]),
                f"a foot stands while the plate is loaded, but not there: {loads[0].reason}",
                "a center of pressure under this foot",
                "correct the place of the plate (CORNERS, their order and sense, or the points of force); "
                "where somebody else stepped on it, name the other plates in [[force]]",
            )
    for step in significant:
        if step.side is None and _in_range(settings, step.start, step.end):
            raise file_error(
                "unseen_feet" if step.unclear is Unclear.UNSEEN else "unassigned_plate",
                (path, step),
                f"it is not clear which foot the force is on: {step.reason}",
                "one foot on a plate at a time, seen by the markers of heel and toe",
                "choose a range without this contact ([time]), or name plates and feet in [[force]]",
            )
    forces = tuple(force for r in recordings for force in on_feet(r, steps[r.plate.number]))
    if not forces and not others:
        reasons = [*dict.fromkeys(step.reason for step in significant)]
        unseen = any(step.unclear is Unclear.UNSEEN for step in significant)
        raise file_error(
            "unseen_feet" if unseen else "unassigned_plate",
            (path, "FORCE_PLATFORM"),
            ": ".join(["no plate shows the force of one foot", *reasons]),
            "a step on a plate",
            "map heel and toe of both feet, whose markers must be seen during the contact"
            if unseen
            else "choose another recording, or other forces in [files]",
        )
    notes = [
        f"The {SIDE_NAMES[side]} foot was found on {places}."
        for side in SIDES
        if (places := "; ".join(str(step) for step in significant if step.side == side))
    ]
    notes += [
        f"The force on {step}, up to {step.peak:.0f} N, is left out: {step.reason}."
        for step in significant
        if step.side is None
    ]
    return forces, notes


def _elsewhere(step: Contact, others: Sequence[Contact], feet: Feet) -> bool:
    """Return whether no foot is near a contact during which, and no longer, a foot stands that no plate carries."""
    for side, foot in feet.items() if step.unclear is Unclear.FAR else ():
        carried = any(o.side == side and o.start < step.end and step.start < o.end for o in others)
        for first, last in time_spans(foot.still, foot.time) if not carried else ():
            within = step.start - _AROUND < first and last < step.end + _AROUND
            if within and last - first > _STANDS * (step.end - step.start):
                return True
    return False


def _in_range(settings: RecordedSettings, first: float, last: float) -> bool:
    """Return whether times are in the stated time range; an automatic range leaves contacts out."""
    if finds_range(settings):
        return False
    start, end = settings.time.start_s, settings.time.end_s
    return (end is None or first <= end) and (start is None or last >= start)


def plate_numbers(forces: tuple[PlateForce, ...]) -> list[int]:
    """Return the number of each plate for [plates]: its number in the C3D file, else the place of its [[force]]."""
    return [place if plate.number is None else plate.number for place, plate in enumerate(forces, start=1)]


def corrected_plates(
    document: Document, settings: RecordedSettings, forces: tuple[PlateForce, ...], rotation: Array
) -> tuple[tuple[PlateForce, ...], tuple[str, ...]]:
    """Return the plates with the corrections of [plates], and a sentence on every correction.

    Args:
        document: the trial file.
        settings: its tables, with defaults.
        forces: the recorded plates, global frame.
        rotation: (3, 3) from the axes of the files to the global frame.
    """
    table, numbers = settings.plates, plate_numbers(forces)
    by_plate = {key: table[key] or {} for key in ("shift_mm", "vertical_gain", "vertical_zero_n")}
    texts = [str(number) for number in dict.fromkeys(numbers)]
    for key, values in by_plate.items():
        document.check_known(values, "there is no plate", texts, "plates", key)
    shift, gain, zero = by_plate.values()
    corrected = []
    for number, plate in zip(map(str, numbers), forces, strict=True):
        point = plate.point + 0.001 * rotation @ np.array(shift.get(number, (0.0, 0.0, 0.0)))
        loaded = np.abs(plate.force[:, 2]) >= settings.filter.unloaded_below_n
        force = plate.force.copy()
        force[loaded, 2] = gain.get(number, 1.0) * (force[loaded, 2] - zero.get(number, 0.0))
        moment = plate.moment
        if number in zero:
            plate = replace(plate, unloaded=plate.plate_force - np.array([0.0, 0.0, zero[number]]))
        if table.free_moment == "zero" or plate.moment_fault:
            # The horizontal part belongs to the point.
            fault = "" if table.free_moment == "zero" else plate.moment_fault
            plate, moment = replace(plate, moment_fault=fault), moment * [1.0, 1.0, 0.0]
        corrected.append(later(replace(plate, force=force, point=point, moment=moment), table.offset_s))
    unmeasured: tuple[str, ...] = ("The free moment of all plates is set to zero.",)
    if table.free_moment != "zero":
        unmeasured = unmeasured_free_moments(forces)
    return tuple(corrected), (*unmeasured, *_sentences(table.offset_s, shift, gain, zero))


def unmeasured_free_moments(forces: tuple[PlateForce, ...]) -> tuple[str, ...]:
    """Return a warning on every plate whose free moment is set to zero, because its channel is wrong."""
    faults = dict.fromkeys((plate.number, plate.moment_fault) for plate in forces if plate.moment_fault)
    said = (f"The free moment of plate {number} is set to zero: {fault}." for number, fault in faults)
    return tuple(WarningNote(sentence, "moment_channel") for sentence in said)


def _sentences(
    offset: float, shift: Mapping[str, list[float]], gain: Mapping[str, float], zero: Mapping[str, float]
) -> Iterator[str]:
    if offset:
        yield f"The clock of the plates was corrected: {1000.0 * offset:+.1f} ms were added to their times."
    for number, (x, y, z) in shift.items():
        yield (
            f"The center of pressure of plate {number} was shifted by {np.linalg.norm([x, y, z]):.1f} mm: "
            f"{x:+.1f}, {y:+.1f}, {z:+.1f} mm along x, y, z of the files."
        )
    for number, factor in gain.items():
        yield f"The vertical force of plate {number} was multiplied by {factor:g}."
    for number, force in zero.items():
        yield f"{force:g} N were taken off the vertical force of plate {number} while it is loaded."
