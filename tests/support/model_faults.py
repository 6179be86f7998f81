"""Faults of loads, moments and coordinates of OpenSim models, planted into what was read of recorded trials."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from measured_model import measured_model

from musclesolve import read_osim
from musclesolve._util.arrays import at_times
from musclesolve.errors import InputError
from musclesolve.laboratory.checks.model import load_units_and_axes as change
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.checks.model.model_case import Loads
from musclesolve.models.opensim.coordinate_motion import coordinate_motion
from musclesolve.models.opensim.external_loads import foot_of_side
from musclesolve.models.opensim.load_dynamics import load_dynamics, moments_under_loads
from musclesolve.models.opensim.model import OpenSimModel
from musclesolve.models.opensim.model_body import ModelBody
from musclesolve.models.opensim.moments import shared_moments
from musclesolve.tables import Table, read_mot


@dataclass(frozen=True, eq=False)
class Trial:
    """A model trial in memory: what faults are planted into. other: another trial of the same person."""

    sound: ModelBody
    model: OpenSimModel
    coordinates: Table
    loads: Loads = ()
    moments: Table | None = None
    other: Trial | None = None

    def body(self) -> ModelBody:
        """The prepared body, but for what muscles need, which no check of loads and moments looks at."""
        motion = coordinate_motion(self.model, self.coordinates)
        sound, names = self.sound, self.sound.dofs
        if self.moments is not None:
            due = shared_moments(self.model, self.moments, names, motion)
            kept = motion.frames(due.known)
            whole = replace(sound.whole, moment=due.moment[due.known], time=kept.time)
            return replace(
                sound, model=self.model, motion=kept, whole=whole, moment_table=self.moments, dynamics=None
            )
        due = moments_under_loads(self.model, motion, names, self.loads, Path("loads.mot"))
        kept = motion.frames(due.known)
        whole = replace(sound.whole, moment=due.moment[due.known], time=kept.time)
        dynamics = load_dynamics(self.model, kept, due.loads or ())
        return replace(
            sound, model=self.model, motion=kept, whole=whole, dynamics=dynamics, moment_table=None
        )


PLATES = ("calcn_l", "calcn_r", "calcn_r")


def three_plates(data: Path, walk: str, folder: Path, bodies: tuple[str, ...] = PLATES) -> Path:
    """An ExternalLoads file with the three plates of a walk on an instrumented knee."""
    forces = "".join(
        f'<ExternalForce name="plate {k}"><applied_to_body>{body}</applied_to_body>'
        "<force_expressed_in_body>ground</force_expressed_in_body>"
        "<point_expressed_in_body>ground</point_expressed_in_body>"
        f"<force_identifier>{k}_ground_force_v</force_identifier>"
        f"<point_identifier>{k}_ground_force_p</point_identifier>"
        f"<torque_identifier>{k}_ground_torque_</torque_identifier></ExternalForce>"
        for k, body in enumerate(bodies, start=1)
    )
    path, file = folder / f"loads_{walk}.xml", data / f"PS_ngait_og_{walk}_kinetics.mot"
    path.write_text(
        f'<OpenSimDocument Version="30000"><ExternalLoads name="loads"><objects>{forces}</objects>'
        f"<datafile>{file.resolve()}</datafile></ExternalLoads></OpenSimDocument>",
        encoding="utf-8",
    )
    return path


def load_trials(data: Path) -> dict[str, Trial]:
    """Three recorded trials with loads, by name: of the instrumented knee, of a service, overground."""
    knee, service, walk = (
        data / "instrumented_knee",
        data / "addbiomechanics" / "opencap_subject",
        data / "rajagopal_walk",
    )
    found: dict[str, Trial] = {}
    with TemporaryDirectory() as folder:
        for number in ("ss9", "ss1"):
            loads = three_plates(knee, number, Path(folder))
            motion = knee / f"PS_ngait_og_{number}_kinematics.mot"
            other = found.get("knee")
            found["knee"] = read_trial(knee / "Rajagopal2015-scaled.osim", motion, loads, None, other)
    for number in ("3", "2"):
        files = service / "IK" / f"walking{number}_ik.mot", service / "ID" / f"walking{number}_grf.mot"
        found["service"] = read_trial(service / "Models" / "final.osim", *files, None, found.get("service"))
    reference = walk / "reference"
    found["overground"] = read_trial(
        reference / "rajagopal_lai_uhlrich_2023_scaled.osim",
        reference / "opensim_ik.mot",
        walk / "walk_grf.mot",
    )
    return found


def moment_trials(data: Path) -> dict[str, Trial]:
    """Three recorded trials with moments, by name: overground, and two strides on a treadmill."""
    reference, belt = data / "rajagopal_walk" / "reference", data / "fascicle_walk"
    model = reference / "rajagopal_lai_uhlrich_2023_scaled.osim"
    found = {
        "overground": read_trial(model, reference / "opensim_ik.mot", None, reference / "opensim_id.sto")
    }
    strides = {
        f"treadmill {k}": read_trial(
            belt / "model.osim", belt / f"trial_{k}_IK.mot", None, belt / f"trial_{k}_ID.mot"
        )
        for k in (1, 3)
    }
    one, three = strides
    found[one] = replace(strides[one], other=strides[three])
    found[three] = replace(strides[three], other=strides[one])
    return found


def read_trial(
    model: Path,
    coordinates: Path,
    loads: Path | None = None,
    moments: Path | None = None,
    other: Trial | None = None,
) -> Trial:
    """The trial of some files."""
    read = read_osim(model)
    body = measured_model(read, coordinates, moments, loads=loads)
    given = () if body.dynamics is None else body.dynamics.loads
    return Trial(body, read, read_mot(coordinates), given, body.moment_table, other)


Spoil = Callable[[Trial], Trial]


@dataclass(frozen=True)
class ModelFault:
    """A fault and the findings of which one should come of it; none where nothing shows it."""

    name: str
    codes: tuple[str, ...]
    spoil: Spoil
    other: bool = False  # whether it needs another trial of the same person


def on_loads(repair: Callable[[Loads], Loads]) -> Spoil:
    return lambda trial: replace(trial, loads=repair(trial.loads))


def on_bodies(body_of: Callable[[str], str], count: int | None = None) -> Spoil:
    """Let the loads, or the first ones, act on other bodies, by their own ones."""

    def spoil(trial: Trial) -> Trial:
        loads = tuple(
            replace(load, body=body_of(load.body)) if count is None or k < count else load
            for k, load in enumerate(trial.loads)
        )
        return replace(trial, loads=loads)

    return spoil


def other_side(name: str) -> str:
    return name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name.endswith(("_r", "_l")) else name


def greatest(trial: Trial) -> str:
    """The load with the greatest impulse."""
    return max(trial.loads, key=lambda load: float(np.linalg.norm(load.force, axis=1).mean())).name


def on_greatest(repair: Callable[[list[str]], change.Change]) -> Spoil:
    return lambda trial: replace(trial, loads=repair([greatest(trial)])(trial.loads))


def without_greatest(trial: Trial) -> Trial:
    return replace(trial, loads=tuple(load for load in trial.loads if load.name != greatest(trial)))


def exchanged_columns(trial: Trial) -> Trial:
    """The forces of both feet exchanged, while the points stay."""
    feet = [foot_of_side(trial.model, side) for side in "rl"]
    one, two = (
        max((load for load in trial.loads if load.body == foot), key=lambda load: load.force.sum())
        for foot in feet
    )
    loads = []
    for load in trial.loads:
        source = {one.name: two, two.name: one}.get(load.name, load)
        loads.append(replace(load, force=source.force, moment=source.moment))
    return replace(trial, loads=tuple(loads))


def other_loads(trial: Trial) -> Trial:
    assert trial.other is not None
    return replace(trial, loads=trial.other.loads)


def other_coordinates(trial: Trial) -> Trial:
    assert trial.other is not None
    return replace(trial, coordinates=trial.other.coordinates)


def on_shear(factor: float) -> Spoil:
    """Horizontal forces times a factor."""
    scale = np.array([factor, 1.0, factor])
    return on_loads(lambda loads: tuple(replace(load, force=load.force * scale) for load in loads))


def one_channel_reversed(axis: int) -> Spoil:
    """The component of the greatest load along one axis with the wrong sign."""
    signs = np.where(np.arange(3) == axis, -1.0, 1.0)
    return on_greatest(lambda names: change.scaled(signs, ["force"], names))


def per_mass(factor: float) -> Spoil:
    """Loads over the mass of the model times a factor."""
    return lambda trial: on_loads(change.scaled(1.0 / trial.model.mass / factor, BOTH))(trial)


def knees_reversed(trial: Trial) -> Trial:
    return on_coordinates(
        lambda name, values: -values if name in ("knee_angle_r", "knee_angle_l") else values
    )(trial)


def mass_times(factor: float) -> Spoil:
    def spoil(trial: Trial) -> Trial:
        masses = {
            name: replace(body, mass=factor * body.mass, inertia=factor * body.inertia)
            for name, body in trial.model.masses.items()
        }
        return replace(trial, model=replace(trial.model, masses=masses))

    return spoil


def on_coordinates(column: Callable[[str, np.ndarray], np.ndarray]) -> Spoil:
    """Change the columns of the coordinates, by their names."""

    def spoil(trial: Trial) -> Trial:
        table = trial.coordinates
        values = np.stack(
            [column(name, values) for name, values in zip(table.names, table.values.T, strict=True)], axis=1
        )
        return replace(trial, coordinates=replace(table, values=values))

    return spoil


def renamed_sides(trial: Trial) -> Trial:
    table = trial.coordinates
    return replace(trial, coordinates=replace(table, names=tuple(map(other_side, table.names))))


def clock(factor: float) -> Spoil:
    def spoil(trial: Trial) -> Trial:
        table = trial.coordinates
        return replace(trial, coordinates=replace(table, time=factor * table.time))

    return spoil


def as_radians(trial: Trial) -> Trial:
    """Radians in a file whose header says degrees."""
    table = trial.coordinates
    if not table.in_degrees:
        return replace(trial, coordinates=replace(table, in_degrees=True))
    angles = {name for name, each in trial.model.coordinates.items() if each.rotational}
    return on_coordinates(lambda name, values: np.radians(values) if name in angles else values)(trial)


def pelvis_turned(trial: Trial) -> Trial:
    half = 180.0 if trial.coordinates.in_degrees else np.pi
    return moved_column("pelvis_rotation", half)(trial)


def moved_column(names: str, by: float, factor: float = 1.0) -> Spoil:
    return on_coordinates(lambda name, values: factor * values + by if name == names else values)


def frozen(names: str) -> Spoil:
    return on_coordinates(lambda name, values: 0.0 * values if name == names else values)


def on_moments(table_of: Callable[[Table], Table]) -> Spoil:
    def spoil(trial: Trial) -> Trial:
        assert trial.moments is not None
        return replace(trial, moments=table_of(trial.moments))

    return spoil


def moments_times(factor: float, only: str = "") -> Spoil:
    return on_moments(
        lambda table: replace(
            table,
            values=table.values * np.where([not only or only in name for name in table.names], factor, 1.0),
        )
    )


def per_kilogram(trial: Trial) -> Trial:
    return moments_times(1.0 / trial.model.mass)(trial)


def moments_late(by: float) -> Spoil:
    return on_moments(lambda table: replace(table, time=table.time + by))


def moments_sides(table: Table) -> Table:
    def other(name: str) -> str:
        stem, kind = name.rsplit("_", 1)
        return f"{other_side(stem)}_{kind}"

    return replace(table, names=tuple(map(other, table.names)))


def other_moments(trial: Trial) -> Trial:
    """Return the moments of another trial, from the time on at which this trial begins."""
    assert trial.other is not None and trial.moments is not None and trial.other.moments is not None
    own, other = trial.moments, trial.other.moments
    return replace(trial, moments=replace(other, time=other.time - other.time[0] + own.time[0]))


def backward(trial: Trial) -> Trial:
    """Moments that run back in time: of a motion that nobody made."""
    assert trial.moments is not None
    return replace(trial, moments=replace(trial.moments, values=trial.moments.values[::-1]))


def without_loads(trial: Trial) -> Trial:
    """Moments of inverse dynamics to which no ground reactions were given."""
    assert trial.moments is not None
    table = trial.moments
    motion = coordinate_motion(trial.model, trial.coordinates)
    dynamics = load_dynamics(trial.model, motion, ()).dynamics
    values = table.values.copy()
    for name in trial.model.coordinates:
        for suffix in ("_moment", "_force"):
            if f"{name}{suffix}" in table.names:
                own = dynamics.joint_force[:, [trial.model.coordinate_number[name]]]
                values[:, table.names.index(f"{name}{suffix}")] = at_times(motion.time, own, table.time)[:, 0]
    return replace(trial, moments=replace(table, values=values))


TURN = np.array([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
QUARTER = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
MIRROR = np.diag([1.0, 1.0, -1.0])
ALL = ("force", "point", "moment")
TIME = ("time_offset", "clock_rate")
MASS = ("mass", "force_units")
ANOTHER = ("another_trial", "time_offset", "clock_rate", "pressure_offset")
BOTH = ("force", "moment")
AHEAD = np.array([0.06, 0.0, 0.0])

LOAD_FAULTS = (
    ModelFault("loads_on_tibia", ("load_body",), on_bodies(lambda b: f"tibia{b[-2:]}")),
    ModelFault("loads_on_pelvis", ("load_body",), on_bodies(lambda b: "pelvis")),
    ModelFault("one_load_on_torso", ("load_body",), on_bodies(lambda b: "torso", 1)),
    ModelFault("loads_on_femur", ("load_body",), on_bodies(lambda b: f"femur{b[-2:]}")),
    ModelFault("sides_exchanged", ("plates_swapped",), on_bodies(other_side)),
    ModelFault("all_on_talus_r", ("plates_swapped",), on_bodies(lambda b: "talus_r")),
    ModelFault("one_on_other_foot", ("plates_swapped",), on_bodies(other_side, 1)),
    ModelFault("force_columns_exchanged", ("plates_swapped", "foot_slides"), exchanged_columns),
    ModelFault("late_100_ms", TIME, on_loads(change.delayed(-0.1))),
    ModelFault("late_50_ms", TIME, on_loads(change.delayed(-0.05))),
    ModelFault("early_50_ms", TIME, on_loads(change.delayed(0.05))),
    ModelFault("late_30_ms", TIME, on_loads(change.delayed(-0.03))),
    ModelFault("early_30_ms", TIME, on_loads(change.delayed(0.03))),
    ModelFault("late_20_ms", TIME, on_loads(change.delayed(-0.02))),
    ModelFault("kilonewtons", ("force_units",), on_loads(change.scaled(0.001, ["force"]))),
    ModelFault("per_kilogram", ("force_units",), per_mass(1.0)),
    ModelFault("body_weights", ("force_units",), per_mass(9.81)),
    ModelFault("pounds", ("force_units",), on_loads(change.scaled(1.0 / 4.448, ["force"]))),
    ModelFault("shear_half", ("plate_scale",), on_shear(0.5)),
    ModelFault("shear_150_percent", ("plate_scale",), on_shear(1.5)),
    ModelFault("one_forward_reversed", ("plate_axes",), one_channel_reversed(0)),
    ModelFault("one_sideways_reversed", ("plate_axes",), one_channel_reversed(2)),
    ModelFault("half", MASS, on_loads(change.scaled(0.5, ["force", "moment"]))),
    ModelFault("sign_reversed", ("force_sign",), on_loads(change.scaled(-1.0, ["force", "moment"]))),
    ModelFault("one_plate_half", ("plate_scale",), on_greatest(lambda n: change.scaled(0.5, BOTH, n))),
    ModelFault("one_plate_80_percent", ("plate_scale",), on_greatest(lambda n: change.scaled(0.8, BOTH, n))),
    ModelFault("one_plate_kilonewtons", ("plate_scale",), on_greatest(lambda n: change.scaled(0.001, ["force"], n))),
    ModelFault("one_plate_sign", ("plate_scale",), on_greatest(lambda n: change.scaled(-1.0, BOTH, n))),
    ModelFault("points_mm", ("point_units",), on_loads(change.scaled(1000.0, ["point"]))),
    ModelFault("points_cm", ("point_units",), on_loads(change.scaled(100.0, ["point"]))),
    ModelFault("free_moment_n_mm", ("moment_units",), on_loads(change.scaled(1000.0, ["moment"]))),
    ModelFault("free_moment_reversed", ("free_moment",), on_loads(change.scaled(-1.0, ["moment"]))),
    ModelFault("one_plate_missing", ("contact_without_force",), without_greatest),
    ModelFault("z_up", ("plate_axes",), on_loads(change.turned(Z_UP, ALL))),
    ModelFault("turned_half", ("plate_axes",), on_loads(change.turned(TURN, ALL))),
    ModelFault("turned_quarter", ("plate_axes",), on_loads(change.turned(QUARTER, ALL))),
    ModelFault("mirrored", ("plate_axes",), on_loads(change.turned(MIRROR, ALL))),
    ModelFault("horizontal_force_reversed", ("plate_axes",), on_loads(change.turned(TURN, ["force"]))),
    ModelFault("points_turned", ("plate_axes",), on_loads(change.turned(QUARTER, ["point"]))),
    ModelFault("one_plate_mirrored", ("plate_axes",), on_greatest(lambda n: change.turned(MIRROR, ["point"], n))),
    ModelFault("one_plate_turned", ("plate_axes",), on_greatest(lambda n: change.turned(QUARTER, ["force"], n))),
    ModelFault("one_plate_points_km", ("point_units",), on_greatest(lambda n: change.scaled(0.001, ["point"], n))),
    ModelFault("points_100_mm_ahead", ("pressure_offset",), on_loads(change.moved(np.array([0.1, 0.0, 0.0])))),
    ModelFault("points_60_mm_right", ("pressure_offset",), on_loads(change.moved(np.array([0.0, 0.0, 0.06])))),
    ModelFault("one_plate_60_mm_ahead", ("pressure_offset",), on_greatest(lambda n: change.moved(AHEAD, n))),
    ModelFault("mass_150_percent", MASS, mass_times(1.5)),
    ModelFault("mass_70_percent", MASS, mass_times(0.7)),
    ModelFault("coordinate_sides_exchanged", ("sides_swapped",), renamed_sides),
    ModelFault("radians_as_degrees", ("angle_units",), as_radians),
    ModelFault("clock_95_percent", TIME, clock(0.95)),
    ModelFault("clock_110_percent", TIME, clock(1.1)),
    ModelFault("120_mm_above", ("foot_height",), moved_column("pelvis_ty", 0.12)),
    ModelFault("120_mm_below", ("foot_height",), moved_column("pelvis_ty", -0.12)),
    ModelFault("100_mm_ahead", ("pressure_offset",), moved_column("pelvis_tx", 0.1)),
    ModelFault("knee_frozen", ("frozen",), frozen("knee_angle_l")),
    ModelFault("hip_frozen", ("frozen",), frozen("hip_flexion_r")),
    ModelFault("pelvis_turned", ("walking_direction", "plates_swapped"), pelvis_turned),
    ModelFault("knee_sign", ("angle_sign", "foot_slides", "foot_height"), knees_reversed),
)  # fmt: skip
OTHER_TRIAL_FAULTS = (
    ModelFault("loads_of_another_trial", ANOTHER, other_loads, other=True),
    ModelFault("coordinates_of_another_trial", ANOTHER, other_coordinates, other=True),
)  # fmt: skip
MOMENT_FAULTS = (
    ModelFault("moments_reversed", ("moment_sign",), moments_times(-1.0)),
    ModelFault("knee_moment_reversed", ("moment_sign",), moments_times(-1.0, "knee_angle_r_m")),
    ModelFault("moments_n_mm", ("moment_units",), moments_times(1000.0)),
    ModelFault("moments_per_kilogram", ("moment_units",), per_kilogram),
    ModelFault("moments_half", ("moment_units", "mass"), moments_times(0.5)),
    ModelFault("moments_140_percent", ("mass",), moments_times(1.4)),
    ModelFault("moments_late_50_ms", ("time_offset",), moments_late(0.05)),
    ModelFault("moments_early_30_ms", ("time_offset",), moments_late(-0.03)),
    ModelFault("moments_sides_exchanged", ("sides_swapped",), on_moments(moments_sides)),
    ModelFault("ankle_moment_zero", ("moment_zero",), moments_times(0.0, "ankle_angle_r_m")),
    ModelFault("moments_of_another_motion", ("another_trial",), backward),
    ModelFault("moments_without_loads", ("root_carries",), without_loads),
    ModelFault("moments_of_another_stride", (), other_moments, other=True),
)  # fmt: skip


def table(data: Path) -> str:
    """Kind by data set: what is found in it, with severity and newton meters; "not found" where it should be."""

    lines = []
    for trials, faults in (
        (load_trials(data), (*LOAD_FAULTS, *OTHER_TRIAL_FAULTS)),
        (moment_trials(data), MOMENT_FAULTS),
    ):
        kinds = [ModelFault("sound", (), lambda trial: trial), *faults]
        for fault in kinds:
            for name, trial in trials.items():
                if fault.other and trial.other is None:
                    continue
                try:
                    found = findings_of_body(fault.spoil(trial).body())
                except InputError as error:
                    lines.append(f"{fault.name:30} {name:12} refused: {error.code}")
                    continue
                shown = ", ".join(
                    f"{each.severity} {each.code}" + (f" {each.cost}" if each.cost else "") for each in found
                )
                missed = fault.codes and not {each.code for each in found} & set(fault.codes)
                lines.append(f"{fault.name:30} {name:12} {'NOT FOUND ' if missed else ''}{shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(Path(sys.argv[1])))
