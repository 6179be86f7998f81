"""Faults of measurement, planted into the files of a copy of a trial: of forces, markers and the trial file."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array, Mask, true_runs
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import check_known
from musclesolve.constants import LOADED_FROM_N
from musclesolve.errors import input_error
from musclesolve.laboratory.recording.data import SIDES, Side
from musclesolve.studies.synthetic.places import plate_middles
from musclesolve.studies.synthetic.trial_copy import FORCES, STATIC, WALK, Copy, open_copy, write_copy

SHOWS = 2.0
"""Vertical force below which software gives no center of pressure [N]."""
SLIP = (0.018, 0.0144, 0.0192)
"""Displacement [m] of a marker that the tests detect: 30 mm in a direction perpendicular to no segment."""

Spoil = Callable[[Copy], None]


@dataclass(frozen=True)
class Fault:
    """A fault of a recording, to be planted in a copy."""

    name: str  # of the fault
    about: str  # the mistake in the measurement
    code: str | None  # the expected finding of `musclesolve.check`; None if the recording cannot show it
    spoil: Spoil  # does it to a copy


_FAULTS: dict[str, Fault] = {}


def faults() -> dict[str, Fault]:
    """Return every fault by its name."""
    return dict(_FAULTS)


def plant(name: str, trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial into a folder with one fault planted, as `plant_all`; returns the trial file of the copy."""
    return plant_all([name], trial_path, folder)


def plant_all(names: Iterable[str], trial_path: str | Path, folder: str | Path) -> Path:
    """Copy a trial (TRC and MOT) into a folder with faults planted in order, faults of the written text last.

    All go into one copy, so that a fault that makes a file unreadable does not prevent the others. Returns the trial
    file of the copy. An unknown name of a fault and a trial that cannot be read are an InputError.
    """
    chosen = list(names)
    check_known(chosen, "fault", _FAULTS)
    copy = open_copy(Path(trial_path))
    for name in chosen:
        _FAULTS[name].spoil(copy)
    return write_copy(copy, Path(folder))


def fault(code: str | None) -> Callable[[Spoil], Spoil]:
    """Register a function that spoils a copy; its name is the name of the fault, its docstring the description.

    code: the expected finding; None if the recording cannot show the fault.
    """

    def register(spoil: Spoil) -> Spoil:
        name = spoil.__name__
        _FAULTS[name] = Fault(name, (spoil.__doc__ or "").strip(), code, spoil)
        return spoil

    return register


def scale_plates(
    copy: Copy, factor: float | Sequence[float], roles: Sequence[str], side: Side | None = None
) -> None:
    """Multiply the output of the plates of a side, or of all, by a factor, or by a factor for each axis (3,)."""
    if roles == ["moment"] and not any(copy.columns(plate, "moment") for plate in copy.plates(side)):
        problem, expected = "no [[force]] names a moment", "plates with a free moment"
        raise input_error("missing_key", problem=problem, expected=expected, remedy="choose another fault")
    copy.change_plates(roles, lambda vectors: vectors * factor, side)


def move_points(copy: Copy, forward_mm: float = 0.0, left_mm: float = 0.0, side: Side | None = None) -> None:
    """Move the points of force of the plates of a side, or of all."""
    away = 0.001 * np.array([forward_mm, left_mm, 0.0])
    copy.change_plates(["point"], lambda point: point + away, side)


def stamp_forces_late(copy: Copy, seconds: float) -> None:
    """Shift the times of the forces."""
    copy.forces = replace(copy.forces, time=copy.forces.time + seconds)


def let_points_stray(copy: Copy, side: Side, away_mm: float, seconds: float) -> None:
    """Move the points of force of a plate away for a while, in the middle of the contact within the time range."""
    plate, time = copy.plates(side)[0], copy.forces.time
    first, stop = _longest(copy, plate, loaded=True)
    start, end = max(time[first], copy.span[0]), min(time[stop - 1], copy.span[1])
    samples = (time >= 0.5 * (start + end)) & (time < 0.5 * (start + end) + seconds)
    point = copy.plate(plate, "point")
    point[samples] += 0.001 * away_mm * np.array([0.6, 0.8, 0.0])
    copy.set_plate(plate, "point", point)


