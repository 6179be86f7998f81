"""Force-sharing problem of an OpenSim model with its coordinates and joint moments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, within
from musclesolve._util.checks import check_choice
from musclesolve._util.message_text import WarningNote, count_of, few
from musclesolve._util.sides import sides_of
from musclesolve.constants import RIGID
from musclesolve.dynamics.vectors import blocks, in_blocks
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_state import MuscleState, zero_arms
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.scaling.scale_muscles import separate_groups
from musclesolve.muscles.strength import parameter_warnings
from musclesolve.muscles.tendon_strain import check_tendon, check_tendon_strains
from musclesolve.opensim.external_loads import feet_of
from musclesolve.opensim.geometry import (
    OpenSimGeometry,
    difference_note,
    fiber_path_lengths,
    opensim_geometry,
    shift_note,
    tendon_shifts,
)
from musclesolve.opensim.kinematics import BodyMotion, body_motion, coordinate_values, joints_crossed
from musclesolve.opensim.model import Joint, OpenSimModel, OpenSimMuscle
from musclesolve.opensim.muscle_parameters import control_notes, curve_notes, muscle_parameters
from musclesolve.opensim.person_file import person_of_model
from musclesolve.opensim.read_model import read_osim, with_function_paths
from musclesolve.opensim.segments import segments
from musclesolve.pipeline.body import Sharing, SharingGroup
from musclesolve.pipeline.knee_contact import ContactSpacing
from musclesolve.pipeline.measured_activation import MeasuredActivation
from musclesolve.pipeline.measured_fascicles import MeasuredFascicles
from musclesolve.pipeline.mechanics import MotionChange
from musclesolve.pipeline.opensim.coordinate_motion import (
    BeyondRange,
    CoordinateMotion,
    Source,
    as_table,
    beyond_ranges,
    coordinate_motion,
)
from musclesolve.pipeline.opensim.found_loads import found_loads
from musclesolve.pipeline.opensim.load_dynamics import (
    LoadDynamics,
    device_notes,
    load_dynamics,
    load_moments,
    moments_under_loads,
    unmeasured_notes,
    whole_motion,
)
from musclesolve.pipeline.opensim.moments import shared_moments
from musclesolve.pipeline.opensim.predicted_loads import predicted_loads
from musclesolve.pipeline.opensim.reduced_residual import LoadedModel, reduced_residual
from musclesolve.pipeline.opensim.shared_choice import SharedChoice, shared_choice
from musclesolve.pipeline.share import sharing_problem
from musclesolve.recording.data import Table
from musclesolve.recording.schema import check_value
from musclesolve.recording.text.text_file import file_path
from musclesolve.recording.trial.model_trial import ModelTrial
from musclesolve.settings.schema import settings_of, tables_of
from musclesolve.settings.trial import (
    PREDICTED_NOTE,
    REDUCED,
    ModelSettings,
    TimeSettings,
    share_arguments,
)
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.problem import Problem
from musclesolve.sharing.solver.solver_registry import find_solver

TIME_RANGE = "time range"


def model_settings(loads: str | Path | None = None, **choices: Any) -> ModelSettings:
    """Return the settings that keywords of `opensim_problem` state; see there.

    Raises:
        TypeError: there is no such keyword.
        InputError: a value that no model can have.
    """
    if loads is not None:
        file_path(loads)
    arguments, tables = share_arguments(), dict[str, dict[str, Any]](files={"loads": loads})
    for name, value in choices.items():
        if name not in arguments:
            raise TypeError(
                f"there is no keyword {name!r} of an OpenSim model; known: {', '.join(arguments)}"
            )
        table, key = arguments[name]
        tables.setdefault(table, {})[key] = value
    settings = ModelSettings().changed(**tables)
    check_model_settings(settings)
    return settings


def check_model_settings(settings: ModelSettings) -> None:
    """Refuse settings that no model can have."""
    time, muscles, feet, loads = settings.time, settings.muscles, settings.plates.feet, settings.files.loads
    for name, (table, key) in share_arguments().items():
        setting, value = tables_of(ModelSettings)[table].settings[key], settings[table][key]
        if setting.kind == "text" and setting.choices and value is not None:
            check_choice(value, name, setting.choices)
        elif setting.kind in ("number", "whole", "truth") and value is not None:
            check_value(value, setting, name)
    if time.cycles_s is not None and len(time.cycles_s):
        cycles = np.asarray(time.cycles_s, dtype=object).tolist()
        check_value(cycles, settings_of(TimeSettings)["cycles_s"], "cycles_s")
    if settings.consistency.residual == REDUCED and (loads is None or settings.files.predicted):
        raise input_error("pipeline.residual_of_predicted_forces", where="residual")
    if feet != "stated" and loads is None:
        raise input_error(
            "conflict",
            where="feet",
            problem=f"without loads there are no feet to be found: feet = {feet!r}",
            expected="feet with loads, which are assigned to them",
            remedy="give loads instead of moments, or leave it out",
        )
    check_tendon(muscles.tendon, muscles.tendon_strain)
    if settings.knee.contact_spacing_m is not None and loads is None:
        raise input_error(
            "conflict",
            where="contact_spacing_m",
            problem="without loads there are no contact forces, so that a spacing of the contacts "
            "has no effect",
            expected="a spacing with loads, from which moments and contact forces are computed",
            remedy="give loads instead of moments, or leave it out",
        )


@dataclass(frozen=True, eq=False)
class ModelBody:
    """An OpenSim model along its coordinates, ready to share its moments; see `Body`.

    whole: all m shared coordinates and n muscles as one part; parts: groups of them that are shared separately, since
    no muscle connects them. motion: of all coordinates; speed (T, m) [rad/s; m/s]. The musculotendon lengths of the
    state come from the path, or, over several wrap objects and with rigid tendons, from the rule of OpenSim 4.
    dynamics: with loads, given or found in the moments; warnings: contradictions between the inputs; beyond:
    coordinates of the muscles that leave the range to which the model clamps them; unserved: shared coordinates whose
    moments no muscle can produce, with the share of the peak moment that exceeds the muscles. Frames whose loads do not
    balance the motion are not usable. trial: the trial file, if there is one; person: the person whose factors scale
    the muscles, with the names of the model; moment_table: all columns of a file or table of moments. every_motion: the
    measured motion in all frames of the file. change: the change of the motion for a smaller residual.
    """

    model: OpenSimModel
    settings: ModelSettings
    sharing: Sharing
    choice: SharedChoice
    motion: CoordinateMotion
    every_motion: CoordinateMotion
    whole: SharingGroup
    parts: Sequence[SharingGroup]
    angle: Array
    speed: Array
    moment_file: Path | None
    dynamics: LoadDynamics | None
    notes: tuple[str, ...]
    warnings: tuple[WarningNote, ...] = ()
    beyond: tuple[BeyondRange, ...] = ()
    unserved: Mapping[str, float] = field(default_factory=dict)
    emg: MeasuredActivation | None = None
    fascicles: MeasuredFascicles | None = None
    trial: ModelTrial | None = None
    person: PersonMuscles | None = None
    moment_table: Table | None = None
    change: MotionChange[LoadedModel] | None = None

    @property
    def measured(self) -> Self:
        """The body along its coordinates before any change for a smaller residual; tests of loads use this body."""
        if self.change is None:
            return self
        before = self.change.before
        return replace(self, motion=before.motion, dynamics=before.dynamics, change=None)

    @property
    def time(self) -> Array:
        """Times (T,) of the frames [s]."""
        return self.motion.time

    @cached_property
    def pose(self) -> BodyMotion:
        """Poses of all bodies of the model."""
        if self.dynamics is not None:
            return self.dynamics.dynamics.bodies.pose
        return body_motion(self.model, coordinate_values(self.model, self.motion.by_name(self.motion.value)))

    @property
    def dofs(self) -> tuple[str, ...]:
        """Names of the m shared coordinates."""
        return self.choice.dofs

    @property
    def moment(self) -> Array:
        """Moments (T, m) of the shared coordinates [N m; N of a translation]."""
        return self.whole.moment

    @property
    def muscles(self) -> tuple[str, ...]:
        """Names of the muscles that act on the shared coordinates."""
        return self.choice.names

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints with a shared coordinate; empty without loads."""
        under_loads = () if self.dynamics is None else shared_joints(self.model, self.dofs)
        return tuple(joint.name for joint in under_loads)

    @property
    def contact_spacing(self) -> dict[str, ContactSpacing]:
        """Distance between the medial and the lateral contact of each knee: as stated, or from the length of its shank.

        A leg without an ankle has no entry.
        """
        parts, stated = segments(self.model), self.settings.knee.contact_spacing_m
        spacings = {
            joint.name: ContactSpacing.from_size(stated, shank_length=parts.length(joint))
            for joint in parts.knees
            if joint.name in self.joints
        }
        return {name: spacing for name, spacing in spacings.items() if spacing is not None}

    @property
    def kind(self) -> str:
        """The source of the moments, "moments" or "loads"."""
        return "moments" if self.dynamics is None or self.moment_table is not None else "loads"

    @property
    def is_predicted(self) -> bool:
        """Whether the loads are predicted."""
        return self.dynamics is not None and self.dynamics.predicted

    @property
    def mass(self) -> float:
        """Mass of the model [kg]."""
        return self.model.mass

    @property
    def stature(self) -> None:
        """Return None: a model states no stature."""

    def check(self, sharing: Sharing) -> None:
        """Refuse a cost of joint reactions without loads, and a cost of EMG without EMG."""
        lacking = {
            "reaction_matrix": ("joint reactions", "loads instead of moments", self.dynamics is None),
            "emg": ("measured EMG", "EMG", self.emg is None),
        }
        for name, (what, remedy, is_lacking) in lacking.items():
            if name in sharing.cost.data and is_lacking:
                raise input_error(
                    "missing_argument",
                    where="cost",
                    problem=f"the cost {sharing.cost.label} needs {what}, which are not known here",
                    expected="a cost of what is known of this motion",
                    remedy=f"give {remedy}, or choose another cost",
                )


