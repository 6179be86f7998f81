"""The muscles of an OpenSim model along a motion: lengths, moment arms, and moments that no muscle can produce."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.long_arrays import blocks, in_blocks, long_array
from musclesolve._util.message_text import WarningNote, few
from musclesolve.constants import RIGID
from musclesolve.muscles.muscle_state import MuscleState, zero_arms
from musclesolve.muscles.person import PersonMuscles
from musclesolve.muscles.strength import parameter_warnings
from musclesolve.muscles.tendon_strain import check_tendon_strains
from musclesolve.opensim.geometry import (
    OpenSimGeometry,
    difference_note,
    fiber_path_lengths,
    opensim_geometry,
    shift_note,
    tendon_shifts,
)
from musclesolve.opensim.kinematics import joints_crossed
from musclesolve.opensim.model import OpenSimModel, OpenSimMuscle
from musclesolve.opensim.read_muscles import muscle_parameters
from musclesolve.pipeline.body import SharingGroup
from musclesolve.pipeline.opensim.coordinate_motion import CoordinateMotion
from musclesolve.pipeline.opensim.shared_choice import SharedChoice
from musclesolve.settings.trial import ModelMuscleSettings

COMPARED = 256
"""Number of frames up to which all moment arms are compared with those that OpenSim reports, which take as long again;
of a longer motion a quarter as many."""
LACKING_SHARE = 0.1
"""Share of the peak moment of a coordinate that its muscles may lack, like a reserve."""
_NEARLY_ALL, _OFTEN = 0.9, 0.25
"""Share of the frames with a large moment, and of all frames, in which the moment must exceed the muscles."""
_LEAST_MOMENT = 1.0
"""Peak moment below which a coordinate needs no muscles [N m], like a negligible reserve."""


def muscles_along(
    model: OpenSimModel,
    choice: SharedChoice,
    motion: CoordinateMotion,
    chosen: ModelMuscleSettings,
    person: PersonMuscles | None,
) -> tuple[MuscleState, list[str]]:
    """The muscles along a motion, scaled by the factors of a person, and notes and warnings on them."""
    # elastic tendons are longer than the tendons of the model where the paths are longer
    notes: list[str] = []
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
    every = 1 if len(motion.time) <= COMPARED else 4 * len(motion.time) // COMPARED
    compared = geometry_along(model, choice, motion.frames(slice(None, None, every)))
    geometry, velocity = compared if every == 1 else geometry_along(model, choice, motion, reported=False)
    if len(motion.time) > 1:
        notes += jump_notes(choice.muscles, motion.time, geometry.length, velocity)
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
    notes += parameter_warnings([muscles])
    return MuscleState.from_lengths(muscles, length, velocity, geometry.moment_arm), notes


def unserved_dofs(part: SharingGroup) -> dict[str, float]:
    """Shared coordinates whose moments the muscles cannot produce -> share of the peak moment that exceeds the muscles.

    All muscles of one direction add at most sum_i |r_i| F_i to the moment of the passive forces, with moment arm r and
    F the force at activation 1, or the maximum isometric force where larger, which fibers on elastic tendons may reach.
    A coordinate is named where its moment exceeds this limit by more than LACKING_SHARE of its peak in nearly all
    frames with so large a moment; a single peak is a lack of strength, or a fault of the moment. The result is empty
    where most coordinates would be named: then the moments are wrong or the muscles too weak, and reserves show it.
    """
    state = part.state
    arm, isometric = state.moment_arm, state.parameters.max_isometric_force
    required = part.moment - in_blocks(
        lambda arm, force: (arm @ force[..., None])[..., 0], arm, state.passive_force
    )
    measured = np.isfinite(required) & part.usable[:, None]
    moment = np.where(measured, required, 0.0)
    most = in_blocks(
        lambda arm, capacity, moment: _largest_moments(arm, np.maximum(capacity, isometric), moment),
        *(arm, state.force_capacity, moment),
    )
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
    hole = step > 1.5 * np.median(step)  # of the moments

    def difference(step: Array, hole: Mask, *ends: Array) -> Array:
        here, after, rate, rate_after = ends
        change = np.abs(after - here - 0.5 * (rate_after + rate) * step[:, None])
        return np.where(hole[:, None], 0.0, change)

    beyond = in_blocks(difference, step, hole, length[:-1], length[1:], rate[:-1], rate[1:])
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


def shared_coordinates(
    model: OpenSimModel, motion: CoordinateMotion, names: Sequence[str]
) -> tuple[Array, Array]:
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
    value, speed = shared_coordinates(model, motion, names)
    crosses = np.array([[name in choice.crossing[muscle] for muscle in choice.names] for name in names])
    frames, shared, count = shape = len(value), len(choice.dofs), len(choice.names)
    velocity, length, opensim_length = (long_array((frames, count)) for _ in range(3))
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