def run_forces_at(copy: Copy, rate: float) -> None:
    """Change the rate of the forces' clock from the first sample on."""
    time = copy.forces.time
    copy.forces = replace(copy.forces, time=time[0] + rate * (time - time[0]))


def tilt_plates(copy: Copy, forward_deg: float = 0.0, left_deg: float = 0.0) -> None:
    """Rotate the output of all plates, each about the middle of its contacts: their axes differ from the markers' axes.

    forward_deg: of the vertical toward forward; left_deg: toward the left.
    """
    rotation = _tilt(forward_deg, left_deg)
    for plate in copy.plates():
        force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
        middle, loaded = plate_middles(force[:, 2], point), force[:, 2:] > SHOWS
        copy.set_plate(plate, "point", np.where(loaded, middle + (point - middle) @ rotation.T, point))
    copy.change_plates(["force", "moment"], lambda vectors: vectors @ rotation.T)


def tilt_markers(copy: Copy, forward_deg: float = 0.0, left_deg: float = 0.0) -> None:
    """Rotate the markers of all recordings: the vertical of the cameras is not the vertical of the plates."""
    rotation = copy.rotation.T @ _tilt(forward_deg, left_deg).T @ copy.rotation
    for static, markers in enumerate((copy.walk, copy.static)):
        if markers is not None:
            copy.put(markers.position @ rotation, static=bool(static))


def tilt_laboratory(copy: Copy, forward_deg: float = 0.0, left_deg: float = 0.0) -> None:
    """Rotate markers and plates together: the upward axis of the files is not vertical."""
    tilt_markers(copy, forward_deg, left_deg)
    rotation = _tilt(forward_deg, left_deg)
    copy.change_plates(["force", "point", "moment"], lambda vectors: vectors @ rotation.T)


def _tilt(forward_deg: float, left_deg: float) -> Array:
    """Return the rotation (3, 3) of the vertical by angles toward forward and to the left."""
    (s, c), (t, d) = ((np.sin(a), np.cos(a)) for a in np.radians([forward_deg, left_deg]))
    forward = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    return forward @ np.array([[1.0, 0.0, 0.0], [0.0, d, t], [0.0, -t, d]])


def mix_channels(copy: Copy, share: float, into: Sequence[float]) -> None:
    """Add a share of the vertical force of every plate to its other channels, by a factor for each axis (3,)."""
    copy.change_plates(["force"], lambda force: force + share * force[:, 2:] * np.asarray(into))


def mix_plates(copy: Copy, share: float) -> None:
    """Add a share of the wrench of the other plates to every plate; its point of force follows from the sum."""
    force = {plate: copy.plate(plate, "force") for plate in copy.plates()}
    point = {plate: copy.plate(plate, "point") for plate in copy.plates()}
    for plate in copy.plates():
        parts = [(1.0 if other == plate else share, other) for other in copy.plates()]
        parts = [(weight, other) for weight, other in parts if weight]
        total = np.sum([weight * force[other] for weight, other in parts], axis=0)
        vertical = np.where(total[:, 2:] > SHOWS, total[:, 2:], 1.0)
        upward = {other: force[other][:, 2:] for _, other in parts}
        shown = [weight * np.where(upward[at] > SHOWS, upward[at] * point[at], 0.0) for weight, at in parts]
        middle = np.sum(shown, axis=0)
        copy.set_plate(plate, "force", total)
        copy.set_plate(plate, "point", np.where(total[:, 2:] > SHOWS, middle / vertical, point[plate]))


def lift_right_plate(copy: Copy, first_n: float, last_n: float) -> None:
    """Add a vertical force to the sensors of the right plate: it acts at the middle of the plate.

    As on a real plate, the error of the channels changes the center of pressure and the free moment.
    """
    plate, extra = copy.plates("r")[0], np.linspace(first_n, last_n, copy.forces.time.size)
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


def scale_positions(copy: Copy, factor: float, roles: Sequence[str] = ("walk", "static")) -> None:
    """Multiply all positions of the motion and the standing trial, or of one of them."""
    for role in roles:
        if (markers := getattr(copy, role)) is not None:
            copy.put(factor * markers.position, static=role == "static")


