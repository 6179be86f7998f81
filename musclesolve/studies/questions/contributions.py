"""Contributions of each muscle to the acceleration of center of mass and joints, ground reactions and contact forces.

`dynamics.inverse.induced_accelerations` has the equations and the contact models. All contact models are computed and
compared, since none is right throughout: in push-off the heel has left the ground, so that the foot is
not flat; after heel strike the foot turns about the heel.

A muscle presses the bones of a joint in two ways. Its own tension acts across the joints that it crosses (*own*). And
it accelerates the whole body and changes the ground reaction, which loads every joint (*through dynamics*): the net
joint force that its induced accelerations need. The contact force is the sum of both contributions of all parts.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.messages import Progress, no_progress
from musclesolve._util.sides import side_of, with_side
from musclesolve.dynamics.inverse.induced_accelerations import InducedAccelerations, induced_accelerations
from musclesolve.errors import input_error
from musclesolve.laboratory.bodies.linked_bodies import Linked, linked
from musclesolve.laboratory.bodies.measured_body import MeasuredAnalysis
from musclesolve.laboratory.bodies.run_options import check_consistent
from musclesolve.laboratory.checks.check import findings_of
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.recording.data import AnyTrial
from musclesolve.laboratory.results.dataset.assemble import assemble, segment_axes
from musclesolve.laboratory.results.dataset.labels import Variable
from musclesolve.laboratory.results.dataset.quantities import QUANTITIES, explained
from musclesolve.laboratory.results.dataset.result_quantities import force_unit, heading_angle
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.trial.trial_file import read_trial
from musclesolve.models.body_sharing import share
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.studies.known_names import COMPARTMENTS
from musclesolve.studies.written_answer import judgement_of

WITHOUT_POWER = ("motion", "free_moment")
"""Parts without a power of their own: velocities, and a share of the ground reaction."""


def contributions(
    trial: AnyTrial | str | Path, cost: str | Cost | None = None, progress: Progress | None = None
) -> xr.Dataset:
    """Compute the contributions of each muscle, gravity and the rest to accelerations, ground reactions and contact
    forces.

    Args:
        trial: a recording or an OpenSim model with its loads, from `read_trial`, or the path of a trial file.
        cost: of the sharing; the trial file's unless given.
        progress: called with the name of each stage and the share of the work that is done.

    Returns:
        Dataset over contact ("rocker", "point", "foot"; see `induced_accelerations`), part, time, dof, side, axis,
        joint and compartment ("medial", "lateral"). The parts of a contact model add up to what was recorded:
        center_acceleration (contact, part, time, axis) [m/s2], joint_acceleration (contact, part, time, dof) [rad/s2],
        ground_contribution (contact, part, time, side, axis) [N]. For contact forces of the joints: contact_own
        (part, time, joint, axis) [N], by tension across the joint, and contact_dynamics (contact, part, time, joint,
        axis) [N], through accelerations and ground reactions; together all parts are `joint_reaction` of a result.
        knee_own (part, time, side, compartment) and knee_dynamics (contact, part, time, side, compartment) [N]
        likewise; with knee_ligaments (time, side, compartment) [N], what a contact that lifts off does not pull, they
        are `knee_contact_medial` and `knee_contact_lateral`. power (part, time) [W] that muscles, gravity and the other
        forces deliver to the body, ground_power (time, side) [W] of the ground on feet that move: together
        kinetic_power (time) [W], the rate of kinetic energy. positive_work, negative_work (part) [J] for a stride, NaN
        where no stride is complete. Parts are the muscles, then gravity, motion, free_moment, other_moments (reserves,
        actuators, joints without muscles, what muscles do not make of moments that are not shared) and residual (force
        and moment at the pelvis that no ground reaction gives). group (part): function group with the side, or the
        name of the part. touching (time, side). Frames in which a leg has no solution are NaN. The attributes hold the
        verdict and the findings on the trial.

    Raises:
        InputError: an OpenSim model without feet or without external loads, or whatever `run` refuses.
    """
    report = progress or no_progress
    trial = read_trial(trial)
    body = prepare(trial, cost, None, "both", report)
    check_consistent(body.trial, "contributions of muscles")
    analysis = share(body, progress=report)
    report("contact models", 0.9)
    joined = linked(analysis)
    labeled = assemble(analysis, findings_of(body, trial))
    if not joined.feet:
        raise input_error(
            "missing_argument",
            where="contributions",
            problem=f"the model {labeled.attrs['subject']} has no feet on which ground reactions act",
            expected="a body that stands or walks, with ground reactions under its feet",
            remedy="leave out contributions for arms and spines",
        )
    solved = np.all([part.solution.solved & part.part.measured for part in analysis.parts], axis=0)
    induced = induced_accelerations(joined.bodies, joined.feet, joined.forces, joined.joints)
    first = next(iter(induced.values()))
    parts, touching = first.parts, first.touching

    # both feet of a side are one side of a result
    feet = [side_of(name) for name in joined.foot_bodies]
    sides = list(dict.fromkeys(feet))
    of_side = np.array([[float(side == other) for other in feet] for side in sides])
    dofs = [dof for dof in body.dofs if dof in joined.speeds]
    columns = [joined.speeds.index(dof) for dof in dofs]
    groups = dict(zip(map(str, labeled["muscle"].values), map(str, labeled["group"].values), strict=True))
    of_part = [with_side(groups[name], side_of(name)) if name in groups else name for name in parts]
    variables: dict[str, Variable] = {
        "center_acceleration": (("contact", "part", "time", "axis"), _stacked(induced, "center", solved)),
        "joint_acceleration": (
            ("contact", "part", "time", "dof"),
            _stacked(induced, "joint", solved)[..., columns],
        ),
        "ground_contribution": (
            ("contact", "part", "time", "side", "axis"),
            np.einsum("sl,cptlx->cptsx", of_side, _stacked(induced, "ground", solved)),
        ),
        "touching": (("time", "side"), np.asarray((touching[:, None] & (of_side > 0.0)).any(axis=2))),
    }
    variables |= _of_contact_forces(analysis, joined, induced, solved, sides)
    strides, (weight, unit) = Facts(labeled).whole_strides, force_unit(labeled)
    if (heading := heading_angle(labeled)) is not None:
        attributes: dict[str, object] = dict(QUANTITIES["heading"].attrs)
        variables["heading"] = tuple(map(str, heading.dims)), heading.values, attributes
    variables |= _of_power(body.time, joined, first, solved, of_side, strides)
    result = xr.Dataset(
        variables,
        {
            "contact": list(induced),
            "part": list(parts),
            "group": ("part", of_part),
            "time": ("time", body.time, {"units": "s"}),
            "dof": dofs,
            "side": sides,
            "axis": list("xyz"),
            "joint": list(joined.joint_names),
            "compartment": list(COMPARTMENTS),
        },
        {
            "subject": str(labeled.attrs.get("subject", "")),
            "subject_mass_kg": float(joined.bodies.mass.sum()),
            **({"body_weight_n": weight} if unit != "N" else {}),
            "force_unit": unit,
            "cost": body.sharing.cost.label,
            "frames": len(body.time),
            "frames_solved": int(solved.sum()),
            "whole_strides": 0 if strides is None else strides[1],
            **judgement_of(labeled),
        },
    )
    return explained(result)


def _stacked(induced: Mapping[str, InducedAccelerations], of: str, solved: Mask) -> Array:
    """A share (contact, part, time, ...) under each contact model, NaN in frames without forces."""
    array = np.stack([getattr(of_part, of).swapaxes(0, 1) for of_part in induced.values()])
    array[:, :, ~solved] = np.nan
    return array


def _of_contact_forces(
    analysis: MeasuredAnalysis,
    joined: Linked,
    induced: Mapping[str, InducedAccelerations],
    solved: Mask,
    sides: Sequence[str],
) -> dict[str, Variable]:
    """Own and dynamic contributions to the contact forces of joints and to both compartments of the knees."""
    parts = next(iter(induced.values())).parts
    names, frames = joined.joint_names, len(analysis.body.time)
    own_force, own_moment = np.zeros((2, len(parts), frames, len(names), 3))
    for part in analysis.parts:
        rows = [parts.index(muscle) for muscle in part.state.parameters.names]
        if (loads := part.part.loads) is not None:
            for k, name in enumerate(loads.joints):
                for out, across in zip((own_force, own_moment), loads.all_pulls[:2], strict=True):
                    if name in names:
                        of_joint = (across[:, k] * part.tension[:, :, None]).swapaxes(0, 1)
                        out[rows, :, names.index(name)] = of_joint
    own_force[:, ~solved], own_moment[:, ~solved] = np.nan, np.nan
    sense = joined.sense[:, None]
    force, moment = (_stacked(induced, of, solved) * sense for of in ("load_force", "load_moment"))
    variables: dict[str, Variable] = {
        "contact_own": (("part", "time", "joint", "axis"), own_force),
        "contact_dynamics": (("contact", "part", "time", "joint", "axis"), force),
    }
    axes, spacing = segment_axes(analysis.body), analysis.body.contact_spacing
    knees = {side_of(name): name for name in spacing if name in axes and name in names}
    if not knees:
        return variables
    shape = (frames, len(sides), 2)
    pressing = np.full((len(parts), *shape), np.nan)
    through = np.full((len(force), len(parts), *shape), np.nan)
    ligaments = np.full(shape, np.nan)
    for side, name in knees.items():
        if side not in sides:
            continue
        place, joint = sides.index(side), names.index(name)

        def pressed(push: Array, about: Array, name: str = name) -> Array:
            """Return the forces on the medial and the lateral contact, (..., T, 2); see `models.knee`."""
            down, _, medial = np.moveaxis(axes[name], 1, 0)
            axial = 0.5 * (push * down).sum(axis=-1)
            frontal = (about * np.cross(down, medial)).sum(axis=-1) / spacing[name].distance
            return np.stack([axial - frontal, axial + frontal], axis=-1)

        pressing[:, :, place] = pressed(own_force[:, :, joint], own_moment[:, :, joint])
        through[:, :, :, place] = pressed(force[..., joint, :], moment[..., joint, :])
        whole = pressing[:, :, place].sum(axis=0) + through[0, :, :, place].sum(axis=0)
        total = np.maximum(whole.sum(axis=1), 0.0)
        ligaments[:, place] = np.clip(whole, 0.0, total[:, None]) - whole
    knee = ("time", "side", "compartment")
    return variables | {
        "knee_own": (("part", *knee), pressing),
        "knee_dynamics": (("contact", "part", *knee), through),
        "knee_ligaments": (knee, ligaments),
    }


def _of_power(
    time: Array,
    joined: Linked,
    first: InducedAccelerations,
    solved: Mask,
    of_side: Array,
    strides: tuple[Mask, int] | None,
) -> dict[str, Variable]:
    """Power of the parts and of the ground, and the work of the parts for a stride."""
    bodies = joined.bodies
    power = np.einsum("tpk,tk->pt", first.generalized, bodies.speeds)
    power[[first.parts.index(name) for name in WITHOUT_POWER]] = np.nan
    power[:, ~solved] = np.nan
    of_ground = np.stack([bodies.power(foot) for foot in joined.feet], axis=1) * first.touching
    positive, negative = np.full((2, len(power)), np.nan)
    if strides is not None and (within := strides[0] & solved).sum() > 1:
        stride = (time[1] - time[0]) * int(within.sum()) / strides[1]
        positive, negative = (
            stride * of(power[:, within], 0.0).mean(axis=1) for of in (np.maximum, np.minimum)
        )
    return {
        "power": (("part", "time"), power),
        "ground_power": (("time", "side"), of_ground @ of_side.T),
        "kinetic_power": (("time",), bodies.kinetic_power),
        "positive_work": (("part",), positive),
        "negative_work": (("part",), negative),
    }