def shared_joints(model: OpenSimModel, dofs: Sequence[str]) -> tuple[Joint, ...]:
    """The joints of a model with a coordinate among some, whose contact forces are determined.

    Constraints of loops bear a part of them, and muscles without points show no line of action.
    """
    without_line = [name for name, each in model.muscles.items() if each.enabled and not each.points]
    unknown = frozenset(model.in_loops).union(*(model.crossing[name] for name in without_line))
    return tuple(
        joint
        for joint in model.joints
        if joint.moved_by & set(dofs) and not model.independent(joint.moved_by) & unknown
    )


def opensim_problem(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None = None,
    side: str = "both",
    **choices: Any,
) -> Problem:
    """Make the force-sharing problem of an OpenSim model.

    Tendons are rigid; curves and parameters come from the model. Musculotendon lengths come from the paths; over
    several wrap objects they are the lengths that OpenSim 4 reports, which belong to no path (opensim/geometry.py).
    Musculotendon velocity = -moment arm . speed over all coordinates that a muscle crosses. Coupled coordinates follow,
    locked coordinates stay at their default.

    Args:
        model: from `read_osim`, or the path of a .osim file.
        coordinates: the path of a .mot or .sto file, a Table, a Dataset over time, or arrays by name with "time".
        moments: likewise, columns NAME_moment (NAME_force of a translation), interpolated linearly to the times of
            the coordinates; frames beyond them are left out. Arrays by name without "time" are at those times. A
            file or Table has the form of OpenSim's inverse dynamics: moments of ball joints are about the axes of the
            parent frame; arrays belong to the rates of the coordinates. Forces of coordinates driven by couplers are
            added (moments.py). None with `loads`.
        side: "r", "l" or "both": leaves out names that end in _l or _r.
        choices: settings of the trial file of a model by keyword, which are the options of `share`
            (docs/command_line.md): dofs, muscles, passive, loads and others. `person` may be what `read_person`
            returns. tendon="elastic" holds for `share_model` alone, which then solves the whole motion at once.

    Raises:
        InputError: a name is unknown, a column is missing, a part of the model that is needed is not supported, tendons
            are elastic, ...
    """
    settings = model_settings(**choices)
    if settings.muscles.tendon != RIGID:
        raise input_error("pipeline.problem_single_frames", where="tendon", tendon=settings.muscles.tendon)
    body = model_body(model, coordinates, moments, settings, side=side)
    return sharing_problem(body.whole, body.sharing)


