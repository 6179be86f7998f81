"""Faults drawn at random and planted into OpenSim models, their motions and moments: cost in newtons, and findings.

python -m benchmarks.planted_model_faults DATA [COUNT [SEED [KIND ...]]]

DATA is a folder with the recorded walks of `trials`. Quantity, muscle, coordinate, side and size are drawn;
`drawn_faults` describes the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
import xarray as xr
from scipy.spatial.transform import Rotation

import musclesolve as ms
from benchmarks.arguments import bank_arguments
from benchmarks.drawn_faults import Bank, NotHere, pick
from musclesolve._util.arrays import true_runs
from musclesolve._util.sides import split_side, with_side
from musclesolve.files import Table
from musclesolve.laboratory.analysis.opensim.coordinate_motion import as_table, coordinate_motion
from musclesolve.laboratory.analysis.opensim.load_dynamics import whole_motion
from musclesolve.models.opensim.external_loads import ExternalLoad, read_external_loads
from musclesolve.models.opensim.functions import Constant, Scaled
from musclesolve.models.opensim.inverse_dynamics import ModelMotion, inverse_dynamics
from musclesolve.models.opensim.kinematics import body_motion
from musclesolve.models.opensim.model import Joint, OpenSimModel, OpenSimMuscle, OpenSimPoint, WrapSurface
from musclesolve.signals import low_pass


@dataclass(frozen=True, eq=False)
class Case:
    """A model trial in memory."""

    model: OpenSimModel
    coordinates: Table
    moments: Table | None
    loads: Path | None
    shared: tuple[str, ...]  # muscles and angles that take part
    angles: tuple[str, ...]


Drawn = tuple[Case, str]
BANK = Bank[Case]()
KINDS = BANK.kinds
kind = BANK.kind
SCRATCH = TemporaryDirectory()
"""Folder of changed files of loads, which ends with the program."""


def trials(data: Path) -> dict[str, Callable[[Path], tuple[Path, Path, Path | None, Path | None]]]:
    """Recorded walks: model, coordinates, moments, loads."""
    knee, service = data / "instrumented_knee", data / "addbiomechanics" / "opencap_subject"
    walk, belt = data / "rajagopal_walk", data / "fascicle_walk"
    reference = walk / "reference"
    over = reference / "rajagopal_lai_uhlrich_2023_scaled.osim", reference / "opensim_ik.mot"
    return {
        "knee": lambda folder: (
            knee / "Rajagopal2015-scaled.osim", knee / "PS_ngait_og_ss9_kinematics.mot", None,
            three_plates(knee, folder),
        ),
        "service": lambda _: (
            service / "Models/final.osim", service / "IK/walking3_ik.mot", None,
            service / "ID/walking3_grf.mot",
        ),
        "overground": lambda _: (*over, None, walk / "walk_grf.mot"),
        "moments": lambda _: (*over, reference / "opensim_id.sto", None),
        "belt 1": lambda _: (belt / "model.osim", belt / "trial_1_IK.mot", belt / "trial_1_ID.mot", None),
        "belt 3": lambda _: (belt / "model.osim", belt / "trial_3_IK.mot", belt / "trial_3_ID.mot", None),
    }  # fmt: skip


def three_plates(data: Path, folder: Path) -> Path:
    """An ExternalLoads file with the three plates of the walk on an instrumented knee."""
    forces = "".join(
        f'<ExternalForce name="plate {k}"><applied_to_body>{body}</applied_to_body>'
        "<force_expressed_in_body>ground</force_expressed_in_body>"
        "<point_expressed_in_body>ground</point_expressed_in_body>"
        f"<force_identifier>{k}_ground_force_v</force_identifier>"
        f"<point_identifier>{k}_ground_force_p</point_identifier>"
        f"<torque_identifier>{k}_ground_torque_</torque_identifier></ExternalForce>"
        for k, body in enumerate(("calcn_l", "calcn_r", "calcn_r"), start=1)
    )
    path = folder / "loads.xml"
    file = (data / "PS_ngait_og_ss9_kinetics.mot").resolve()
    path.write_text(
        f'<OpenSimDocument Version="30000"><ExternalLoads name="loads"><objects>{forces}</objects>'
        f"<datafile>{file}</datafile></ExternalLoads></OpenSimDocument>",
        encoding="utf-8",
    )
    return path


# Tools of the faults


def sides_of_fault(name: str, among: Sequence[str], draw: np.random.Generator) -> list[str]:
    """A name alone, or with its twin, by a draw."""
    stem, _ = split_side(name)
    both = [each for each in (with_side(stem, "r"), with_side(stem, "l")) if each in among]
    return both if draw.random() < 0.4 and len(both) == 2 else [name]


def with_muscles(case: Case, changed: dict[str, OpenSimMuscle | None]) -> Case:
    muscles = dict(case.model.muscles)
    for name, muscle in changed.items():
        if muscle is None:
            muscles.pop(name)
        else:
            muscles[name] = muscle
    return replace(case, model=replace(case.model, muscles=muscles))


def scaled_parameter(case: Case, draw: np.random.Generator, field: str, factors: Sequence[float]) -> Drawn:
    factor = pick(draw, factors)
    names = sides_of_fault(pick(draw, case.shared), case.shared, draw)
    muscles = case.model.muscles
    changed = {
        name: replace(muscles[name], **{field: factor * getattr(muscles[name], field)}) for name in names
    }
    return with_muscles(case, changed), f"{field} of {', '.join(names)} x {factor:g}"


def on_column(table: Table, name: str, change: Callable[[np.ndarray], np.ndarray]) -> Table:
    values = table.values.copy()
    column = table.names.index(name)
    values[:, column] = change(values[:, column])
    return replace(table, values=values)


def degrees(case: Case, value: float) -> float:
    largest = np.abs(case.coordinates.values).max()
    in_degrees = largest > 2.0 * np.pi if case.coordinates.in_degrees is None else case.coordinates.in_degrees
    return value if in_degrees else float(np.radians(value))


def moving(case: Case) -> list[str]:
    """Angles of the file that take part and move."""
    table = case.coordinates
    return [
        name for name in case.angles
        if name in table.names and np.ptp(table.values[:, table.names.index(name)]) > degrees(case, 3.0)
    ]  # fmt: skip


def moment_columns(case: Case) -> list[str]:
    assert case.moments is not None
    names = [f"{name}_moment" for name in case.angles if not name.startswith(("lumbar", "subtalar", "mtp"))]
    return [
        name for name in names
        if name in case.moments.names and np.abs(case.moments.values[:, case.moments.names.index(name)]).max() > 10.0
    ]  # fmt: skip


def replaced_points(muscle: OpenSimMuscle, points: dict[int, OpenSimPoint]) -> OpenSimMuscle:
    return replace(muscle, points=tuple(points.get(k, each) for k, each in enumerate(muscle.points)))


def fixed_points(muscle: OpenSimMuscle) -> list[int]:
    return [k for k, point in enumerate(muscle.points) if point.location is not None]


# Muscles


@kind("muscle_strength")
def strength(case: Case, draw: np.random.Generator) -> Drawn:
    return scaled_parameter(case, draw, "max_isometric_force", (0.1, 0.2, 0.4, 2.5, 4.0, 10.0))


@kind("muscle_fiber", "muscle_tendon")
def fiber(case: Case, draw: np.random.Generator) -> Drawn:
    return scaled_parameter(case, draw, "optimal_fiber_length", (0.4, 0.6, 1.6, 2.5))


@kind("muscle_tendon", "muscle_fiber")
def tendon(case: Case, draw: np.random.Generator) -> Drawn:
    names = sides_of_fault(pick(draw, case.shared), case.shared, draw)
    muscles, by = case.model.muscles, pick(draw, (-0.04, -0.025, -0.015, 0.015, 0.025, 0.04))
    changed = {
        name: replace(muscles[name], tendon_slack_length=max(0.001, muscles[name].tendon_slack_length + by))
        for name in names
    }
    return with_muscles(case, changed), f"tendon of {', '.join(names)} {1000 * by:+.0f} mm"


@kind("muscle_pennation")
def pennation(case: Case, draw: np.random.Generator) -> Drawn:
    names = sides_of_fault(pick(draw, case.shared), case.shared, draw)
    muscles, by = case.model.muscles, np.radians(pick(draw, (20.0, 30.0, 45.0)))
    changed = {
        name: replace(muscles[name], pennation_angle=min(1.35, muscles[name].pennation_angle + by))
        for name in names
    }
    return with_muscles(case, changed), f"pennation of {', '.join(names)} {np.degrees(by):+.0f} degrees"


@kind("muscle_strength", "muscle_fiber", "muscle_tendon")
def parameters_exchanged(case: Case, draw: np.random.Generator) -> Drawn:
    one, two = two_of_a_side(case, draw)
    a, b = case.model.muscles[one], case.model.muscles[two]
    fields = "max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle"
    changed = {
        name: replace(own, **{field: getattr(other, field) for field in fields})
        for name, own, other in ((one, a, b), (two, b, a))
    }
    return with_muscles(case, changed), f"parameters of {one} and {two} exchanged"


def two_of_a_side(case: Case, draw: np.random.Generator) -> tuple[str, str]:
    one = pick(draw, case.shared)
    side = split_side(one)[1]
    two = pick(draw, [name for name in case.shared if name != one and split_side(name)[1] == side])
    return one, two


@kind("muscle_anatomy")
def names_exchanged(case: Case, draw: np.random.Generator) -> Drawn:
    one, two = two_of_a_side(case, draw)
    a, b = case.model.muscles[one], case.model.muscles[two]
    return with_muscles(
        case, {one: replace(b, name=one), two: replace(a, name=two)}
    ), f"{one} and {two} exchanged"


@kind("muscle_anatomy")
def sides_exchanged(case: Case, draw: np.random.Generator) -> Drawn:
    sided = [
        split_side(name)[0] for name in case.shared if with_side(split_side(name)[0], "l") in case.shared
    ]
    stems = sorted(set(sided)) if draw.random() < 0.3 else [pick(draw, sided)]
    changed: dict[str, OpenSimMuscle | None] = {}
    for stem in stems:
        right, left = with_side(stem, "r"), with_side(stem, "l")
        changed[right] = replace(case.model.muscles[left], name=right)
        changed[left] = replace(case.model.muscles[right], name=left)
    return with_muscles(case, changed), f"sides of {stems[0] if len(stems) == 1 else 'all muscles'} exchanged"


@kind("muscle_twice")
def twice(case: Case, draw: np.random.Generator) -> Drawn:
    one = pick(draw, case.shared)
    side = split_side(one)[1]
    names = [each for each in case.shared if split_side(each)[1] == side] if draw.random() < 0.3 else [one]
    changed: dict[str, OpenSimMuscle | None] = {}
    for name in names:
        stem, own = split_side(name)
        copied = with_side(f"{stem}_copy", own)
        changed[copied] = replace(case.model.muscles[name], name=copied)
    return with_muscles(case, changed), f"{one if len(names) == 1 else f'every muscle of side {side}'} twice"


@kind("muscle_missing")
def missing(case: Case, draw: np.random.Generator) -> Drawn:
    names = sides_of_fault(pick(draw, case.shared), case.shared, draw)
    return with_muscles(case, dict.fromkeys(names)), f"without {', '.join(names)}"


@kind("muscle_anatomy")
def point_moved(case: Case, draw: np.random.Generator) -> Drawn:
    names = sides_of_fault(pick(draw, case.shared), case.shared, draw)
    size, axis = pick(draw, (-0.03, -0.02, 0.02, 0.03)), int(draw.integers(3))
    muscles = case.model.muscles
    end = pick(draw, (0, -1))
    changed: dict[str, OpenSimMuscle | None] = {}
    for name in names:
        fixed = fixed_points(muscles[name])
        point = muscles[name].points[fixed[end]]
        assert point.location is not None
        moved = replace(point, location=point.location + size * np.eye(3)[axis])
        changed[name] = replaced_points(muscles[name], {fixed[end]: moved})
    where = "origin" if end == 0 else "insertion"
    return with_muscles(
        case, changed
    ), f"{where} of {', '.join(names)} {1000 * size:+.0f} mm along {'xyz'[axis]}"


@kind("muscle_anatomy")
def point_mirrored(case: Case, draw: np.random.Generator) -> Drawn:
    def far(name: str) -> list[int]:
        muscle = case.model.muscles[name]
        return [k for k in fixed_points(muscle) if abs(muscle.points[k].location[2]) > 0.015]  # type: ignore[index]

    name = pick(draw, [name for name in case.shared if far(name)])
    muscle, number = case.model.muscles[name], pick(draw, far(name))
    point = muscle.points[number]
    assert point.location is not None
    mirrored = replace(point, location=point.location * [1.0, 1.0, -1.0])
    return with_muscles(
        case, {name: replaced_points(muscle, {number: mirrored})}
    ), f"a point of {name} mirrored"


@kind("muscle_property", "muscle_anatomy")
def wrong_body(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, case.shared)
    muscle = case.model.muscles[name]
    number = pick(draw, (fixed_points(muscle)[0], fixed_points(muscle)[-1]))
    point = muscle.points[number]
    bodies = [joint.outboard.body for joint in case.model.joints if joint.inboard.body == point.frame.body]
    bodies += [joint.inboard.body for joint in case.model.joints if joint.outboard.body == point.frame.body]
    stem, side = split_side(point.frame.body)
    bodies += [
        each for each in (with_side(stem, {"r": "l", "l": "r"}.get(side, side)),) if each != point.frame.body
    ]
    other = pick(draw, [body for body in bodies if body in case.model.body_number and body != "ground"])
    moved = replace(point, frame=replace(point.frame, body=other))
    text = f"a point of {name} on {other}, not {point.frame.body}"
    return with_muscles(case, {name: replaced_points(muscle, {number: moved})}), text


@kind("muscle_anatomy", "muscle_property")
def wrap_off(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [name for name in case.shared if case.model.muscles[name].wraps])
    names = sides_of_fault(name, case.shared, draw)
    changed = {each: replace(case.model.muscles[each], wraps=()) for each in names}
    return with_muscles(case, changed), f"{', '.join(names)} without wrap objects"


def wrap_changed(case: Case, name: str, surface: WrapSurface) -> Case:
    return replace(case, model=replace(case.model, surfaces={**case.model.surfaces, name: surface}))


@kind("muscle_anatomy", "muscle_property")
def wrap_radius(case: Case, draw: np.random.Generator) -> Drawn:
    used = sorted({wrap.surface for name in case.shared for wrap in case.model.muscles[name].wraps})
    name, factor = pick(draw, used), pick(draw, (0.3, 0.5, 2.0, 3.0))
    surface = case.model.surfaces[name]
    return wrap_changed(
        case, name, replace(surface, radii=factor * surface.radii)
    ), f"radii of {name} x {factor:g}"


@kind("muscle_property", "muscle_anatomy")
def via_point_lost(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [name for name in case.shared if len(case.model.muscles[name].points) > 2])
    muscle = case.model.muscles[name]
    lost = int(draw.integers(1, len(muscle.points) - 1))
    points = tuple(point for k, point in enumerate(muscle.points) if k != lost)
    wraps = tuple(replace(wrap, first=None, last=None) for wrap in muscle.wraps)
    return with_muscles(
        case, {name: replace(muscle, points=points, wraps=wraps)}
    ), f"{name} without point {lost + 1}"


# Joints


def joint_of(model: OpenSimModel, coordinate: str) -> Joint:
    return next(joint for joint in model.joints if coordinate in joint.coordinates)


def with_joint(case: Case, joint: Joint) -> Case:
    joints = tuple(joint if each.name == joint.name else each for each in case.model.joints)
    return replace(case, model=replace(case.model, joints=joints))


@kind("joint_center", "muscle_anatomy")
def joint_moved(case: Case, draw: np.random.Generator) -> Drawn:
    stem, side = pick(draw, ("ankle_angle", "knee_angle", "hip_flexion")), pick(draw, "rl")
    joint = joint_of(case.model, f"{stem}_{side}")
    axis, size = int(draw.integers(3)), pick(draw, (-0.03, -0.02, 0.02, 0.03))
    parent = replace(joint.parent, position=joint.parent.position + size * np.eye(3)[axis])
    child = joint.child
    if draw.random() < 0.5:  # the child keeps its place: the center alone is wrong
        child = replace(child, position=child.position + size * np.eye(3)[axis])
    moved = replace(joint, parent=parent, child=child)
    return with_joint(case, moved), f"center of {joint.name} {1000 * size:+.0f} mm along {'xyz'[axis]}"


@kind("locked_moved")
def locked(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, moving(case))
    names = sides_of_fault(name, moving(case), draw)
    coordinates = dict(case.model.coordinates)
    for each in names:
        coordinates[each] = replace(coordinates[each], locked=True)
    return replace(case, model=replace(case.model, coordinates=coordinates)), f"{', '.join(names)} locked"


# Coordinates


@kind("angle_offset", "foot_height", "points_outside", "pressure_outside")
def angle_offset(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in moving(case) if each.startswith(("hip", "knee", "ankle"))])
    names, by = sides_of_fault(name, moving(case), draw), pick(draw, (-20.0, -10.0, 10.0, 20.0))
    table = case.coordinates
    for each in names:
        table = on_column(table, each, lambda values: values + degrees(case, by))
    return replace(case, coordinates=table), f"{', '.join(names)} {by:+.0f} degrees"


@kind("angle_sign")
def angle_sign(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in moving(case) if each.startswith(("hip", "knee", "ankle"))])
    names = sides_of_fault(name, moving(case), draw)
    table = case.coordinates
    for each in names:
        table = on_column(table, each, lambda values: -values)
    return replace(case, coordinates=table), f"{', '.join(names)} reversed"


@kind("frozen")
def angle_frozen(case: Case, draw: np.random.Generator) -> Drawn:
    names = sides_of_fault(pick(draw, moving(case)), moving(case), draw)
    table, first = case.coordinates, draw.random() < 0.5
    middle = len(table.time) // 2

    def frozen(values: np.ndarray) -> np.ndarray:
        kept = np.full_like(values, values[middle])
        kept[:middle] = values[:middle] if first else kept[:middle]
        return kept

    for each in names:
        table = on_column(table, each, frozen)
    return replace(
        case, coordinates=table
    ), f"{', '.join(names)} constant{' from the middle' if first else ''}"


@kind("columns_exchanged", "sides_swapped")
def angles_exchanged(case: Case, draw: np.random.Generator) -> Drawn:
    legs = [each for each in moving(case) if each.startswith(("hip_f", "knee", "ankle"))]
    one = pick(draw, legs)
    two = pick(draw, [each for each in legs if each != one])
    table = case.coordinates
    names = [{one: two, two: one}.get(name, name) for name in table.names]
    return replace(case, coordinates=replace(table, names=tuple(names))), f"{one} and {two} exchanged"


# Moments


@kind("moment_copied", "columns_exchanged", needs=True)
def moment_copied(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    columns = moment_columns(case)
    pairs = [
        (name, other) for name in columns
        for other in [f"{name[:-8]}{'l' if name[-8] == 'r' else 'r'}_moment"] if other in columns
    ]  # fmt: skip
    name, other = pick(draw, pairs)
    source = case.moments.values[:, case.moments.names.index(other)]
    return replace(
        case, moments=on_column(case.moments, name, lambda _: source)
    ), f"{name} is a copy of {other}"


@kind("columns_exchanged", "sides_swapped", needs=True)
def moments_exchanged(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    one = pick(draw, moment_columns(case))
    two = pick(draw, [each for each in moment_columns(case) if each != one])
    names = [{one: two, two: one}.get(name, name) for name in case.moments.names]
    return replace(case, moments=replace(case.moments, names=tuple(names))), f"{one} and {two} exchanged"


@kind("time_offset", needs=True)
def moments_late(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    by = pick(draw, (-0.06, -0.03, 0.03, 0.06))
    return replace(
        case, moments=replace(case.moments, time=case.moments.time + by)
    ), f"moments {1000 * by:+.0f} ms"


# Stretches, gains and whole sets


@kind("angle_units", "bad_units")
def one_angle_in_another_unit(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in moving(case) if each.startswith(("hip", "knee", "ankle"))])
    factor = np.pi / 180.0 if degrees(case, 1.0) == 1.0 else 180.0 / np.pi
    return replace(
        case, coordinates=on_column(case.coordinates, name, lambda each: factor * each)
    ), f"{name} in another unit"


@kind("columns_exchanged", "sides_swapped", "angle_copied")
def angle_copied(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in moving(case) if each.startswith(("hip_f", "knee", "ankle"))])
    stem, side = split_side(name)
    other = with_side(stem, "l" if side == "r" else "r")
    if other not in case.coordinates.names:
        raise NotHere
    source = case.coordinates.values[:, case.coordinates.names.index(other)]
    return replace(
        case, coordinates=on_column(case.coordinates, name, lambda _: source)
    ), f"{name} is a copy of {other}"


@kind("frozen", "noise", "frames_skipped", "foot_slides")
def angles_on_a_line(case: Case, draw: np.random.Generator) -> Drawn:
    name, table = pick(draw, moving(case)), case.coordinates
    count = round(0.3 / float(np.diff(table.time).mean()))
    first = int(draw.integers(len(table.time) // 4, len(table.time) // 2))

    def straight(values: np.ndarray) -> np.ndarray:
        values = values.copy()
        values[first : first + count] = np.linspace(values[first], values[first + count], count)
        return values

    return replace(case, coordinates=on_column(table, name, straight)), f"{name} on a straight line for 0.3 s"


@kind("foot_height", "walking_direction", "angle_offset", "mass", "foot_slides", "pressure_outside")
def pelvis_off(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(
        draw,
        [
            each
            for each in ("pelvis_tilt", "pelvis_list", "pelvis_rotation")
            if each in case.coordinates.names
        ],
    )
    by = pick(draw, (-10.0, -5.0, 5.0, 10.0))
    return replace(
        case, coordinates=on_column(case.coordinates, name, lambda each: each + degrees(case, by))
    ), f"{name} {by:+.0f} degrees"


@kind("muscle_tendon", "muscle_fiber")
def tendons_of_a_side(case: Case, draw: np.random.Generator) -> Drawn:
    side, factor, muscles = pick(draw, "rl"), pick(draw, (0.9, 0.95, 1.05)), case.model.muscles
    changed: dict[str, OpenSimMuscle | None] = {
        name: replace(muscles[name], tendon_slack_length=factor * muscles[name].tendon_slack_length)
        for name in case.shared
        if split_side(name)[1] == side
    }
    return with_muscles(case, changed), f"tendons of side {side} x {factor:g}"


@kind("muscle_fiber", "muscle_tendon", "muscle_strength")
def fibers_of_all(case: Case, draw: np.random.Generator) -> Drawn:
    factor, muscles = pick(draw, (0.7, 0.8, 1.25, 1.4)), case.model.muscles
    changed: dict[str, OpenSimMuscle | None] = {
        name: replace(muscles[name], optimal_fiber_length=factor * muscles[name].optimal_fiber_length)
        for name in case.shared
    }
    return with_muscles(case, changed), f"all fibers x {factor:g}"


@kind("mass", "segment_mass", "load_scale", "force_units")
def masses(case: Case, draw: np.random.Generator) -> Drawn:
    factor = pick(draw, (0.7, 0.85, 1.15, 1.3))
    bodies = {
        name: replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
        for name, body in case.model.masses.items()
    }
    return replace(case, model=replace(case.model, masses=bodies)), f"all masses x {factor:g}"


@kind("joint_center", "muscle_anatomy", "segment_mass")
def leg_scaled(case: Case, draw: np.random.Generator) -> Drawn:
    side, factor = pick(draw, "rl"), pick(draw, (0.9, 1.1))
    femur, muscles = f"femur_{side}", case.model.muscles
    knee = joint_of(case.model, f"knee_angle_{side}")
    changed: dict[str, OpenSimMuscle | None] = {}
    for name in case.shared:
        points = {
            k: replace(point, location=factor * point.location)
            for k, point in enumerate(muscles[name].points)
            if point.location is not None and point.frame.body == femur
        }
        changed[name] = replaced_points(muscles[name], points)
    moved = replace(knee, parent=replace(knee.parent, position=factor * knee.parent.position))
    return with_joint(with_muscles(case, changed), moved), f"{femur} x {factor:g}"


@kind("sides_swapped", "columns_exchanged", needs=True)
def moments_swapped_later(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    table, middle = case.moments, len(case.moments.time) // 2
    values = table.values.copy()
    for name in moment_columns(case):
        other = f"{name[:-8]}{'l' if name[-8] == 'r' else 'r'}_moment"
        if other in table.names:
            values[middle:, table.names.index(name)] = table.values[middle:, table.names.index(other)]
    return replace(
        case, moments=replace(table, values=values)
    ), "sides of the moments exchanged in the second half"


# Axes, masses and numbers


@kind("joint_center", "muscle_anatomy", "foot_slides", "foot_height")
def joint_turned(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in moving(case) if each.startswith(("hip_f", "knee", "ankle"))])
    joint, angle, axis = (
        joint_of(case.model, name),
        pick(draw, (-10.0, -6.0, 6.0, 10.0)),
        int(draw.integers(3)),
    )
    turn = Rotation.from_rotvec(np.radians(angle) * np.eye(3)[axis]).as_matrix()
    parent = replace(joint.parent, rotation=joint.parent.rotation @ turn)
    return with_joint(
        case, replace(joint, parent=parent)
    ), f"joint of {name} {angle:+.0f} degrees about {'xyz'[axis]}"


@kind("segment_mass", "segment_center", "mass")
def body_unlike(case: Case, draw: np.random.Generator) -> Drawn:
    names = [name for name, body in case.model.masses.items() if body.mass > 1.0]
    name, what = pick(draw, names), pick(draw, ("mass x 2", "mass x 0.5", "center 80 mm off", "inertia x 10"))
    body = case.model.masses[name]
    changed = {
        "mass x 2": replace(body, mass=2.0 * body.mass),
        "mass x 0.5": replace(body, mass=0.5 * body.mass),
        "center 80 mm off": replace(body, center=body.center + 0.08 * np.eye(3)[int(draw.integers(3))]),
        "inertia x 10": replace(body, inertia=10.0 * body.inertia),
    }[what]
    return replace(
        case, model=replace(case.model, masses={**case.model.masses, name: changed})
    ), f"{name}: {what}"


@kind("muscle_strength")
def all_strengths(case: Case, draw: np.random.Generator) -> Drawn:
    factor, muscles = pick(draw, (0.5, 0.7, 2.0, 3.0)), case.model.muscles
    changed: dict[str, OpenSimMuscle | None] = {
        name: replace(muscles[name], max_isometric_force=factor * muscles[name].max_isometric_force)
        for name in case.shared
    }
    return with_muscles(case, changed), f"all strengths x {factor:g}"


@kind("clock_rate", "time_offset")
def clock(case: Case, draw: np.random.Generator) -> Drawn:
    rate, table = pick(draw, (0.95, 0.98, 1.02, 1.05)), case.coordinates
    first = table.time[0]
    return replace(
        case, coordinates=replace(table, time=first + rate * (table.time - first))
    ), f"times x {rate:g}"


@kind("foot_slides", "pelvis_scale", "foot_height", "clock_rate", "frozen")
def way_of_pelvis(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(
        draw, [each for each in ("pelvis_tx", "pelvis_ty", "pelvis_tz") if each in case.coordinates.names]
    )
    factor = pick(draw, (0.0, 0.8, 1.25))
    table = on_column(case.coordinates, name, lambda each: each[0] + factor * (each - each[0]))
    return replace(case, coordinates=table), f"way of {name} x {factor:g}"


@kind("angle_offset", "angle_scale", "foot_slides", "foot_height", "columns_exchanged")
def angle_mixed(case: Case, draw: np.random.Generator) -> Drawn:
    side, share = pick(draw, "rl"), pick(draw, (-0.2, 0.2))
    one, two = pick(
        draw, (("hip_flexion", "hip_adduction"), ("knee_angle", "ankle_angle"), ("hip_flexion", "knee_angle"))
    )
    source = case.coordinates.values[:, case.coordinates.names.index(f"{two}_{side}")]
    table = on_column(case.coordinates, f"{one}_{side}", lambda each: each + share * source)
    return replace(case, coordinates=table), f"{share:+.0%} of {two} in {one} of side {side}"


@kind("moment_unlike", "moment_scale", "columns_exchanged", needs=True)
def moments_summed(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    one = pick(draw, moment_columns(case))
    two = pick(draw, [each for each in moment_columns(case) if each != one])
    source = case.moments.values[:, case.moments.names.index(two)]
    return replace(
        case, moments=on_column(case.moments, one, lambda each: each + source)
    ), f"{two} added to {one}"


# Parts of the file that another program wrote, groups of muscles, and what belongs to somebody else


@kind("muscle_property", "muscle_anatomy", "muscle_tendon")
def via_point_on_wrong_body(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in case.shared if len(case.model.muscles[each].points) > 2])
    muscle = case.model.muscles[name]
    number = int(draw.integers(1, len(muscle.points) - 1))
    point = muscle.points[number]
    other = pick(draw, sorted(case.model.bodies_of(muscle) - {point.frame.body}))
    moved = replace(point, frame=replace(point.frame, body=other))
    text = f"point {number + 1} of {name} on {other}, not {point.frame.body}"
    return with_muscles(case, {name: replaced_points(muscle, {number: moved})}), text


@kind("muscle_anatomy", "muscle_tendon", "muscle_property")
def wrap_placed(case: Case, draw: np.random.Generator) -> Drawn:
    used = sorted({wrap.surface for name in case.shared for wrap in case.model.muscles[name].wraps})
    name, axis = pick(draw, used), int(draw.integers(3))
    sides = [name]
    stem, _side = split_side(name)
    if draw.random() < 0.5:
        sides = [each for each in (with_side(stem, "r"), with_side(stem, "l")) if each in used] or [name]
    what = pick(draw, ("moved", "turned", "quadrant"))
    size = pick(draw, (-0.02, 0.02, 0.04) if what == "moved" else (30.0, 90.0))
    for each in sides:
        surface = case.model.surfaces[each]
        frame, quadrant = surface.frame, surface.side
        if what == "moved":
            frame = replace(frame, position=frame.position + size * np.eye(3)[axis])
        elif what == "turned":
            turn = Rotation.from_rotvec(np.radians(size) * np.eye(3)[axis]).as_matrix()
            frame = replace(frame, rotation=frame.rotation @ turn)
        else:
            quadrant = (
                {"+": "-", "-": "+"}.get(quadrant[0], "+x") + quadrant[1] if quadrant != "all" else "+x"
            )
        case = wrap_changed(case, each, replace(surface, frame=frame, side=quadrant))
    by = {
        "moved": f"{1000 * size:+.0f} mm along {'xyz'[axis]}",
        "turned": f"{size:.0f} degrees about {'xyz'[axis]}",
    }
    return case, f"{', '.join(sides)} {what} {by.get(what, '')}"


@kind("muscle_anatomy", "muscle_tendon")
def moving_points_fixed(case: Case, draw: np.random.Generator) -> Drawn:
    models, muscles = case.model, case.model.muscles
    stems = {
        split_side(name)[0] for name in case.shared if any(point.moving for point in muscles[name].points)
    }
    stem = pick(draw, sorted(stems))
    sides = pick(draw, (("r",), ("l",), ("r", "l")))
    names = [with_side(stem, side) for side in sides if with_side(stem, side) in case.shared]
    changed: dict[str, OpenSimMuscle | None] = {}
    for name in names:
        points = {}
        for k, point in enumerate(muscles[name].points):
            if point.moving is not None:
                at = [models.coordinates[each].default if each else 0.0 for each in point.moving.coordinates]
                place = np.array(
                    [
                        float(law.value(np.array([[x]]))[0])
                        for law, x in zip(point.moving.functions, at, strict=True)
                    ]
                )
                points[k] = replace(point, location=place, moving=None)
        changed[name] = replaced_points(muscles[name], points)
    return with_muscles(case, changed), f"moving points of {', '.join(names)} fixed"


@kind("muscle_anatomy", "muscle_tendon")
def points_always_on(case: Case, draw: np.random.Generator) -> Drawn:
    muscles = case.model.muscles
    names = [name for name in case.shared if any(point.condition for point in muscles[name].points)]
    names = sides_of_fault(pick(draw, names), case.shared, draw)
    changed: dict[str, OpenSimMuscle | None] = {
        name: replace(
            muscles[name], points=tuple(replace(point, condition=None) for point in muscles[name].points)
        )
        for name in names
    }
    return with_muscles(case, changed), f"conditional points of {', '.join(names)} always on"


@kind("muscle_anatomy", "muscle_fiber", "muscle_tendon", "coupler")
def coupler_lost(case: Case, draw: np.random.Generator) -> Drawn:
    if not case.model.couplers:
        raise NotHere
    coupler = pick(draw, case.model.couplers)
    sides = sides_of_fault(coupler.dependent, [each.dependent for each in case.model.couplers], draw)
    still = Constant(0.0)
    couplers = tuple(
        replace(each, function=still) if each.dependent in sides else each for each in case.model.couplers
    )
    return replace(case, model=replace(case.model, couplers=couplers)), f"{', '.join(sides)} zero"


@kind("muscle_fiber", "muscle_tendon", "muscle_pennation")
def unit_of_one_muscle(case: Case, draw: np.random.Generator) -> Drawn:
    field, factor = pick(
        draw,
        (("optimal_fiber_length", 100.0), ("tendon_slack_length", 100.0), ("pennation_angle", 180.0 / np.pi),
         ("pennation_angle", np.pi / 180.0), ("tendon_slack_length", 0.1), ("max_contraction_velocity", 0.1)),
    )  # fmt: skip
    names = [each for each in case.shared if getattr(case.model.muscles[each], field) > 0.0]
    names = sides_of_fault(pick(draw, names), case.shared, draw)
    muscles = case.model.muscles
    changed = {
        name: replace(muscles[name], **{field: factor * getattr(muscles[name], field)}) for name in names
    }
    return with_muscles(case, changed), f"{field} of {', '.join(names)} x {factor:.3g}"


GROUPS = {
    "quadriceps": ("vas", "recfem", "rect_fem"), "calf": ("gas", "sol", "med_gas", "lat_gas"),
    "hamstrings": ("semi", "bflh", "bifemlh", "bfsh", "bifemsh"), "gluteals": ("glm", "glut"),
    "adductors": ("add",), "hip flexors": ("psoas", "iliacus"),
}  # fmt: skip


@kind("muscle_strength", "muscle_fiber", "muscle_tendon")
def group_changed(case: Case, draw: np.random.Generator) -> Drawn:
    group, sides = pick(draw, list(GROUPS)), pick(draw, ("r", "l", "rl", "rl"))
    field, factor = pick(
        draw,
        (("tendon_slack_length", 0.9), ("tendon_slack_length", 1.08), ("max_isometric_force", 0.4),
         ("max_isometric_force", 2.5), ("optimal_fiber_length", 0.6), ("optimal_fiber_length", 1.5)),
    )  # fmt: skip
    muscles = case.model.muscles
    names = [each for each in case.shared if each.startswith(GROUPS[group]) and split_side(each)[1] in sides]
    if not names:
        raise NotHere
    changed = {
        name: replace(muscles[name], **{field: factor * getattr(muscles[name], field)}) for name in names
    }
    return with_muscles(case, changed), f"{field} of {group} {sides} x {factor:g}"


@kind("muscle_strength")
def strengths_in_another_order(case: Case, draw: np.random.Generator) -> Drawn:
    sides, muscles = pick(draw, ("r", "l", "rl")), case.model.muscles
    stems = sorted({split_side(each)[0] for each in case.shared})
    count = int(draw.integers(2, 6))
    first = int(draw.integers(len(stems) - count))
    some = stems[first : first + count]
    changed: dict[str, OpenSimMuscle | None] = {}
    for side in sides:
        own = [with_side(stem, side) for stem in some if with_side(stem, side) in case.shared]
        for name, other in zip(own, [*own[1:], *own[:1]], strict=True):
            changed[name] = replace(muscles[name], max_isometric_force=muscles[other].max_isometric_force)
    return with_muscles(
        case, changed
    ), f"strengths of {count} muscles from {some[0]} on moved by one, {sides}"


@kind("moment_sign", "moment_scale", needs=True)
def plane_of_moments(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    stem, factor = (
        pick(draw, ("hip_flexion", "hip_adduction", "knee_angle", "ankle_angle")),
        pick(draw, (-1.0, 0.5, 0.7, 1.4, 2.0)),
    )
    table = case.moments
    for side in "rl":
        table = on_column(table, f"{stem}_{side}_moment", lambda each: factor * each)
    return replace(case, moments=table), f"{stem} moments of both sides x {factor:g}"


@kind("angle_sign", "angle_scale", "angle_offset", "foot_slides", "foot_height", "noise")
def plane_of_angles(case: Case, draw: np.random.Generator) -> Drawn:
    stem, factor = (
        pick(draw, ("hip_flexion", "hip_adduction", "knee_angle", "ankle_angle")),
        pick(draw, (-1.0, 0.5, 0.8, 1.25)),
    )
    table = case.coordinates
    for side in "rl":
        table = on_column(table, f"{stem}_{side}", lambda each: factor * each)
    return replace(case, coordinates=table), f"{stem} of both sides x {factor:g}"


@kind("sides_swapped", "another_trial", "moment_scale", "moment_unlike", "time_offset", "mass", needs=True)
def moments_of_another_stride(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    table, by = case.moments, pick(draw, (-1.0, 1.0))
    names = moment_columns(case)
    one = case.coordinates.values[:, case.coordinates.names.index("hip_flexion_r")]
    period = 2.0 * abs(float(case.coordinates.time[one.argmax()] - case.coordinates.time[one.argmin()]))
    if draw.random() < 0.5:  # the legs of the stride before: half a stride later with the sides exchanged
        names = [
            f"{each[:-8]}{'l' if each[-8] == 'r' else 'r'}_moment" if f"_{each[-8]}_" in each else each
            for each in table.names
        ]
        table, by = replace(table, names=tuple(names)), 0.5 * by
    first, span = table.time[0], float(np.ptp(table.time))
    when = (table.time + by * period - first) % span + first
    values = np.stack([np.interp(when, table.time, each) for each in table.values.T], axis=1)
    return replace(case, moments=replace(table, values=values)), f"moments of {by:+g} strides"


@kind("moment_unlike", "moment_scale", "columns_exchanged", needs=True)
def moments_leak(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    one = pick(draw, moment_columns(case))
    side = split_side(one.removesuffix("_moment"))[1]
    two = pick(draw, [each for each in moment_columns(case) if each != one and f"_{side}_" in each])
    share = pick(draw, (-0.3, -0.2, 0.2, 0.3))
    source = case.moments.values[:, case.moments.names.index(two)]
    return replace(
        case, moments=on_column(case.moments, one, lambda each: each + share * source)
    ), f"{share:+.0%} of {two} in {one}"


@kind("load_body", "plates_swapped", "point_units", "pressure_outside", "pressure_offset", "unbalanced")
def load_elsewhere(case: Case, draw: np.random.Generator) -> Drawn:
    if case.loads is None or case.loads.suffix != ".xml":
        raise NotHere
    text = case.loads.read_text(encoding="utf-8")
    what, foot = pick(draw, ("body", "other", "point", "force")), pick(draw, ("calcn_r", "calcn_l"))
    changed = {
        "body": text.replace(
            f"body>{foot}<", f"body>{foot.replace('calcn', pick(draw, ('tibia', 'talus', 'femur')))}<"
        ),
        "other": text.replace("body>calcn_r<", "body>?<")
        .replace("body>calcn_l<", "body>calcn_r<")
        .replace("?", "calcn_l"),
        "point": text.replace("<point_expressed_in_body>ground<", f"<point_expressed_in_body>{foot}<"),
        "force": text.replace("<force_expressed_in_body>ground<", f"<force_expressed_in_body>{foot}<"),
    }[what]
    path = case.loads.with_name(f"{what}_{foot}.xml")
    path.write_text(changed, encoding="utf-8")
    return replace(case, loads=path), f"loads: {what} {foot}"


@kind("joint_center", "muscle_anatomy", "foot_slides", "foot_height", "angle_sign", "columns_exchanged")
def axes_of_joint(case: Case, draw: np.random.Generator) -> Drawn:
    name = pick(draw, [each for each in moving(case) if each.startswith(("hip_f", "knee", "ankle"))])
    sides = [name] if draw.random() < 0.5 else [with_side(split_side(name)[0], side) for side in "rl"]
    what = pick(draw, ("reversed", "exchanged"))
    for each in sides:
        joint = joint_of(case.model, each)
        axes = list(joint.rotations)
        own = next(k for k, axis in enumerate(axes) if each in axis.coordinates)
        if what == "reversed":
            axes[own] = replace(axes[own], axis=-axes[own].axis)
        else:
            other = (own + 1) % len(axes)
            if other == own:
                raise NotHere
            axes[own], axes[other] = (
                replace(axes[own], axis=axes[other].axis), replace(axes[other], axis=axes[own].axis)
            )  # fmt: skip
        case = with_joint(case, replace(joint, rotations=tuple(axes)))
    return case, f"axes of {', '.join(sides)} {what}"


@kind("segment_mass", "segment_center", "mass")
def masses_of_both_sides(case: Case, draw: np.random.Generator) -> Drawn:
    masses = dict(case.model.masses)
    stem, what = (
        pick(draw, ("femur", "tibia", "calcn")),
        pick(draw, ("x 3", "x 0.3", "exchanged", "center", "g")),
    )
    for side in "rl":
        own = masses[f"{stem}_{side}"]
        if what == "exchanged":
            other = f"{'tibia' if stem != 'tibia' else 'femur'}_{side}"
            masses[f"{stem}_{side}"], masses[other] = masses[other], own
        elif what == "center":
            masses[f"{stem}_{side}"] = replace(own, center=0.0 * own.center)
        elif what == "g":
            masses[f"{stem}_{side}"] = replace(own, mass=1000.0 * own.mass)
        else:
            factor = float(what.split()[1])
            masses[f"{stem}_{side}"] = replace(own, mass=factor * own.mass, inertia=factor * own.inertia)
    return replace(case, model=replace(case.model, masses=masses)), f"masses of both {stem} {what}"


@kind("joint_center", "muscle_anatomy", "segment_length", "muscle_tendon")
def legs_scaled(case: Case, draw: np.random.Generator) -> Drawn:
    factor, stem = pick(draw, (0.85, 0.9, 1.1, 1.15)), pick(draw, ("femur", "tibia"))
    for side in "rl":
        body, muscles = f"{stem}_{side}", case.model.muscles
        distal = next(
            joint for joint in case.model.joints if joint.inboard.body == body and joint.coordinates
        )
        changed: dict[str, OpenSimMuscle | None] = {}
        for name in case.shared:
            points = {
                k: replace(point, location=factor * point.location)
                for k, point in enumerate(muscles[name].points)
                if point.location is not None and point.frame.body == body
            }
            changed[name] = replaced_points(muscles[name], points)
        moved = replace(distal, parent=replace(distal.parent, position=factor * distal.parent.position))
        case = with_joint(with_muscles(case, changed), moved)
    return case, f"both {stem} x {factor:g}"


@kind("gravity", "unsupported")
def gravity(case: Case, draw: np.random.Generator) -> Drawn:
    vector = pick(draw, ((0.0, 0.0, 0.0), (0.0, 0.0, -9.80665), (0.0, -1.62, 0.0), (0.0, 9.80665, 0.0)))
    return replace(case, model=replace(case.model, gravity=np.array(vector))), f"gravity {vector}"


@kind("root_carries", "moment_units", "moment_sign", "another_trial", "mass", needs=True)
def columns_shifted(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    by = int(pick(draw, (-1, 1)))
    return replace(
        case, moments=replace(case.moments, values=np.roll(case.moments.values, by, axis=1))
    ), f"moments {by:+d} column"


# Plates and their place


def with_plates(case: Case, change: Callable[[np.ndarray, np.ndarray, np.ndarray], None]) -> Case:
    """The case with its file of loads changed: force, point and free moment (T, 3) of each plate, in place."""
    if case.loads is None:
        raise NotHere
    path, text = case.loads, ""
    if path.suffix == ".xml":
        text = path.read_text(encoding="utf-8")
        path = Path(text.partition("<datafile>")[2].partition("</datafile>")[0].strip())
    table, folder = as_table(path, ""), Path(mkdtemp(dir=SCRATCH.name))
    values = table.values.copy()
    for stem in [name[:-2] for name in table.names if name.endswith("_vx")]:
        ends = [f"{stem}{role}" for role in "vp"] + [f"{stem[:-1].replace('force', 'torque')}_"]
        columns = [[k for k, name in enumerate(table.names) if name[:-1] == end] for end in ends]
        parts = [values[:, each] for each in columns]
        change(*parts)
        for each, part in zip(columns, parts, strict=True):
            values[:, each] = part
    ms.files.write_mot(folder / "loads.mot", replace(table, values=values), decimals=9)
    if text:
        (folder / "loads.xml").write_text(
            text.replace(str(path), str(folder / "loads.mot")), encoding="utf-8"
        )
    return replace(case, loads=folder / f"loads{case.loads.suffix}")


@kind("pressure_offset", "pressure_outside")
def pelvis_aside(case: Case, draw: np.random.Generator) -> Drawn:
    by = pick(draw, (-0.04, -0.02, 0.02, 0.04))
    if case.loads is None:
        raise NotHere
    table = on_column(case.coordinates, "pelvis_tz", lambda each: each + by)
    return replace(case, coordinates=table), f"pelvis_tz {1000.0 * by:+.0f} mm"


# Faults of a table, of a stretch or of a column of it: a row each

Change = Callable[[np.ndarray, float, float, np.random.Generator], np.ndarray]
"""Values (T, c), samples a second, a size and a generator -> changed values."""


def of_stretch(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> slice:
    """Rows of a stretch of `size` seconds in the middle part of a table."""
    count = max(round(size * rate), 3)
    first = max(int(draw.uniform(0.3, 0.55) * len(values)), count)
    return slice(first, first + count)


def since(values: np.ndarray, draw: np.random.Generator) -> int:
    return int(draw.uniform(0.3, 0.7) * len(values))


def twice_in_time(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    rows = of_stretch(values, rate, size, draw)
    values[rows] = values[2 * rows.start - rows.stop : rows.start]
    return values


def held(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    rows = of_stretch(values, rate, size, draw)
    values[rows] = values[rows.start]
    return values


def lost(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    return np.delete(values, of_stretch(values, rate, size, draw), axis=0)


def jumped(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    values[since(values, draw) :] += size
    return values


def spiked(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    values[since(values, draw)] += size
    return values


def resampled(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    at, coarse = np.arange(len(values)) / rate, np.arange(0.0, len(values) / rate, 1.0 / size)
    return np.stack([np.interp(at, coarse, np.interp(coarse, at, each)) for each in values.T], axis=1)


def late(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    at = np.arange(len(values)) / rate
    return np.stack([np.interp(at - size, at, each) for each in values.T], axis=1)


def over(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    values[since(values, draw) :] *= -1.0
    return values


def zero_later(values: np.ndarray, rate: float, size: float, draw: np.random.Generator) -> np.ndarray:
    values[round(size * len(values)) :] = 0.0
    return values


ONE_LINE: dict[str, Change] = {
    "scaled": lambda values, rate, size, draw: size * values,
    "shifted": lambda values, rate, size, draw: values + size,
    "drifting": lambda values, rate, size, draw: values + np.linspace(0.0, size, len(values))[:, None],
    "noisy": lambda values, rate, size, draw: values + size * draw.standard_normal(values.shape),
    "in_steps": lambda values, rate, size, draw: size * np.round(values / size),
    "smooth": lambda values, rate, size, draw: low_pass(values, rate, size),
    "cut": lambda values, rate, size, draw: np.clip(values, size * min(values.min(), 0.0), size * values.max()),
    "positive": lambda values, rate, size, draw: np.abs(values),
    "backward": lambda values, rate, size, draw: values[::-1],
    "zero_below": lambda values, rate, size, draw: np.where(np.abs(values) < size, 0.0, values),
    "scaled_above_zero": lambda values, rate, size, draw: np.where(values > 0.0, size, 1.0) * values,
}  # fmt: skip
MOTION, MOMENTS = "coordinates", "moments"
EVERY, MOVING, ONE = "all columns", "all that move", "one"
SLIDES = "foot_slides foot_height"
DEGREES = "degrees"
# kind: codes, table, columns, sizes, change, words (sizes of motions that are in degrees say so)
ROWS: dict[str, tuple[str, str, str, tuple[float, ...], Change | str, str]] = {
    "motion_twice": ("frames_repeated frames_skipped", MOTION, EVERY, (0.1, 0.2), twice_in_time, "{:g} s twice"),
    "motion_held": ("frozen frames_repeated frames_skipped", MOTION, EVERY, (0.1, 0.2), held, "held for {:g} s"),
    "motion_lost": ("frames_skipped clock_rate time_offset", MOTION, EVERY, (0.04, 0.08), lost, "without {:g} s"),
    "motion_resampled": ("over_filtered low_rate", MOTION, EVERY, (6.0, 10.0), resampled, "from {:g} Hz"),
    "motion_filtered": ("over_filtered", MOTION, EVERY, (1.5, 2.0, 2.5), "smooth", "filtered at {:g} Hz"),
    "motion_noise": ("noise", MOTION, MOVING, (1.0, 2.0), "noisy", "noise of {:g} degrees"),
    "motion_backward": ("walking_direction another_trial time_offset", MOTION, EVERY, (0.0,), "backward", "backward"),
    "motion_late": ("time_offset another_trial", MOTION, EVERY, (-0.06, -0.03, 0.03, 0.06), late, "{:+g} s late"),
    "motion_units": ("angle_units bad_units", MOTION, EVERY, (57.29578, 0.01745329, 1e3), "scaled", "x {:.3g}"),
    "angles_in_steps": ("noise", MOTION, MOVING, (1.0, 3.0), "in_steps", "steps of {:g} degrees"),
    "angle_noise": ("noise", MOTION, ONE, (1.0, 3.0), "noisy", "noise of {:g} degrees"),
    "angle_gain": (f"{SLIDES} angle_offset angle_sign angle_scale", MOTION, ONE, (0.5, 0.8, 1.25), "scaled", "x {:g}"),
    "angle_late": (f"{SLIDES} time_offset", MOTION, ONE, (-0.05, 0.05), late, "{:+g} s late"),
    "angle_jumps": (f"{SLIDES} single_leap angle_offset", MOTION, ONE, (-10.0, 20.0), jumped, "{:+g} degrees later"),
    "angle_spiked": ("single_leap noise", MOTION, ONE, (-30.0, 15.0, 30.0), spiked, "{:+g} degrees once"),
    "angle_cut": (f"{SLIDES} frozen angle_scale", MOTION, ONE, (0.5, 0.7, 0.85), "cut", "cut at {:g} of its range"),
    "angle_filtered": (f"{SLIDES} over_filtered angle_scale", MOTION, ONE, (1.5, 2.5), "smooth", "filtered at {:g} Hz"),
    "angle_positive": (f"{SLIDES} angle_sign noise", MOTION, ONE, (0.0,), "positive", "without its sign"),
    "angle_held": ("frozen", MOTION, ONE, (0.1, 0.2), held, "held for {:g} s"),
    "angle_drifts": (f"{SLIDES} angle_scale angle_offset", MOTION, ONE, (-20, 10), "drifting", "drifts {:+g} degrees"),
    "moments_twice": ("moment_unlike frames_repeated", MOMENTS, EVERY, (0.1, 0.2), twice_in_time, "{:g} s twice"),
    "moments_held": ("moment_zero moment_unlike frames_repeated", MOMENTS, EVERY, (0.1, 0.2), held, "held for {:g} s"),
    "moments_lost": ("time_offset clock_rate frames_skipped", MOMENTS, EVERY, (0.04, 0.08), lost, "without {:g} s"),
    "moments_resampled": ("over_filtered low_rate", MOMENTS, EVERY, (5.0, 8.0), resampled, "from {:g} Hz"),
    "moments_filtered": ("over_filtered", MOMENTS, EVERY, (1.5, 2.0, 2.5), "smooth", "filtered at {:g} Hz"),
    "moments_backward": ("time_offset another_trial", MOMENTS, EVERY, (0.0,), "backward", "backward"),
    "moments_units": ("moment_units moment_scale mass", MOMENTS, EVERY, (1e3, 1e-3, 0.0133, 0.738), "scaled", "x {:g}"),
    "moments_scaled": ("mass moment_scale moment_units", MOMENTS, EVERY, (0.75, 0.85, 1.15, 1.3), "scaled", "x {:g}"),
    "moments_in_steps": ("moment_unlike noise", MOMENTS, EVERY, (5.0, 15.0), "in_steps", "in steps of {:g} N m"),
    "moments_zero_below": ("moment_zero moment_unlike", MOMENTS, EVERY, (10.0, 25.0), "zero_below", "zero below {:g}"),
    "moments_noisy": ("noise moment_unlike", MOMENTS, EVERY, (5.0, 15.0), "noisy", "noise of {:g} N m"),
    "moment_zero": ("moment_zero", MOMENTS, ONE, (0.0, 0.3, 0.5, 0.7), zero_later, "zero from {:g} of the time on"),
    "moment_scaled": ("moment_scale moment_sign", MOMENTS, ONE, (-1.0, 0.5, 0.7, 1.5, 2.0), "scaled", "x {:g}"),
    "moment_offset": ("moment_offset", MOMENTS, ONE, (-25.0, -15.0, 15.0, 25.0), "shifted", "{:+g} N m"),
    "moment_drifts": ("moment_offset moment_scale moment_unlike", MOMENTS, ONE, (-40.0, 20.0), "drifting", "drifts"),
    "moment_over": ("moment_sign moment_scale moment_unlike", MOMENTS, ONE, (0.0,), over, "reversed later"),
    "moment_cut": ("moment_unlike", MOMENTS, ONE, (0.5, 0.7), "cut", "cut at {:g} of its range"),
    "moment_jumps": ("moment_offset moment_unlike single_leap", MOMENTS, ONE, (-40.0, 20.0), jumped, "{:+g} N m later"),
    "moment_spiked": ("single_leap noise", MOMENTS, ONE, (-60.0, 30.0, 60.0), spiked, "{:+g} N m once"),
    "moment_late": ("time_offset moment_unlike", MOMENTS, ONE, (-0.06, 0.04, 0.06), late, "{:+g} s late"),
    "moment_positive": ("moment_sign moment_unlike moment_scale", MOMENTS, ONE, (0.0,), "positive", "without its sign"),
    "moment_one_way": ("moment_scale moment_unlike", MOMENTS, ONE, (0.5, 1.8), "scaled_above_zero", "x {:g} above 0"),
    "moment_filtered": ("over_filtered moment_unlike", MOMENTS, ONE, (1.5, 2.5), "smooth", "filtered at {:g} Hz"),
}  # fmt: skip


def row(name: str) -> Callable[[Case, np.random.Generator], Drawn]:
    """The fault of a row of ROWS."""
    _, which, extent, sizes, change, words = ROWS[name]

    def fault(case: Case, draw: np.random.Generator) -> Drawn:
        table: Table | None = getattr(case, which)
        if table is None:
            raise NotHere
        move = moving(case) if which == MOTION else moment_columns(case)
        names = {EVERY: list(table.names), MOVING: move}.get(extent) or [pick(draw, move)]
        columns = [table.names.index(each) for each in names]
        size, rate = pick(draw, sizes), 1.0 / float(np.diff(table.time).mean())
        by = degrees(case, size) if which == MOTION and DEGREES in words else size
        of_table = ONE_LINE[change] if isinstance(change, str) else change
        changed = of_table(table.values[:, columns].copy(), rate, by, draw)
        values = table.values[: len(changed)].copy()
        values[:, columns] = changed
        time, lines = table.time[: len(values)], table.lines[: len(values)]
        new = replace(table, time=time, values=values, lines=lines)
        return replace(case, **{which: new}), f"{names[0] if extent == ONE else which} {words.format(size)}"

    fault.__name__ = name
    return fault


for _name, (_codes, _table, *_) in ROWS.items():
    kind(*_codes.split(), needs=_table == MOMENTS)(row(_name))


@kind("sides_swapped", "columns_exchanged", "angle_copied")
def sides_of_angles(case: Case, draw: np.random.Generator) -> Drawn:
    table, stems = case.coordinates, pick(draw, (("hip", "knee", "ankle"), ("hip",), ("knee", "ankle")))
    names = tuple(
        f"{name[:-1]}{'l' if name[-1] == 'r' else 'r'}"
        if name.startswith(stems) and name[-2:] in ("_r", "_l")
        else name
        for name in table.names
    )
    return replace(case, coordinates=replace(table, names=names)), f"sides of {', '.join(stems)} exchanged"


@kind(
    "bad_units",
    "angle_units",
    "foot_height",
    "pelvis_scale",
    "foot_slides",
    "walking_direction",
    "columns_exchanged",
)
def pelvis_wrong(case: Case, draw: np.random.Generator) -> Drawn:
    table, what = case.coordinates, pick(draw, ("unit", "exchanged", "reversed", "lifted"))
    lengths = [name for name in ("pelvis_tx", "pelvis_ty", "pelvis_tz") if name in table.names]
    one, two = (lengths[k] for k in draw.permutation(len(lengths))[:2])
    if what == "exchanged":
        table = replace(table, names=tuple({one: two, two: one}.get(name, name) for name in table.names))
        return replace(case, coordinates=table), f"{one} and {two} exchanged"
    for each in lengths if what == "unit" else [one if what == "reversed" else "pelvis_ty"]:
        size = {
            "unit": (1e3, 0.0),
            "reversed": (-1.0, 0.0),
            "lifted": (1.0, pick(draw, (-0.05, 0.03, 0.05))),
        }[what]
        table = on_column(table, each, lambda values, size=size: size[0] * values + size[1])  # type: ignore[misc]
    return replace(case, coordinates=table), f"{one if what == 'reversed' else 'pelvis'} {what}"


@kind("moment_zero", needs=True)
def moments_of_a_side_zero(case: Case, draw: np.random.Generator) -> Drawn:
    assert case.moments is not None
    side, table = pick(draw, "rl"), case.moments
    for name in [each for each in moment_columns(case) if f"_{side}_" in each]:
        table = on_column(table, name, lambda each: 0.0 * each)
    return replace(case, moments=table), f"moments of side {side} zero"


# Loads: a row each

Plate = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Force, point and free moment (T, 3) of a plate."""