def _frames(copy: Copy, start: float | None, frames: int | None) -> slice:
    """Return `frames` frames from a share of the time range on, all following ones, or all of a recording."""
    first = None if start is None else copy.frame(start)
    return slice(first, None if first is None or frames is None else first + frames)


def exchange_markers(
    copy: Copy, one: str, other: str, start: float | None = None, frames: int | None = None
) -> None:
    """Exchange the markers of two landmarks in the motion."""
    copy.exchange(copy.marker(one), copy.marker(other), _frames(copy, start, frames))


def move_marker(
    copy: Copy,
    landmark: str,
    way_mm: float,
    start: float | None = None,
    frames: int | None = None,
    static: bool = False,
) -> None:
    """Move the marker of a landmark along SLIP, which is 30 mm long."""
    shift = way_mm / 30.0 * copy.in_file(SLIP)
    copy.move(copy.marker(landmark), _frames(copy, start, frames), shift, static=static)


def scale_key(copy: Copy, key: str, factor: float, decimals: int) -> None:
    """Multiply a value of the subject in the trial file."""
    copy.set_key("subject", key, f"{factor * copy.settings.subject[key]:.{decimals}f}")


_FUNCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function
    for function in (
        *(scale_plates, move_points, stamp_forces_late, lift_right_plate, run_forces_at),
        let_points_stray,
        *(tilt_plates, tilt_markers, tilt_laboratory, mix_channels, mix_plates),
        *(scale_positions, exchange_markers, move_marker, Copy.set_key, scale_key),
    )
}
for _name, _entry in bundled_toml(__package__, "faults.toml").items():
    (_function,) = _entry.keys() & _FUNCTIONS.keys()
    _spoil = partial(_FUNCTIONS[_function], **_entry[_function])
    _FAULTS[_name] = Fault(_name, _entry["about"], _entry.get("code"), _spoil)


def _longest(copy: Copy, plate: int, *, loaded: bool) -> tuple[int, int]:
    """Return the contact, or the swing between two contacts, with the largest part in the time range."""
    time = copy.forces.time
    on = copy.plate(plate, "force")[:, 2] > LOADED_FROM_N
    start, end = copy.span
    runs = [run for run in true_runs(on == loaded) if loaded or (0 < run[0] and run[1] < on.size)]
    return max(runs or [(0, on.size)], key=lambda run: min(time[run[1] - 1], end) - max(time[run[0]], start))


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
    rolls = np.linspace(0.0, 0.05, middle.stop - middle.start)[:, None] * [1.0, 0.0, 0.0]
    point[middle] = point[first - 50 if first > 50 else min(last + 50, len(point) - 1)] + rolls
    copy.set_plate(plate, "force", force)
    copy.set_plate(plate, "point", point)


@fault("time_offset")
def forces_early_30ms(copy: Copy) -> None:
    """The forces come 30 ms too early, in a file that begins with the markers."""
    step = float(np.median(np.diff(copy.forces.time)))
    count = round(0.03 / step)
    values = np.concatenate([copy.forces.values[count:], copy.forces.values[-1:].repeat(count, axis=0)])
    copy.forces = replace(copy.forces, values=values)


@fault("plate_clipped")
def plate_clipped(copy: Copy) -> None:
    """The amplifier of the left plate saturates at 90 % of the peak."""
    inf = np.inf
    copy.change_plates(["force"], lambda force: np.minimum(force, [inf, inf, 0.9 * force[:, 2].max()]), "l")


@fault("plate_axes")
def plate_turned(copy: Copy) -> None:
    """The horizontal columns of force and point of the right plate are exchanged."""
    copy.change_plates(["force", "point"], lambda vectors: vectors[:, [1, 0, 2]], "r")


@fault("plate_axes")
def pressure_runs_backward(copy: Copy) -> None:
    """The right plate is rotated by 180 degrees in the file: its center of pressure runs backward about its middle."""
    plate = copy.plates("r")[0]
    force, point = copy.plate(plate, "force"), copy.plate(plate, "point")
    for first, last in true_runs(force[:, 2] > LOADED_FROM_N):
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
    late = copy.forces.time >= max(copy.forces.time[0] + 0.25, copy.span[0])
    copy.forces = replace(copy.forces, time=copy.forces.time[late], values=copy.forces.values[late])