def model_body(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None,
    settings: ModelSettings,
    sharing: Sharing | None = None,
    side: str = "both",
) -> ModelBody:
    """Make the body of an OpenSim model and its motion; arguments as in `opensim_problem`.

    settings: from `model_settings`, or of a trial file with the path of its loads.
    sharing: settings of the sharing; by default the usual cost and solver.
    """
    model = model if isinstance(model, OpenSimModel) else read_osim(model)
    if settings.muscles.paths is not None:
        model = with_function_paths(model, settings.muscles.paths)
    chosen, loads_file = settings.muscles, settings.files.loads
    cutoff, dofs, without = settings.filter.cutoff_hz, settings.sharing.dofs, settings.sharing.without
    person = None if chosen.database is None else person_of_model(chosen.database, model)
    choice = shared_choice(model, dofs, chosen.names, side, without or ())
    axes_notes = _axes_notes(model, moments is not None)
    table: Table | None = None
    motion = coordinate_motion(model, coordinates, None if isinstance(cutoff, str) else cutoff)
    required = {name for name in {*choice.needed, *choice.dofs} if not model.coordinates[name].locked}
    if lacking := [name for name in model.coordinates if name in required and name not in motion.names]:
        raise input_error(
            "missing_column",
            file=motion.file,
            problem=f"there is no column {few(lacking, 8)}",
            expected="every coordinate that the muscles cross and the model does not lock",
            remedy="give the file of inverse kinematics of this model, or choose other muscles",
        )
    if settings.files.predicted and moments is None:
        loads_of_feet = predicted_loads(model, whole_motion(model, motion))
        due = moments_under_loads(model, motion, choice.dofs, loads_of_feet, motion.file)
        due = replace(due, file=None, notes=(PREDICTED_NOTE, *due.notes))
    elif loads_file is not None and moments is None:
        due = load_moments(model, motion, choice.dofs, loads_file, settings.plates.feet)
    elif moments is not None and loads_file is None:
        if isinstance(moments, str | Path | Table):
            table = moments = as_table(moments, "moments")
        due = shared_moments(model, moments, choice.dofs, motion)
        if table is not None and (loads_of_feet := found_loads(model, motion.frames(due.known), table)):
            due = due.under(moments_under_loads(model, motion, choice.dofs, loads_of_feet, due.file))
    else:
        raise input_error(
            "pipeline.both_moments_loads_given"
            if moments is not None
            else "pipeline.neither_moments_nor_loads",
            code="missing_argument" if moments is None else "conflict",
        )

    # the frames of the time range whose moments are known
    start, end = settings.time.start_s, settings.time.end_s
    in_range = within(motion.time, -np.inf if start is None else start, np.inf if end is None else end)
    selected = due.known & in_range
    if np.isnan(due.moment[selected]).all():
        time = motion.time[due.known & ~np.isnan(due.moment).all(axis=1)]
        if not time.size:
            raise input_error(
                "missing_samples",
                file=due.file,
                problem="no moment is known in any frame of the coordinates",
                expected="numbers where the coordinates are",
                remedy="give inverse dynamics, or ground reactions, without such gaps",
            )
        limits = {"from": start, "to": end}
        limits_text = " ".join(f"{word} {limit:g} s" for word, limit in limits.items() if limit is not None)
        raise input_error(
            "bad_range",
            file=motion.file,
            where=TIME_RANGE,
            problem=f"no frame with moments lies in the time range {limits_text}",
            expected=f"a range within {time[0]:g} to {time[-1]:g} s",
            remedy="correct the time range",
        )
    standing = unmeasured_notes(due.unmeasured, selected)
    of_model = [note for note in choice.notes if isinstance(note, WarningNote)]
    notes = [note for note in choice.notes if note not in of_model]
    notes += [*axes_notes, *motion.notes, *due.notes, *standing]
    notes += [*curve_notes(choice.muscles), *control_notes(choice.muscles)]
    if left := int((in_range & ~due.known).sum()):
        notes.append(f"{left} frames of the coordinates have no moments and are left out.")
    if fitted := [muscle.name for muscle in choice.muscles if muscle.by_function is not None]:
        drawn = [muscle.name for muscle in choice.muscles if muscle.points]
        notes.append(
            f"Lengths of {count_of(len(fitted), 'muscle')} are functions of coordinates: {few(fitted)}. Moment arms "
            "and rates are the derivatives of these functions."
        )
        if due.loads is not None and not set(fitted) <= set(drawn):
            notes.append(
                "Such a path without points shows no line of action: contact forces of the joints that it crosses are "
                "not computed."
            )
    if looped := [name for name in choice.dofs if name in model.in_loops]:
        driven = [coupler.dependent for coupler in model.couplers if coupler.closes_loop]
        notes.append(
            f"Constraints close a loop of bodies: {few(driven, 8)} follow from {few(looped, 8)}."
            + " Contact forces of the joints of the loop are not computed." * (due.loads is not None)
        )
    every_motion, motion = motion, motion if selected.all() else motion.frames(selected)
    notes += device_notes(model, motion, choice.dofs, given=moments is not None)
    dynamics = loads = None
    change: MotionChange[LoadedModel] | None = None
    moment, usable = due.moment[selected], np.ones(len(motion.time), dtype=bool)
    if due.loads is not None:
        if settings.consistency.residual == REDUCED:
            body, change = reduced_residual(model, motion, due.loads, settings.consistency)
            motion, dynamics = body.motion, body.dynamics
            columns = [dynamics.dynamics.column(name) for name in choice.dofs]
            moment = np.where(np.isnan(moment), np.nan, np.stack(columns, axis=1))
        else:
            same = due.dynamics if np.array_equal(selected, due.known) else None
            dynamics = same or load_dynamics(model, motion, due.loads)
        if lying := segments(model).lying:
            notes.append(
                f"With all coordinates zero {few(lying, 4)} of the model lie far from the vertical: their axes are the "
                "line of their joints and the axis of the knee."
            )
        if feet_of(model) and not segments(model).knees:
            notes.append(
                "No joint of the model has the name of a knee and its side: forces on the parts of the knee, its "
                "adduction moment and comparisons with implants are left out."
            )
        joints = shared_joints(model, choice.dofs)
        if joints:
            loads = dynamics.joint_loads(joints, choice.names)
        measured = dynamics if change is None else change.before.dynamics
        notes += measured.residual_note("" if change is None else ", before the motion was changed")
        usable = usable if measured.balanced is None else measured.balanced

    # the muscles; elastic tendons are longer than the tendons of the model where the paths are longer
    rigid = chosen.tendon == RIGID
    muscles = muscle_parameters(
        choice.muscles,
        with_passive=chosen.passive == "table",
        tendon_strain=chosen.tendon_strain,
        joints_crossed=joints_crossed(model, choice.names),
    )
    shift = np.zeros(len(muscles.names))
    if not rigid:
        check_tendon_strains(muscles.tendon_strain, muscles.names, f"the model {model.name}")
        shift = tendon_shifts(model, muscles.names)
        muscles = replace(muscles, tendon_slack_length=muscles.tendon_slack_length + shift)
    if person is not None:
        muscles = person.applied(muscles)
        notes += person.notes(muscles.names, chosen.tendon)
    warnings = parameter_warnings([muscles])
    every = 1 if len(motion.time) <= COMPARED else 4 * len(motion.time) // COMPARED
    compared = geometry_along(model, choice, motion.frames(slice(None, None, every)))
    geometry, velocity = compared if every == 1 else geometry_along(model, choice, motion, reported=False)
    if len(motion.time) > 1:
        jumps = jump_notes(choice.muscles, motion.time, geometry.length, velocity)
        of_model += [note for note in jumps if isinstance(note, WarningNote)]
        notes += [note for note in jumps if note not in of_model]
    if differing := difference_note(compared[0]):
        here = (
            "Here moment arms, velocities and lengths follow the path. Muscles over several wrap objects have "
            "OpenSim's lengths, because the tendons of such models were chosen with them."
        )
        some = f"{len(compared[1])} of {len(motion.time)} frames were compared. " if every > 1 else ""
        notes.append(f"{differing} {some}{here if rigid else 'Here all numbers follow the path.'}")
    if shifted := shift_note(choice.names, shift):
        notes.append(shifted)
    # with rigid tendons frames are independent: the fibers have the lengths of OpenSim
    length = fiber_path_lengths(model, geometry) if rigid else geometry.length
    angle, speed = _coordinates(model, motion, choice.dofs)
    if sharing is None:
        usual = settings.sharing
        cost, solver = find_cost(usual.cost), find_solver(usual.solver)
        sharing = Sharing(cost, solver, chosen.tendon, usual.reserve_weight, usual.least_activation)
    whole = SharingGroup(
        sides=sides_of(choice.dofs),
        dofs=choice.dofs,
        shared=choice.dofs,
        state=MuscleState.from_lengths(muscles, length, velocity, geometry.moment_arm),
        moment=moment,
        usable=usable,
        time=motion.time,
        loads=loads,
        angle=angle,
        rate=speed,
    )

    groups = separate_groups(choice.acts)
    parts = tuple(_part(model, dynamics, whole, dofs, columns) for dofs, columns in groups)
    beyond = beyond_ranges(model, motion, choice.needed | set(choice.dofs))
    unserved = unserved_dofs(whole)
    contradictions = [
        WarningNote(
            f"No muscle can produce {100.0 * share:.0f} % of the peak moment of {name}, nor its moment in nearly any "
            f"other frame (at most {100.0 * LACKING_SHARE:g} % is expected): its reserves are not counted.",
            "model",
            f'leave it out: without = ["{name}"] in [sharing], or --without {name}',
        )
        for name, share in unserved.items()
    ]
    contradictions += [
        WarningNote(f"{leaving.sentence}: moment arms there are extrapolated.", "model", LEAVES_RANGE)
        for leaving in beyond
    ]
    return ModelBody(
        model=model,
        settings=settings,
        sharing=sharing,
        choice=choice,
        motion=motion,
        every_motion=every_motion,
        whole=whole,
        parts=parts,
        angle=angle,
        speed=speed,
        moment_file=due.file,
        dynamics=dynamics,
        notes=tuple(notes),
        person=person,
        moment_table=table,
        warnings=(*of_model, *warnings, *contradictions),
        beyond=beyond,
        unserved=unserved,
        change=change,
    )