def plate_change(case: Case, change: Callable[..., None], one: bool) -> Case:
    """The case with the first or all plates changed."""
    todo = [True]

    def on_plate(*plate: np.ndarray) -> None:
        if todo[0]:
            change(*plate)
        todo[0] = not one

    return with_plates(case, on_plate)


def in_a_stance(force: np.ndarray, share: float, draw: np.random.Generator) -> slice:
    """Samples of a share of a stance of a plate."""
    stances = [(first, stop) for first, stop in true_runs(force[:, 1] > 40.0) if stop - first > 20]
    first, stop = pick(draw, stances)
    begin = int(first + draw.uniform(0.2, 0.6) * (stop - first))
    return slice(begin, min(stop, begin + int(share * (stop - first)) + 1))


def channel(part: int, axis: int, by: Callable[[np.ndarray, float], np.ndarray]) -> Callable[..., None]:
    """A change of one axis of the force, point or free moment (part 0, 1, 2)."""

    def change(plate: Plate, size: float, draw: np.random.Generator) -> None:
        plate[part][:, axis] = by(plate[part][:, axis], size)

    return change


def whole(by: Callable[[np.ndarray, float], np.ndarray], *parts: int) -> Callable[..., None]:
    """A change of all axes of some of force, point and free moment."""

    def change(plate: Plate, size: float, draw: np.random.Generator) -> None:
        for part in parts:
            plate[part][:] = by(plate[part], size)

    return change


