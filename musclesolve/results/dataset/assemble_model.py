"""The result of sharing on an OpenSim model as one labelled Dataset, with the variables of `run`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import xarray as xr

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.muscles.tendon_strain import stated_texts
from musclesolve.opensim.kinematics import coordinate_values
from musclesolve.opensim.model import Joint
from musclesolve.pipeline.opensim.coordinate_motion import ORDER
from musclesolve.pipeline.opensim.group_result import GroupResult, ModelResult
from musclesolve.pipeline.opensim.model_problem import ModelProblem
from musclesolve.recording.text.text_file import sha256
from musclesolve.results.dataset.fiber_ranges import beyond_plausible
from musclesolve.results.dataset.frame_validity import ALL_SIDES, MUSCLE_SIDE, OTHER, side_of
from musclesolve.results.dataset.group_reasons import group_reasons
from musclesolve.results.dataset.picture.model_loads import load_coordinates, load_variables
from musclesolve.results.dataset.picture.model_skeleton import TO_GLOBAL, model_paths, model_skeleton
from musclesolve.results.dataset.picture.skeleton import Drawn
from musclesolve.results.dataset.tendons.tendon_variables import (
    balance_error,
    iterations,
    tendon_variables,
)
from musclesolve.results.files.result_netcdf import storable
from musclesolve.sharing.status import Status
from musclesolve.version import __version__

Variable = tuple[tuple[str, ...], AnyArray]


def assemble_model(found: ModelResult) -> xr.Dataset:
    """Label everything that was computed; names are those of the model."""
    problem = found.problem
    least, greatest = _fiber_range(found)
    picture = _drawn(problem)
    variables = _variables(found) | _of_sides(found) | _of_joints(found) | picture.variables
    variables |= _of_tendons(found)
    variables |= load_variables(problem.model, problem.dynamics)
    variables["least_normalized_fiber_length"] = (("muscle",), least)
    variables["greatest_normalized_fiber_length"] = (("muscle",), greatest)
    attributes = _provenance(found) | _reasons(found)
    attributes["notes"] = [
        *problem.notes,
        *(f"{each.sentence}: moment arms there are extrapolated." for each in problem.beyond),
        *_method(problem),
        *found.notes,
        *beyond_plausible(problem.muscles.names, least, greatest),
    ]
    coordinates = {
        "time": ("time", problem.motion.time, {"units": "s"}),
        "dof": list(problem.choice.dofs),
        "muscle": list(problem.muscles.names),
        "short_name": ("muscle", list(problem.muscles.names)),
        "group": ("muscle", _joints_crossed(problem)),
        MUSCLE_SIDE: ("muscle", _muscle_sides(found)),
        "side": _sides(found),
        "axis": list("xyz"),
        **picture.coordinates,
        **load_coordinates(problem.dynamics),
    }
    if problem.dynamics is not None:
        coordinates["joint"] = [joint.name for joint in _shared_joints(problem)]
    result = xr.Dataset(variables, coordinates, {key: storable(value) for key, value in attributes.items()})
    result["status"].attrs |= {
        "flag_values": np.array([int(status) for status in Status], dtype=np.int8),
        "flag_meanings": " ".join(status.name for status in Status),
    }
    meaning = bundled_toml(__package__, "variables.toml")
    for name in result.data_vars:
        result.variables[name].attrs |= meaning[str(name)]
    if not all(problem.model.coordinates[name].rotational for name in problem.choice.dofs):
        result["joint_angle"].attrs["units"] = "rad; m of a translation"
        for name in ("joint_moment", "reserve_moment"):
            result[name].attrs["units"] = "N m; N of a translation"
    return result


def _drawn(problem: ModelProblem) -> Drawn:
    """Skeleton and muscle paths, for pictures."""
    model, motion = problem.model, problem.motion
    values = coordinate_values(model, motion.by_name(motion.value))
    return Drawn(model_skeleton(model, values), model_paths(model, values, problem.muscles.names))


def _variables(found: ModelResult) -> dict[str, Variable]:
    problem, muscles, forces = found.problem, found.problem.muscles, found.problem.problem
    passive = forces.passive_force
    assert passive is not None
    of_muscles = {
        "activation": found.activation,
        "muscle_force": found.force + passive,
        "passive_force": passive,
        "force_capacity": forces.force_capacity,
        "fiber_length": problem.fiber.length,
        "fiber_velocity": problem.fiber.velocity,
        "musculotendon_length": problem.musculotendon_length,
        "musculotendon_velocity": problem.musculotendon_velocity,
    }
    of_dofs = {
        "joint_angle": problem.angle,
        "joint_moment": problem.moment,
        "joint_power": problem.moment * _speeds(problem),
        "reserve_moment": found.reserve,
    }
    parameters = ("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle")
    return {
        **{name: (("time", "muscle"), values) for name, values in of_muscles.items()},
        **{name: (("time", "dof"), values) for name, values in of_dofs.items()},
        **{name: (("muscle",), getattr(muscles, name)) for name in parameters},
        "moment_arm": (("time", "dof", "muscle"), forces.moment_arm),
    }


def _speeds(problem: ModelProblem) -> Array:
    """Rates of the shared coordinates, (T, m) [rad/s or m/s]; locked ones rest."""
    given, still = problem.motion.by_name(problem.motion.speed), np.zeros(len(problem.motion.time))
    coordinates = [problem.model.coordinates[name] for name in problem.choice.dofs]
    return np.stack([still if each.locked else given[each.name] for each in coordinates], axis=1)


def _shared_joints(problem: ModelProblem) -> list[Joint]:
    """Joints with a coordinate that is shared."""
    dofs = set(problem.choice.dofs)
    return [joint for joint in problem.model.joints if dofs & joint.moved_by]


def _of_joints(found: ModelResult) -> dict[str, Variable]:
    """Joint forces in the global frame (x forward, y left, z up), where external loads are known."""
    problem, dynamics = found.problem, found.problem.dynamics
    if dynamics is None:
        return {}
    assert problem.problem.passive_force is not None
    tension = found.force + problem.problem.passive_force
    contact = dynamics.contact_forces(problem.model, problem.muscles.names, tension)
    rows = [contact.joints.index(joint.name) for joint in _shared_joints(problem)]
    kinds = {
        "joint_reaction": contact.force,
        "joint_reaction_net": dynamics.net_reactions(problem.model).force,
    }
    return {name: (("time", "joint", "axis"), force[:, rows] @ TO_GLOBAL.T) for name, force in kinds.items()}


def _sides(found: ModelResult) -> list[str]:
    """The sides of the shared coordinates, by the ends of their names."""
    present = {side_of(name) for name in found.problem.choice.dofs}
    return [side for side in ALL_SIDES if side in present]


def _of_side(found: ModelResult, side: str) -> list[GroupResult]:
    """The groups with a coordinate of a side: what the trunk lacks is not said of the legs, whatever its muscles."""
    return [group for group in found.groups if side in map(side_of, group.problem.dof or ())]


def _muscle_sides(found: ModelResult) -> list[str]:
    """The side whose verdict is that of each muscle: its own, unless its group has no coordinate of that side."""
    sides = np.full(len(found.problem.muscles.names), OTHER, dtype=object)
    for group in found.groups:
        present = [side for side in ALL_SIDES if side in map(side_of, group.problem.dof or ())]
        for number in group.muscles:
            own = side_of(found.problem.muscles.names[number])
            sides[number] = own if own in present else present[-1]
    return [str(side) for side in sides]


def _of_sides(found: ModelResult) -> dict[str, Variable]:
    """Status (the worst of its groups), certificate and cost of each side."""
    groups = [[group.solution for group in _of_side(found, side)] for side in _sides(found)]

    def over_time(columns: Sequence[AnyArray]) -> Variable:
        return ("time", "side"), np.stack(list(columns), axis=1)

    status = [np.max([each.status for each in own], axis=0) for own in groups]
    return {
        "status": over_time(status),
        "valid": over_time([np.isin(each, (Status.SOLVED, Status.SOLVED_WITH_RESERVE)) for each in status]),
        "kkt_residual": over_time([np.max([each.kkt_residual for each in own], axis=0) for own in groups]),
        "cost": over_time([np.sum([each.cost for each in own], axis=0) for own in groups]),
    }


def _fiber_range(found: ModelResult) -> tuple[Array, Array]:
    """Least and greatest normalised fiber length (n,) of the frames with a solution; NaN without any."""
    solved: Mask = np.isfinite(found.activation)
    normal = found.problem.fiber.length / found.problem.muscles.optimal_fiber_length
    least = np.where(solved, normal, np.inf).min(axis=0)
    greatest = np.where(solved, normal, -np.inf).max(axis=0)
    known = solved.any(axis=0)
    return np.where(known, least, np.nan), np.where(known, greatest, np.nan)


def _of_tendons(found: ModelResult) -> dict[str, Variable]:
    """Elastic tendons of all muscles, and the error of their balance on each side."""
    if found.tendons is None:
        return {}
    sides = np.array(_muscle_sides(found))
    defects = [found.tendons.defect[:, sides == side] for side in _sides(found)]
    return tendon_variables({"": found.tendons}) | balance_error(defects)


def _joints_crossed(problem: ModelProblem) -> list[str]:
    """The joints with shared coordinates that each muscle crosses, without side: "hip, walker_knee"."""
    joint_of = {name: joint.name for joint in problem.model.joints for name in joint.moved_by}
    found = []
    for name in problem.muscles.names:
        own = problem.choice.crossing[name]
        joints = [joint_of[dof] for dof in problem.choice.dofs if dof in own and dof in joint_of]
        found.append(
            ", ".join(dict.fromkeys(joint[:-2] if joint[-2:] in ("_r", "_l") else joint for joint in joints))
        )
    return found


def _method(problem: ModelProblem) -> list[str]:
    cutoff = problem.motion.cutoff_hz
    filtered = (
        "not filtered"
        if cutoff is None
        else (
            f"low-pass filtered as OpenSim does (order {ORDER}, zero-lag, amplitude halved at {cutoff:g} Hz)"
        )
    )
    return [f"Coordinates {filtered}, rates by a quintic spline; tendons {problem.options.tendon}."]


def _provenance(found: ModelResult) -> dict[str, object]:
    problem, solution = found.problem, found.groups[0].solution
    motion, model = problem.motion, problem.model
    source = "moments" if problem.dynamics is None else "loads"
    files = {"model": model.file, "coordinates": motion.file, source: problem.moment_file}
    attributes: dict[str, object] = {
        "musclesolve_version": __version__,
        "subject": model.name,
        "model_file": os.path.realpath(model.file),
        "inputs": [f"{role} {path.name} sha256:{sha256(path)}" for role, path in files.items() if path],
        "cost": solution.cost_name,
        "solver": ", ".join(dict.fromkeys(each.solution.solver for each in found.groups)),
        "muscle_database": model.file.name,
        "passive": problem.options.passive,
        "tendon": problem.options.tendon,
        "musculotendon_length_over_several_wraps": "OpenSim 4"
        if problem.options.tendon == "rigid"
        else "path",
        "tendon_strain": stated_texts(problem.options.tendon_strain),
        **_iterations(found),
        "shared_dofs": list(problem.choice.dofs),
    }
    if model.masses:
        attributes["subject_mass_kg"] = float(sum(body.mass for body in model.masses.values()))
    residual = None if problem.dynamics is None else problem.dynamics.root_residual(model)
    if residual is not None and np.isfinite(residual).any():
        attributes["root_residual_n"] = float(np.nanmax(residual))
    if motion.file is not None:
        attributes["trial_file"] = os.path.realpath(motion.file)
    if motion.cutoff_hz is not None:
        attributes |= {"filter_method": "butterworth", "filter_order": ORDER, "cutoff_hz": motion.cutoff_hz}
    return attributes


def _iterations(found: ModelResult) -> dict[str, object]:
    """Of the groups of each side that took most."""
    if found.tendons is None:
        return {}
    groups = {side: [group.solution for group in _of_side(found, side)] for side in _sides(found)}
    return iterations(
        {side: max(own, key=lambda each: each.iterations.max()) for side, own in groups.items()}
    )


def _reasons(found: ModelResult) -> dict[str, list[str]]:
    sentences = {
        side: [line for group in _of_side(found, side) for line in group_reasons(found.problem, group)]
        for side in _sides(found)
    }
    return {f"reasons_{side}": own for side, own in sentences.items() if own}
