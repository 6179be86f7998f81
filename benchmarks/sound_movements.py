"""Sound recordings of other movements than walking: what is said of them is true, and joint moments are right.

    python -m benchmarks.sound_movements [NAME ...]

Markers with the noise of cameras, plates under the feet, and the true moments of a movement in exact balance
(`balanced_movement`); a seat bears without a plate. Walking backward is a walk whose markers and forces run backward.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from rich.table import Table as Rows
from scipy.interpolate import make_interp_spline

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.balanced_movement import Curve, Movement, Posture, Support, bump, rise, zero
from benchmarks.timing import console, rms
from musclesolve._util.arrays import Array
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.studies.synthetic.recording_options import RecordingOptions
from musclesolve.studies.synthetic.reference_stride import ReferenceStride, pressure, reference_stride
from musclesolve.studies.synthetic.trial_copy import open_copy, write_copy
from musclesolve.tables.opensim_text import write_mot, write_trc
from musclesolve.tables.sampled import Markers, Table

Recorder = Callable[[Path], tuple[Path, Callable[[Array], Array]]]
ROLES = ("force", "point", "moment")
MARKERS_HZ, PLATES_HZ = 100.0, 1000.0
NOISE_MM, NOISE_N, NOISE_NM, UNLOADED_N = 0.5, 1.0, 0.1, 10.0


def foot(side: str, part: Curve, way: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Support:
    """A foot that bears a part of the load, on a ground that is so much farther on, to the left and above [m]."""
    left = 0.095 if side == "l" else -0.095
    return Support(f"foot_{side}", part, np.array([0.045, left, 0.0]) + way)


def half(t: Array) -> Array:
    return 0.5 + zero(t)


def both() -> tuple[Support, Support]:
    return foot("r", half), foot("l", half)


def times(value: float, curve: Callable[..., Array], *ends: float) -> Curve:
    return lambda t: value * curve(t, *ends)


def standing() -> Posture:
    def sways(t: Array) -> Array:
        return 0.5 + 0.06 * np.sin(2.3 * t) + 0.03 * np.sin(5.1 * t)

    return Posture(4.0, (foot("r", sways), foot("l", lambda t: 1.0 - sways(t))))


def squat() -> Posture:
    way = bump, 0.4, 2.6
    angles = {"pelvis_tilt": times(0.5, *way), "trunk_flexion": times(0.3, *way)}
    angles |= {f"shoulder_flexion_{side}": times(-1.2, *way) for side in SIDES}
    return Posture(3.0, both(), times(-0.36, *way), angles=angles)


def chair() -> Posture:
    def on_feet(t: Array) -> Array:
        return 0.1 + 0.4 * rise(t, 0.5, 1.3)

    seat = Support("pelvis", lambda t: 1.0 - 2.0 * on_feet(t), np.array([-0.36, 0.0, 0.42]), measured=False)
    feet = foot("r", on_feet), foot("l", on_feet)
    lean = {"pelvis_tilt": lambda t: 0.6 * rise(t, 0.2, 1.1) - 0.6 * rise(t, 1.2, 2.4)}
    lean["trunk_flexion"] = lambda t: 0.4 * rise(t, 0.2, 1.1) - 0.4 * rise(t, 1.2, 2.4)
    return Posture(3.0, (*feet, seat), lambda t: -0.4 + 0.4 * rise(t, 1.0, 2.4), angles=lean)


def one_leg() -> Posture:
    lifted = {"l": lambda t: rise(t, 0.6, 1.2)[:, None] * [0.0, 0.0, 0.12]}
    supports = (
        foot("r", lambda t: 0.5 + 0.5 * rise(t, 0.1, 0.6)),
        foot("l", lambda t: 0.5 - 0.5 * rise(t, 0.1, 0.6)),
    )
    sway = {"trunk_bending_right": lambda t: 0.12 * rise(t, 1.2, 1.8) * np.sin(3.0 * (t - 1.2))}
    return Posture(4.0, supports, balls=lifted, angles=sway)


def step(height: float, ahead: float) -> Posture:
    """Onto a step: the right foot first."""
    shifts = (0.2, 0.7), (1.2, 1.8), (2.4, 2.9)
    up = np.array([ahead, 0.0, height])

    def right(t: Array) -> Array:
        return 0.5 - 0.5 * rise(t, *shifts[0]) + rise(t, *shifts[1]) - 0.5 * rise(t, *shifts[2])

    def pelvis(t: Array) -> Array:
        return -0.05 * bump(t, 0.1, 3.2) + height * rise(t, 1.6, 2.8)

    def way(first: float) -> Curve:
        def path(t: Array) -> Array:
            go, lift = rise(t, first + 0.08, first + 0.5), rise(t, first, first + 0.3)
            clear = bump(t, first, first + 0.5) * 0.06
            return go[:, None] * [ahead, 0.0, 0.0] + (lift * height + clear)[:, None] * [0.0, 0.0, 1.0]

        return path

    early, late = lambda t: t < 0.95, lambda t: t >= 0.95
    supports = (
        foot("r", lambda t: right(t) * early(t)),
        foot("r", lambda t: right(t) * late(t), tuple(up)),
        foot("l", lambda t: (1.0 - right(t)) * (t < 2.1), (0.06, 0.0, 0.0)),
        foot("l", lambda t: (1.0 - right(t)) * (t >= 2.1), tuple(up)),
    )
    tilt = {"pelvis_tilt": times(0.2, bump, 0.5, 2.9), "trunk_flexion": times(0.1, bump, 0.5, 2.9)}
    heel = {"l": lambda t: 0.7 * (rise(t, 1.2, 1.8) - rise(t, 1.9, 2.3))}
    return Posture(3.4, supports, pelvis, {"r": way(0.72), "l": way(1.85)}, heel, tilt)


def jump() -> Posture:
    leaves, lands, fall = 1.3, 1.6, 0.08

    def push(t: Array) -> Array:
        t = np.minimum(t, leaves + lands - t)
        return bump(t, 0.8, leaves + 0.05) * (1.0 - rise(t, leaves - fall, leaves))

    def rest(t: Array) -> Array:
        t = np.minimum(t, leaves + lands - t)
        return (1.0 - 0.43 * bump(t, 0.4, 0.8)) * (1.0 - rise(t, leaves - fall, leaves))

    t = np.linspace(0.0, leaves, 2001)
    peak = (0.5 * (lands - leaves) - np.trapezoid(rest(t) - 1.0, t)) / np.trapezoid(push(t), t)
    lag = np.linspace(leaves, 0.5 * (leaves + lands), 400)
    speed = STANDARD_GRAVITY * (0.5 * (leaves + lands) - lag) * rise(lag, leaves, leaves + 0.1)
    climbed = make_interp_spline(lag, speed, k=5).antiderivative()

    def off(t: Array) -> Array:
        t = np.minimum(t, leaves + lands - t)
        return np.where(t > leaves, climbed(np.clip(t, leaves, lag[-1])), 0.0)[:, None] * [0.0, 0.0, 1.0]

    heels = times(0.5, lambda t: rise(t, 1.1, 1.35) - rise(t, 1.55, 1.8))
    feet, raised = ({str(side): curve for side in SIDES} for curve in (off, heels))
    return Posture(2.9, both(), zero, feet, raised, cutoff=15.0, force=lambda t: rest(t) + peak * push(t))


def trial_text(stride: ReferenceStride, cutoff: float, sides: list[str]) -> str:
    """The text of the trial file."""
    person = stride.person.subject
    lines = [
        "[subject]",
        f"mass_kg = {person.mass}",
        f"stature_m = {person.stature}",
        f'sex = "{person.sex}"',
    ]
    lines += ["[laboratory]", 'forward = "+x"', 'up = "+z"', "[filter]", f"cutoff_hz = {cutoff:g}"]
    lines += [f"unloaded_below_n = {UNLOADED_N}"]
    lines += [
        "[files]",
        'markers = "walk.trc"',
        'static = "static.trc"',
        'forces = "forces.mot"',
        "[mapping]",
    ]
    lines += [f'{name} = "{name}"' for name in stride.marker_names]
    for k, side in enumerate(sides):
        lines += ["[[force]]", f'side = "{side}"', *(f'{what} = "p{k}_{what}_"' for what in ROLES)]
    return "\n".join(lines) + "\n"


def recording(movement: Movement, folder: Path, seed: int = 1) -> Path:
    """Write markers, plates and the trial file of a movement; returns the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    random, stride, end = np.random.default_rng(seed), movement.stride, movement.posture.duration
    names, places, bodies = stride.person.markers
    time = np.linspace(0.0, end, round(MARKERS_HZ * end) + 1)
    for file, points in (
        ("walk.trc", stride.posed(movement.curve(time), places, bodies)),
        ("static.trc", np.repeat(stride.standing[None], 50, axis=0)),
    ):
        noise = 1e-3 * NOISE_MM * random.normal(size=points.shape)
        seen = np.arange(len(points)) / MARKERS_HZ
        write_trc(folder / file, Markers(seen, names, points + noise, folder / file), decimals=5)
    time = np.linspace(0.0, end, round(PLATES_HZ * end) + 1)
    columns, plates, sides = list[str](), list[Array](), list[str]()
    for support, wrench in zip(movement.posture.supports, movement.wrenches(time), strict=True):
        if support.measured:
            force = wrench.force + NOISE_N * random.normal(size=wrench.force.shape)
            above = np.array([0.0, 0.0, support.place[2]])
            # noise acts in the middle of the plate
            noise = np.cross(support.place - above, force - wrench.force)
            noise += NOISE_NM * random.normal(size=force.shape)
            point, free = pressure(force, wrench.moment - np.cross(above, wrench.force) + noise, UNLOADED_N)
            force = np.where(force[:, 2:] >= UNLOADED_N, force, 0.0)
            plates += [force, point + above, free]
            columns += [f"p{len(sides)}_{what}_{axis}" for what in ROLES for axis in "xyz"]
            sides.append(support.body[-1])
    table = Table(time, tuple(columns), np.concatenate(plates, axis=1), False, folder / "forces.mot")
    write_mot(folder / "forces.mot", table, decimals=5)
    path = folder / "trial.toml"
    path.write_text(trial_text(stride, movement.posture.cutoff, sides), encoding="utf-8")
    return path