def in_stance(by: Callable[[np.ndarray], np.ndarray], *parts: int) -> Callable[..., None]:
    """A change of the samples of a share of a stance."""

    def change(plate: Plate, size: float, draw: np.random.Generator) -> None:
        rows = in_a_stance(plate[0], size, draw)
        for part in parts:
            plate[part][rows] = by(plate[part][rows])

    return change


def way_shrunk(plate: Plate, size: float, draw: np.random.Generator) -> None:
    force, point, _ = plate
    for first, stop in true_runs(force[:, 1] > 40.0):
        middle = np.average(point[first:stop], axis=0, weights=force[first:stop, 1])
        point[first:stop] = middle + size * (point[first:stop] - middle)


def smoothed(part: np.ndarray, size: float) -> np.ndarray:
    return low_pass(part, 1.0, size)


def below(own: np.ndarray, size: float) -> np.ndarray:
    return np.minimum(own, size * own.max())


def leans(plate: Plate, size: float, draw: np.random.Generator) -> None:
    plate[0][:, 0] += size * plate[0][:, 1]


def small_lost(plate: Plate, size: float, draw: np.random.Generator) -> None:
    plate[0][plate[0][:, 1] < size] = 0.0


def load_noise(plate: Plate, size: float, draw: np.random.Generator) -> None:
    plate[0][:] += size * draw.standard_normal(plate[0].shape)


