"""Faults drawn at random and planted into recordings: cost in newtons, and findings.

python -m benchmarks.planted_recording_faults DATA [COUNT [SEED [KIND ...]]]

DATA is a folder with the recordings of `trials`; the bundled stride is one more. Marker, plate, channel, clock,
quantity of the body, side and size are drawn; `drawn_faults` describes the table.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import xarray as xr
from scipy.interpolate import CubicSpline, interp1d
from scipy.signal import butter, lfilter
from scipy.spatial.transform import Rotation

import musclesolve as ms
import musclesolve.studies.synthetic.faults
from benchmarks.arguments import bank_arguments
from benchmarks.drawn_faults import Bank, NotHere, pick
from musclesolve.laboratory.motion.signals.low_pass import low_pass
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.studies.synthetic.trial_copy import Copy, open_copy, write_copy

BANK = Bank[Copy](changes=True)
kind = BANK.kind
planted = sys.modules["musclesolve.studies.synthetic.faults"]
REAL = Path(__file__).resolve().parents[1] / "tests" / "real" / "rajagopal_walk.toml"
LANDMARKS = (
    "asis", "psis", "knee_lateral", "knee_medial", "ankle_lateral", "ankle_medial", "heel", "toe", "metatarsal_5",
    "shoulder",
)  # fmt: skip
Drawn = tuple[Copy, str]


def trials(data: Path, folder: Path) -> dict[str, Path]:
    """Trial files of sound recordings: the bundled stride, three walks over ground, four on treadmills."""
    walk = folder / "walk.toml"
    text = REAL.read_text(encoding="utf-8").replace("../../../shared/data", data.resolve().as_posix())
    walk.write_text(text, encoding="utf-8")
    return {
        "stride": Path(ms.data.reference_stride()),
        "walk": walk,
        "treadmill": data / "treadmill_emg" / "s01" / "trial.toml",
        **{f"treadmill {name}": data / "treadmill_walk" / name / "walk.toml" for name in ("p1", "p3")},
        **{f"implant {name}": data / "instrumented_knee" / f"walk_{name}.toml" for name in ("ss1", "ss9")},
        "emg s18": data / "treadmill_emg" / "s18" / "trial.toml",
    }


# Tools of the faults


def sides_of_fault(draw: np.random.Generator) -> str | None:
    """A side, or both (None)."""
    return None if draw.random() < 0.3 else str(pick(draw, SIDES))


def of(side: str | None) -> str:
    return "both plates" if side is None else f"the {'right' if side == 'r' else 'left'} plate"


def landmark_of(copy: Copy, draw: np.random.Generator, static: bool = False) -> tuple[str, str]:
    """A landmark and the marker that shows it."""
    names = [f"{part}_{side}" for part in LANDMARKS for side in SIDES]
    markers = copy.static if static else copy.walk
    if markers is None:
        raise NotHere
    shown = [
        (name, marker)
        for name in names
        for marker in list(copy.mapping.get(name, ()))[:1]
        if marker in markers
    ]
    chosen: tuple[str, str] = pick(draw, shown)
    return chosen


def direction(draw: np.random.Generator, size: float) -> np.ndarray:
    """A vector (3,) of a size in any direction."""
    way = draw.standard_normal(3)
    return np.asarray(size * way / np.linalg.norm(way))


def on_plates(copy: Copy, side: str | None, role: str, change: Callable[[np.ndarray], np.ndarray]) -> None:
    for plate in copy.plates(side):  # type: ignore[arg-type]
        if copy.columns(plate, role):
            copy.set_plate(plate, role, change(copy.plate(plate, role)))


# Plates


@kind("pressure_offset", "pressure_outside")
def points_moved(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, size, angle = (
        sides_of_fault(draw),
        pick(draw, (15.0, 20.0, 30.0, 50.0)),
        draw.uniform(0.0, 2.0 * np.pi),
    )
    ahead, left = size * np.cos(angle), size * np.sin(angle)
    planted.move_points(copy, ahead, left, side)  # type: ignore[arg-type]
    return copy, f"points of {of(side)} {ahead:+.0f} mm ahead, {left:+.0f} mm left"


@kind("pressure_offset", "pressure_outside", "plate_axes", "leaning_force")
def plate_turned(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, angle = str(pick(draw, SIDES)), np.radians(pick(draw, (-15.0, -8.0, 8.0, 15.0, 90.0, 180.0)))
    turn = np.array(
        [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    )
    for plate in copy.plates(side):  # type: ignore[arg-type]
        point, middle = (
            copy.plate(plate, "point"),
            planted.plate_middles(copy.plate(plate, "force")[:, 2], copy.plate(plate, "point")),
        )
        copy.set_plate(plate, "force", copy.plate(plate, "force") @ turn.T)
        copy.set_plate(plate, "point", middle + (point - middle) @ turn.T)
    return copy, f"{of(side)} turned by {np.degrees(angle):+.0f} degrees"


# Clocks


@kind("time_offset")
def one_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, by = str(pick(draw, SIDES)), pick(draw, (-0.03, -0.02, 0.02, 0.03))
    shift = round(by / float(np.diff(copy.forces.time).mean()))
    for role in ("force", "point", "moment"):
        on_plates(copy, side, role, lambda values: np.roll(values, shift, axis=0))
    return copy, f"{of(side)} {1000 * by:+.0f} ms"


@kind("clock_rate", "time_offset", "header_rate")
def clock_of_markers(copy: Copy, draw: np.random.Generator) -> Drawn:
    rate, time = pick(draw, (0.97, 0.98, 0.99, 1.01, 1.02, 1.03)), copy.walk.time
    copy.walk = replace(copy.walk, time=time[0] + rate * (time - time[0]))
    return copy, f"clock of the markers x {rate:g}"


@kind("clock_rate", "time_offset", "header_rate", "unbalanced")
def both_clocks(copy: Copy, draw: np.random.Generator) -> Drawn:
    rate = pick(draw, (0.9, 0.95, 1.05, 1.1))
    clock_start = copy.walk.time[0]
    copy.walk = replace(copy.walk, time=clock_start + rate * (copy.walk.time - clock_start))
    copy.forces = replace(copy.forces, time=clock_start + rate * (copy.forces.time - clock_start))
    for key, value in (("start_s", copy.settings.time.start_s), ("end_s", copy.settings.time.end_s)):
        if value is not None:
            copy.set_key("time", key, f"{clock_start + rate * (value - clock_start):.4f}")
    return copy, f"both clocks x {rate:g}"


# Markers


@kind(
    "marker_moved",
    "segment_length",
    "joint_width",
    "feet_differ",
    "landmark_order",
    "proportions",
    "outer_toe",
)
def marker_misplaced(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), size = landmark_of(copy, draw), pick(draw, (0.015, 0.02, 0.03))
    way = direction(draw, size)
    copy.move(marker, slice(None), way)
    if copy.static is not None and marker in copy.static:
        copy.move(marker, slice(None), way, static=True)
    return copy, f"{name} {1000 * size:.0f} mm off in all recordings"


@kind(
    *("marker_moved", "static_of_another", "joint_width", "feet_differ", "segment_length"),
    *("landmark_order", "proportions"),
)
def standing_marker_misplaced(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), size = landmark_of(copy, draw, static=True), pick(draw, (0.015, 0.02, 0.03))
    copy.move(marker, slice(None), direction(draw, size), static=True)
    return copy, f"{name} {1000 * size:.0f} mm off in the standing trial"


@kind("pair_swapped", "labels_exchanged", "leap", "sides_swapped", "landmark_order")
def labels_exchanged(copy: Copy, draw: np.random.Generator) -> Drawn:
    (one, a), (two, b) = landmark_of(copy, draw), landmark_of(copy, draw)
    other_side = one[:-1] + ("l" if one.endswith("r") else "r")
    if draw.random() < 0.4 and (names := [m for m in copy.mapping.get(other_side, ()) if m in copy.walk]):
        two, b = other_side, names[0]
    if a == b:
        raise NotHere
    first = copy.frame(float(draw.uniform(0.1, 0.8)))
    last, words = pick(
        draw, ((None, "from then on"), (first + int(draw.integers(5, 25)), "for a while"), (0, ""))
    )
    copy.exchange(a, b, slice(None) if last == 0 else slice(first, last))
    return copy, f"{one} and {two} exchanged {words}"


@kind("frames_skipped", "frames_missing", "leap", "time_offset")
def frames_lost(copy: Copy, draw: np.random.Generator) -> Drawn:
    count, first = int(draw.integers(2, 8)), copy.frame(float(draw.uniform(0.2, 0.8)))
    kept = np.ones(copy.walk.time.size, bool)
    kept[first : first + count] = False
    copy.walk = replace(copy.walk, time=copy.walk.time[: kept.sum()], position=copy.walk.position[kept])
    return copy, f"{count} frames lost, times renumbered"


# Stretches of time


def stretch(copy: Copy, draw: np.random.Generator, seconds: float) -> slice:
    """Frames of the markers of a stretch of some seconds in the middle part of the recording."""
    first = copy.frame(float(draw.uniform(0.25, 0.55)))
    return slice(first, first + max(round(seconds * copy.walk.rate), 4))


@kind("plates_swapped", "force_without_contact", "contact_without_force", "pressure_outside")
def plates_swapped_later(copy: Copy, draw: np.random.Generator) -> Drawn:
    right, left = copy.plates("r"), copy.plates("l")
    if len(right) != 1 or len(left) != 1:
        raise NotHere
    middle = len(copy.forces.time) // 2
    for role in ("force", "point", "moment"):
        both = [copy.plate(plate, role).copy() for plate in (*right, *left)]
        for plate, own, other in zip((*right, *left), both, both[::-1], strict=True):
            copy.set_plate(plate, role, np.concatenate([own[:middle], other[middle:]]))
    return copy, "plates exchanged in the second half"


@kind("plate_channel", "plate_scale", "leaning_force", "plate_drift")
def shear_drifts(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis, most = sides_of_fault(draw), int(draw.integers(2)), pick(draw, (-60.0, -30.0, 30.0, 60.0))
    added = np.linspace(0.0, most, len(copy.forces.time))
    on_plates(
        copy, side, "force", lambda force: force + added[:, None] * np.eye(3)[axis] * (force[:, 2:] > 20.0)
    )
    return copy, f"F{'xy'[axis]} of {of(side)} drifts by {most:+.0f} N"


# Bodies


@kind("joint_width", "segment_length", "static_of_another", "marker_moved", "proportions")
def pelvis_widened(copy: Copy, draw: np.random.Generator) -> Drawn:
    size, side = pick(draw, (0.015, 0.03)), {"r": 1.0, "l": -1.0}
    names = {each: list(copy.mapping.get(f"asis_{each}", ()))[:1] for each in SIDES}
    if not all(names.values()):
        raise NotHere
    for static in (False, True) if copy.static is not None else (False,):
        markers = copy.static if static else copy.walk
        assert markers is not None
        right, left = (markers.position[:, markers.names.index(names[each][0])] for each in SIDES)
        across = np.nanmean(right - left, axis=0) / np.linalg.norm(np.nanmean(right - left, axis=0))
        for each in SIDES:
            copy.move(names[each][0], slice(None), side[each] * size * across, static=static)
    return copy, f"both front spines {1000 * size:.0f} mm outward"


@kind("knee_axis", "joint_width", "landmark_order", "marker_moved", "segment_length")
def knee_axis_turned(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, degrees = str(pick(draw, SIDES)), pick(draw, (-20.0, -15.0, 15.0, 20.0))
    turn = Rotation.from_rotvec(copy.in_file((0.0, 0.0, np.radians(degrees)))).as_matrix()
    names = [list(copy.mapping.get(f"knee_{place}_{side}", ()))[:1] for place in ("lateral", "medial")]
    shown = [
        static
        for static, markers in ((False, copy.walk), (True, copy.static))
        if markers is not None and all(own and own[0] in markers for own in names)
    ]
    if not shown:
        raise NotHere
    for static in shown:
        markers = copy.static if static else copy.walk
        assert markers is not None
        away = 0.5 * (markers[names[0][0]] - markers[names[1][0]])
        for sign, (name,) in zip((1.0, -1.0), names, strict=True):
            copy.move(name, slice(None), sign * (away @ turn.T - away), static=static)
    return copy, f"the axis of the {side} knee turned by {degrees:+g} degrees about the vertical"


@kind("over_filtered", "segment_length")
def foot_filtered(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, size = str(pick(draw, SIDES)), pick(draw, (2.0, 3.0))
    for part in ("heel", "toe", "metatarsal_5", "ankle_lateral", "ankle_medial"):
        for marker in copy.mapping.get(f"{part}_{side}", ()):
            if marker in copy.walk and np.isfinite(copy.walk[marker]).all():
                smooth = low_pass(copy.walk[marker], copy.walk.rate, size)
                copy.move(marker, slice(None), smooth - copy.walk[marker])
    return copy, f"markers of the {side} foot filtered at {size:g} Hz"


@kind("time_offset", "marker_moved", "segment_length", "unbalanced", "uncertain_joint", "leap")
def some_markers_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, count = str(pick(draw, SIDES)), int(pick(draw, (2, 4)))
    foot = ("ankle_lateral", "ankle_medial", "heel", "toe", "metatarsal_5")
    title, names = pick(draw, (("foot", foot), ("shoulder", ("shoulder",))))
    parts = [f"{part}_{side}" for part in names]
    own = [marker for part in parts for marker in copy.mapping.get(part, ()) if marker in copy.walk]
    if not own:
        raise NotHere
    position = copy.walk.position.copy()
    numbers = [copy.walk.names.index(marker) for marker in own]
    position[:, numbers] = np.roll(position[:, numbers], count, axis=0)
    copy.put(position)
    return copy, f"markers of the {title} {side} {count} frames late"


# Channels, axes and sets of markers


@kind("time_offset", "plate_channel", "plate_axes")
def channel_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis, by = str(pick(draw, SIDES)), int(draw.integers(3)), pick(draw, (-0.03, 0.02, 0.03))
    shift = round(by / float(np.diff(copy.forces.time).mean()))

    def late(force: np.ndarray) -> np.ndarray:
        force = force.copy()
        force[:, axis] = np.roll(force[:, axis], shift)
        return force

    on_plates(copy, side, "force", late)
    return copy, f"F{'xyz'[axis]} of {of(side)} {1000 * by:+.0f} ms"


def moved_together(copy: Copy, parts: tuple[str, ...], by: np.ndarray, static: bool) -> int:
    names = {m for part in parts for side in SIDES for m in list(copy.mapping.get(f"{part}_{side}", ()))[:1]}
    for name in sorted(names):
        if name in copy.walk:
            copy.move(name, slice(None), by)
        if static and copy.static is not None and name in copy.static:
            copy.move(name, slice(None), by, static=True)
    return len(names)


@kind("segment_length", "marker_moved", "static_of_another", "proportions")
def belt_moved(copy: Copy, draw: np.random.Generator) -> Drawn:
    by, static = direction(draw, pick(draw, (0.02, 0.03))), bool(draw.random() < 0.5)
    moved_together(copy, ("asis", "psis"), by, static)
    return (
        copy,
        f"the markers of the pelvis {1000 * np.linalg.norm(by):.0f} mm off{', standing, too' * static}",
    )


@kind("space_scale", "stature", "proportions", "static_of_another", "pressure_offset")
def one_axis_scaled(copy: Copy, draw: np.random.Generator) -> Drawn:
    axis, factor = int(draw.integers(3)), pick(draw, (0.95, 0.97, 1.03, 1.05))
    scale = np.where(np.arange(3) == axis, factor, 1.0)
    copy.put(copy.walk.position * scale)
    if copy.static is not None:
        copy.put(copy.static.position * scale, static=True)
    return copy, f"positions along {'xyz'[axis]} x {factor:g}"


@kind("plates_swapped", "time_offset", "force_without_contact")
def plate_of_the_other_step(copy: Copy, draw: np.random.Generator) -> Drawn:
    right, left = copy.plates("r"), copy.plates("l")
    if len(right) != 1 or len(left) != 1:
        raise NotHere
    share = pick(draw, (0.2, 0.4))
    own, other = (copy.plate(plate, "force") for plate in (*left, *right))
    shift = int(np.argmax(own[:, 2]) - np.argmax(other[:, 2]))
    copy.set_plate(left[0], "force", (1.0 - share) * own + share * np.roll(other, shift, axis=0))
    return copy, f"the left force is to {share:.0%} that of the right step"


# Preprocessing, parts of a recording, and recordings of other people


@kind("force_leap", "low_rate", "plate_instant", "plate_clipped", "force_resolution", "time_offset")
def forces_resampled(copy: Copy, draw: np.random.Generator) -> Drawn:
    rate, time = pick(draw, (15.0, 25.0, 50.0)), copy.forces.time
    coarse = np.arange(time[0], time[-1], 1.0 / rate)
    held = bool(draw.random() < 0.5)

    def again(values: np.ndarray) -> np.ndarray:
        if held:
            return values[np.searchsorted(time, coarse)][np.searchsorted(coarse, time, side="right") - 1]
        columns = [np.interp(time, coarse, np.interp(coarse, time, column)) for column in values.T]
        return np.stack(columns, axis=1)

    for role in ("force", "point", "moment"):
        on_plates(copy, None, role, again)
    return copy, f"forces resampled at {rate:g} Hz, {'held' if held else 'interpolated'}"


@kind("plates_swapped", "force_without_contact", "plate_scale", "contact_without_force", "pressure_outside")
def load_shared_in_double_support(copy: Copy, draw: np.random.Generator) -> Drawn:
    right, left = copy.plates("r"), copy.plates("l")
    if len(right) != 1 or len(left) != 1:
        raise NotHere
    giver, taker = (right[0], left[0]) if draw.random() < 0.5 else (left[0], right[0])
    share = pick(draw, (0.15, 0.3))
    own, other = copy.plate(giver, "force"), copy.plate(taker, "force")
    moved = share * own * ((own[:, 2:] > 20.0) & (other[:, 2:] > 20.0))
    both = other + moved
    points = copy.plate(taker, "point"), copy.plate(giver, "point")
    part = moved[:, 2:] / np.where(both[:, 2:] > 20.0, both[:, 2:], np.inf)
    copy.set_plate(
        taker, "point", np.where(part > 0.0, points[0] + part * (points[1] - points[0]), points[0])
    )
    copy.set_plate(taker, "force", both)
    copy.set_plate(giver, "force", own - moved)
    return copy, f"{share:.0%} of one foot on the other plate in double support"


@kind(
    "static_of_another",
    "segment_length",
    "marker_moved",
    "joint_width",
    "proportions",
    "feet_differ",
    "stature",
)
def standing_of_another(copy: Copy, draw: np.random.Generator) -> Drawn:
    if copy.static is None:
        raise NotHere
    tall, wide = pick(draw, (0.95, 1.0, 1.05)), pick(draw, (0.92, 1.08))
    copy.put(copy.static.position * [wide, wide, tall], static=True)
    return copy, f"standing trial {wide:g} times as wide and {tall:g} times as tall"


@kind("marker_moved", "static_of_another", "segment_length", "uncertain_joint", "joint_width")
def cluster_moved(copy: Copy, draw: np.random.Generator) -> Drawn:
    if copy.static is None:
        raise NotHere
    by = direction(draw, pick(draw, (0.015, 0.03)))
    body = str(pick(draw, sorted(copy.settings.clusters)))
    marker = str(pick(draw, [name for name in copy.settings.clusters[body] if name in copy.static]))
    copy.move(marker, slice(None), by, static=True)
    return (
        copy,
        f"{marker} of the cluster {body} {1000 * np.linalg.norm(by):.0f} mm off in the standing trial",
    )


@kind("marker_moved", "landmark_order", "segment_length")
def forefoot_pitched(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, degrees = str(pick(draw, SIDES)), pick(draw, (-15.0, -10.0, 10.0, 15.0))
    if copy.static is None:
        raise NotHere
    heel, *fore = (
        [m for m in list(copy.mapping.get(f"{part}_{side}", ()))[:1] if m in copy.static]
        for part in ("heel", "toe", "metatarsal_5")
    )
    if not heel or not fore[0]:
        raise NotHere
    length = np.nanmedian(np.linalg.norm(copy.static[fore[0][0]] - copy.static[heel[0]], axis=1))
    for marker in (m for names in fore for m in names):
        copy.move(
            marker, slice(None), copy.in_file((0.0, 0.0, length * np.tan(np.radians(degrees)))), static=True
        )
    return copy, f"the forefoot {side} pitched by {degrees:+.0f} degrees in the standing trial"


@kind("clock_rate", "time_offset", "unbalanced", "frames_skipped")
def clock_wanders(copy: Copy, draw: np.random.Generator) -> Drawn:
    size, time = pick(draw, (0.01, 0.02, 0.03)), copy.walk.time
    at = time + size * np.sin(
        2.0 * np.pi * (time - time[0]) / pick(draw, (0.7, 1.5)) + draw.uniform(0.0, 6.0)
    )
    flat = copy.walk.position.reshape(len(time), -1)
    columns = [np.interp(at, time, column) for column in flat.T]
    copy.put(np.stack(columns, axis=1).reshape(copy.walk.position.shape))
    return copy, f"clock of the markers wanders by {1000 * size:.0f} ms"


# Changes amid a recording


@kind("clock_rate", "time_offset", "frames_skipped", "force_step")
def force_samples_lost(copy: Copy, draw: np.random.Generator) -> Drawn:
    seconds, values = pick(draw, (0.02, 0.03, 0.05)), copy.forces.values
    count = round(seconds / float(np.diff(copy.forces.time).mean()))
    first = int(draw.uniform(0.3, 0.6) * len(values))
    kept = np.delete(values, np.s_[first : first + count], axis=0)
    copy.forces = replace(
        copy.forces, time=copy.forces.time[: len(kept)], values=kept, lines=copy.forces.lines[:0]
    )
    return (
        copy,
        f"{1000 * seconds:.0f} ms of the forces lost at {copy.forces.time[first]:.2f} s, times renumbered",
    )


@kind("time_offset", "over_filtered", "force_cutoff")
def filter_with_delay(copy: Copy, draw: np.random.Generator) -> Drawn:
    cutoff, of_markers = pick(draw, (6.0, 10.0, 15.0)), bool(draw.random() < 0.5)
    rate = copy.walk.rate if of_markers else 1.0 / float(np.diff(copy.forces.time).mean())
    b, a = butter(2, min(cutoff / (0.5 * rate), 0.99))

    def later(values: np.ndarray) -> np.ndarray:
        return np.asarray(lfilter(b, a, values - values[:1], axis=0) + values[:1])

    if of_markers:
        position = copy.walk.position.copy()
        seen = np.isfinite(position).all(axis=(0, 2))
        position[:, seen] = later(position[:, seen])
        copy.put(position)
    else:
        on_plates(copy, None, "force", later)
    return copy, f"{'markers' if of_markers else 'forces'} filtered at {cutoff:g} Hz, forward in time alone"


# Rows: what becomes of a trial, of a marker, of all markers, of a standing trial, of plates

Change = Callable[..., Any]
Row = tuple[str, str, Sequence[Any], Change]
"""Codes that name the fault, text of a size, sizes, and what is made of the recorded numbers."""


def rows(planter: Callable[[Copy, np.random.Generator, Any, Change], str], table: dict[str, Row]) -> None:
    """Register the kinds of a table; `planter` puts what a row makes of the numbers into a copy, and names where."""
    for title, (codes, text, sizes, change) in table.items():

        def fault(
            copy: Copy,
            draw: np.random.Generator,
            text: str = text,
            sizes: Any = sizes,
            change: Change = change,
        ) -> Drawn:
            size = pick(draw, sizes)
            return copy, f"{planter(copy, draw, size, change)} {text.format(size)}"

        fault.__name__ = title
        kind(*codes.split())(fault)


def one_marker(copy: Copy, draw: np.random.Generator, size: Any, change: Change) -> str:
    (name, marker), position = landmark_of(copy, draw), copy.walk.position.copy()
    column = copy.walk.names.index(marker)
    position[:, column] = change(position[:, column], size, copy, draw)
    copy.put(position)
    return name


def all_markers(copy: Copy, draw: np.random.Generator, size: Any, change: Change) -> str:
    copy.put(change(copy.walk.position, size, copy, draw))
    return "markers"


def standing(copy: Copy, draw: np.random.Generator, size: Any, change: Change) -> str:
    if copy.static is None:
        raise NotHere
    copy.put(change(copy.static.position, size, copy, draw), static=True)
    return "the standing trial"


def some_plates(copy: Copy, draw: np.random.Generator, size: Any, change: Change) -> str:
    """`change` takes force, point and moment (S, 3), size, rate [Hz] and draw; it returns what it changes."""
    side, roles = sides_of_fault(draw), ("force", "point", "moment")
    rate = 1.0 / float(np.diff(copy.forces.time).mean())
    for plate in copy.plates(side):  # type: ignore[arg-type]
        if not copy.columns(plate, "moment"):
            raise NotHere
        vectors = (copy.plate(plate, role) for role in roles)
        for role, changed in change(*vectors, size, rate, draw).items():
            copy.set_plate(plate, role, changed)
    return of(side)


def about_middle(copy: Copy, position: np.ndarray, degrees: float, axis: int) -> np.ndarray:
    """Positions turned about an axis of the global frame through their middle."""
    turn = Rotation.from_rotvec(np.radians(degrees) * np.eye(3)[axis]).as_matrix()
    middle = np.nanmean(position, axis=(0, 1))
    return np.asarray(middle + (position - middle) @ copy.rotation.T @ turn.T @ copy.rotation)


def wave(copy: Copy, draw: np.random.Generator) -> np.ndarray:
    return np.sin(2.0 * np.pi * 0.9 * copy.walk.time + draw.uniform(0.0, 6.0))[:, None]


def within(copy: Copy, draw: np.random.Generator, seconds: float) -> np.ndarray:
    """Whether a frame (T, 1) is in a stretch of some seconds."""
    frames = stretch(copy, draw, seconds)
    return np.isin(np.arange(len(copy.walk.time)), np.arange(frames.start, frames.stop))[:, None]


def after(copy: Copy, draw: np.random.Generator) -> np.ndarray:
    """Whether a frame (T, 1) comes after one in the middle part."""
    return np.arange(len(copy.walk.time))[:, None] > copy.frame(float(draw.uniform(0.3, 0.7)))


def bridged(own: np.ndarray, lost: np.ndarray, order: int) -> np.ndarray:
    """Places (T, 3) whose lost frames lie on a line, or on a curve through three frames on either side."""
    at = np.flatnonzero(lost)
    around = np.r_[at[0] - order : at[0], at[-1] + 1 : at[-1] + 1 + order]
    curve = CubicSpline(around, own[around]) if order > 1 else interp1d(around, own[around], axis=0)
    return np.where(lost, curve(np.clip(np.arange(len(own)), around[0], around[-1])), own)


def in_columns(change: Change, position: np.ndarray) -> np.ndarray:
    """Change the paths (T, 3 m) of the markers that are always seen."""
    position, seen = position.copy(), np.isfinite(position).all(axis=(0, 2))
    flat = position[:, seen].reshape(len(position), -1)
    position[:, seen] = change(flat).reshape(len(position), -1, 3)
    return position


def about_across(position: np.ndarray) -> np.ndarray:
    """Positions mirrored along the shorter horizontal way."""
    across = int(np.ptp(np.nanmean(position, axis=1), axis=0)[:2].argmin())
    mirror = np.where(np.arange(3) == across, -1.0, 1.0)
    return position * mirror + (1.0 - mirror) * np.nanmean(position, axis=(0, 1))


def exchanged(copy: Copy, count: int) -> np.ndarray:
    """Frames (T,) in which all neighbors are exchanged, or two stretches of some frames in the middle."""
    frames, first = np.arange(len(copy.walk.time)), copy.frame(0.4)
    frames[first : first + 2 * count] = np.roll(frames[first : first + 2 * count], count)
    return np.minimum(np.arange(len(frames)) ^ 1, len(frames) - 1) if count == 1 else frames


def in_stance(force: np.ndarray, count: float, draw: np.random.Generator) -> np.ndarray:
    """Whether a sample (S, 1) is among some in a contact."""
    loaded = np.flatnonzero(force[:, 2] > 200.0)
    after = np.arange(len(force))[:, None] - int(pick(draw, loaded[loaded.size // 4 : loaded.size // 2]))
    return (after >= 0) & (after < count)


def whole_trial(copy: Copy, draw: np.random.Generator, size: Any, change: Change) -> str:
    change(copy, size)
    return "trial:"


def ramp(count: int) -> np.ndarray:
    return np.linspace(0.0, 1.0, count)[:, None]


def sensor_lost(
    force: np.ndarray, point: np.ndarray, _: np.ndarray, share: float, *__: Any
) -> dict[str, np.ndarray]:
    """One of four sensors under a plate 0.6 m wide loses a share of its load."""
    way = point - planted.plate_middles(force[:, 2], point)
    along, across = np.clip(0.5 + way[:, :2] / 0.6, 0.0, 1.0).T
    lost = share * (along * across * (force[:, 2] > 20.0))[:, None]
    away = (way - [0.3, 0.3, 0.0]) * lost / (1.0 - lost)
    return {
        "force": force * np.where(np.arange(3) == 2, 1.0 - lost, 1.0),
        "point": point + away * [1.0, 1.0, 0.0],
    }


rows(
    whole_trial,
    {
        "zero": (
            *(
                "plate_baseline plate_drift plate_scale mass",
                "zero of the right plate {0[0]:+g} to {0[1]:+g} N",
            ),
            ((15.0, 15.0), (30.0, 30.0), (0.0, 40.0), (0.0, -40.0), (-20.0, -20.0)),
            lambda copy, size: planted.lift_right_plate(copy, *size),
        ),
        "tilted": (
            *("leaning_force plate_channel plate_axes", "plates tilted by {} degrees ahead and left"),
            ((1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (0.0, 2.0), (-2.0, 0.0), (0.0, -3.0)),
            lambda copy, size: planted.tilt_plates(copy, *size),
        ),
        "cameras_tilted": (
            "off_support up_axis floor_tilted leaning_force soles_slide walking_direction space_scale",
            *(
                "markers tilted by {} degrees ahead and left",
                ((2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (3.0, 0.0)),
            ),
            lambda copy, size: planted.tilt_markers(copy, *size),
        ),
        "crosstalk": (
            *("plate_channel leaning_force", "{0[0]:+.0%} of Fz in x and y by {0[1]}"),
            [
                (share, into)
                for share in (-0.05, -0.03, 0.03, 0.05)
                for into in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
            ],
            lambda copy, size: planted.mix_channels(copy, *size),
        ),
        "mixed": (
            "plates_swapped plate_channel force_without_contact pressure_outside plate_scale mass",
            *("{:.0%} of the other plate", (0.03, 0.05, 0.1), planted.mix_plates),
        ),
        "late": (
            "time_offset",
            "forces {:+g} s",
            (-0.03, -0.02, -0.012, 0.012, 0.02, 0.03),
            planted.stamp_forces_late,
        ),
        "clock_of_forces": (
            *("clock_rate time_offset", "clock of the forces x {:g}", (0.98, 0.99, 1.01, 1.02)),
            planted.run_forces_at,
        ),
        "scale_of_space": (
            "space_scale marker_units proportions static_of_another stature unusual_value off_support unbalanced",
            *("positions x {:g}", (0.95, 0.97, 1.03, 1.05), planted.scale_positions),
        ),
        "mass": (
            *("mass plate_scale", "mass x {:g}", (0.85, 0.9, 1.1, 1.15, 2.2)),
            lambda copy, size: planted.scale_key(copy, "mass_kg", size, 1),
        ),
        "stature": (
            *("stature", "stature x {:g}", (0.89, 0.92, 0.95, 1.05, 1.08, 1.11)),
            lambda copy, size: planted.scale_key(copy, "stature_m", size, 2),
        ),
        "shoe_heavy": (
            *("unusual_value", "shoes of {:g} kg", (1.5, 3.5)),
            lambda copy, size: copy.set_key("subject", "shoe_mass_kg", f"{size:g}"),
        ),
        "cutoff": (
            *("cutoff over_filtered", "cut-off {:g} Hz", (2.0, 3.0, 4.0, 15.0, 20.0)),
            lambda copy, size: copy.set_key("filter", "cutoff_hz", f"{size:g}"),
        ),
        "plates_swapped": (
            *("plates_swapped sides_swapped", "plates exchanged{}", ("",)),
            lambda copy, _: planted.plates_swapped(copy),
        ),
        "plates_of_one_side": (
            *("plates_swapped sides_swapped plate_feet trial_file", "all plates are of {}", SIDES),
            lambda copy, side: setattr(
                copy, "lines", [re.sub("^side = .*", f'side = "{side}"', a) for a in copy.lines]
            ),
        ),
    },
)
rows(
    one_marker,
    {
        "marker_copied": (
            *(
                "joint_width markers_merged landmark_order segment_length marker_moved",
                "is a copy of another one{}",
                ("",),
            ),
            lambda own, _, copy, draw: copy.walk[landmark_of(copy, draw)[1]],
        ),
        "marker_slips": (
            *("marker_slipped leap marker_moved segment_length", "slips by {:g} mm", (15.0, 20.0, 30.0)),
            lambda own, size, copy, draw: own + after(copy, draw) * direction(draw, size / 1000),
        ),
        "marker_held": (
            *("frozen gap_filled leap", "held for {:g} s", (0.08, 0.16, 0.25)),
            lambda own, size, copy, draw: np.where(held := within(copy, draw, size), own[held.argmax()], own),
        ),
        "straight_gap": (
            *("gap_filled frozen leap marker_slipped", "on a straight line for {:g} s", (0.15, 0.25, 0.4)),
            lambda own, size, copy, draw: bridged(own, within(copy, draw, size), 1),
        ),
        "curved_gap": (
            *(
                "gap_filled leap marker_slipped frozen segment_length",
                "on a curve for {:g} s",
                (0.2, 0.3, 0.4),
            ),
            lambda own, size, copy, draw: bridged(own, within(copy, draw, size), 3),
        ),
        "one_marker_in_another_unit": (
            *("marker_units leap segment_length landmark_order proportions marker_moved mapping", "x {:g}"),
            *((0.1, 10.0), lambda own, size, *_: own * size),
        ),
        "soft_tissue": (
            *("uncertain_joint segment_length marker_slipped noise marker_moved leap", "swings by {:g} mm"),
            *(
                (15.0, 30.0),
                lambda own, size, copy, draw: own + wave(copy, draw) * direction(draw, size / 1000),
            ),
        ),
        "marker_drifts": (
            *("marker_slipped segment_length marker_moved", "drifts by {:g} mm", (20.0, 40.0)),
            lambda own, size, _, draw: own + ramp(len(own)) * direction(draw, size / 1000),
        ),
        "marker_noisy": (
            *("noise leap segment_length", "has noise of {:g} mm", (5.0, 10.0, 20.0)),
            lambda own, size, _, draw: own + size / 1000 * draw.standard_normal(own.shape),
        ),
        "marker_late": (
            *("time_offset segment_length", "is {:g} frames late", (2, 4, 8)),
            lambda own, size, *_: np.roll(own, size, axis=0),
        ),
        "marker_lost": (
            *("gap gap_filled", "is lost for {:g} s", (0.15, 0.4)),
            lambda own, size, copy, draw: np.where(within(copy, draw, size), np.nan, own),
        ),
        "coordinate_held": (
            *(
                "frozen gap_filled leap segment_length marker_moved",
                "keeps a coordinate for {:g} s",
                (0.3, 0.6),
            ),
            lambda own, size, copy, draw: np.where(
                (np.arange(3) == draw.integers(3)) & (held := within(copy, draw, size)),
                own[held.argmax()],
                own,
            ),
        ),
    },
)
rows(
    all_markers,
    {
        "noisy": (
            *("noise leap", "with noise of {:g} mm", (2.0, 4.0, 8.0)),
            lambda position, size, _, draw: position + size / 1000 * draw.standard_normal(position.shape),
        ),
        "markers_filtered": (
            *("over_filtered cutoff", "filtered at {:g} Hz", (2.0, 3.0, 4.0)),
            lambda position, size, copy, _: in_columns(
                lambda seen: low_pass(seen, copy.walk.rate, size), position
            ),
        ),
        "places_in_steps": (
            *("noise leap", "in steps of {:g} mm", (2.0, 5.0, 10.0)),
            lambda position, size, *_: size / 1000 * np.round(position / size * 1000),
        ),
        "frames_exchanged": (
            *(
                "frames_skipped leap unbalanced time_offset noise",
                "with neighbors of {} frames exchanged",
                (1, 10),
            ),
            lambda position, size, copy, _: position[exchanged(copy, size)],
        ),
        "stretch_twice": (
            *("frames_repeated leap frames_skipped time_offset", "with {:g} s twice", (0.1, 0.2)),
            lambda position, size, copy, draw: position[
                np.arange(len(position)) - round(size * copy.walk.rate) * within(copy, draw, size)[:, 0]
            ],
        ),
        "space_sheared": (
            *(
                "space_scale off_support up_axis leaning_force floor_tilted",
                "go {:+.0%} of their z along x or y",
            ),
            *(
                (-0.05, 0.03, 0.05),
                lambda position, size, _, draw: (
                    position + size * position[..., 2:] * np.eye(3)[draw.integers(2)]
                ),
            ),
        ),
        "mirrored": (
            *(
                "sides_swapped plates_swapped leaning_force landmark_order force_without_contact leap",
                "mirrored {}",
            ),
            *(
                ("", "later"),
                lambda position, size, copy, draw: np.where(
                    after(copy, draw)[..., None] | (size == ""), about_across(position), position
                ),
            ),
        ),
        "markers_turned": (
            *("plate_axes leaning_force pressure_offset", "turned by {:+g} degrees about the vertical"),
            *((-6.0, -4.0, 2.0, 4.0), lambda position, size, copy, _: about_middle(copy, position, size, 2)),
        ),
        "lens": (
            *(
                "space_scale segment_length",
                "{:+.0%} off their middle, 1 m away from it",
                (-0.03, 0.03, 0.06),
            ),
            lambda position, size, *_: (
                position
                + size
                * (away := position - np.nanmean(position, axis=(0, 1)))
                * (away**2).sum(axis=-1, keepdims=True)
            ),
        ),
        "markers_held": (
            *("frames_repeated frozen low_rate noise", "of every {}th frame, held", (2, 4)),
            lambda position, size, *_: position[np.arange(len(position)) // size * size],
        ),
        "markers_reversed": (
            *("walking_direction frames_skipped time_offset", "run backward {}", ("in time",)),
            lambda position, *_: position[::-1],
        ),
        "origin_drifts": (
            *(
                "pressure_offset foot_slides clock_rate space_scale",
                "drift together by {:g} mm",
                (20.0, 40.0),
            ),
            lambda position, size, _, draw: (
                position + ramp(len(position))[:, None] * direction(draw, size / 1000)
            ),
        ),
        "cameras_bumped": (
            *(
                "leap pressure_offset frames_skipped",
                "are all {:g} mm off from the middle on",
                (10.0, 20.0, 40.0),
            ),
            lambda position, size, copy, draw: (
                position
                + (np.arange(len(position)) > copy.frame(0.5))[:, None, None] * direction(draw, size / 1000)
            ),
        ),
        "coordinates_exchanged": (
            *("up_axis walking_direction plate_axes sides_swapped", "have axes {} for xyz"),
            *(
                ("yxz", "xzy", "zyx"),
                lambda position, size, *_: position[..., ["xyz".index(axis) for axis in size]],
            ),
        ),
    },
)
rows(
    standing,
    {
        "scale_of_standing": (
            "static_of_another segment_length marker_moved marker_units",
            *("x {:g}", (0.95, 0.97, 1.03, 1.05), lambda position, size, *_: size * position),
        ),
        "standing_tilted": (
            *("up_axis static_of_another", "tilted by {:+g} degrees", (-10.0, 5.0, 10.0)),
            lambda position, size, copy, draw: about_middle(copy, position, size, int(draw.integers(2))),
        ),
        "standing_moves": (
            *("static_moves", "swings by {:g} mm at a height of 1 m", (50.0, 150.0)),
            lambda position, size, copy, _: (
                position
                + size
                / 1000
                * np.sin(2.0 * np.pi * ramp(len(position)))[..., None]
                * (position @ copy.rotation.T)[..., 2:]
                * copy.in_file((1.0, 0.0, 0.0))
            ),
        ),
    },
)
rows(
    some_plates,
    {
        "channel": (
            *("plate_channel leaning_force plate_scale plate_axes mass", "force x {}"),
            [
                np.where(np.arange(3) == axis, factor, 1.0)
                for axis in (0, 1)
                for factor in (-1.0, 0.0, 0.5, 1.5, 2.0)
            ]
            + [np.array([1.0, 1.0, factor]) for factor in (0.8, 0.9, 1.1, 1.2)],
            lambda force, _, __, size, *___: {"force": force * size},
        ),
        "channel_rectified": (
            *("plate_channel plate_axes plate_scale leaning_force", "rectified: {}"),
            [(axis, sign) for axis in (0, 1) for sign in (-1.0, 1.0)],
            lambda force, _, __, size, *___: {
                "force": np.where(np.arange(3) == size[0], size[1] * np.abs(force), force)
            },
        ),
        "channel_limited": (
            *(
                "plate_clipped plate_channel plate_scale leaning_force",
                "with shear limited to {:.0%} of its peak",
            ),
            *(
                (0.3, 0.5, 0.7),
                lambda force, _, __, size, *___: {
                    "force": np.clip(
                        force,
                        *(np.multiply.outer((-1.0, 1.0), np.abs(force).max(axis=0) * [size, size, 1.0])),
                    )
                },
            ),
        ),
        "forces_filtered": (
            *("force_cutoff force_leap over_filtered", "filtered at {:g} Hz", (2.0, 3.0, 5.0)),
            lambda force, _, __, size, rate, ___: {"force": low_pass(force, rate, size)},
        ),
        "gain": (
            *("plate_scale mass force_units", "x {:g}", (0.85, 0.9, 0.95, 1.05, 1.1, 1.15)),
            lambda force, _, moment, size, *__: {"force": force * size, "moment": moment * size},
        ),
        "free_moment": (
            *("moment_channel free_moment plate_channel", "with free moments x {:g}", (-1.0, 0.0, 3.0, 10.0)),
            lambda _, __, moment, size, *___: {"moment": moment * size},
        ),
        "clipped": (
            *("plate_clipped", "saturates at {:.0%}", (0.8, 0.9, 0.95)),
            lambda force, _, __, size, *___: {
                "force": np.minimum(force, [np.inf, np.inf, size * force[:, 2].max()])
            },
        ),
        "points_shrunk": (
            *("pressure_offset pressure_outside plate_axes pressure_way", "with ways of the points x {}"),
            *(
                (0.5, 0.7, 1.3, 1.5, (-1.0, 1.0, 1.0), (1.0, -1.0, 1.0)),
                lambda force, point, _, size, *__: {
                    "point": (middle := planted.plate_middles(force[:, 2], point)) + (point - middle) * size
                },
            ),
        ),
        "compressed": (
            *("plate_scale mass plate_clipped", "with a gain that falls by {:.0%} at the peak", (0.1, 0.2)),
            lambda force, _, __, size, *___: {
                "force": force * (1.0 - size * force[:, 2:] / force[:, 2].max())
            },
        ),
        "creep": (
            *("plate_drift plate_baseline plate_scale", "creeps by {:.0%}", (0.05, 0.1)),
            lambda force, _, __, size, rate, ___: {"force": force + size * low_pass(force, rate, 1.0)},
        ),
        "force_spikes": (
            *("force_leap plate_instant", "with every fortieth sample x {:g}", (0.0, 2.0)),
            lambda force, _, __, size, *___: {
                "force": np.where(np.arange(len(force))[:, None] % (len(force) // 40), force, size * force)
            },
        ),
        "gain_drifts": (
            *("plate_scale plate_drift mass", "with a gain that drifts to {:g}", (0.8, 0.9, 1.1, 1.2)),
            lambda force, _, __, size, *___: {"force": force * (1.0 + (size - 1.0) * ramp(len(force)))},
        ),
        "gain_changes": (
            *(
                "plate_scale plate_drift mass force_step",
                "x {:g} in the second half",
                (0.85, 0.88, 1.12, 1.15),
            ),
            lambda force, _, __, size, *___: {"force": force * np.where(ramp(len(force)) < 0.5, 1.0, size)},
        ),
        "points_at_sensors": (
            *("pressure_offset pressure_outside plate_scale pressure_way", "with points {:+g} mm lower"),
            *(
                (-60.0, -40.0, 40.0, 60.0),
                lambda force, point, _, size, *__: {
                    "point": point
                    - size
                    / 1000
                    * np.where(force[:, 2:] > 20.0, force / np.maximum(force[:, 2:], 20.0), 0.0)
                    * [1, 1, 0]
                },
            ),
        ),
        "force_lost": (
            *(
                "force_leap plate_instant contact_without_force plate_channel",
                "zero for {:g} ms",
                (30.0, 60.0, 100.0),
            ),
            lambda force, _, __, size, rate, draw: {
                "force": np.where(in_stance(force, size * rate / 1000, draw), 0.0, force)
            },
        ),
        "force_held": (
            *(
                "force_leap plate_clipped plate_instant force_cutoff",
                "held for {:g} ms",
                (60.0, 100.0, 150.0),
            ),
            lambda force, point, _, size, rate, draw: {
                "force": np.where(
                    held := in_stance(force, size * rate / 1000, draw), force[held.argmax()], force
                ),
                "point": np.where(held, point[held.argmax()], point),
            },
        ),
        "force_in_steps": (
            *("force_resolution", "in steps of {:g} N", (10.0, 25.0, 50.0)),
            lambda force, _, __, size, *___: {"force": size * np.round(force / size)},
        ),
        "force_noise": (
            *("noise force_leap force_resolution", "with noise of {:g} N", (20.0, 50.0)),
            lambda force, _, __, size, ___, draw: {"force": force + size * draw.standard_normal(force.shape)},
        ),
        "plate_vibrates": (
            *("plate_baseline force_without_contact", "vibrates with {0[0]:g} N at {0[1]:g} Hz along {0[2]}"),
            [(size, hertz, axis) for size in (40.0, 80.0) for hertz in (4.0, 8.0) for axis in (0, 1)],
            lambda force, _, __, size, rate, ___: {
                "force": force
                + np.multiply.outer(
                    size[0] * np.sin(2.0 * np.pi * size[1] / rate * np.arange(len(force))), np.eye(3)[size[2]]
                )
            },
        ),
        "force_threshold": (
            *("plate_clipped contact_without_force force_step", "is zero below {:g} N", (50.0, 100.0, 150.0)),
            lambda force, _, moment, size, *__: {
                "force": force * (force[:, 2:] > size),
                "moment": moment * (force[:, 2:] > size),
            },
        ),
        "force_wraps": (
            *("plate_clipped force_leap force_sign", "wraps round at {:.0%} of its peak", (0.7, 0.9)),
            lambda force, _, __, size, *___: {
                "force": np.where(force > [np.inf, np.inf, size * force[:, 2].max()], -force, force)
            },
        ),
        "moments_about_origin": (
            *("moment_channel free_moment", "with moments about {}", ("the origin",)),
            lambda force, point, moment, *_: {"moment": moment + np.cross(point, force) * [0.0, 0.0, 1.0]},
        ),
        "points_late": (
            *(
                "time_offset pressure_way pressure_offset plate_clipped",
                "with points {:+g} ms",
                (-40.0, 20.0, 40.0),
            ),
            lambda _, point, __, size, rate, ___: {
                "point": np.roll(point, round(size * rate / 1000), axis=0)
            },
        ),
        "points_constant": (
            *("frozen pressure_way", "with points in {}", ("the middle",)),
            lambda force, point, *_: {"point": 0.0 * point + planted.plate_middles(force[:, 2], point)},
        ),
        "points_clipped": (
            *("plate_clipped", "with points within {:.0%} of their way", (0.5, 0.7, 0.9)),
            lambda _, point, __, size, *___: {
                "point": np.clip(
                    point, *np.quantile(point[point.any(axis=1)], [0.5 - size / 2, 0.5 + size / 2], axis=0)
                )
            },
        ),
        "sensor_lost": (
            *(
                "plate_scale mass pressure_offset pressure_way",
                "loses {:.0%} of a sensor",
                (0.5, 1.0),
                sensor_lost,
            ),
        ),
        "axes_exchanged": (
            *("plate_axes", "with axes {} for xyz of the forces", ("yxz", "xzy", "zyx")),
            lambda force, _, __, size, *___: {"force": force[:, ["xyz".index(axis) for axis in size]]},
        ),
        "passerby": (
            *(
                "force_without_contact plate_baseline plate_drift",
                "with {:g} N more in its swings",
                (100.0, 500.0),
            ),
            lambda force, _, __, size, *___: {"force": force + size * np.eye(3)[2] * (force[:, 2:] < 5.0)},
        ),
    },
)


@kind("emg_disagrees", needs=True)
def emg_exchanged(copy: Copy, draw: np.random.Generator) -> Drawn:
    assert copy.emg is not None
    one, other = (str(name) for name in draw.permutation(list(copy.settings.emg.channels))[:2])
    names = [{one: other, other: one}.get(name, name) for name in copy.emg.names]
    copy.emg = replace(copy.emg, names=tuple(names))
    return copy, f"EMG of {one} and {other} exchanged"


@kind("pair_swapped", "labels_exchanged", "sides_swapped", "landmark_order", "joint_width")
def landmarks_exchanged(copy: Copy, draw: np.random.Generator) -> Drawn:
    pair = pick(draw, (("asis_r", "asis_l"), ("toe_r", "toe_l"), ("knee_lateral_r", "knee_medial_r")))
    markers = [marker for name in pair for marker in list(copy.mapping.get(name, ()))[:1]]
    if len(markers) < 2:
        raise NotHere
    for name, marker in zip(pair, markers[::-1], strict=True):
        copy.set_key("mapping", name, f'"{marker}"')
    return copy, f"{' and '.join(pair)} exchanged in the trial file"


@kind("uneven_samples", "noise", "frames_skipped", "clock_rate")
def times_uneven(copy: Copy, draw: np.random.Generator) -> Drawn:
    size, part = pick(draw, (0.001, 0.003)), pick(draw, ("walk", "forces"))
    time = getattr(copy, part).time
    most = min(size, 0.4 * float(np.diff(time).mean()))
    setattr(copy, part, replace(getattr(copy, part), time=time + most * draw.uniform(-1.0, 1.0, time.size)))
    return copy, f"times of the {part} {1000 * most:g} ms uneven"


def mean_of(signal: np.ndarray, samples: int) -> np.ndarray:
    return np.convolve(np.abs(signal - np.median(signal)), np.full(samples, 1.0 / samples), mode="same")


OF_EMG: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "emg_flat": ("has lost its electrode: it is flat", lambda signal, time: np.zeros(time.size)),
    "emg_dead": (
        "is noise of a tenth of the signal: its electrode came off",
        lambda signal, time: 0.1 * signal.std() * np.random.default_rng(1).standard_normal(time.size),
    ),
    "emg_spike": (
        "has one sample of twenty times the peak",
        lambda signal, time: np.where(
            np.arange(time.size) == time.size // 2, 20.0 * np.abs(signal).max(), signal
        ),
    ),
    "emg_kind": (
        "is an envelope, the mean of 0.1 s, among raw ones",
        lambda signal, time: mean_of(signal, round(0.1 * (time.size - 1) / (time[-1] - time[0]))),
    ),
    "emg_clipped": (
        "saturates at a quarter of the peak",
        lambda signal, time: np.clip(signal, *(0.25 * np.abs(signal).max() * np.array([-1.0, 1.0]))),
    ),
    "emg_hum": (
        "hums at 50 Hz, as large as the signal",
        lambda signal, time: signal + np.sqrt(2.0) * signal.std() * np.sin(2.0 * np.pi * 50.0 * time),
    ),
}
"""Finding of a spoiled signal -> what is wrong, and the signal (S,) from the sound one and its times (S,) [s]."""


@kind(*OF_EMG, needs=True)
def emg_spoiled(copy: Copy, draw: np.random.Generator) -> Drawn:
    assert copy.emg is not None
    what, change = OF_EMG[str(pick(draw, [*OF_EMG]))]
    first = copy.emg.names.index(str(next(iter(copy.settings.emg.channels))))
    values = copy.emg.values.copy()
    values[:, first] = change(copy.emg.values[:, first], copy.emg.time)
    copy.emg = replace(copy.emg, values=values)
    return copy, f"the first channel of EMG {what}"


@kind("time_offset", "clock_rate", "emg_disagrees", needs=True)
def emg_clock(copy: Copy, draw: np.random.Generator) -> Drawn:
    by, rate = pick(draw, ((-0.2, 1.0), (0.1, 1.0), (0.3, 1.0), (0.0, 0.9), (0.0, 1.1)))
    assert copy.emg is not None
    time = copy.emg.time
    copy.emg = replace(copy.emg, time=time[0] + by + rate * (time - time[0]))
    return copy, f"clock of EMG {by:+g} s, x {rate:g}"


@kind("sides_swapped", "emg_disagrees", needs=True)
def emg_of_the_other_leg(copy: Copy, _: np.random.Generator) -> Drawn:
    other = str.maketrans("rl", "lr")
    start = next(k for k, line in enumerate(copy.lines) if line.startswith("[emg.channels]"))
    for k in range(start + 1, len(copy.lines)):
        if copy.lines[k].startswith("["):
            break
        copy.lines[k] = re.sub(r'(?<=_)[rl](?=")', lambda side: side[0].translate(other), copy.lines[k])
    return copy, "channels of EMG are named after the other leg"


# Faults of a leg, of an exported file and of the trial file


@kind("time_offset", "segment_length", "clock_rate")
def leg_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    """The markers of one leg come late or early, as of a camera of their own."""
    side, seconds = str(pick(draw, SIDES)), pick(draw, (-0.03, 0.025, 0.03, 0.05))
    parts = [part for part in LANDMARKS if part.startswith(("knee", "ankle", "heel", "toe", "meta"))]
    own = {marker for part in parts for marker in copy.mapping.get(f"{part}_{side}", ())}
    of_clusters = (markers for name, markers in copy.settings.clusters.items() if name.endswith(f"_{side}"))
    own |= {marker for markers in of_clusters for marker in markers}
    numbers = [copy.walk.names.index(marker) for marker in own if marker in copy.walk]
    position = copy.walk.position.copy()
    position[:, numbers] = np.roll(position[:, numbers], round(seconds * copy.walk.rate), axis=0)
    copy.put(position)
    return copy, f"markers of the leg {side} {1000 * seconds:+.0f} ms late"


@kind("proportions", "joint_width", "marker_moved", "segment_length")
def front_spines_ahead(copy: Copy, draw: np.random.Generator) -> Drawn:
    """Front spines are on soft tissue, ahead of the bone, by the direction in which the pelvis faces."""
    size = pick(draw, (0.04, 0.05, 0.06))
    front, back = (
        [m for side in SIDES for m in list(copy.mapping.get(f"{part}_{side}", ()))[:1]]
        for part in ("asis", "psis")
    )
    back = back or list(copy.mapping.get("sacrum", ()))[:1]
    if len(front) < 2 or not back:
        raise NotHere
    for static, markers in ((False, copy.walk), (True, copy.static)):
        if markers is None or not {*front, *back} <= {*markers.names}:
            continue
        ahead = np.mean([markers[m] for m in front], axis=0) - np.mean([markers[m] for m in back], axis=0)
        for marker in front:
            length = np.linalg.norm(ahead, axis=1, keepdims=True)
            copy.move(marker, slice(None), size * ahead / length, static=static)
    return copy, f"both front spines {1000 * size:.0f} mm ahead"


@kind("plates_swapped", "plate_channel")
def channels_exchanged(copy: Copy, draw: np.random.Generator) -> Drawn:
    """Two plates exchanged a channel, as by two plugs."""
    role, axis = "force", int(draw.integers(3))
    right, left = copy.plates("r"), copy.plates("l")
    if len(right) != 1 or len(left) != 1:
        raise NotHere
    both = [copy.plate(plate, role) for plate in (*right, *left)]
    for plate, own, other in zip((*right, *left), both, both[::-1], strict=True):
        copy.set_plate(plate, role, np.where(np.arange(3) == axis, other, own))
    return copy, f"F{'xyz'[axis]} of both plates exchanged"


@kind("pressure_offset", "pressure_way", "pressure_outside", "clock_rate", "walking_direction")
def belt_speed_added(copy: Copy, draw: np.random.Generator) -> Drawn:
    """An exporter moved the markers by the way of the belt, but with a wrong speed, or not the points."""
    speed = pick(draw, (0.03, 0.06, 1.2))
    way = (copy.walk.time - copy.walk.time[0])[:, None] * copy.in_file((speed, 0.0, 0.0))
    copy.put(copy.walk.position + way[:, None])
    return copy, f"markers go {speed:g} m/s ahead against the points"


@kind("unusual_value", "cutoff", "mass", "force_cutoff")
def setting_unusual(copy: Copy, draw: np.random.Generator) -> Drawn:
    """A setting is off by a factor."""
    table, key, value = pick(
        draw,
        (
            ("muscles", "strength", "0.5"),
            ("muscles", "strength", "3.0"),
            ("filter", "order", "8"),
            ("filter", "force_cutoff_hz", "3.0"),
            ("filter", "unloaded_below_n", "200.0"),
            ("subject.segments.shank_r", "mass_factor", "3.0"),
            ("consistency", "weights", "{ heel_r = 100.0 }"),
        ),
    )
    copy.set_key(table, key, value)
    return copy, f"{key} = {value}"


@kind("marker_moved", "knee_axis", "uncertain_joint", "segment_length")
def cluster_turned(copy: Copy, draw: np.random.Generator) -> Drawn:
    """A cluster has slid about the limb since the standing trial."""
    names = [name for name, markers in copy.settings.clusters.items() if len(markers) > 2]
    if copy.static is None or not names:
        raise NotHere
    name, degrees = str(pick(draw, sorted(names))), pick(draw, (-15.0, -10.0, 10.0, 15.0))
    markers = [marker for marker in copy.settings.clusters[name] if marker in copy.walk]
    own = [copy.walk.names.index(m) for m in markers if not any(m in of for of in copy.mapping.values())]
    inward = copy.in_file((0.0, 0.06 if name.endswith("r") else -0.06, 0.0))
    turn = Rotation.from_rotvec(copy.in_file((0.0, 0.0, np.radians(degrees)))).as_matrix()
    position = copy.walk.position.copy()
    middle = position[:, own].mean(axis=1, keepdims=True) + inward
    position[:, own] = middle + (position[:, own] - middle) @ turn.T
    copy.put(position)
    return copy, f"cluster {name} turned by {degrees:+g} degrees after the standing trial"


# The table


def sound_cases(paths: dict[str, Path], folder: Path) -> dict[str, tuple[Copy, xr.Dataset]]:
    cases = {name: open_copy(path) for name, path in paths.items()}
    return {name: (copy, ms.run(write_copy(deepcopy(copy), folder / name))) for name, copy in cases.items()}


def shared(trial: Path) -> xr.Dataset:
    """Return the result of a trial; the notes of a refusal are the codes of the errors that `check` finds."""
    try:
        return ms.run(trial)
    except ms.InputError as error:
        for entry in ms.check(trial).findings:
            if entry.severity == "error":
                error.add_note(entry.code)
        raise


def main() -> None:
    """Print the table of drawn faults."""
    data, *draws = bank_arguments(__doc__, 100, BANK.kinds)
    with TemporaryDirectory() as name:
        folder = Path(name)
        sound = sound_cases(trials(data, folder), folder)
        BANK.table(
            sound,
            lambda copy: shared(write_copy(copy, folder / "spoiled")),
            lambda copy: copy.emg is not None,
            *draws,
        )


if __name__ == "__main__":
    main()
