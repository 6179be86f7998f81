"""Faults of measurement, planted into the files of a copy of a trial: of forces, markers, EMG and the trial file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.recording.data import SIDES, Side
from musclesolve.synthetic.places import LOADED, plate_middles
from musclesolve.synthetic.trial_copy import FORCES, STATIC, WALK, Copy, open_copy, write_copy

SHOWS = 2.0
"""Vertical force below which software gives no center of pressure [N]."""
SLIP = (0.018, 0.0144, 0.0192)
"""Way of a marker that is shown in the tests: 30 mm in a direction that no segment is square to [m]."""

Spoil = Callable[[Copy], None]


@dataclass(frozen=True)
class Fault:
    """A fault of a recording that can be made in a copy."""

    name: str  # of the fault
    about: str  # what was done wrong
    code: str | None  # the finding of `musclesolve.check` that it should lead to; None where nothing shows it
    spoil: Spoil  # does it to a copy


_FAULTS: dict[str, Fault] = {}


def faults() -> dict[str, Fault]:
    """Return every fault by its name."""
    return dict(_FAULTS)


def plant(name: str, trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial into a folder with one fault planted, as `plant_all`; returns the trial file of the copy."""
    return plant_all([name], trial_path, folder)


def plant_all(names: Iterable[str], trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial (TRC and MOT) into a folder with faults planted in order, those of the written text last.

    All go into one copy, so that a fault that makes a file unreadable does not prevent the others. Returns the trial
    file of the copy. An unknown name of a fault and a trial that cannot be read are an InputError.
    """
    chosen = list(names)
    for name in chosen:
        if name not in _FAULTS:
            raise unknown_name(name, "fault", _FAULTS)
    copy = open_copy(Path(trial_path))
    for name in chosen:
        _FAULTS[name].spoil(copy)
    return write_copy(copy, Path(folder))


def fault(code: str | None) -> Callable[[Spoil], Spoil]:
    """Register a function that spoils a copy; its name is that of the fault, its docstring says what is wrong.

    code: the finding that it should lead to; None where the recording cannot show it.
    """

    def register(spoil: Spoil) -> Spoil:
        name = spoil.__name__
        _FAULTS[name] = Fault(name, (spoil.__doc__ or "").strip(), code, spoil)
        return spoil

    return register


def _no_such_thing(problem: str, expected: str, code: str = "missing_key", remedy: str = "") -> InputError:
    """Return the error of a trial that has nothing that the fault could be planted into."""
    return InputError(problem, code=code, expected=expected, remedy=remedy or "choose another fault")


# ---- forces: units, zero, drift, saturation, axes, place, time, contacts


def _scaled(
    name: str,
    code: str,
    about: str,
    factor: float | tuple[float, float, float],
    roles: str,
    side: Side | None = None,
) -> None:
    """Register: what the plates of a side, or all, show is multiplied by a factor, or by one of every axis (3,)."""

    def spoil(copy: Copy) -> None:
        concerned = [
            (plate, role)
            for plate in copy.plates(side)
            for role in roles.split()
            if copy.columns(plate, role)
        ]
        if roles == "moment" and not concerned:
            raise _no_such_thing("no [[force]] names a moment", "plates with a free moment")
        for plate, role in concerned:
            copy.set_plate(plate, role, copy.plate(plate, role) * factor)

    _FAULTS[name] = Fault(name, about, code, spoil)


def _moved_points(
    name: str, about: str, side: Side | None, forward: float, left: float, code: str | None
) -> None:
    """Register: the points of force of the plates of a side, or of all, are moved by a way [mm]."""

    def spoil(copy: Copy) -> None:
        for plate in copy.plates(side):
            away = 0.001 * np.array([forward, left, 0.0])
            copy.set_plate(plate, "point", copy.plate(plate, "point") + away)

    _FAULTS[name] = Fault(name, about, code, spoil)


def _longest(copy: Copy, plate: int, *, loaded: bool) -> tuple[int, int]:
    """Return the contact, or the time without one, of which most lies in the time range; a swing lies between two."""
    time = copy.forces.time
    on = copy.plate(plate, "force")[:, 2] > LOADED
    start, end = copy.span
    runs = [run for run in true_runs(on == loaded) if loaded or (0 < run[0] and run[1] < on.size)]
    return max(runs or [(0, on.size)], key=lambda run: min(time[run[1] - 1], end) - max(time[run[0]], start))


def _lift(copy: Copy, plate: int, extra: Array) -> None:
    """Add a vertical force (S,) [N] that the sensors of a plate show together: it acts at the middle of the plate.

    As on a real plate, what was wrong in the channels goes on into the center of pressure and the free moment.
    """
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    middle = plate_middles(force[:, 2], point)
    carried = np.where(force[:, 2:] > 0.0, point, middle)
    wrong = force + extra[:, None] * [0.0, 0.0, 1.0]
    shows = np.abs(wrong[:, 2:]) > SHOWS
    total = np.where(shows, wrong[:, 2:], 1.0)
    moved = np.where(shows, (force[:, 2:] * carried + extra[:, None] * middle) / total, 0.0)
    if copy.columns(plate, "moment"):
        twist = np.cross(np.where(shows, carried - moved, 0.0), force) * [0.0, 0.0, 1.0]
        copy.set_plate(plate, "moment", copy.plate(plate, "moment") + twist)
    copy.set_plate(plate, "force", wrong)
    copy.set_plate(plate, "point", moved)


_scaled(
    "force_in_kilonewtons", "force_units", "Forces and moments are in kilonewtons.", 0.001, "force moment"
)
_scaled("points_in_millimetres", "point_units", "The points of force are in millimetres.", 1000.0, "point")
_scaled(
    "force_on_the_plate",
    "force_sign",
    "The file holds the forces of the feet on the plates.",
    -1.0,
    "force moment",
)


@fault("plates_swapped")
def plates_swapped(copy: Copy) -> None:
    """The columns of the two plates are exchanged."""
    one, other = copy.plates("r")[0], copy.plates("l")[0]
    values = copy.forces.values.copy()
    for role in ("force", "point", "moment"):
        a, b = copy.columns(one, role), copy.columns(other, role)
        values[:, a], values[:, b] = copy.forces.values[:, b], copy.forces.values[:, a]
    copy.forces = replace(copy.forces, values=values)


@fault("contact_without_force")
def contact_not_measured(copy: Copy) -> None:
    """One contact of the left foot is missing from its plate."""
    plate = copy.plates("l")[0]
    first, last = _longest(copy, plate, loaded=True)
    for role in ("force", "moment"):
        if copy.columns(plate, role):
            vectors = copy.plate(plate, role)
            vectors[first - 40 if first > 40 else 0 : last + 40] = 0.0
            copy.set_plate(plate, role, vectors)


@fault("force_without_contact")
def force_without_contact(copy: Copy) -> None:
    """Another person steps on the plate with 150 N while the right foot swings."""
    plate = copy.plates("r")[0]
    first, last = _longest(copy, plate, loaded=False)
    middle = slice(first + (last - first) // 4, last - (last - first) // 4)
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    force[middle, 2] += 150.0 * np.sin(np.linspace(0.0, np.pi, middle.stop - middle.start))
    point[middle] = point[first - 50 if first > 50 else min(last + 50, len(point) - 1)]
    copy.set_plate(plate, "force", force)
    copy.set_plate(plate, "point", point)


@fault("pressure_offset")
def pressure_offset_100mm(copy: Copy) -> None:
    """The right plate lies 100 mm farther ahead than the calibration states."""
    plate = copy.plates("r")[0]
    copy.set_plate(plate, "point", copy.plate(plate, "point") + np.array([0.1, 0.0, 0.0]))


_POINTS = "The points of force of {} are stated {} too far {}."
for _name, _plates, _size, _way, _side, _forward, _left in (
    ("right_points_30mm_ahead", "the right plate", "30 mm", "forward", "r", 30.0, 0.0),
    ("left_points_30mm_behind", "the left plate", "30 mm", "back", "l", -30.0, 0.0),
    ("right_points_30mm_left", "the right plate", "30 mm", "to the left", "r", 0.0, 30.0),
    ("left_points_30mm_left", "the left plate", "30 mm", "to the left", "l", 0.0, 30.0),
    ("all_points_30mm_left", "all plates", "30 mm", "to the left", None, 0.0, 30.0),
    (
        "all_points_30mm_ahead",
        "all plates",
        "30 mm",
        "forward: so does a trunk that leans back",
        None,
        30.0,
        0.0,
    ),
    (
        "right_points_15mm_ahead_and_left",
        "the right plate",
        "15 mm",
        "forward and to the left",
        "r",
        15.0,
        15.0,
    ),
    (
        "left_points_15mm_ahead_and_right",
        "the left plate",
        "15 mm",
        "forward and to the right",
        "l",
        15.0,
        -15.0,
    ),
):
    # A trunk that leans back looks the same as points of all plates too far forward.
    _code = None if _name == "all_points_30mm_ahead" else "pressure_offset"
    _moved_points(_name, _POINTS.format(_plates, _size, _way), _side, _forward, _left, _code)  # type: ignore[arg-type]

_scaled(
    "right_plate_10_percent_low",
    "plate_scale",
    "The right plate shows 10 % too little.",
    0.9,
    "force moment",
    "r",
)
_scaled(
    "left_plate_10_percent_low",
    "plate_scale",
    "The left plate shows 10 % too little.",
    0.9,
    "force moment",
    "l",
)

UPSIDE_DOWN = (1.0, 1.0, -1.0)
_scaled(
    "free_moments_reversed",
    "free_moment",
    "The free moments of all plates have the wrong sign.",
    UPSIDE_DOWN,
    "moment",
)
_scaled(
    "right_free_moment_reversed",
    "free_moment",
    "The free moment of the right plate has the wrong sign.",
    UPSIDE_DOWN,
    "moment",
    "r",
)
_scaled(
    "left_free_moment_reversed",
    "free_moment",
    "The free moment of the left plate has the wrong sign.",
    UPSIDE_DOWN,
    "moment",
    "l",
)


@fault(None)
def forces_late_10ms(copy: Copy) -> None:
    """The forces are stamped 10 ms too late: so do soft tissues that follow the bones."""
    copy.forces = replace(copy.forces, time=copy.forces.time + 0.01)


@fault("time_offset")
def forces_late_50ms(copy: Copy) -> None:
    """The forces are stamped 50 ms too late."""
    copy.forces = replace(copy.forces, time=copy.forces.time + 0.05)


@fault("time_offset")
def forces_early_30ms(copy: Copy) -> None:
    """The forces come 30 ms too early, in a file that begins with the markers."""
    step = float(np.median(np.diff(copy.forces.time)))
    count = round(0.03 / step)
    values = np.concatenate([copy.forces.values[count:], copy.forces.values[-1:].repeat(count, axis=0)])
    copy.forces = replace(copy.forces, values=values)


@fault("plate_drift")
def plate_drift(copy: Copy) -> None:
    """The vertical force of the right plate drifts by 60 N from beginning to end."""
    _lift(copy, copy.plates("r")[0], np.linspace(0.0, 60.0, copy.forces.time.size))


@fault("plate_baseline")
def plate_baseline(copy: Copy) -> None:
    """The right plate was not zeroed: it shows 15 N too much."""
    _lift(copy, copy.plates("r")[0], np.full(copy.forces.time.size, 15.0))


@fault("plate_clipped")
def plate_clipped(copy: Copy) -> None:
    """The amplifier of the left plate saturates at 90 % of the peak."""
    plate = copy.plates("l")[0]
    force = copy.plate(plate, "force")
    force[:, 2] = np.minimum(force[:, 2], 0.9 * force[:, 2].max())
    copy.set_plate(plate, "force", force)


_scaled(
    "plates_mirrored",
    "plate_axes",
    "The forward force of all plates has the wrong sign.",
    (-1.0, 1.0, 1.0),
    "force",
)


@fault("plate_axes")
def plate_turned(copy: Copy) -> None:
    """The horizontal columns of force and point of the right plate are exchanged."""
    plate = copy.plates("r")[0]
    for role in ("force", "point"):
        copy.set_plate(plate, role, copy.plate(plate, role)[:, [1, 0, 2]])


@fault("plate_axes")
def pressure_runs_backwards(copy: Copy) -> None:
    """The right plate stands the other way round: its center of pressure runs back about the middle of the plate."""
    plate = copy.plates("r")[0]
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    for first, last in true_runs(force[:, 2] > LOADED):
        middle = np.median(point[first:last, :2], axis=0)
        point[first:last, :2] = 2.0 * middle - point[first:last, :2]
    copy.set_plate(plate, "point", point)


@fault("plate_axes")
def forces_in_other_axes(copy: Copy) -> None:
    """Forces and points were exported with another axis up than the markers."""
    values = copy.forces.values.copy()
    for plate in copy.plates():
        for role in ("force", "point", "moment"):
            at = copy.columns(plate, role)
            values[:, at] = np.roll(copy.forces.values[:, at], 1, axis=1) if at else values[:, at]
    copy.forces = replace(copy.forces, values=values)


@fault("durations_differ")
def forces_cut(copy: Copy) -> None:
    """The forces begin a quarter of a second or more after the markers, at the beginning of the time range."""
    kept = copy.forces.time >= max(copy.forces.time[0] + 0.25, copy.span[0])
    copy.forces = replace(copy.forces, time=copy.forces.time[kept], values=copy.forces.values[kept])


@fault("truncated")
def truncated_forces(copy: Copy) -> None:
    """The force file ends in the middle of a row, after 95 % of it."""
    copy.afterwards.append((FORCES, lambda text: text[: int(0.95 * len(text))]))


# ---- markers: units, labels, slips, ghosts, lost and repeated frames


@fault("marker_units")
def markers_in_metres(copy: Copy) -> None:
    """The positions are in metres, the header states mm."""
    copy.put(0.001 * copy.walk.position)


@fault("marker_units")
def static_in_centimetres(copy: Copy) -> None:
    """The positions of the standing trial are in centimetres, the header states mm."""
    if copy.static is not None:
        copy.put(0.1 * copy.static.position, static=True)


@fault("pair_swapped")
def knee_markers_swapped(copy: Copy) -> None:
    """Right and left lateral knee marker carry each other's label in the motion."""
    copy.exchange(copy.marker("knee_lateral_r"), copy.marker("knee_lateral_l"))


@fault("labels_exchanged")
def ankle_swapped_for_a_while(copy: Copy) -> None:
    """The labels of the lateral ankle markers are exchanged in 20 frames."""
    first = copy.frame(0.4)
    copy.exchange(copy.marker("ankle_lateral_r"), copy.marker("ankle_lateral_l"), slice(first, first + 20))


@fault("labels_exchanged")
def heel_and_toe_exchanged(copy: Copy) -> None:
    """Heel and toe of the right foot carry each other's label in the motion."""
    copy.exchange(copy.marker("heel_r"), copy.marker("toe_r"))


@fault("marker_slipped")
def marker_slipped(copy: Copy) -> None:
    """The right lateral ankle marker sits 30 mm off from the middle of the range on."""
    copy.move(copy.marker("ankle_lateral_r"), slice(copy.frame(0.5), None), copy.in_file(SLIP))


@fault("marker_moved")
def marker_moved_after_standing(copy: Copy) -> None:
    """The right fifth metatarsal marker was put back 50 mm off after the standing trial."""
    copy.move(copy.marker("metatarsal_5_r"), slice(None), 50.0 / 30.0 * copy.in_file(SLIP), static=True)


def _standing_marker(copy: Copy, landmark: str) -> tuple[str, Array]:
    """Return the marker of a landmark in the standing trial and its mean place (3,) [m], in the axes of the file."""
    if copy.static is not None:
        for marker in copy.mapping.get(landmark, ()):
            if marker in copy.static:
                return marker, np.nanmean(copy.static[marker], axis=0)
    problem = f"no marker of a standing trial shows '{landmark}'"
    raise _no_such_thing(problem, "a standing trial with a marker on it", "missing_marker")


WAYS = ("medial", "lateral")


@fault("joint_width")
def knee_marker_20mm_inward(copy: Copy) -> None:
    """The right medial knee marker of the standing trial sits 20 mm too far from the bone."""
    (marker, medial), (_, lateral) = (_standing_marker(copy, f"knee_{way}_r") for way in WAYS)
    inward = (medial - lateral) / np.linalg.norm(medial - lateral)
    copy.move(marker, slice(None), 0.02 * inward, static=True)


@fault(None)
def knee_marker_20mm_ahead(copy: Copy) -> None:
    """The left medial knee marker of the standing trial sits 20 mm too far forward: so do epicondyles of some knees."""
    (marker, medial), (_, lateral) = (_standing_marker(copy, f"knee_{way}_l") for way in WAYS)
    ahead = np.cross(lateral - medial, copy.in_file((0.0, 0.0, 1.0)))
    copy.move(marker, slice(None), 0.02 * ahead / np.linalg.norm(ahead), static=True)


@fault("proportions")
def hip_centers_30mm_up(copy: Copy) -> None:
    """The mapped hip centers lie 30 mm too high."""
    up = copy.in_file((0.0, 0.0, 0.03))
    for side in SIDES:
        marker, _ = _standing_marker(copy, f"hip_center_{side}")
        copy.move(marker, slice(None), up, static=True)
        if marker in copy.walk:
            copy.move(marker, slice(None), up)


@fault("frozen")
def marker_frozen(copy: Copy) -> None:
    """The left heel marker holds its last place for 15 frames while the foot swings."""
    name = copy.marker("heel_l")
    speed = np.linalg.norm(np.diff(copy.walk[name], axis=0), axis=1)
    inside = slice(copy.frame(0.1), copy.frame(0.7))
    first = inside.start + int(np.argmax(speed[inside]))
    position = copy.walk.position.copy()
    position[first : first + 15, copy.walk.names.index(name)] = copy.walk[name][first]
    copy.put(position)


@fault("gap")
def gap(copy: Copy) -> None:
    """The left wrist marker is lost for 0.6 s."""
    first = copy.frame(0.3)
    copy.move(copy.marker("wrist_l"), slice(first, first + round(0.6 * copy.walk.rate)), np.nan)


@fault("leap")
def leap(copy: Copy) -> None:
    """The right lateral knee marker is 300 mm off in one frame."""
    at = copy.frame(0.6)
    copy.move(copy.marker("knee_lateral_r"), slice(at, at + 1), 10.0 * copy.in_file(SLIP))


@fault("leap")
def ghost(copy: Copy) -> None:
    """A reflection 60 mm away is taken for the right heel marker in one frame."""
    at = copy.frame(0.6)
    copy.move(copy.marker("heel_r"), slice(at, at + 1), 2.0 * copy.in_file(SLIP))


@fault("markers_merged")
def two_labels_on_one_marker(copy: Copy) -> None:
    """The fifth metatarsal marker of the left foot was given the place of the toe marker for 25 frames."""
    first = copy.frame(0.3)
    frames = slice(first, first + 25)
    ghost, real, position = copy.marker("metatarsal_5_l"), copy.marker("toe_l"), copy.walk.position.copy()
    position[frames, copy.walk.names.index(ghost)] = copy.walk[real][frames]
    copy.put(position)


@fault("static_of_another")
def static_of_another(copy: Copy) -> None:
    """The standing trial is that of a subject 8 % larger."""
    if copy.static is not None:
        copy.put(1.08 * copy.static.position, static=True)


@fault("up_axis")
def static_in_other_axes(copy: Copy) -> None:
    """The standing trial was exported with other axes than the motion."""
    if copy.static is not None:
        copy.put(np.roll(copy.static.position, 1, axis=-1), static=True)


def _without(copy: Copy, count: int) -> Mask:
    """Return all frames but some in the middle of the time range, (T,)."""
    kept = np.ones(copy.walk.time.size, bool)
    kept[copy.frame(0.5) : copy.frame(0.5) + count] = False
    return kept


@fault("frames_missing")
def frames_dropped(copy: Copy) -> None:
    """Six frames were dropped; the time column shows the hole."""
    kept = _without(copy, 6)
    copy.walk = replace(copy.walk, time=copy.walk.time[kept], position=copy.walk.position[kept])


@fault("frames_skipped")
def frames_skipped(copy: Copy) -> None:
    """Four frames were dropped and the others renumbered, so that the time column shows nothing."""
    kept = _without(copy, 4)
    copy.walk = replace(copy.walk, time=copy.walk.time[: kept.sum()], position=copy.walk.position[kept])


@fault("frames_repeated")
def frames_duplicated(copy: Copy) -> None:
    """The recorder hung: five frames are copies of the one before."""
    first = copy.frame(0.5)
    position = copy.walk.position.copy()
    position[first + 1 : first + 6] = position[first]
    copy.put(position)


@fault("uneven_samples")
def time_step_uneven(copy: Copy) -> None:
    """The frames are stamped by a clock that stutters by 60 % of a step."""
    time = copy.walk.time.copy()
    time[1:-1] += 0.3 / copy.walk.rate * np.sin(1.9 * np.arange(time.size - 2))
    copy.walk = replace(copy.walk, time=time)


def _with_header(text: str, column: int, change: Callable[[str], str]) -> str:
    """Return the text of a TRC file with one value of its header changed."""
    lines = text.splitlines()
    header = lines[2].split("\t")
    header[column] = change(header[column])
    return "\n".join([*lines[:2], "\t".join(header), *lines[3:]]) + "\n"


@fault("repeated_times")
def row_pasted_twice(copy: Copy) -> None:
    """A row of the marker file stands twice."""

    def twice(text: str) -> str:
        lines = text.splitlines()
        lines.insert(len(lines) // 2, lines[len(lines) // 2])
        return _with_header("\n".join(lines), 2, lambda count: str(int(count) + 1))

    copy.afterwards.append((WALK, twice))


@fault("truncated")
def truncated_file(copy: Copy) -> None:
    """The marker file ends in the middle of a row, after nine tenths of it."""
    copy.afterwards.append((WALK, lambda text: text[: int(0.9 * len(text))]))


@fault("header_rate")
def header_rate_wrong(copy: Copy) -> None:
    """The header of the marker file states 1.2 times the rate."""
    copy.afterwards.append(
        (WALK, lambda text: _with_header(text, 0, lambda rate: f"{1.2 * float(rate):.2f}"))
    )


@fault("unreadable")
def static_is_no_text(copy: Copy) -> None:
    """The file of the standing trial is a spreadsheet."""
    copy.afterwards.append((STATIC, lambda text: "PK\x03\x04\0\0" + text[:500]))


# ---- EMG: electrodes, amplifier, mains


def _spoil_first_channel(copy: Copy, change: Callable[[Array, Array], Array]) -> None:
    """Replace the signal (S,) of the first channel that the trial file names by change(signal, time (S,) [s])."""
    if copy.emg is None:
        remedy = "choose a fault of markers or forces"
        raise _no_such_thing("the trial has no EMG", "a trial with [emg] and a file of text", remedy=remedy)
    first = copy.emg.names.index(str(next(iter(copy.content["emg"]["channels"]))))
    values = copy.emg.values.copy()
    values[:, first] = change(copy.emg.values[:, first], copy.emg.time)
    copy.emg = replace(copy.emg, values=values)


@fault("emg_flat")
def emg_flat(copy: Copy) -> None:
    """The first channel of EMG has lost its electrode: it is flat."""
    _spoil_first_channel(copy, lambda signal, time: np.zeros(time.size))


@fault("emg_clipped")
def emg_clipped(copy: Copy) -> None:
    """The amplifier of the first channel of EMG saturates at a quarter of the peak."""

    def clipped(signal: Array, time: Array) -> Array:
        limit = 0.25 * np.abs(signal).max()
        return np.clip(signal, -limit, limit)

    _spoil_first_channel(copy, clipped)


@fault("emg_hum")
def emg_hum(copy: Copy) -> None:
    """The mains hum at 50 Hz in the first channel of EMG, as large as the signal."""
    _spoil_first_channel(
        copy, lambda signal, time: signal + np.sqrt(2.0) * signal.std() * np.sin(2.0 * np.pi * 50.0 * time)
    )


# ---- the trial file: axes, sides, the subject, the filter


@fault("up_axis")
def up_axis_wrong(copy: Copy) -> None:
    """The trial file states that another axis of the files points up."""
    laboratory = copy.content["laboratory"]
    other = next(axis for axis in "zyx" if axis not in laboratory["up"] + laboratory["forward"])
    copy.set_key("laboratory", "up", f'"+{other}"')


@fault("walking_direction")
def walks_backwards(copy: Copy) -> None:
    """The trial file states that the subject walks against the true direction."""
    forward = copy.content["laboratory"]["forward"]
    other = ("-" if forward[0] == "+" else "+") + forward[1]
    copy.set_key("laboratory", "forward", f'"{other}"')


@fault("sides_swapped")
def sides_swapped(copy: Copy) -> None:
    """Right and left are swapped in the whole mapping."""
    inside = changed = False
    for k, line in enumerate(copy.lines):
        if line.lstrip().startswith("["):
            inside = line.strip().startswith("[mapping]")
        elif inside and (key := re.match(r"(\s*\w+_)([rl])(\s*=.*)", line)):
            copy.lines[k] = key[1] + ("l" if key[2] == "r" else "r") + key[3]
            changed = True
    if not changed:
        problem, expected = (
            "the trial file has no [mapping] of its own",
            "landmarks that are mapped in the trial file",
        )
        raise _no_such_thing(problem, expected, remedy="choose another fault, or write out the mapping")


@fault("mass")
def mass_wrong(copy: Copy) -> None:
    """The body mass is 15 % too large."""
    copy.set_key("subject", "mass_kg", f"{1.15 * copy.content['subject']['mass_kg']:.2f}")


@fault("stature")
def stature_wrong(copy: Copy) -> None:
    """The stature is 20 % too large."""
    copy.set_key("subject", "stature_m", f"{1.2 * copy.content['subject']['stature_m']:.3f}")


@fault("cutoff")
def cutoff_too_low(copy: Copy) -> None:
    """The filter cuts at 1.5 Hz, below what walking consists of."""
    copy.set_key("filter", "cutoff_hz", "1.5")


@fault("strength")
def strength_in_per_cent(copy: Copy) -> None:
    """The strength factor is given in per cent."""
    copy.set_key("muscles", "strength", "100.0")


@fault("trial_file")
def cost_misspelt(copy: Copy) -> None:
    """The trial file names a cost that does not exist."""
    copy.set_key("sharing", "cost", '"stress_cubd"')


@fault("mapping")
def marker_misspelt(copy: Copy) -> None:
    """A marker of the mapping is not in the files."""
    copy.set_key("mapping", "toe_r", f'"{copy.marker("toe_r")}x"')


@fault("trial_file")
def key_misspelt(copy: Copy) -> None:
    """A key of the trial file is misspelt."""
    copy.set_key("subject", "height_m", "1.8")