AXES, OFFSET = "plate_axes force_sign plate_channel", "pressure_offset pressure_outside"
# kind: codes, sizes, change of a plate in place, words
LOADS: dict[str, tuple[str, tuple[float, ...], Callable[[Plate, float, np.random.Generator], None], str]] = {
    "load_scaled": ("plate_scale mass", (0.85, 0.9, 1.1, 1.15), whole(np.multiply, 0, 2), "x {:g}"),
    "load_ahead": (f"{AXES} plate_scale", (-1.0, 0.0, 0.5, 1.5), channel(0, 0, np.multiply), "fore and aft x {:g}"),
    "load_aside": (f"{AXES} plate_scale", (-1.0, 0.0, 2.0, 3.0), channel(0, 2, np.multiply), "aside x {:g}"),
    "load_leans": (f"{AXES} leaning_force", (-0.08, -0.04, 0.04, 0.08), leans, "with {:+g} of the vertical ahead"),
    "load_turned": (AXES, (0.0,), whole(lambda part, _: part[:, ::-1].copy(), 0), "with exchanged axes"),
    "load_zero": ("plate_baseline plate_drift mass", (-40.0, -20.0, 20.0, 40.0), channel(0, 1, np.add), "{:+g} N"),
    "load_lost": (
        "force_leap force_step plate_instant contact_without_force", (0.1, 0.2),
        in_stance(np.zeros_like, 0), "zero for {:g} of a stance",
    ),
    "load_held": (
        "force_leap force_step plate_instant plate_clipped frozen", (0.15, 0.3),
        in_stance(lambda part: part[:1], 0, 1, 2), "held for {:g} of a stance",
    ),
    "load_filtered": ("force_cutoff over_filtered plate_baseline", (0.01, 0.02), whole(smoothed, 0), "filtered"),
    "load_noise": ("force_step plate_instant force_resolution force_leap", (20.0, 60.0), load_noise, "noise of {:g} N"),
    "peaks_cut": ("plate_clipped", (0.8, 0.9), channel(0, 1, below), "cut at {:g}"),
    "small_forces_lost": ("plate_clipped", (100.0, 250.0), small_lost, "zero below {:g} N"),
    "points_ahead": (OFFSET, (-0.05, -0.03, 0.03, 0.05), channel(1, 0, np.add), "points {:+g} m ahead"),
    "points_aside": (OFFSET, (-0.04, -0.02, 0.02, 0.04), channel(1, 2, np.add), "points {:+g} m right"),
    "points_raised": ("pressure_offset foot_height", (-0.05, 0.05), channel(1, 1, np.add), "points {:+g} m higher"),
    "points_units": ("point_units bad_units", (1e3, 1e-3), whole(np.multiply, 1), "points x {:g}"),
    "points_mirrored": (
        f"{AXES} bad_axes pressure_outside plates_swapped", (-1.0,), channel(1, 2, np.multiply), "mirrored",
    ),
    "way_of_pressure": ("pressure_way pressure_outside", (0.5, 0.7, 1.5), way_shrunk, "way of the pressure x {:g}"),
    "free_moment_scaled": ("free_moment moment_channel", (-1.0, 0.0, 3.0), whole(np.multiply, 2), "free moment x {:g}"),
}  # fmt: skip