_UPRIGHT = 0.5
"""Least cosine between the y axis of the ground and up: floors of treadmills and ramps may be tilted."""


def _axes_notes(model: OpenSimModel, with_moments: bool) -> list[str]:
    """Return a note where gravity is not along -y of the ground; refuses loads, which act in other axes there."""
    if not model.gravity.any() or model.up[1] > _UPRIGHT:
        return []
    x, y, z = (f"{part:g}" for part in model.gravity)
    if not with_moments:
        raise input_error(
            "unsupported",
            file=model.file,
            problem=f"gravity of the model is ({x}, {y}, {z}) m/s2, which does not point along -y",
            expected="with loads a model whose y axis points up, as usual in OpenSim (x forward, y "
            "up, z right)",
            remedy="turn the model, its gravity and the loads, or give moments of inverse dynamics "
            "(--moments) instead of loads",
        )
    return [
        f"Gravity of the model is ({x}, {y}, {z}) m/s2, not along -y: angles of pelvis, trunk and feet and the moving "
        "picture, which take y as up, are wrong. Muscle forces follow from the given moments."
    ]


COMPARED = 256
"""Number of frames up to which all moment arms are compared with those that OpenSim reports, which take as long again;
of a longer motion a quarter as many."""
LACKING_SHARE = 0.1
"""Share of the peak moment of a coordinate that its muscles may lack, like a reserve."""
_NEARLY_ALL, _OFTEN = 0.9, 0.25
"""Share of the frames with a large moment, and of all frames, in which the moment must exceed the muscles."""
_LEAST_MOMENT = 1.0
"""Peak moment below which a coordinate needs no muscles [N m], like a negligible reserve."""


