"""A bank of sound variations of recordings: none may have an error or a warning that its original does not have.

    python -m benchmarks.sound_variations DATA [COUNT [SEED [KIND ...]]]

DATA is a folder with the recordings of `originals`; synthetic walks are more. A kind of variation leaves a recording
as sound as it was: it cuts, turns, scales, samples or labels it otherwise. COUNT is how often each kind is drawn of
each recording. An accusation is a code that the original has not, or has less severely, or a worse verdict. True
statements on shorter data are no accusations (`EXCUSED`), nor are codes that a fact about the recording makes true
(`sound_facts.toml`). Codes of the originals need such a fact; others are the accusations of the kind `original`.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table as Rows
from scipy.interpolate import CubicSpline

import musclesolve as ms
from benchmarks.arguments import bank_arguments
from benchmarks.drawn_faults import NotHere, pick
from benchmarks.planted_recording_faults import trials
from benchmarks.timing import console
from musclesolve._util.arrays import Array
from musclesolve.laboratory.checks.case import load
from musclesolve.laboratory.draft.draft_folder import draft_folder, write_drafts
from musclesolve.laboratory.draft.subject_size import GivenSubject
from musclesolve.laboratory.recording.axes import axis_vector, global_from_laboratory
from musclesolve.laboratory.recording.trial_settings import FILE_AXES
from musclesolve.laboratory.results.finding import SEVERITIES
from musclesolve.laboratory.results.judgement import ORDER, Report
from musclesolve.studies.synthetic.synthetic_recording import synthetic_recording
from musclesolve.studies.synthetic.trial_copy import FORCES, STATIC, WALK, Copy, open_copy, write_copy
from musclesolve.tables.opensim_text import write_trc
from musclesolve.tables.sampled import Markers, Table


@dataclass
class Sound(Copy):
    """A copy of a sound recording."""

    analyzed: tuple[float, float] = (0.0, 0.0)
    """First and last time that the original has for analysis [s]."""
    both: tuple[float, float] = (0.0, 0.0)
    """First and last time at which it measures both feet."""
    place: list[Path] = field(default_factory=lambda: [Path()])
    """Where it is written."""


Varied = tuple[Sound, str]
Kind = Callable[[Sound, np.random.Generator], Varied]
KINDS: dict[str, Kind] = {}
SHORTER = {
    *(
        "time_range",
        "no_solution",
        "durations_differ",
        "uncertain_joint",
        "contact_without_force",
        "gap",
        "at_edge",
        "full_activation",
    )
}
"""Codes that a part of a recording may have: something was measured too shortly or not at all, and they say so; or a
mean over the part, or the share of its frames with full activation, lies at the edge, which that over the whole does
not."""
EXCUSED = dict.fromkeys(("files_cut", "range_stated", "second_cut", "one_plate"), SHORTER)
EXCUSED |= {name: {"unusual_value"} for name in ("scaled", "heavier")} | {
    "inclined": {"at_edge", "space_scale", "segment_length"},
    **{name: {"at_edge"} for name in ("rounded", "camera_noise")},
}
"""Kind of variations -> codes that are no accusations: a small adult has the body mass index of no child; a shear
stretches segments by up to half of the slope, which is true, and motion and forces of a rigid body fit less; steps of
1 mm are noise, and noise adds to the residual."""
FACTS = tomllib.loads(Path(__file__).with_name("sound_facts.toml").read_text(encoding="utf-8"))
"""Recording -> code of an error or warning that it may have -> the fact that makes it true."""
ROLES = ("force", "point", "moment")
SCALED_KEYS = {"m": 1.0, "kg": 3.0, "n": 3.0, "s": 0.5, "hz": -0.5}
"""Unit that ends a key of a trial file -> its power of the length, where gravity stays."""
IN_PLACE_M = 0.5
"""Way of the body [m] below which it walks on a treadmill."""
CARRIES_N = 20.0
"""Vertical force from which the point of a plate means something [N]."""


def kind(variation: Kind) -> Kind:
    """Register a kind of variation."""
    KINDS[variation.__name__] = variation
    return variation


# The recordings


def originals(data: Path, folder: Path) -> dict[str, Sound]:
    """Return sound recordings: of `trials`, of other laboratories, and synthetic ones."""
    paths = trials(data, folder)
    paths["belts"] = data / "reported_cases" / "01c_treadmill_right" / "trial.toml"
    paths["events"] = data / "reported_cases" / "02b_events_right" / "trial.toml"
    foreign = {"flat_foot": (47.5, 1.505, "female"), "functional_walk": (60.0, 1.68, "female")}
    foreign |= {"motion_analysis": (63.6, 1.7, "male")}
    for name, (mass, stature, sex) in foreign.items():
        paths[name] = drafted(data / "foreign_recordings" / name, folder / name, mass, stature, sex)
    walks = {
        "noisy": {"noise_mm": 0.5, "force_noise_n": 1.0, "strides": 3},
        "skin": {"noise": "skin", "noise_mm": 4.0},
    }
    for name, options in walks.items():
        paths[name] = synthetic_recording(folder / name, **options)  # type: ignore[arg-type]
    return {name: copy_of(path, folder / f"text of {name}") for name, path in paths.items()}


def drafted(source: Path, folder: Path, mass: float, stature: float, sex: str) -> Path:
    """Return the trial file that `init` drafts of a folder."""
    folder.mkdir(parents=True)
    for file in source.glob("*.c3d"):
        (folder / file.name).symlink_to(file.resolve())
    draft = draft_folder(folder, subject=GivenSubject(mass_kg=mass, stature_m=stature, sex=sex))
    write_drafts(draft)
    return draft.trials[0].path


def copy_of(path: Path, folder: Path) -> Sound:
    """Return a copy of a trial; one of C3D is turned into the global frame, and its plates become columns.

    folder: where the text of C3D is written.
    """
    read = ms.read_trial(path)
    legs = list(read.legs.values())
    both = (max(a for a, _ in legs), min(b for _, b in legs)) if legs else read.time_range
    times = {"analyzed": read.time_range, "both": both}
    with suppress(ms.InputError):
        return Sound(**vars(open_copy(path)), **times)
    case, _ = load(path)
    assert case is not None
    trial, kept = case.trial, list(case.document.lines)
    for table in ("force", "laboratory", "events", "emg", "emg.channels"):
        without(kept, table)
    kept += ["[laboratory]", 'forward = "+x"', 'up = "+z"']
    files = dict.fromkeys(("markers", "static", "forces"))
    files |= {"markers": WALK, "forces": FORCES} | ({"static": STATIC} if trial.static else {})
    time, names, values = trial.forces[0].time, list[str](), list[Array]()
    for k, plate in enumerate(trial.forces):
        names += [f"plate{k}_{role}_{axis}" for role in ROLES for axis in "xyz"]
        at = np.searchsorted(plate.time, time).clip(max=len(plate.time) - 1)
        values += [np.nan_to_num(getattr(plate, role)[at]) for role in ROLES]
        kept += ["[[force]]", f'side = "{plate.side}"', *(f'{role} = "plate{k}_{role}_"' for role in ROLES)]
    settings = case.settings.changed(laboratory={"forward": "+x", "up": "+z"})
    forces = Table(time, tuple(names), np.concatenate(values, axis=1), None, path)
    copy = Copy(kept, settings, trial.markers, trial.static, forces, trial.mapping)
    for key, name in files.items():
        if name is not None:
            copy.set_key("files", key, f'"{name}"')
    return Sound(**vars(open_copy(write_copy(copy, folder))), **times)


def without(lines: list[str], name: str) -> None:
    """Remove a table of a trial file, or a list of tables."""
    inside, kept = False, []
    for line in lines:
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            inside = header[1].strip() == name
        if not inside:
            kept.append(line)
    lines[:] = kept


# Tools of the variations


def placed(
    copy: Sound, turn: Array, shift: Sequence[float] = (0.0, 0.0, 0.0), axes: tuple[str, str] | None = None
) -> None:
    """Turn and move all that was recorded, in the global frame; axes: forward and up of the files afterward."""
    old = copy.rotation
    new = old if axes is None else global_from_laboratory(*axes)
    for static in (False, True):
        markers = copy.static if static else copy.walk
        if markers is not None:
            copy.put((markers.position @ old.T @ turn.T + shift) @ new, static=static)
    values = copy.forces.values.copy()
    for plate in copy.plates():
        for role in ROLES:
            if columns := copy.columns(plate, role):
                sign = np.linalg.det(turn) if role == "moment" else 1.0
                moved = sign * copy.plate(plate, role) @ turn.T + np.multiply(shift, role == "point")
                values[:, columns] = moved @ new
    copy.forces = replace(copy.forces, values=values)


def stated_axes(copy: Sound, forward: str, up: str) -> None:
    for key, value in (("forward", forward), ("up", up)):
        copy.set_key("laboratory", key, f'"{value}"')
        if copy.settings.laboratory[f"static_{key}"] is not None:
            raise NotHere


def about_vertical(degrees: float) -> Array:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def cut(copy: Sound, first: float, last: float) -> None:
    """Keep a part of the motion and of the forces."""
    without(copy.lines, "time")
    seen = (copy.walk.time >= first - 1e-9) & (copy.walk.time <= last + 1e-9)
    copy.walk = replace(copy.walk, time=copy.walk.time[seen], position=copy.walk.position[seen])
    at = (copy.forces.time >= first - 1e-9) & (copy.forces.time <= last + 1e-9)
    copy.forces = replace(
        copy.forces, time=copy.forces.time[at], values=copy.forces.values[at], lines=copy.forces.lines[:0]
    )


def scale_keys(copy: Sound, power: Callable[[str], float]) -> None:
    """Multiply the keys of a trial file by a factor that their unit decides."""
    table = ""
    for k, line in enumerate(copy.lines):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            table = header[1]
        found = re.match(r"(\w+_(\w+)\s*=\s*)([-\d.]+)(.*)", line)
        if found and found[2] in SCALED_KEYS and table not in ("mapping", "emg.channels"):
            copy.lines[k] = f"{found[1]}{float(found[3]) * power(found[2]):.6f}{found[4]}"


def scale_forces(copy: Sound, force: float, length: float) -> None:
    factors = {"force": force, "point": length, "moment": force * length}
    for plate in copy.plates():
        for role, factor in factors.items():
            if copy.columns(plate, role):
                copy.set_plate(plate, role, factor * copy.plate(plate, role))


def of_time(time: Array, values: Array, at: Array) -> Array:
    """Values (T, ...) at other times, as a camera would have seen them; gaps stay gaps."""
    flat = values.reshape(len(time), -1)
    new = np.full((len(at), flat.shape[1]), np.nan)
    nearest = np.abs(at[:, None] - time).argmin(axis=1)
    for column in range(flat.shape[1]):
        seen = np.isfinite(flat[:, column])
        if seen.sum() > 3:
            around = np.isfinite(flat[nearest, column])
            new[around, column] = CubicSpline(time[seen], flat[seen, column])(at[around])
    return new.reshape(len(at), *values.shape[1:])


def times_at(time: Array, rate: float) -> Array:
    return np.asarray(time[0] + np.arange(int((time[-1] - time[0]) * rate + 1e-6) + 1) / rate)


def renamed(markers: Markers, names: dict[str, str]) -> Markers:
    return replace(
        markers, names=tuple(names.get(name, name) for name in markers.names), aliases={}, repeated={}
    )


def other_side(name: str) -> str:
    """A label of the other leg."""
    if found := re.fullmatch(r"(.*_)([rl])", name):
        return found[1] + {"r": "l", "l": "r"}[found[2]]
    return {"R": "L", "L": "R"}[name[0]] + name[1:] if name[:1] in ("R", "L") else name


def used(copy: Sound) -> set[str]:
    """Markers that the trial file names."""
    return set(re.findall(r'"([^"]+)"', "\n".join(copy.lines)))


# Parts of a recording


def window(draw: np.random.Generator, start: float, end: float) -> tuple[float, float]:
    seconds = float(draw.uniform(0.6, 1.5))
    if seconds > end - start:
        raise NotHere
    first = float(draw.uniform(start, end - seconds))
    return first, first + seconds


@kind
def files_cut(copy: Sound, draw: np.random.Generator) -> Varied:
    first, last = window(draw, *copy.analyzed)
    cut(copy, first, last)
    return copy, f"files from {first:.2f} to {last:.2f} s"


@kind
def range_stated(copy: Sound, draw: np.random.Generator) -> Varied:
    first, last = window(draw, *copy.both)
    without(copy.lines, "time")
    copy.lines += ["[time]", f"start_s = {first:.4f}", f"end_s = {last:.4f}"]
    return copy, f"[time] from {first:.2f} to {last:.2f} s"


@kind
def second_cut(copy: Sound, draw: np.random.Generator) -> Varied:
    time, late = copy.walk.time, bool(draw.random() < 0.5)
    if time[-1] - time[0] < 2.0:
        raise NotHere
    cut(copy, time[0] + (not late), time[-1] - late)
    return copy, f"without the {'last' if late else 'first'} second"


@kind
def one_plate(copy: Sound, draw: np.random.Generator) -> Varied:
    if len(copy.plates()) < 2:
        raise NotHere
    number, chosen = -1, int(pick(draw, copy.plates()))
    heads = [k for k, line in enumerate(copy.lines) if line.strip().startswith("[[force]]")]
    number = heads[chosen]
    ends = [k for k, line in enumerate(copy.lines) if k > number and line.lstrip().startswith("[")]
    del copy.lines[number : ends[0] if ends else None]
    without(copy.lines, "time")
    return copy, f"without [[force]] {chosen + 1}"


# Other people


@kind
def scaled(copy: Sound, draw: np.random.Generator) -> Varied:
    mass = float(draw.uniform(0.3, 1.7))
    size = mass ** (1.0 / 3.0)
    for table in ("emg", "emg.channels", "fascicle"):
        without(copy.lines, table)
    copy.emg = None
    scale_keys(copy, lambda unit: size ** SCALED_KEYS[unit])
    for static in (False, True):
        markers = copy.static if static else copy.walk
        if markers is not None:
            copy.put(size * markers.position, static=static)
    scale_forces(copy, mass, size)
    copy.set_key("muscles", "strength", f"{mass:.6f}")
    copy.walk = replace(copy.walk, time=np.sqrt(size) * copy.walk.time)
    copy.forces = replace(copy.forces, time=np.sqrt(size) * copy.forces.time)
    return copy, f"mass x {mass:.2f}, lengths x {size:.2f}"


@kind
def heavier(copy: Sound, draw: np.random.Generator) -> Varied:
    mass = float(draw.uniform(0.75, 1.7))
    scale_keys(copy, lambda unit: mass if unit in ("kg", "n") else 1.0)
    scale_forces(copy, mass, 1.0)
    copy.set_key("muscles", "strength", f"{mass:.6f}")
    return copy, f"mass and forces x {mass:.2f}"


@kind
def mirrored(copy: Sound, _: np.random.Generator) -> Varied:
    for table in ("emg", "emg.channels", "fascicle"):
        without(copy.lines, table)
    copy.emg, table = None, ""
    names = {
        name: other_side(name) for name in {*copy.walk.names, *(copy.static.names if copy.static else ())}
    }
    if len(set(names.values())) < len(names):
        raise NotHere
    placed(copy, np.diag([1.0, -1.0, 1.0]))
    copy.walk = renamed(copy.walk, names)
    copy.static = copy.static and renamed(copy.static, names)
    for k, line in enumerate(copy.lines):
        if header := re.match(r"\s*\[+([^\]]+)\]", line):
            table = header[1]
        elif table in ("mapping", "clusters", "carried"):
            quoted = re.sub(r'"([^"]+)"', lambda found: f'"{other_side(found[1])}"', line)
            copy.lines[k] = re.sub(r"^(\w+)", lambda found: other_side(found[1]), quoted)
        elif table == "force":
            copy.lines[k] = re.sub(
                r'^(side\s*=\s*)"([rl])"', lambda found: f'{found[1]}"{"lr"["rl".index(found[2])]}"', line
            )
    return copy, "mirrored, with labels and plates of the other leg"


# Other laboratories


@kind
def turned(copy: Sound, draw: np.random.Generator) -> Varied:
    angle, shift = float(draw.uniform(0.0, 360.0)), draw.uniform(-3.0, 3.0, 2)
    turn = about_vertical(angle)
    ahead = copy.in_file(tuple(turn[:, 0]))
    forward = max(FILE_AXES, key=lambda axis: float(axis_vector(axis) @ ahead))
    placed(copy, turn, (*shift, 0.0))
    stated_axes(copy, forward, copy.settings.laboratory.up or "")
    return (
        copy,
        f"turned by {angle:.0f} degrees, forward {forward}, moved by {shift[0]:.1f} and {shift[1]:.1f} m",
    )


@kind
def other_way(copy: Sound, _: np.random.Generator) -> Varied:
    forward = copy.settings.laboratory.forward or "+x"
    placed(copy, about_vertical(180.0))
    stated_axes(copy, {"+": "-", "-": "+"}[forward[0]] + forward[1], copy.settings.laboratory.up or "")
    return copy, "the other way"


@kind
def other_axes(copy: Sound, draw: np.random.Generator) -> Varied:
    up = str(pick(draw, FILE_AXES))
    forward = str(pick(draw, [axis for axis in FILE_AXES if axis[1] != up[1]]))
    placed(copy, np.eye(3), axes=(forward, up))
    stated_axes(copy, forward, up)
    return copy, f"forward {forward}, up {up}"


@kind
def seen_from_a_belt(copy: Sound, _: np.random.Generator) -> Varied:
    """A walk over ground on a treadmill: nothing in the laws of motion changes."""
    ahead, time = copy.in_file((1.0, 0.0, 0.0)), copy.walk.time
    pelvis = copy.walk[copy.marker("asis_r")] @ ahead
    seen = np.isfinite(pelvis)
    speed = float(np.polyfit(time[seen], pelvis[seen], 1)[0])
    if abs(speed) < IN_PLACE_M:
        raise NotHere
    copy.put(copy.walk.position - (speed * time[:, None] * ahead)[:, None])
    for plate in copy.plates():
        way = speed * copy.forces.time[:, None] * np.array([1.0, 0.0, 0.0])
        copy.set_plate(plate, "point", copy.plate(plate, "point") - way)
    return copy, f"on a belt at {speed:.2f} m/s"


@kind
def other_clock(copy: Sound, draw: np.random.Generator) -> Varied:
    if copy.emg is not None or any("time" in line and "file" in line for line in copy.lines):
        for table in ("emg", "emg.channels", "fascicle"):
            without(copy.lines, table)
        copy.emg = None
    by = float(draw.uniform(1.0, 5000.0))
    copy.walk = replace(copy.walk, time=copy.walk.time + by)
    copy.forces = replace(copy.forces, time=copy.forces.time + by)
    for key, value in (("start_s", copy.settings.time.start_s), ("end_s", copy.settings.time.end_s)):
        if value is not None:
            copy.set_key("time", key, f"{value + by:.6f}")
    return copy, f"clocks begin {by:.0f} s later"


# Other devices


@kind
def markers_resampled(copy: Sound, draw: np.random.Generator) -> Varied:
    rate = float(pick(draw, (50.0, 60.0, 75.0, 100.0, 150.0, 200.0, 250.0, 500.0)))
    at = times_at(copy.walk.time, rate)
    copy.walk = replace(copy.walk, time=at, position=of_time(copy.walk.time, copy.walk.position, at))
    return copy, f"markers at {rate:g} Hz"


@kind
def plates_resampled(copy: Sound, draw: np.random.Generator) -> Varied:
    rate, time = float(pick(draw, (500.0, 600.0, 1000.0, 1200.0, 1500.0, 2000.0))), copy.forces.time
    at = times_at(time, rate)
    nearest = np.clip(np.searchsorted(time, at), 0, len(time) - 1)
    values = np.stack([np.interp(at, time, column) for column in copy.forces.values.T], axis=1)
    for plate in copy.plates():
        force, columns = copy.plate(plate, "force"), copy.columns(plate, "point")
        point, load = copy.forces.values[:, columns], force[:, 2:]
        mixed = np.stack([np.interp(at, time, column) for column in (load * point).T], axis=1)
        bears = np.interp(at, time, load[:, 0])[:, None]
        values[:, columns] = np.where(
            np.abs(bears) > CARRIES_N, mixed / np.where(bears, bears, 1.0), point[nearest]
        )
    copy.forces = replace(copy.forces, time=at, values=values, lines=copy.forces.lines[:0])
    return copy, f"plates at {rate:g} Hz"


@kind
def rounded(copy: Sound, draw: np.random.Generator) -> Varied:
    step, load = float(pick(draw, (1e-4, 1e-3))), float(pick(draw, (0.1, 0.5, 1.0)))
    for static in (False, True):
        markers = copy.static if static else copy.walk
        if markers is not None:
            copy.put(step * np.round(markers.position / step), static=static)
    for plate in copy.plates():
        copy.set_plate(plate, "force", load * np.round(copy.plate(plate, "force") / load))
    return copy, f"places in {1000 * step:g} mm, forces in {load:g} N"


@kind
def camera_noise(copy: Sound, draw: np.random.Generator) -> Varied:
    copy.put(copy.walk.position + 2e-4 * draw.standard_normal(copy.walk.position.shape))
    return copy, "noise of 0.2 mm"


@kind
def short_gaps(copy: Sound, draw: np.random.Generator) -> Varied:
    position, count = copy.walk.position.copy(), max(round(0.05 * copy.walk.rate), 2)
    names = draw.permutation(copy.walk.names)[:3]
    for name in names:
        first = copy.frame(float(draw.uniform(0.05, 0.9)))
        position[first : first + count, copy.walk.names.index(name)] = np.nan
    copy.put(position)
    return copy, f"gaps of {count} frames of {', '.join(names)}"


# Other files


@kind
def in_meters(copy: Sound, _: np.random.Generator) -> Varied:
    walk = copy.walk

    def meters(text: str) -> str:
        with TemporaryDirectory() as name:
            write_trc(Path(name) / WALK, walk, units="m", decimals=7)
            return (Path(name) / WALK).read_text(encoding="utf-8")

    copy.afterward.append((WALK, meters))
    return copy, "markers in meters"


@kind
def points_in_millimeters(copy: Sound, _: np.random.Generator) -> Varied:
    lines = list[str]()
    for line in copy.lines:
        lines.append(line)
        if re.match(r"\s*\[\[force\]\]", line):
            lines += ['point_unit = "mm"', 'moment_unit = "N mm"']
    if any("point_unit" in line for line in copy.lines):
        raise NotHere
    copy.lines = lines
    for plate in copy.plates():
        for role in ("point", "moment"):
            if copy.columns(plate, role):
                copy.set_plate(plate, role, 1000.0 * copy.plate(plate, role))
    return copy, "points in mm, moments in N mm"


@kind
def as_csv(copy: Sound, _: np.random.Generator) -> Varied:
    markers, forces = copy.walk, copy.forces
    flat = markers.position.reshape(len(markers.time), -1)
    titles = [f"{name}_{axis} [mm]" for name in markers.names for axis in "xyz"]
    if any("," in title for title in titles):
        raise NotHere

    def table(time: Array, names: Sequence[str], values: Array) -> str:
        rows = (
            ",".join([f"{t:.6f}", *("" if np.isnan(v) else f"{v:.5f}" for v in row)])
            for t, row in zip(time, values, strict=True)
        )
        return "\n".join([",".join(["time", *names]), *rows]) + "\n"

    copy.set_key("files", "markers", '"walk.csv"')
    copy.set_key("files", "forces", '"forces.csv"')
    units = {
        name: f"{name} [{unit}]"
        for plate in copy.plates()
        for role, unit in zip(ROLES, ("N", "m", "Nm"), strict=True)
        for name in (forces.names[column] for column in copy.columns(plate, role))
    }

    def written(text: str) -> str:
        folder = place[0]
        (folder / "walk.csv").write_text(table(markers.time, titles, 1000.0 * flat), encoding="utf-8")
        (folder / "forces.csv").write_text(
            table(forces.time, [units.get(name, name) for name in forces.names], forces.values),
            encoding="utf-8",
        )
        return text

    place = copy.place
    copy.afterward.append((WALK, written))
    return copy, "tables of comma-separated values"


@kind
def prefixed(copy: Sound, draw: np.random.Generator) -> Varied:
    prefix = str(pick(draw, ("S01:", "Subject 1:", "Anna:")))
    for role in ("walk", "static"):
        if (markers := getattr(copy, role)) is not None:
            setattr(copy, role, renamed(markers, {name: prefix + name for name in markers.names}))
    return copy, f"labels with {prefix}"


@kind
def markers_left_out(copy: Sound, draw: np.random.Generator) -> Varied:
    free = [name for name in copy.walk.names if name not in used(copy)]
    if "[markers]" in "\n".join(copy.lines) or not free:
        raise NotHere
    gone = set(draw.permutation(free)[: max(len(free) // 2, 1)])
    for role in ("walk", "static"):
        if (markers := getattr(copy, role)) is not None:
            kept = [k for k, name in enumerate(markers.names) if name not in gone]
            names = tuple(markers.names[k] for k in kept)
            setattr(copy, role, replace(markers, names=names, position=markers.position[:, kept]))
    return copy, f"without {len(gone)} unused markers"


@kind
def markers_added(copy: Sound, draw: np.random.Generator) -> Varied:
    time = copy.walk.time
    trolley = np.array([draw.uniform(-2.0, 2.0), 1.5, 0.6]) + draw.uniform(-0.2, 0.2, (3, 3))
    moving = np.broadcast_to(trolley, (len(time), 3, 3)).copy()
    moving[:, :, 0] += 0.05 * np.sin(2.0 * np.pi * 0.5 * time)[:, None]
    moving += 1e-4 * draw.standard_normal(moving.shape)
    position = np.concatenate([copy.walk.position, moving @ copy.rotation], axis=1)
    names = (*copy.walk.names, *(f"trolley{k}" for k in (1, 2, 3)))
    copy.walk = replace(copy.walk, names=names, position=position)
    return copy, "markers of a trolley"


@kind
def plates_reordered(copy: Sound, draw: np.random.Generator) -> Varied:
    order = draw.permutation(len(copy.forces.names))
    copy.forces = replace(
        copy.forces, names=tuple(copy.forces.names[k] for k in order), values=copy.forces.values[:, order],
        roles=tuple(copy.forces.roles[k] for k in order) if copy.forces.roles else (),
    )  # fmt: skip
    lines, tables = list(copy.lines), list[list[str]]()
    while (at := next((k for k, line in enumerate(lines) if line.strip() == "[[force]]"), None)) is not None:
        end = next((k for k in range(at + 1, len(lines)) if lines[k].lstrip().startswith("[")), len(lines))
        tables.append(lines[at:end])
        del lines[at:end]
    copy.lines = [*lines, *(line for block in tables[::-1] for line in block)]
    return copy, "columns shuffled, [[force]] in the other order"


@kind
def empty_plate(copy: Sound, draw: np.random.Generator) -> Varied:
    unloaded = copy.settings.filter.unloaded_below_n or 10.0
    noise = min(0.3, 0.1 * unloaded) * draw.standard_normal((len(copy.forces.time), 9))
    noise[:, 3:6] = [0.3, 0.0, 0.4]
    names = tuple(f"spare_{role}_{axis}" for role in ROLES for axis in "xyz")
    copy.forces = replace(
        copy.forces,
        names=(*copy.forces.names, *names),
        values=np.concatenate([copy.forces.values, noise], axis=1),
        roles=(),
    )
    stated = bool(draw.random() < 0.5)
    if stated:
        side = str(pick(draw, ("r", "l", "auto")))
        copy.lines += ["[[force]]", f'side = "{side}"', *(f'{role} = "spare_{role}_"' for role in ROLES)]
    return copy, f"an empty plate more{f', {side}' if stated else ', not named'}"


@kind
def inclined(copy: Sound, draw: np.random.Generator) -> Varied:
    """Belts that rise: a shear S, z + slope x, of places r and forces f keeps Newton's law.

    S r x S f = S^-T (r x f), of forces and of accelerated masses alike: moments balance, too.
    """
    position = copy.walk.position
    middle = np.nanmedian(position[np.isfinite(position).any(axis=(1, 2))], axis=1)
    if copy.static or np.ptp(middle, axis=0).max() > IN_PLACE_M:
        raise NotHere
    shear, slope = np.eye(3), float(draw.uniform(-0.1, 0.1))
    shear[2, 0] = slope
    copy.put(copy.walk.position @ copy.rotation.T @ shear.T @ copy.rotation)
    for plate in copy.plates():
        for role, turn in zip(ROLES, (shear, shear, np.linalg.inv(shear).T), strict=True):
            if copy.columns(plate, role):
                copy.set_plate(plate, role, copy.plate(plate, role) @ turn.T)
    return copy, f"belts that rise by {100.0 * slope:.0f} %"


# The law


@dataclass
class Trial:
    """A variation that was tried."""

    kind: str
    of: str
    text: str
    accusations: tuple[str, ...]  # codes, and "verdict" of a worse one
    sentences: tuple[str, ...] = field(default=(), repr=False)


def severities(report: Report) -> dict[str, int]:
    """Code -> rank of its worst severity, the worst first."""
    found = dict[str, int]()
    for entry in report.all_findings:
        found[entry.code] = min(found.get(entry.code, len(SEVERITIES)), SEVERITIES.index(entry.severity))
    return found


def accusations(report: Report, original: Report, excused: Collection[str] = ()) -> tuple[str, ...]:
    """Codes of errors and warnings that the original does not have, or has as lesser ones; and a worse verdict.

    What the original reports outside of its time range may be inside of the other one. excused: codes that are none.
    """
    before, note = severities(original), SEVERITIES.index("note")
    before["at_edge"] = min(
        before.get("at_edge", note), before.get("implausible", note)
    )  # one criterion's degrees
    before |= {e.code: 0 for e in original.all_findings if "outside of the time range" in e.what}
    new = [
        code
        for code, rank in severities(report).items()
        if rank < note and rank < before.get(code, note) and code not in excused
    ]
    verdicts = [ORDER.index(each.judgement.verdict) for each in (report, original) if each.judgement]
    explained = new or any(e.code in excused and e.severity != "note" for e in report.all_findings)
    if (
        excused and report.judgement and "not_certified" in report.judgement.because
    ):  # nothing left to compare
        explained = True
    return (*new, *(["verdict"] if verdicts[0] < verdicts[1] and not explained else []))


def without_fact(name: str, report: Report) -> tuple[str, ...]:
    """Codes of errors and warnings on an original that no known fact makes true."""
    known = {*FACTS["of_results"], *FACTS.get(name, ())}
    note = SEVERITIES.index("note")
    return tuple(code for code, rank in severities(report).items() if rank < note and code not in known)


def write(copy: Sound, folder: Path) -> Path:
    copy.place[0] = folder
    return write_copy(copy, folder)


def tried(
    sound: dict[str, Sound], folder: Path, count: int, seed: int, kinds: Sequence[str] = ()
) -> Iterator[Trial]:
    """Yield each variation of each recording, with what is said against it."""
    reports = {
        name: ms.check(write(deepcopy(copy), folder / "original" / name)) for name, copy in sound.items()
    }
    for name, report in reports.items():
        codes = without_fact(name, report)
        said = tuple(str(e) for e in report.all_findings if e.code in codes)
        yield Trial("original", name, "without a known fact", codes, said)
    for title in kinds or KINDS:
        for number, name in enumerate(sound):
            before = set[str]()
            for turn in range(count):
                draw = np.random.default_rng([seed, list(KINDS).index(title), number, turn])
                try:
                    copy, text = KINDS[title](deepcopy(sound[name]), draw)
                except NotHere:
                    break
                if text in before:  # nothing is drawn
                    continue
                before.add(text)
                report = ms.check(write(copy, folder / "varied"))
                new = accusations(report, reports[name], EXCUSED.get(title, ()))
                new = tuple(code for code in new if code not in FACTS.get(name, ()))
                said = [str(e) for e in report.all_findings if e.code in new]
                if "verdict" in new and report.judgement:
                    said += report.judgement.why
                yield Trial(title, name, text, new, tuple(said))


def main() -> None:
    """Print accusations as they are found, and the table of the kinds."""
    data, *draws = bank_arguments(__doc__, 3, KINDS)
    table = Rows("variation", "recordings", "tried", "accused", "codes")
    of_kind = defaultdict[str, list[Trial]](list)
    with TemporaryDirectory() as name:
        sound = originals(data, Path(name))
        for trial in tried(sound, Path(name), *draws):
            of_kind[trial.kind].append(trial)
            if trial.accusations:
                console.print(f"{trial.kind} of {trial.of}, {trial.text}: {', '.join(trial.accusations)}")
                for sentence in trial.sentences:
                    console.print(f"    {sentence}", highlight=False, soft_wrap=True)
    for title, found in of_kind.items():
        codes = Counter(code for trial in found for code in trial.accusations)
        words = ", ".join(f"{code} {n}" for code, n in codes.most_common())
        accused = sum(bool(trial.accusations) for trial in found)
        table.add_row(title, str(len({trial.of for trial in found})), str(len(found)), str(accused), words)
    console.print(table)
    every = [trial for found in of_kind.values() for trial in found]
    console.print(f"{sum(bool(trial.accusations) for trial in every)} of {len(every)} variations are accused")


if __name__ == "__main__":
    main()