def load_row(name: str) -> Callable[[Case, np.random.Generator], Drawn]:
    """The fault of a row of LOADS, on the first plate or on all."""
    _, sizes, change, words = LOADS[name]

    def fault(case: Case, draw: np.random.Generator) -> Drawn:
        size, one = pick(draw, sizes), draw.random() < 0.5
        changed = plate_change(case, lambda *plate: change(plate, size, draw), one)
        return changed, f"{'the first plate' if one else 'all plates'} {words.format(size)}"

    fault.__name__ = name
    return fault


for _name, (_codes, *_) in LOADS.items():
    kind(*_codes.split())(load_row(_name))


@kind("time_offset", "another_trial")
def loads_late(case: Case, draw: np.random.Generator) -> Drawn:
    by, table = pick(draw, (-0.05, -0.02, 0.02, 0.05)), case.coordinates
    if case.loads is None:
        raise NotHere
    return replace(case, coordinates=replace(table, time=table.time - by)), f"loads {by:+g} s late"


@kind("plates_swapped", "unbalanced", "pressure_outside", "load_body")
def loads_exchanged_later(case: Case, draw: np.random.Generator) -> Drawn:
    plates: list[tuple[np.ndarray, ...]] = []
    with_plates(case, lambda *plate: plates.append(tuple(part.copy() for part in plate)))
    middle, number = len(plates[0][0]) // 2, iter(range(len(plates)))

    def change(*plate: np.ndarray) -> None:
        own = next(number)
        for part, other in zip(plate, plates[1 - own] if own < 2 else plate, strict=True):
            part[middle:] = other[middle:]

    return with_plates(case, change), "first two plates exchanged in the second half"