def unserved_dofs(part: SharingGroup) -> dict[str, float]:
    """Shared coordinates whose moments the muscles cannot produce -> share of the peak moment that exceeds the muscles.

    All muscles of one direction add at most sum_i |r_i| F_i to the moment of the passive forces, with moment arm r and
    F the force at activation 1, or the maximum isometric force where larger, which fibers on elastic tendons may reach.
    A coordinate is named where its moment exceeds this limit by more than LACKING_SHARE of its peak in nearly all
    frames with so large a moment; a single peak is a lack of strength, or a fault of the moment. The result is empty
    where most coordinates would be named: then the moments are wrong or the muscles too weak, and reserves show it.
    """
    state = part.state
    arm, strength = state.moment_arm, np.maximum(state.force_capacity, state.parameters.max_isometric_force)
    required = part.moment - in_blocks(
        lambda arm, force: (arm @ force[..., None])[..., 0], arm, state.passive_force
    )
    measured = np.isfinite(required) & part.usable[:, None]
    moment = np.where(measured, required, 0.0)
    most = in_blocks(_largest_moments, arm, strength, moment)
    size = np.abs(moment)
    peak = size.max(axis=0, initial=0.0)
    large = size > np.maximum(LACKING_SHARE * peak, 1e-12)
    lacks = large & (size - most > LACKING_SHARE * peak)
    enough = np.maximum(_NEARLY_ALL * large.sum(axis=0), _OFTEN * measured.sum(axis=0))
    unserved = (peak > _LEAST_MOMENT) & (lacks.sum(axis=0) > enough)
    if 2 * unserved.sum() > unserved.size:
        return {}
    return {
        part.dofs[k]: float(1.0 - most[size[:, k].argmax(), k] / peak[k]) for k in np.flatnonzero(unserved)
    }


