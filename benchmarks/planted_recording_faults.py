"""Faults drawn at random and planted into recordings: cost in newtons, and findings.

python -m benchmarks.planted_recording_faults DATA [COUNT [SEED [KIND ...]]]

DATA is a folder with the recordings of `trials`; the bundled stride is one more. Marker, plate, channel, clock,
quantity of the body, side and size are drawn; `drawn_faults` describes the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr
from scipy.interpolate import CubicSpline
from scipy.signal import butter, lfilter

import musclesolve as ms
import musclesolve.synthetic.faults
from benchmarks.arguments import bank_arguments
from benchmarks.drawn_faults import Bank, NotHere, pick
from musclesolve.motion.signals.low_pass import low_pass
from musclesolve.recording.data import SIDES
from musclesolve.synthetic.trial_copy import Copy, open_copy, write_copy

BANK = Bank[Copy](changes=True)
kind = BANK.kind
planted = sys.modules["musclesolve.synthetic.faults"]
REAL = Path(__file__).resolve().parents[1] / "tests" / "real" / "rajagopal_walk.toml"
LANDMARKS = (
    "asis", "psis", "knee_lateral", "knee_medial", "ankle_lateral", "ankle_medial", "heel", "toe", "metatarsal_5",
    "shoulder",
)  # fmt: skip
Drawn = tuple[Copy, str]


def trials(data: Path, folder: Path) -> dict[str, Path]:
    """Trial files of sound recordings: the bundled stride, a walk over ground, a walk on a treadmill."""
    walk = folder / "walk.toml"
    text = REAL.read_text(encoding="utf-8").replace("../../../shared/data", data.resolve().as_posix())
    walk.write_text(text, encoding="utf-8")
    return {
        "stride": Path(ms.data.reference_stride()),
        "walk": walk,
        "treadmill": data / "treadmill_emg" / "s01" / "trial.toml",
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


def filtered(copy: Copy, cutoff: float) -> None:
    position = copy.walk.position.copy()
    seen = np.isfinite(position).all(axis=(0, 2))
    flat = position[:, seen].reshape(len(position), -1)
    position[:, seen] = low_pass(flat, copy.walk.rate, cutoff).reshape(len(position), -1, 3)
    copy.put(position)


# Plates


@kind("plate_scale", "mass", "force_units")
def gain(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, factor = sides_of_fault(draw), pick(draw, (0.85, 0.9, 0.95, 1.05, 1.1, 1.15))
    planted.scale_plates(copy, factor, ["force", "moment"], side)  # type: ignore[arg-type]
    return copy, f"{of(side)} x {factor:g}"


@kind("plate_channel", "leaning_force", "plate_scale", "plate_axes")
def channel(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis, factor = sides_of_fault(draw), int(draw.integers(3)), pick(draw, (-1.0, 0.0, 0.5, 1.5, 2.0))
    if axis == 2:
        factor = pick(draw, (0.8, 0.9, 1.1, 1.2))
    scale = np.ones(3)
    scale[axis] = factor
    on_plates(copy, side, "force", lambda force: force * scale)
    return copy, f"F{'xyz'[axis]} of {of(side)} x {factor:g}"


@kind("moment_channel", "free_moment", "plate_channel")
def free_moment(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, factor = sides_of_fault(draw), pick(draw, (-1.0, 0.0, 3.0, 10.0))
    on_plates(copy, side, "moment", lambda moment: moment * factor)
    return copy, f"free moment of {of(side)} x {factor:g}"


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


@kind("plate_baseline", "plate_drift", "plate_scale", "mass")
def zero(copy: Copy, draw: np.random.Generator) -> Drawn:
    first, last = pick(draw, ((15.0, 15.0), (30.0, 30.0), (0.0, 40.0), (0.0, -40.0), (-20.0, -20.0)))
    planted.lift_right_plate(copy, first, last)
    return copy, f"zero of the right plate {first:+.0f} to {last:+.0f} N"


@kind("leaning_force", "plate_channel", "plate_axes")
def tilted(copy: Copy, draw: np.random.Generator) -> Drawn:
    ahead, left = pick(draw, ((1.0, 0.0), (0.0, 1.0), (2.0, 0.0), (0.0, 2.0), (-2.0, 0.0), (0.0, -3.0)))
    planted.tilt_plates(copy, ahead, left)
    return copy, f"plates tilted by {ahead:+.0f} degrees ahead, {left:+.0f} left"


@kind("plate_channel", "leaning_force")
def crosstalk(copy: Copy, draw: np.random.Generator) -> Drawn:
    share, axis = pick(draw, (-0.05, -0.03, 0.03, 0.05)), int(draw.integers(2))
    planted.mix_channels(copy, share, np.eye(3)[axis].tolist())
    return copy, f"{share:+.0%} of Fz in F{'xy'[axis]}"


@kind("plates_swapped", "plate_channel", "force_without_contact", "pressure_outside", "plate_scale", "mass")
def mixed(copy: Copy, draw: np.random.Generator) -> Drawn:
    share = pick(draw, (0.03, 0.05, 0.1))
    planted.mix_plates(copy, share)
    return copy, f"{share:.0%} of the other plate"


@kind("plate_clipped")
def clipped(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, share = str(pick(draw, SIDES)), pick(draw, (0.8, 0.9, 0.95))

    def clip(force: np.ndarray) -> np.ndarray:
        return np.column_stack([force[:, :2], np.minimum(force[:, 2], share * force[:, 2].max())])

    on_plates(copy, side, "force", clip)
    return copy, f"{of(side)} saturates at {share:.0%}"


@kind("force_cutoff", "force_leap", "over_filtered")
def forces_filtered(copy: Copy, draw: np.random.Generator) -> Drawn:
    cutoff = pick(draw, (2.0, 3.0, 5.0))
    rate = 1.0 / float(np.diff(copy.forces.time).mean())
    on_plates(copy, None, "force", lambda force: low_pass(force, rate, cutoff))
    return copy, f"forces filtered at {cutoff:g} Hz"


# Clocks


@kind("time_offset")
def late(copy: Copy, draw: np.random.Generator) -> Drawn:
    by = pick(draw, (-0.03, -0.02, -0.012, 0.012, 0.02, 0.03))
    planted.stamp_forces_late(copy, by)
    return copy, f"forces {1000 * by:+.0f} ms"


@kind("time_offset")
def one_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, by = str(pick(draw, SIDES)), pick(draw, (-0.03, -0.02, 0.02, 0.03))
    shift = round(by / float(np.diff(copy.forces.time).mean()))
    for role in ("force", "point", "moment"):
        on_plates(copy, side, role, lambda values: np.roll(values, shift, axis=0))
    return copy, f"{of(side)} {1000 * by:+.0f} ms"


@kind("clock_rate", "time_offset")
def clock_of_forces(copy: Copy, draw: np.random.Generator) -> Drawn:
    rate = pick(draw, (0.98, 0.99, 1.01, 1.02))
    planted.run_forces_at(copy, rate)
    return copy, f"clock of the forces x {rate:g}"


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


@kind("space_scale", "marker_units", "proportions", "static_of_another", "stature", "subject")
def scale_of_space(copy: Copy, draw: np.random.Generator) -> Drawn:
    factor = pick(draw, (0.95, 0.97, 1.03, 1.05))
    planted.scale_positions(copy, factor)
    return copy, f"positions x {factor:g}"


@kind("static_of_another", "segment_length", "marker_moved", "marker_units")
def scale_of_standing(copy: Copy, draw: np.random.Generator) -> Drawn:
    factor = pick(draw, (0.95, 0.97, 1.03, 1.05))
    if copy.static is None:
        raise NotHere
    planted.scale_positions(copy, factor, ["static"])
    return copy, f"positions of the standing trial x {factor:g}"


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


@kind("marker_slipped", "leap", "marker_moved", "segment_length")
def marker_slips(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), size = landmark_of(copy, draw), pick(draw, (0.015, 0.02, 0.03))
    copy.move(marker, slice(copy.frame(float(draw.uniform(0.2, 0.8))), None), direction(draw, size))
    return copy, f"{name} slips by {1000 * size:.0f} mm"


@kind("pair_swapped", "labels_exchanged", "leap", "sides_swapped", "landmark_order")
def labels_exchanged(copy: Copy, draw: np.random.Generator) -> Drawn:
    (one, a), (two, b) = landmark_of(copy, draw), landmark_of(copy, draw)
    if a == b:
        raise NotHere
    first = copy.frame(float(draw.uniform(0.1, 0.8)))
    frames = slice(None) if draw.random() < 0.5 else slice(first, first + int(draw.integers(5, 25)))
    copy.exchange(a, b, frames)
    return copy, f"{one} and {two} exchanged{'' if frames == slice(None) else ' for a while'}"


@kind("frozen", "gap_filled", "leap")
def marker_held(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), count = landmark_of(copy, draw), int(draw.integers(8, 25))
    first = copy.frame(float(draw.uniform(0.1, 0.7)))
    position, column = copy.walk.position.copy(), copy.walk.names.index(marker)
    position[first : first + count, column] = position[first, column]
    copy.put(position)
    return copy, f"{name} held for {count} frames"


@kind("noise", "leap")
def noisy(copy: Copy, draw: np.random.Generator) -> Drawn:
    size = pick(draw, (0.002, 0.004, 0.008))
    copy.put(copy.walk.position + size * draw.standard_normal(copy.walk.position.shape))
    return copy, f"noise of {1000 * size:.0f} mm in all markers"


@kind("over_filtered", "cutoff")
def markers_filtered(copy: Copy, draw: np.random.Generator) -> Drawn:
    cutoff = pick(draw, (2.0, 3.0, 4.0))
    filtered(copy, cutoff)
    return copy, f"markers filtered at {cutoff:g} Hz"


@kind("frames_skipped", "frames_missing", "leap", "time_offset")
def frames_lost(copy: Copy, draw: np.random.Generator) -> Drawn:
    count, first = int(draw.integers(2, 8)), copy.frame(float(draw.uniform(0.2, 0.8)))
    kept = np.ones(copy.walk.time.size, bool)
    kept[first : first + count] = False
    copy.walk = replace(copy.walk, time=copy.walk.time[: kept.sum()], position=copy.walk.position[kept])
    return copy, f"{count} frames lost, times renumbered"


@kind("off_support", "up_axis", "floor_tilted", "leaning_force", "soles_slide", "walking_direction")
def cameras_tilted(copy: Copy, draw: np.random.Generator) -> Drawn:
    ahead, left = pick(draw, ((2.0, 0.0), (-2.0, 0.0), (0.0, 2.0), (0.0, -2.0), (3.0, 0.0), (0.0, 3.0)))
    planted.tilt_markers(copy, ahead, left)
    return copy, f"markers tilted by {ahead:+.0f} degrees ahead, {left:+.0f} left"


# Body and settings


@kind("mass", "plate_scale")
def mass(copy: Copy, draw: np.random.Generator) -> Drawn:
    factor = pick(draw, (0.85, 0.9, 1.1, 1.15, 2.2))
    planted.scale_key(copy, "mass_kg", factor, 1)
    return copy, f"mass x {factor:g}"


@kind("stature")
def stature(copy: Copy, draw: np.random.Generator) -> Drawn:
    by = pick(draw, (-0.2, -0.15, -0.1, 0.1, 0.15, 0.2))
    copy.set_key("subject", "stature_m", f"{copy.settings.subject.stature_m + by:.2f}")
    return copy, f"stature {100 * by:+.0f} cm"


@kind("cutoff", "over_filtered")
def cutoff(copy: Copy, draw: np.random.Generator) -> Drawn:
    value = pick(draw, (2.0, 3.0, 4.0, 15.0, 20.0))
    copy.set_key("filter", "cutoff_hz", f"{value:g}")
    return copy, f"cut-off {value:g} Hz"


@kind("plates_swapped", "sides_swapped")
def plates_swapped(copy: Copy, _: np.random.Generator) -> Drawn:
    planted.plates_swapped(copy)
    return copy, "plates exchanged"


# Stretches of time


def stretch(copy: Copy, draw: np.random.Generator, seconds: float) -> slice:
    """Frames of the markers of a stretch of some seconds in the middle part of the recording."""
    first = copy.frame(float(draw.uniform(0.25, 0.55)))
    return slice(first, first + max(round(seconds * copy.walk.rate), 4))


def of_plate(copy: Copy, side: str, draw: np.random.Generator, seconds: float) -> slice:
    """Samples of a stretch of some seconds while a plate is loaded."""
    plate = copy.plates(side)[0]  # type: ignore[arg-type]
    loaded = np.flatnonzero(copy.plate(plate, "force")[:, 2] > 200.0)
    first = int(pick(draw, loaded[loaded.size // 4 : loaded.size // 2]))
    return slice(first, first + round(seconds / float(np.diff(copy.forces.time).mean())))


@kind("frames_repeated", "leap", "frames_skipped", "time_offset")
def stretch_twice(copy: Copy, draw: np.random.Generator) -> Drawn:
    frames, position = stretch(copy, draw, 0.2), copy.walk.position.copy()
    count = frames.stop - frames.start
    position[frames] = position[frames.start - count : frames.start]
    copy.put(position)
    return copy, f"{count} frames of the markers stand twice"


@kind("frames_skipped", "leap", "unbalanced", "time_offset")
def stretches_exchanged(copy: Copy, draw: np.random.Generator) -> Drawn:
    frames, position = stretch(copy, draw, 0.1), copy.walk.position.copy()
    count = frames.stop - frames.start
    before = slice(frames.start - count, frames.start)
    position[frames], position[before] = position[before].copy(), position[frames].copy()
    copy.put(position)
    return copy, f"two stretches of {count} frames exchanged"


@kind("gap_filled", "frozen", "leap", "marker_slipped")
def straight_gap(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), seconds = landmark_of(copy, draw), pick(draw, (0.15, 0.25, 0.4))
    frames, position = stretch(copy, draw, seconds), copy.walk.position.copy()
    own = position[frames, copy.walk.names.index(marker)]
    own[:] = np.linspace(own[0], own[-1], len(own))
    copy.put(position)
    return copy, f"{name} on a straight line for {seconds:g} s"


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


@kind("force_leap", "plate_instant", "contact_without_force", "plate_channel")
def force_lost(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, seconds = str(pick(draw, SIDES)), pick(draw, (0.03, 0.06, 0.1))
    samples = of_plate(copy, side, draw, seconds)

    def lost(force: np.ndarray) -> np.ndarray:
        force = force.copy()
        force[samples] = 0.0
        return force

    on_plates(copy, side, "force", lost)
    return copy, f"{of(side)} zero for {1000 * seconds:.0f} ms of a stance"


@kind("force_leap", "plate_clipped", "plate_instant", "force_cutoff")
def force_held(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, seconds = str(pick(draw, SIDES)), pick(draw, (0.06, 0.1, 0.15))
    samples = of_plate(copy, side, draw, seconds)

    def held(values: np.ndarray) -> np.ndarray:
        values = values.copy()
        values[samples] = values[samples.start]
        return values

    for role in ("force", "point", "moment"):
        on_plates(copy, side, role, held)
    return copy, f"{of(side)} held for {1000 * seconds:.0f} ms"


@kind("plate_scale", "plate_drift", "mass")
def gain_drifts(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, most = sides_of_fault(draw), pick(draw, (0.8, 0.9, 1.1, 1.2))
    gain = np.linspace(1.0, most, len(copy.forces.time))[:, None]
    on_plates(copy, side, "force", lambda force: force * gain)
    return copy, f"gain of {of(side)} drifts to {most:g}"


@kind("plate_channel", "plate_scale", "leaning_force", "plate_drift")
def shear_drifts(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis, most = sides_of_fault(draw), int(draw.integers(2)), pick(draw, (-60.0, -30.0, 30.0, 60.0))
    added = np.linspace(0.0, most, len(copy.forces.time))
    on_plates(
        copy, side, "force", lambda force: force + added[:, None] * np.eye(3)[axis] * (force[:, 2:] > 20.0)
    )
    return copy, f"F{'xy'[axis]} of {of(side)} drifts by {most:+.0f} N"


@kind("pressure_offset", "pressure_outside", "plate_axes", "pressure_way")
def points_shrunk(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, factor = sides_of_fault(draw), pick(draw, (0.5, 0.7, 1.3, 1.5))
    for plate in copy.plates(side):  # type: ignore[arg-type]
        point = copy.plate(plate, "point")
        middle = planted.plate_middles(copy.plate(plate, "force")[:, 2], point)
        copy.set_plate(plate, "point", middle + factor * (point - middle))
    return copy, f"ways of the points of {of(side)} x {factor:g}"


# Bodies


@kind("sides_swapped", "plates_swapped", "leaning_force", "landmark_order", "force_without_contact")
def mirrored(copy: Copy, _: np.random.Generator) -> Drawn:
    across = int(np.ptp(np.nanmean(copy.walk.position, axis=1), axis=0)[:2].argmin())
    copy.put(copy.walk.position * np.where(np.arange(3) == across, -1.0, 1.0))
    return copy, "markers mirrored"


@kind("marker_units", "leap", "segment_length", "landmark_order", "proportions", "marker_moved", "mapping")
def one_marker_in_another_unit(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), factor = landmark_of(copy, draw), pick(draw, (0.1, 10.0))
    position = copy.walk.position.copy()
    position[:, copy.walk.names.index(marker)] *= factor
    copy.put(position)
    return copy, f"{name} x {factor:g}"


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


@kind("uncertain_joint", "segment_length", "marker_slipped", "noise", "marker_moved", "leap")
def soft_tissue(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), size = landmark_of(copy, draw), pick(draw, (0.015, 0.03))
    way, position = direction(draw, size), copy.walk.position.copy()
    wave = np.sin(2.0 * np.pi * 0.9 * copy.walk.time + draw.uniform(0.0, 6.0))
    position[:, copy.walk.names.index(marker)] += wave[:, None] * way
    copy.put(position)
    return copy, f"{name} swings by {1000 * size:.0f} mm on the segment"


@kind("time_offset", "marker_moved", "segment_length", "unbalanced", "uncertain_joint", "leap")
def some_markers_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, count = str(pick(draw, SIDES)), int(pick(draw, (2, 4)))
    parts = [f"{part}_{side}" for part in ("ankle_lateral", "ankle_medial", "heel", "toe", "metatarsal_5")]
    own = [marker for part in parts for marker in copy.mapping.get(part, ()) if marker in copy.walk]
    if not own:
        raise NotHere
    position = copy.walk.position.copy()
    numbers = [copy.walk.names.index(marker) for marker in own]
    position[:, numbers] = np.roll(position[:, numbers], count, axis=0)
    copy.put(position)
    return copy, f"markers of the foot {side} {count} frames late"


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


@kind("plate_drift", "plate_baseline", "plate_scale")
def creep(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, share = str(pick(draw, SIDES)), pick(draw, (0.05, 0.1))
    rate = 1.0 / float(np.diff(copy.forces.time).mean())
    on_plates(copy, side, "force", lambda force: force + share * low_pass(force, rate, 1.0))
    return copy, f"{of(side)} creeps by {share:.0%}"


@kind("plate_scale", "mass", "plate_clipped")
def compressed(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, share = sides_of_fault(draw), pick(draw, (0.1, 0.2))

    def less(force: np.ndarray) -> np.ndarray:
        size = np.linalg.norm(force, axis=1, keepdims=True)
        return force * (1.0 - share * size / size.max())

    on_plates(copy, side, "force", less)
    return copy, f"gain of {of(side)} falls by {share:.0%} at the peak"


@kind("force_resolution")
def force_in_steps(copy: Copy, draw: np.random.Generator) -> Drawn:
    step = pick(draw, (10.0, 25.0, 50.0))
    on_plates(copy, None, "force", lambda force: step * np.round(force / step))
    return copy, f"forces in steps of {step:g} N"


@kind("noise", "leap")
def places_in_steps(copy: Copy, draw: np.random.Generator) -> Drawn:
    step = pick(draw, (0.002, 0.005, 0.01))
    copy.put(step * np.round(copy.walk.position / step))
    return copy, f"places in steps of {1000 * step:g} mm"


@kind("force_leap", "plate_instant")
def force_spikes(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, factor = str(pick(draw, SIDES)), pick(draw, (0.0, 2.0))

    def spikes(force: np.ndarray) -> np.ndarray:
        force = force.copy()
        force[:: round(len(force) / 40)] *= factor
        return force

    on_plates(copy, side, "force", spikes)
    return copy, f"every fortieth of {of(side)} has one sample x {factor:g}"


@kind("frames_skipped", "leap", "noise")
def neighbors_exchanged(copy: Copy, _: np.random.Generator) -> Drawn:
    position = copy.walk.position.copy()
    count = len(position) // 2 * 2
    position[0:count:2], position[1:count:2] = position[1:count:2].copy(), position[0:count:2].copy()
    copy.put(position)
    return copy, "every two frames exchanged"


@kind("pressure_offset", "pressure_outside", "plate_axes", "pressure_way")
def points_reflected(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis = str(pick(draw, SIDES)), int(draw.integers(2))
    for plate in copy.plates(side):  # type: ignore[arg-type]
        point = copy.plate(plate, "point")
        middle = planted.plate_middles(copy.plate(plate, "force")[:, 2], point)
        copy.set_plate(plate, "point", middle + (point - middle) * np.where(np.arange(3) == axis, -1.0, 1.0))
    return copy, f"points of {of(side)} reflected along {'xy'[axis]}"


@kind("joint_width", "markers_merged", "landmark_order", "segment_length")
def marker_copied(copy: Copy, draw: np.random.Generator) -> Drawn:
    (one, a), (two, b) = landmark_of(copy, draw), landmark_of(copy, draw)
    if a == b:
        raise NotHere
    position = copy.walk.position.copy()
    position[:, copy.walk.names.index(a)] = position[:, copy.walk.names.index(b)]
    copy.put(position)
    return copy, f"{one} is a copy of {two}"


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


@kind("time_offset", "segment_length", "leap")
def trunk_late(copy: Copy, draw: np.random.Generator) -> Drawn:
    count, position = int(pick(draw, (3, 6))), copy.walk.position.copy()
    own = [m for side in SIDES for m in copy.mapping.get(f"shoulder_{side}", ()) if m in copy.walk]
    numbers = [copy.walk.names.index(marker) for marker in own]
    position[:, numbers] = np.roll(position[:, numbers], count, axis=0)
    copy.put(position)
    return copy, f"markers of the shoulders {count} frames late"


@kind("space_scale", "stature", "proportions", "static_of_another", "pressure_offset")
def one_axis_scaled(copy: Copy, draw: np.random.Generator) -> Drawn:
    axis, factor = int(draw.integers(3)), pick(draw, (0.95, 0.97, 1.03, 1.05))
    scale = np.where(np.arange(3) == axis, factor, 1.0)
    copy.put(copy.walk.position * scale)
    if copy.static is not None:
        copy.put(copy.static.position * scale, static=True)
    return copy, f"positions along {'xyz'[axis]} x {factor:g}"


@kind("space_scale", "off_support", "up_axis", "leaning_force", "floor_tilted")
def space_sheared(copy: Copy, draw: np.random.Generator) -> Drawn:
    share, axis = pick(draw, (-0.05, 0.03, 0.05)), int(draw.integers(2))
    third = copy.walk.position[..., 2:]
    copy.put(copy.walk.position + share * third * np.eye(3)[axis])
    return (
        copy,
        f"markers go {share:+.0%} of their place along z, in the axes of the file, along {'xy'[axis]}",
    )


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


@kind("plate_channel", "plate_axes", "plate_scale", "leaning_force")
def channel_rectified(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis, sign = sides_of_fault(draw), int(draw.integers(2)), pick(draw, (-1.0, 1.0))
    chosen = np.eye(3)[axis]
    on_plates(copy, side, "force", lambda force: np.where(chosen, sign * np.abs(force), force))
    return copy, f"F{'xy'[axis]} of {of(side)} rectified to {sign:+.0f}"


@kind("plate_clipped", "plate_channel", "plate_scale", "leaning_force")
def channel_limited(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, axis, share = sides_of_fault(draw), int(draw.integers(2)), pick(draw, (0.3, 0.5, 0.7))
    chosen = np.eye(3)[axis]

    def limited(force: np.ndarray) -> np.ndarray:
        most = share * np.abs(force[:, axis]).max()
        return np.where(chosen, np.clip(force, -most, most), force)

    on_plates(copy, side, "force", limited)
    return copy, f"F{'xy'[axis]} of {of(side)} limited to {share:.0%} of its peak"


@kind("force_leap", "low_rate", "plate_instant", "force_resolution", "time_offset")
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


@kind("pressure_offset", "pressure_outside", "plate_scale", "pressure_way")
def points_at_sensors(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, height = sides_of_fault(draw), pick(draw, (-0.06, -0.04, 0.04, 0.06))
    for plate in copy.plates(side):  # type: ignore[arg-type]
        force, point = copy.plate(plate, "force"), copy.plate(plate, "point").copy()
        loaded = force[:, 2] > 20.0
        point[loaded, :2] -= height * force[loaded, :2] / force[loaded, 2:]
        copy.set_plate(plate, "point", point)
    return copy, f"points of {of(side)} as {1000 * height:+.0f} mm lower"


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


@kind("sides_swapped", "landmark_order", "leap", "labels_exchanged", "pair_swapped", "walking_direction")
def half_mirrored(copy: Copy, draw: np.random.Generator) -> Drawn:
    position, start = copy.walk.position.copy(), copy.frame(float(draw.uniform(0.4, 0.6)))
    across = int(np.ptp(np.nanmean(position, axis=1), axis=0)[:2].argmin())
    middle = np.nanmean(position[..., across])
    position[start:, :, across] = 2.0 * middle - position[start:, :, across]
    copy.put(position)
    return copy, "markers mirrored in the second half"


@kind("pair_swapped", "labels_exchanged", "leap", "sides_swapped", "landmark_order")
def pair_exchanged_later(copy: Copy, draw: np.random.Generator) -> Drawn:
    part = str(pick(draw, LANDMARKS))
    both = [list(copy.mapping.get(f"{part}_{side}", ()))[:1] for side in SIDES]
    if not all(names and names[0] in copy.walk for names in both):
        raise NotHere
    start = copy.frame(float(draw.uniform(0.2, 0.8)))
    copy.exchange(both[0][0], both[1][0], slice(start, None))
    return copy, f"right and left {part} exchanged from then on"


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


@kind("gap_filled", "leap", "marker_slipped", "frozen", "segment_length")
def curved_gap(copy: Copy, draw: np.random.Generator) -> Drawn:
    (name, marker), seconds = landmark_of(copy, draw), pick(draw, (0.2, 0.3, 0.4))
    frames, position = stretch(copy, draw, seconds), copy.walk.position.copy()
    own = position[:, copy.walk.names.index(marker)]
    around = np.r_[frames.start - 3 : frames.start, frames.stop : frames.stop + 3]
    at = np.arange(frames.start, frames.stop)
    own[at] = CubicSpline(around, own[around])(at)
    copy.put(position)
    return copy, f"{name} on a curve for {seconds:g} s"


@kind("plate_scale", "mass", "time_offset", "unbalanced", "plates_swapped")
def contacts_averaged(copy: Copy, draw: np.random.Generator) -> Drawn:
    """The left plate is the mean of both, half a cycle apart and mirrored: a symmetric average of steps."""
    right, left = copy.plates("r"), copy.plates("l")
    if len(right) != 1 or len(left) != 1:
        raise NotHere
    own, other = (copy.plate(plate, "force") for plate in (*left, *right))
    across = int(np.abs(own[:, :2]).mean(axis=0).argmin())
    shift = int(np.argmax(own[:, 2]) - np.argmax(other[:, 2]))
    late = np.roll(other, shift, axis=0) * np.where(np.arange(3) == across, -1.0, 1.0)
    copy.set_plate(left[0], "force", np.where(own[:, 2:] > 20.0, 0.5 * (own + late), own))
    return copy, "the left force is the mean of both steps"


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


@kind("plate_scale", "plate_drift", "mass", "force_step")
def gain_changes(copy: Copy, draw: np.random.Generator) -> Drawn:
    side, factor, share = str(pick(draw, SIDES)), pick(draw, (0.85, 0.88, 1.12, 1.15)), draw.uniform(0.4, 0.6)
    first = int(share * len(copy.forces.time))
    gain = np.where(np.arange(len(copy.forces.time)) < first, 1.0, factor)[:, None]
    on_plates(copy, side, "force", lambda force: force * gain)
    return copy, f"{of(side)} x {factor:g} from {copy.forces.time[first]:.2f} s on"


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
        BANK.table(sound, lambda copy: shared(write_copy(copy, folder / "spoiled")), lambda _: True, *draws)


if __name__ == "__main__":
    main()