def of_muscles(case: Case, names: Sequence[str], change: Callable[[OpenSimMuscle], OpenSimMuscle]) -> Case:
    return with_muscles(case, {name: change(case.model.muscles[name]) for name in names})


def one_or_both(
    case: Case, draw: np.random.Generator, among: Callable[[OpenSimMuscle], object] = bool
) -> list[str]:
    names = [name for name in case.shared if among(case.model.muscles[name])]
    return sides_of_fault(pick(draw, names), names, draw)


@kind("muscle_tendon", "muscle_fiber")
def fiber_and_tendon_exchanged(case: Case, draw: np.random.Generator) -> Drawn:
    names = one_or_both(case, draw)
    return of_muscles(
        case, names, lambda each: replace(
            each, optimal_fiber_length=each.tendon_slack_length, tendon_slack_length=each.optimal_fiber_length
        ),
    ), f"fiber and tendon of {', '.join(names)} exchanged"  # fmt: skip


@kind("muscle_tendon", "muscle_property")
def tendon_strain(case: Case, draw: np.random.Generator) -> Drawn:
    def stated(muscle: OpenSimMuscle) -> list[str]:
        return [key for key in muscle.curve if "tendon" in key.lower() and "strain" in key.lower()]

    names, strain = one_or_both(case, draw, stated), pick(draw, (0.005, 0.15, 0.4))
    return of_muscles(
        case, names, lambda each: replace(each, curve={**each.curve, stated(each)[0]: strain})
    ), f"tendon strain of {', '.join(names)} {strain:g}"