def _largest_moments(arm: Array, strength: Array, moment: Array) -> Array:
    """Largest sizes (T, m) of the moments of muscles in the directions of some moments (T, m) [N m]."""
    up, down = ((np.maximum(sign * arm, 0.0) @ strength[..., None])[..., 0] for sign in (1.0, -1.0))
    return np.where(moment > 0.0, up, down)


def _part(
    model: OpenSimModel, dynamics: LoadDynamics | None, whole: SharingGroup, dofs: Indices, muscles: Indices
) -> SharingGroup:
    """Select some coordinates, and the muscles that act on them alone, by their numbers in the whole part."""
    loads = whole.loads
    if loads is not None and dynamics is not None:
        joints = shared_joints(model, [whole.dofs[k] for k in dofs])
        loads = dynamics.joint_loads(joints, [whole.state.parameters.names[k] for k in muscles])
    return whole.part(dofs, muscles, loads)


LEAVES_RANGE = (
    "see whether this model has the signs and units of the motion; widen the range if the joint moves so"
)
STEADY_PATH = (
    "look at these muscles in the moving picture, and correct their points or wrap objects in the model"
)
_JUMP, _LARGE_JUMP = 2e-3, 0.1
"""Change of a length beyond its rate that is reported [m], and that is a warning [optimal fiber lengths]."""