def backward(folder: Path) -> tuple[Path, Callable[[Array], Array]]:
    """A walk whose markers and forces run backward: it is as sound, and has the same moments."""
    path = ms.studies.synthetic_recording(folder, strides=2, noise_mm=NOISE_MM, force_noise_n=NOISE_N)
    copy = open_copy(path)
    end = copy.walk.time[-1]
    copy.walk = replace(copy.walk, position=copy.walk.position[::-1])
    force_time = end - copy.forces.time[::-1]
    copy.forces = replace(
        copy.forces, time=force_time, values=copy.forces.values[::-1], lines=copy.forces.lines[:0]
    )
    stride, first = reference_stride(), RecordingOptions().margin_s
    return write_copy(copy, folder), lambda time: stride.joint_moments(end - time - first)


def moved(posture: Posture) -> Recorder:
    def record(folder: Path) -> tuple[Path, Callable[[Array], Array]]:
        movement = Movement(posture)
        return recording(movement, folder), movement.moments

    return record


MOVEMENTS: dict[str, Recorder] = {
    "standing": moved(standing()),
    "squat": moved(squat()),
    "chair": moved(chair()),
    "one leg": moved(one_leg()),
    "step": moved(step(0.0, 0.22)),
    "stair": moved(step(0.18, 0.3)),
    "jump": moved(jump()),
    "backward": backward,
}
TRUE = {"chair": {"carried_beside", "no_solution"}, "backward": {"walking_direction"}}
TRUE |= {"step": {"gait_events"}, "stair": {"gait_events"}}
"""Movement -> codes of what is true of it: a seat carries, and a foot rests on the ground without a load."""
OF_MUSCLES = {"implausible", "at_edge", "reserves", "full_activation", "far_fibers", "uncertain_joint"}
"""Codes of statements on what the muscles of the table can do, and on how far the residual is."""