@kind("muscle_fiber", "muscle_property")
def velocity(case: Case, draw: np.random.Generator) -> Drawn:
    names, factor = (
        list(case.shared) if draw.random() < 0.5 else one_or_both(case, draw),
        pick(draw, (0.1, 0.3, 3.0)),
    )
    return of_muscles(
        case,
        names,
        lambda each: replace(each, max_contraction_velocity=factor * each.max_contraction_velocity),
    ), f"fastest shortening of {names[0] if len(names) < 3 else 'all'} x {factor:g}"


@kind("muscle_missing", "muscle_strength", "controls", "muscle_property")
def controls(case: Case, draw: np.random.Generator) -> Drawn:
    names, bounds = one_or_both(case, draw), pick(draw, ((0.0, 0.3), (0.2, 1.0), (0.0, 0.0)))
    return of_muscles(
        case, names, lambda each: replace(each, controls=bounds)
    ), f"controls of {', '.join(names)} {bounds}"


@kind("muscle_missing")
def disabled(case: Case, draw: np.random.Generator) -> Drawn:
    names = one_or_both(case, draw)
    return of_muscles(
        case, names, lambda each: replace(each, enabled=False)
    ), f"{', '.join(names)} not enabled"


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber")
def points_reordered(case: Case, draw: np.random.Generator) -> Drawn:
    names = one_or_both(case, draw, lambda each: len(each.points) > 2 and not each.wraps)
    return of_muscles(
        case, names, lambda each: replace(each, points=(each.points[1], each.points[0], *each.points[2:]))
    ), f"first two points of {', '.join(names)} exchanged"


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber")
def points_in_another_unit(case: Case, draw: np.random.Generator) -> Drawn:
    names, factor = (
        one_or_both(case, draw, lambda each: all(point.moving is None for point in each.points)),
        pick(draw, (0.1, 0.8, 1.25)),
    )

    def change(each: OpenSimMuscle) -> OpenSimMuscle:
        points = (replace(point, location=factor * point.location) for point in each.points)  # type: ignore[operator]
        return replace(each, points=tuple(points))

    return of_muscles(case, names, change), f"points of {', '.join(names)} x {factor:g}"


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber")
def muscle_mirrored(case: Case, draw: np.random.Generator) -> Drawn:
    names, axis = (
        one_or_both(case, draw, lambda each: all(point.moving is None for point in each.points)),
        int(draw.integers(3)),
    )

    def change(each: OpenSimMuscle) -> OpenSimMuscle:
        sign = np.where(np.arange(3) == axis, -1.0, 1.0)
        return replace(
            each, points=tuple(replace(point, location=sign * point.location) for point in each.points)
        )

    return of_muscles(case, names, change), f"points of {', '.join(names)} mirrored along {'xyz'[axis]}"


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber", "muscle_property")
def conditions_shifted(case: Case, draw: np.random.Generator) -> Drawn:
    names, by = (
        one_or_both(case, draw, lambda each: any(point.condition for point in each.points)),
        pick(draw, (-60.0, -30.0, 30.0, 60.0)),
    )

    def change(each: OpenSimMuscle) -> OpenSimMuscle:
        conditions = [
            point.condition and (point.condition[0], *np.radians(by) + point.condition[1:])
            for point in each.points
        ]
        points = (replace(point, condition=own) for point, own in zip(each.points, conditions, strict=True))
        return replace(each, points=tuple(points))

    return of_muscles(case, names, change), f"conditions of {', '.join(names)} {by:+g} degrees"


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber", "muscle_property")
def wraps_of_the_other_side(case: Case, draw: np.random.Generator) -> Drawn:
    names, surfaces = one_or_both(case, draw, lambda each: bool(each.wraps)), case.model.surfaces

    def other(name: str) -> str:
        stem, side = split_side(name)
        twin = with_side(stem, {"r": "l", "l": "r"}.get(side, side))
        return twin if twin in surfaces else name

    return of_muscles(
        case,
        names,
        lambda each: replace(
            each, wraps=tuple(replace(wrap, surface=other(wrap.surface)) for wrap in each.wraps)
        ),
    ), f"wrap objects of {', '.join(names)} of the other side"


@kind("muscle_strength")
def strengths_of_a_side(case: Case, draw: np.random.Generator) -> Drawn:
    side, factor = pick(draw, "rl"), pick(draw, (0.4, 0.6, 1.6, 2.5))
    names = [name for name in case.shared if split_side(name)[1] == side]
    return of_muscles(
        case, names, lambda each: replace(each, max_isometric_force=factor * each.max_isometric_force)
    ), f"strengths of side {side} x {factor:g}"


@kind("joint_center", "muscle_anatomy", "muscle_tendon", "segment_length")
def body_scaled(case: Case, draw: np.random.Generator) -> Drawn:
    body, factor = pick(draw, ("pelvis", "calcn_r", "calcn_l")), pick(draw, (0.85, 0.9, 1.1, 1.15))

    def change(each: OpenSimMuscle) -> OpenSimMuscle:
        return replaced_points(each, {
            k: replace(point, location=factor * point.location)
            for k, point in enumerate(each.points) if point.location is not None and point.frame.body == body
        })  # fmt: skip

    case = of_muscles(case, case.shared, change)
    for joint in case.model.joints:
        if joint.inboard.body == body and joint.coordinates and not joint.is_reversed:
            case = with_joint(
                case, replace(joint, parent=replace(joint.parent, position=factor * joint.parent.position))
            )
    return case, f"{body} x {factor:g}"