def jump_notes(muscles: Sequence[OpenSimMuscle], time: Array, length: Array, rate: Array) -> list[str]:
    """A sentence on paths that jump: whose lengths (T, n) [m] change otherwise than their rates (T, n) [m/s] say.

    The trapezoid rule integrates the rate from frame to frame; moment arms give the rate.
    """
    step = np.diff(time)
    beyond = np.abs(np.diff(length, axis=0) - 0.5 * (rate[1:] + rate[:-1]) * step[:, None])
    beyond[step > 1.5 * np.median(step)] = 0.0  # a hole of the moments
    parts, is_large = [], False
    for muscle, column in zip(muscles, beyond.T, strict=True):
        frame = int(column.argmax())
        if column[frame] > _JUMP:
            parts.append(f"{muscle.name} {1e3 * column[frame]:.0f} mm at {time[frame + 1]:.3f} s")
            is_large |= column[frame] > _LARGE_JUMP * muscle.optimal_fiber_length
    if not parts:
        return []
    sentence = (
        f"Paths of muscles jump from one frame to the next: {few(parts, 6)}. Points or wrap objects let the path "
        "change its side; fiber lengths, forces and moment arms before or after the jump are wrong."
    )
    return [WarningNote(sentence, "model", STEADY_PATH) if is_large else sentence]