@fault("truncated")
def truncated_forces(copy: Copy) -> None:
    """The force file ends in the middle of a row, after 95 % of it."""
    copy.afterward.append((FORCES, lambda text: text[: int(0.95 * len(text))]))


def _standing_marker(copy: Copy, landmark: str) -> tuple[str, Array]:
    """Return the marker of a landmark in the standing trial and its mean place (3,) [m], in the axes of the file."""
    if copy.static is not None:
        for marker in copy.mapping.get(landmark, ()):
            if marker in copy.static:
                return marker, np.nanmean(copy.static[marker], axis=0)
    raise input_error(
        "missing_marker",
        problem=f"no marker of a standing trial shows '{landmark}'",
        expected="a standing trial with a marker on it",
        remedy="choose another fault",
    )


WAYS = ("medial", "lateral")


@fault("joint_width")
def knee_marker_20mm_inward(copy: Copy) -> None:
    """The right medial knee marker of the standing trial sits 20 mm too far from the bone."""
    (marker, medial), (_, lateral) = (_standing_marker(copy, f"knee_{side}_r") for side in WAYS)
    inward = (medial - lateral) / np.linalg.norm(medial - lateral)
    copy.move(marker, slice(None), 0.02 * inward, static=True)


@fault(None)
def knee_marker_20mm_ahead(copy: Copy) -> None:
    """The left medial knee marker of the standing trial sits 20 mm too far forward: so do epicondyles of some knees."""
    (marker, medial), (_, lateral) = (_standing_marker(copy, f"knee_{side}_l") for side in WAYS)
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


@fault("markers_merged")
def two_labels_on_one_marker(copy: Copy) -> None:
    """The fifth metatarsal marker of the left foot was given the place of the toe marker for 25 frames."""
    first = copy.frame(0.3)
    frames = slice(first, first + 25)
    ghost, real, position = copy.marker("metatarsal_5_l"), copy.marker("toe_l"), copy.walk.position.copy()
    position[frames, copy.walk.names.index(ghost)] = copy.walk[real][frames]
    copy.put(position)


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
    """Four frames were dropped and the others renumbered, so that the time column does not show it."""
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
    """A row of the marker file occurs twice."""

    def twice(text: str) -> str:
        lines = text.splitlines()
        lines.insert(len(lines) // 2, lines[len(lines) // 2])
        return _with_header("\n".join(lines), 2, lambda count: str(int(count) + 1))

    copy.afterward.append((WALK, twice))


@fault("truncated")
def truncated_file(copy: Copy) -> None:
    """The marker file ends in the middle of a row, after nine tenths of it."""
    copy.afterward.append((WALK, lambda text: text[: int(0.9 * len(text))]))


@fault("header_rate")
def header_rate_wrong(copy: Copy) -> None:
    """The header of the marker file states 1.2 times the rate."""
    copy.afterward.append((WALK, lambda text: _with_header(text, 0, lambda rate: f"{1.2 * float(rate):.2f}")))


@fault("unreadable")
def static_is_no_text(copy: Copy) -> None:
    """The file of the standing trial is a spreadsheet."""
    copy.afterward.append((STATIC, lambda text: "PK\x03\x04\0\0" + text[:500]))


@fault("up_axis")
def up_axis_wrong(copy: Copy) -> None:
    """The trial file states that another axis of the files points up."""
    laboratory = copy.settings.laboratory
    other = next(axis for axis in "zyx" if axis not in laboratory.up + laboratory.forward)
    copy.set_key("laboratory", "up", f'"+{other}"')


@fault("walking_direction")
def walks_backward(copy: Copy) -> None:
    """The trial file states that the subject walks against the true direction."""
    forward = copy.settings.laboratory.forward
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
        raise input_error(
            "missing_key",
            problem="the trial file has no [mapping]",
            expected="landmarks that are mapped in the trial file",
            remedy="choose another fault, or write out the mapping",
        )


@fault("mapping")
def marker_misspelt(copy: Copy) -> None:
    """A marker of the mapping is not in the files."""
    copy.set_key("mapping", "toe_r", f'"{copy.marker("toe_r")}x"')