@kind("coupler", "muscle_anatomy", "muscle_fiber", "muscle_tendon", "joint_center")
def coupler_scaled(case: Case, draw: np.random.Generator) -> Drawn:
    if not case.model.couplers:
        raise NotHere
    coupler, factor = pick(draw, case.model.couplers), pick(draw, (-1.0, 0.7, 1.3, 2.0))
    sides = sides_of_fault(coupler.dependent, [each.dependent for each in case.model.couplers], draw)
    couplers = tuple(
        replace(each, function=Scaled(each.function, factor)) if each.dependent in sides else each
        for each in case.model.couplers
    )
    return replace(case, model=replace(case.model, couplers=couplers)), f"{', '.join(sides)} x {factor:g}"


@kind("joint_center", "muscle_anatomy", "foot_height", "foot_slides", "segment_length")
def knee_translation_lost(case: Case, draw: np.random.Generator) -> Drawn:
    joint = joint_of(case.model, f"knee_angle_{pick(draw, 'rl')}")
    if all(isinstance(axis.function, Constant) for axis in joint.translations):
        raise NotHere
    still = tuple(replace(axis, function=Constant(0.0)) for axis in joint.translations)
    return with_joint(case, replace(joint, translations=still)), f"translations of {joint.name} zero"


@kind("muscle_property", "muscle_anatomy", "muscle_missing")
def moving_points_lost(case: Case, _: np.random.Generator) -> Drawn:
    kept = {
        name: tuple(point for point in muscle.points if point.moving is None and point.condition is None)
        for name, muscle in case.model.muscles.items()
    }
    shorter = [
        name for name, points in kept.items() if 2 <= len(points) < len(case.model.muscles[name].points)
    ]
    if not shorter:
        raise NotHere
    return of_muscles(
        case, shorter, lambda each: replace(
            each, points=kept[each.name], wraps=tuple(replace(wrap, first=None, last=None) for wrap in each.wraps)
        ),
    ), f"{len(shorter)} muscles without moving points"  # fmt: skip


@kind("over_filtered", "foot_slides", "foot_height", "angle_scale")
def leg_filtered(case: Case, draw: np.random.Generator) -> Drawn:
    side, size, table = pick(draw, "rl"), pick(draw, (2.0, 2.5)), case.coordinates
    rate = 1.0 / float(np.diff(table.time).mean())
    for name in [each for each in moving(case) if split_side(each)[1] == side]:
        table = on_column(table, name, lambda values: low_pass(values, rate, size))
    return replace(case, coordinates=table), f"angles of side {side} filtered at {size:g} Hz"


@kind("free_moment", "moment_units", "pressure_outside")
def moments_about_origin(case: Case, _: np.random.Generator) -> Drawn:
    def change(force: np.ndarray, point: np.ndarray, moment: np.ndarray) -> None:
        if not moment.size:
            raise NotHere
        moment += np.cross(point, force)

    return with_plates(case, change), "moments of the loads about the origin"


# What a laboratory mixes up between people, files and legs


@kind("time_offset", "another_trial")
def times_from_zero(case: Case, draw: np.random.Generator) -> Drawn:
    by, table = pick(draw, (-0.4, 0.4)), case.coordinates
    return replace(case, coordinates=replace(table, time=table.time - by)), f"coordinates {-by:+g} s"


@kind("muscle_missing")
def group_missing(case: Case, draw: np.random.Generator) -> Drawn:
    group = pick(draw, list(GROUPS))
    names = [each for each in case.shared if each.startswith(GROUPS[group])]
    if not names:
        raise NotHere
    return with_muscles(case, dict.fromkeys(names)), f"without {group}"


@kind("angle_sign", "columns_exchanged", "sides_swapped")
def two_angles_of_pelvis(case: Case, draw: np.random.Generator) -> Drawn:
    table, pair = case.coordinates, ("pelvis_list", "pelvis_rotation")
    if draw.random() < 0.5:
        names = tuple(pair[1 - pair.index(name)] if name in pair else name for name in table.names)
        return replace(case, coordinates=replace(table, names=names)), f"{' and '.join(pair)} exchanged"
    for name in pair:
        table = on_column(table, name, np.negative)
    return replace(case, coordinates=table), f"{' and '.join(pair)} reversed"


@kind("angle_sign")
def hip_not_mirrored(case: Case, draw: np.random.Generator) -> Drawn:
    side, table = pick(draw, "rl"), case.coordinates
    for stem in ("hip_adduction", "hip_rotation"):
        table = on_column(table, f"{stem}_{side}", np.negative)
    return replace(case, coordinates=table), f"hip adduction and rotation of side {side} reversed"


@kind("time_offset", "foot_slides", "foot_height")
def leg_late(case: Case, draw: np.random.Generator) -> Drawn:
    side, by, table = pick(draw, "rl"), pick(draw, (-0.03, 0.03)), case.coordinates
    time = table.time
    for name in [each for each in moving(case) if split_side(each)[1] == side]:
        table = on_column(table, name, lambda values: np.interp(time - by, time, values))
    return replace(case, coordinates=table), f"angles of side {side} {by:+g} s late"


@kind("angle_offset", "pressure_outside", "foot_height")
def hips_of_laboratory(case: Case, _: np.random.Generator) -> Drawn:
    table = case.coordinates
    tilt = table.values[:, table.names.index("pelvis_tilt")]
    for side in "rl":
        table = on_column(table, f"hip_flexion_{side}", lambda values: values + tilt)
    return replace(case, coordinates=table), "pelvis_tilt added to both hip flexions"


@kind("muscle_fiber", "muscle_tendon")
def fibers_and_tendons_of_all(case: Case, draw: np.random.Generator) -> Drawn:
    factor = pick(draw, (0.7, 0.9, 1.1))
    return of_muscles(
        case, case.shared, lambda each: replace(
            each, optimal_fiber_length=factor * each.optimal_fiber_length,
            tendon_slack_length=factor * each.tendon_slack_length,
        ),
    ), f"all fibers and tendons x {factor:g}"  # fmt: skip


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber")
def wraps_of_all(case: Case, draw: np.random.Generator) -> Drawn:
    what = pick(draw, ("without wrap objects", "wrap objects not turned", "wrap objects not scaled"))
    if what.startswith("without"):
        return of_muscles(case, case.shared, lambda each: replace(each, wraps=())), f"all muscles {what}"
    surfaces = {}
    for name, each in case.model.surfaces.items():
        turned = np.eye(3) if what.endswith("turned") else each.frame.rotation
        place = 1.12 * each.frame.position if what.endswith("scaled") else each.frame.position
        surfaces[name] = replace(each, frame=replace(each.frame, rotation=turned, position=place))
    if not surfaces:
        raise NotHere
    return replace(case, model=replace(case.model, surfaces=surfaces)), f"all {what}"


@kind("muscle_anatomy", "muscle_tendon", "muscle_fiber")
def side_not_mirrored(case: Case, draw: np.random.Generator) -> Drawn:
    side = pick(draw, "rl")
    names = [each for each in case.shared if split_side(each)[1] == side]

    def change(each: OpenSimMuscle) -> OpenSimMuscle:
        points = {k: each.points[k] for k in fixed_points(each)}
        return replaced_points(each, {
            k: replace(point, location=point.location * [1.0, 1.0, -1.0])  # type: ignore[operator]
            for k, point in points.items()
        })  # fmt: skip

    return of_muscles(case, names, change), f"points of side {side} mirrored"


WRONG_LOADS: dict[str, Callable[[ExternalLoad], ExternalLoad]] = {
    "on the other foot": lambda load: replace(load, body=f"{load.body[:-1]}{'rl'[load.body[-1] == 'r']}"),
    "on the right foot": lambda load: replace(load, body="calcn_r"),
    "on the pelvis": lambda load: replace(load, body="pelvis"),
    "reversed ahead": lambda load: replace(load, force=load.force * [-1.0, 1.0, 1.0]),
    "without shear": lambda load: replace(load, force=load.force * [0.0, 1.0, 0.0]),
    "60 mm ahead": lambda load: replace(load, point=load.point + np.array([0.06, 0.0, 0.0])),
    "40 mm right": lambda load: replace(load, point=load.point + np.array([0.0, 0.0, 0.04])),
    "50 ms late": lambda load: replace(load, time=load.time + 0.05),
}
"""Loads from which inverse dynamics made the moments -> change of each load."""


@kind(
    "load_body", "plate_axes", "pressure_offset", "pressure_outside", "time_offset", "another_trial", "root_carries"
)  # fmt: skip
def moments_of_wrong_loads(case: Case, draw: np.random.Generator) -> Drawn:
    if case.loads is None:
        raise NotHere
    model, what = case.model, pick(draw, list(WRONG_LOADS))
    whole = whole_motion(model, coordinate_motion(model, case.coordinates))
    pose = body_motion(model, whole.value)
    loads = [WRONG_LOADS[what](load) for load in read_external_loads(case.loads, model, whole.time, pose)]
    ends = max(load.time[0] for load in loads), min(load.time[-1] for load in loads)
    some = (whole.time >= ends[0]) & (whole.time <= ends[1])
    parts = whole.time, whole.value, whole.speed, whole.acceleration
    found = inverse_dynamics(model, ModelMotion(*(part[some] for part in parts)), loads)
    names = tuple(
        f"{name}_{'moment' if model.coordinates[name].rotational else 'force'}" for name in found.coordinates
    )
    moments = Table(found.time, names, np.asarray(found.force), False, Path())
    return replace(case, moments=moments, loads=None), f"moments of loads {what}"


# The table


def shared(case: Case) -> xr.Dataset:
    return ms.share_model(case.model, case.coordinates, case.moments, loads=case.loads)


def sound_cases(data: Path, folder: Path) -> Iterator[tuple[str, Case, xr.Dataset]]:
    for name, files in trials(data).items():
        model, coordinates, moments, loads = files(folder)
        read = ms.read_osim(model)
        case = Case(
            read, as_table(coordinates, ""), None if moments is None else as_table(moments, ""), loads, (), ()
        )
        result = shared(case)
        names = tuple(str(each) for each in result["muscle"].values)
        yield name, replace(case, shared=names, angles=tuple(map(str, result["dof"].values))), result


def main() -> None:
    """Print the table of drawn faults."""
    data, *draws = bank_arguments(__doc__, 100, BANK.kinds)
    with TemporaryDirectory() as folder:
        sound = {name: (case, result) for name, case, result in sound_cases(data, Path(folder))}
        BANK.table(sound, shared, lambda case: case.moments is not None, *draws)


if __name__ == "__main__":
    main()