def _coordinates(model: OpenSimModel, motion: CoordinateMotion, names: Sequence[str]) -> tuple[Array, Array]:
    """Values and rates (T, k) of some coordinates; locked coordinates stay at their default."""
    value, speed = motion.by_name(motion.value), motion.by_name(motion.speed)
    none = np.zeros(len(motion.time))
    for name in names:
        if (coordinate := model.coordinates[name]).locked:
            value[name], speed[name] = none + coordinate.default, none
    return np.stack([value[name] for name in names], axis=1), np.stack(
        [speed[name] for name in names], axis=1
    )


def geometry_along(
    model: OpenSimModel, choice: SharedChoice, motion: CoordinateMotion, reported: bool = True
) -> tuple[OpenSimGeometry, Array]:
    """Lengths and moment arms about the shared coordinates, and the rates of the lengths (T, n) [m/s].

    The arms of a muscle about coordinates that it does not cross are exactly zero: where the muscles of a coordinate
    have no capacity, round-off in its row would determine the optimum. reported: see `opensim_geometry`.
    """
    names = (*choice.dofs, *sorted(choice.needed - set(choice.dofs)))
    value, speed = _coordinates(model, motion, names)
    crosses = np.array([[name in choice.crossing[muscle] for muscle in choice.names] for name in names])
    frames, shared, count = shape = len(value), len(choice.dofs), len(choice.names)
    velocity, length, opensim_length = (np.empty((frames, count)) for _ in range(3))
    arm = theirs = zero_arms(*shape)
    for block in blocks(frames):  # arms about the other coordinates are needed for the rates alone
        poses = dict(zip(names, value[block].T, strict=True))
        geometry = opensim_geometry(model, poses, names, choice.names, reported)
        np.copyto(geometry.moment_arm, 0.0, where=~crosses)
        velocity[block] = -np.einsum("tk,tkn->tn", speed[block], geometry.moment_arm)
        length[block], opensim_length[block] = geometry.length, geometry.opensim_length
        arm[block][:, crosses[:shared]] = geometry.moment_arm[:, :shared][:, crosses[:shared]]
        if geometry.opensim_arm is not geometry.moment_arm:
            theirs = zero_arms(*shape) if theirs is arm else theirs
            theirs[block][:, crosses[:shared]] = geometry.opensim_arm[:, :shared][:, crosses[:shared]]
    return OpenSimGeometry(choice.dofs, choice.names, length, arm, opensim_length, theirs), velocity