@dataclass(frozen=True)
class Outcome:
    """Findings on a movement, and the error of its moments."""

    verdict: str
    untrue: list[str]  # codes and sentences of errors and warnings that are not expected
    error: float  # largest root mean square of an error of a moment of a leg [N m]
    frames: int  # leg-frames with a valid solution
    said: set[str]  # codes of all errors and warnings


def tried(name: str, folder: Path) -> Outcome:
    """Record a movement, check and run it."""
    path, truth = MOVEMENTS[name](folder)
    report = ms.check(path)
    serious = [each for each in report.all_findings if each.severity != "note"]
    known = OF_MUSCLES | TRUE.get(name, set())
    result = ms.run(path)
    wanted, errors, frames = truth(result.time.values), [0.0], 0
    names = reference_stride().dof_names
    for side in SIDES:
        valid = result.valid.sel(side=side).values
        frames += int(valid.sum())
        for joint in ("hip_flexion", "hip_adduction", "knee_flexion", "ankle_dorsiflexion"):
            off = (
                result.joint_moment.sel(dof=f"{joint}_{side}").values
                - wanted[:, names.index(f"{joint}_{side}")]
            )
            errors.append(rms(off[valid]) if valid.any() else 0.0)
    verdict = report.judgement.verdict if report.judgement else ""
    untrue = [f"{each.code}: {each.what}" for each in serious if each.code not in known]
    return Outcome(verdict, untrue, max(errors), frames, {each.code for each in serious})


def main() -> None:
    """Print what is said of each movement beside what is true, and the errors of the moments."""
    parser = command_line(__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all unless named: {', '.join(MOVEMENTS)}")
    names = parser.parse_args().names
    if unknown := sorted({*names} - {*MOVEMENTS}):
        parser.error(f"there is no movement {', '.join(unknown)}")
    table = Rows("movement", "verdict", "said", "leg-frames", "error of moments [N m rms]", "not expected")
    with TemporaryDirectory() as folder:
        for name in names or MOVEMENTS:
            out = tried(name, Path(folder) / name)
            said = ", ".join(sorted(out.said - OF_MUSCLES))
            table.add_row(name, out.verdict, said, str(out.frames), f"{out.error:.1f}", "; ".join(out.untrue))
    console.print(table)


if __name__ == "__main__":
    main()
