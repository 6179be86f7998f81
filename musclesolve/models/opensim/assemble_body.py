"""Making of the body of an OpenSim model: coordinates, moments and their source, muscles, parts."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Indices, Mask, within
from musclesolve._util.checks import one_or_several
from musclesolve._util.messages import WarningNote, count_of, few
from musclesolve._util.processes import return_memory
from musclesolve._util.sides import sides_of
from musclesolve.dynamics.inverse.residual_reduction import MotionChange
from musclesolve.errors import file_error
from musclesolve.models.body import Sharing, SharingGroup
from musclesolve.models.knee import quadriceps
from musclesolve.models.opensim.actuators import actuator_columns, actuator_notes
from musclesolve.models.opensim.coordinate_motion import (
    BeyondRange,
    CoordinateMotion,
    Source,
    beyond_ranges,
    coordinate_motion,
)
from musclesolve.models.opensim.external_loads import feet_of
from musclesolve.models.opensim.load_dynamics import (
    CoordinateMoments,
    LoadDynamics,
    device_notes,
    load_dynamics,
    reached,
    unmeasured_notes,
)
from musclesolve.models.opensim.model import OpenSimModel, OpenSimMuscle
from musclesolve.models.opensim.model_body import ModelBody, shared_joints
from musclesolve.models.opensim.moments import due_moments
from musclesolve.models.opensim.person_file import person_of_model
from musclesolve.models.opensim.read_model import read_osim, with_function_paths
from musclesolve.models.opensim.read_muscles import control_notes, curve_notes
from musclesolve.models.opensim.reduced_residual import LoadedModel, reduced_residual
from musclesolve.models.opensim.segments import segments
from musclesolve.models.opensim.shared_choice import (
    LACKING_SHARE,
    SharedChoice,
    muscles_along,
    shared_choice,
    shared_coordinates,
    unserved_dofs,
)
from musclesolve.models.settings import REDUCED, OpenSimSettings
from musclesolve.muscles.scaling.scale_muscles import separate_groups
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.solver_registry import find_solver

TIME_RANGE = "time range"
LEAVES_RANGE = (
    "see whether this model has the signs and units of the motion; widen the range if the joint moves so"
)


def model_body(
    model: OpenSimModel | str | Path,
    coordinates: Source,
    moments: Source | None,
    settings: OpenSimSettings,
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
    _check_contacts(model, settings)
    chosen = settings.muscles
    cutoff, dofs, without = settings.filter.cutoff_hz, settings.sharing.dofs, settings.sharing.without
    person = None if chosen.database is None else person_of_model(chosen.database, model)
    choice = shared_choice(model, dofs, chosen.names, side, without or (), chosen.without or ())
    axes_notes = _axes_notes(model, moments is not None, settings.files.predicted)
    motion = coordinate_motion(model, coordinates, None if isinstance(cutoff, str) else cutoff)
    _check_columns(model, motion, choice)
    due, table = due_moments(model, motion, choice.dofs, moments, settings)
    return_memory(len(motion.time))

    in_range, selected = _selected_frames(motion, due, settings)
    # of feet whose loads change a moment that is shared: not of trunk or arms alone
    counting = {
        foot: frames for foot, frames in due.unmeasured.items() if reached(model, [foot], choice.dofs)
    }
    standing = unmeasured_notes(counting, selected)
    notes = [note for note in choice.notes if not isinstance(note, WarningNote)]
    notes += [*axes_notes, *motion.notes, *due.notes, *standing]
    notes += _range_notes(motion, settings)
    notes += [*curve_notes(choice.muscles), *control_notes(choice.muscles)]
    if left := int((in_range & ~due.covered).sum()):
        notes.append(f"Frames of the coordinates have no moments and are left out: {left}.")
    notes += _function_path_notes(choice.muscles, due.loads is not None)
    notes += _loop_notes(model, choice.dofs, due.loads is not None)
    every_motion, motion = motion, motion if selected.all() else motion.frames(selected)
    notes += device_notes(model, motion, choice.dofs, stated=moments is not None)
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
            same = due.dynamics if np.array_equal(selected, due.covered) else None
            dynamics = same or load_dynamics(model, motion, due.loads)
        notes += _segment_notes(model)
        if joints := shared_joints(model, choice.dofs):
            loads = dynamics.joint_loads(joints, choice.names)
            if segments(model).knees and quadriceps(choice.names).size:
                notes.append(
                    "At the knee the quadriceps pull by a patellar ligament with the arm and direction of measured "
                    "knees, not along the lines of the model: contact forces there differ from JointReaction of "
                    "OpenSim."
                )
        measured = dynamics if change is None else change.before.dynamics
        if measured.change_any(choice.dofs):
            notes += measured.residual_note("" if change is None else ", before the motion was changed")
            usable = usable if measured.balanced is None else measured.balanced
    if motion.unknown is not None:
        usable = usable & ~motion.unknown

    state, of_muscles = muscles_along(model, choice, motion, settings.muscles, person)
    notes += [note for note in of_muscles if not isinstance(note, WarningNote)]
    warnings = [note for note in (*choice.notes, *of_muscles) if isinstance(note, WarningNote)]
    angle, speed = shared_coordinates(model, motion, choice.dofs)
    if sharing is None:
        usual = settings.sharing
        cost, solver = find_cost(usual.cost), find_solver(usual.solver)
        sharing = Sharing(cost, solver, chosen.tendon, usual.reserve_weight, usual.least_activation)
    requested = settings.sharing.actuators
    actuators = actuator_columns(model, motion, choice.dofs, one_or_several(requested) if requested else ())
    notes += actuator_notes(model, choice.dofs, actuators)
    if actuators is not None and loads is not None:
        notes += _path_actuator_notes(model, actuators.names)
    whole = SharingGroup(
        sides=sides_of(choice.dofs),
        dofs=choice.dofs,
        shared=choice.dofs,
        state=state,
        moment=moment,
        usable=usable,
        time=motion.time,
        loads=loads,
        angle=angle,
        rate=speed,
        actuators=actuators,
    )

    acts, count = choice.acts, len(choice.muscles)
    if actuators is not None:
        acts = np.concatenate([acts, actuators.acts], axis=1)
    parts = tuple(
        _part(model, dynamics, whole, dofs, columns[columns < count], columns[columns >= count] - count)
        for dofs, columns in separate_groups(acts)
    )
    if dynamics is not None:
        every = np.ones(len(usable), bool) if motion.unknown is None else ~motion.unknown
        parts = tuple(
            part if dynamics.change_any(part.dofs) else replace(part, usable=every) for part in parts
        )
    beyond = beyond_ranges(model, motion, choice.needed | set(choice.dofs))
    unserved = unserved_dofs(whole)
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
        warnings=(*warnings, *_contradictions(unserved, beyond)),
        beyond=beyond,
        unserved=unserved,
        change=change,
    )


def _check_contacts(model: OpenSimModel, settings: OpenSimSettings) -> None:
    """Refuse contacts of a simulator, which an OpenSim model does not have."""
    if settings.simulator.contacts is not None:
        raise file_error(
            "conflict",
            model.file,
            "contacts of a simulator, of an OpenSim model",
            "loads that were measured, or that are predicted from the motion",
            'leave the contacts out; loads = "predicted" computes ground reactions',
        )


def _check_columns(model: OpenSimModel, motion: CoordinateMotion, choice: SharedChoice) -> None:
    """Refuse a motion without a coordinate that the chosen muscles cross and the model does not lock."""
    required = {name for name in {*choice.needed, *choice.dofs} if not model.coordinates[name].locked}
    if lacking := [name for name in model.coordinates if name in required and name not in motion.names]:
        raise file_error(
            "missing_column",
            motion.file,
            f"there is no column {few(lacking, 8)}",
            "every coordinate that the muscles cross and the model does not lock",
            "give the file of inverse kinematics of this model, or choose other muscles",
        )


def _selected_frames(
    motion: CoordinateMotion, due: CoordinateMoments, settings: OpenSimSettings
) -> tuple[Mask, Mask]:
    """Masks (T,) of the frames in the time range, and of those among them whose moments are known."""
    start, end = settings.time.start_s, settings.time.end_s
    in_range = within(motion.time, -np.inf if start is None else start, np.inf if end is None else end)
    selected = due.covered & in_range
    if np.isnan(due.moment[selected]).all():
        time = motion.time[due.covered & ~np.isnan(due.moment).all(axis=1)]
        if not time.size:
            raise file_error(
                "missing_samples",
                due.file,
                "no moment is known in any frame of the coordinates",
                "numbers where the coordinates are",
                "give inverse dynamics, or ground reactions, without such gaps",
            )
        raise file_error(
            "bad_range",
            (motion.file, TIME_RANGE),
            f"no frame with moments lies in the time range {_range_text(settings)}",
            f"a range within {time[0]:g} to {time[-1]:g} s",
            "exchange the two times, if they are in the wrong order; else correct the time range",
        )
    return in_range, selected


def _range_text(settings: OpenSimSettings) -> str:
    """The stated time range in words."""
    limits = {"from": settings.time.start_s, "to": settings.time.end_s}
    return " ".join(f"{word} {limit:g} s" for word, limit in limits.items() if limit is not None)


def _range_notes(motion: CoordinateMotion, settings: OpenSimSettings) -> list[str]:
    """A note on a stated time range beyond the coordinates."""
    first, last = motion.time[[0, -1]]
    frame = (last - first) / max(1, len(motion.time) - 1)
    stated = (settings.time.start_s, settings.time.end_s)
    if all(limit is None or first - frame < limit < last + frame for limit in stated):
        return []
    return [
        f"The stated time range, {_range_text(settings)}, reaches beyond the coordinates, which last from {first:g} to "
        f"{last:g} s."
    ]


def _function_path_notes(muscles: Sequence[OpenSimMuscle], with_loads: bool) -> list[str]:
    """Notes on muscles whose lengths are functions of coordinates, and on what their paths cannot show."""
    if not (fitted := [muscle.name for muscle in muscles if muscle.by_function is not None]):
        return []
    drawn = [muscle.name for muscle in muscles if muscle.points]
    notes = [
        f"Lengths of {count_of(len(fitted), 'muscle')} are functions of coordinates: {few(fitted)}. Moment arms "
        "and rates are the derivatives of these functions."
    ]
    if with_loads and not set(fitted) <= set(drawn):
        notes.append(
            "Such a path without points shows no line of action: contact forces of the joints that it crosses are "
            "not computed."
        )
    return notes


def _loop_notes(model: OpenSimModel, dofs: Sequence[str], with_loads: bool) -> list[str]:
    """A note on shared coordinates that constraints couple in closed loops of bodies."""
    if not (looped := [name for name in dofs if name in model.in_loops]):
        return []
    driven = [coupler.dependent for coupler in model.couplers if coupler.closes_loop]
    within_loop = [joint.name for joint in model.joints if model.independent(joint.moved_by) & model.in_loops]
    return [
        f"Constraints close a loop of bodies: {few(driven, 8)} follow from {few(looped, 8)}."
        + " Moments and arms of one of these hold the others; OpenSim's moment arms let all of them move."
        * (len(looped) > 1)
        + f" Contact forces of joints of the loop are not computed: {few(within_loop, 8)}." * with_loads
    ]


def _segment_notes(model: OpenSimModel) -> list[str]:
    """Notes on bodies whose axes or knees cannot be read from the model."""
    notes, of_model = [], segments(model)
    if lying := of_model.lying:
        notes.append(
            f"With all coordinates zero {few(lying, 4)} of the model lie far from the vertical: their axes are the "
            "line of their joints and the axis of the knee."
        )
    if feet_of(model) and not of_model.knees:
        notes.append(
            "No joint of the model has the name of a knee and its side: forces on the parts of the knee, its "
            "adduction moment and comparisons with implants are left out."
        )
    return notes


def _path_actuator_notes(model: OpenSimModel, actuators: Sequence[str]) -> list[str]:
    """A note on actuators that pull along a path, which contact forces leave out."""
    pulling = [name for name in actuators if model.actuators[name].path is not None]
    if not pulling:
        return []
    return [f"Contact forces of the joints do not contain the pull of the path actuators {few(pulling, 6)}."]


def _contradictions(unserved: Mapping[str, float], beyond: Sequence[BeyondRange]) -> list[WarningNote]:
    """Warnings of moments that no muscle can produce, and of coordinates that leave their range."""
    without_muscle = [
        WarningNote(
            f"No muscle can produce {100.0 * share:.0f} % of the peak moment of {name}, nor its moment in nearly any "
            f"other frame (at most {100.0 * LACKING_SHARE:g} % is expected): its reserves are not counted.",
            "model",
            f'leave it out: without = ["{name}"] in [sharing], or --without {name}',
        )
        for name, share in unserved.items()
    ]
    out_of_range = [
        WarningNote(f"{leaving.sentence}: moment arms there are extrapolated.", "model", LEAVES_RANGE)
        for leaving in beyond
    ]
    return without_muscle + out_of_range


_UPRIGHT = 0.5
"""Least cosine between the y axis of the ground and up: floors of treadmills and ramps may be tilted."""


def _axes_notes(model: OpenSimModel, with_moments: bool, predicted: bool) -> list[str]:
    """Return a note where gravity is not along -y of the ground; refuses loads, which act in other axes there."""
    if model.up[1] > _UPRIGHT or ((with_moments or predicted) and not model.gravity.any()):
        return []
    x, y, z = (f"{part:g}" for part in model.gravity)
    if not with_moments:
        raise file_error(
            "unsupported",
            model.file,
            f"gravity of the model is ({x}, {y}, {z}) m/s2, which does not point along -y",
            "with loads a model whose y axis points up, as usual in OpenSim (x forward, y up, z right)",
            "turn the model, its gravity and the loads, or give moments of inverse dynamics "
            "(--moments) instead of loads",
        )
    return [
        WarningNote(
            f"Gravity of the model is ({x}, {y}, {z}) m/s2, not along -y: angles of pelvis, trunk and feet and the "
            "moving picture, which take y as up, are wrong. Muscle forces follow from the given moments.",
            "model",
        )
    ]


def _part(
    model: OpenSimModel,
    dynamics: LoadDynamics | None,
    whole: SharingGroup,
    dofs: Indices,
    muscles: Indices,
    actuators: Indices,
) -> SharingGroup:
    """Select some coordinates, and muscles and actuators that act on them alone, by their numbers in the whole part."""
    loads = whole.loads
    if loads is not None and dynamics is not None:
        joints = shared_joints(model, [whole.dofs[k] for k in dofs])
        loads = dynamics.joint_loads(joints, [whole.state.parameters.names[k] for k in muscles])
    return whole.part(dofs, muscles, loads, actuators)
