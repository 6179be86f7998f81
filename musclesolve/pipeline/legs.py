"""One leg: its muscles along the motion, the loads of its joints, and the sharing of its moments."""

from __future__ import annotations

from musclesolve._util.arrays import Array
from musclesolve.dynamics.inverse.external_wrenches import Wrench
from musclesolve.dynamics.inverse.newton_euler import SegmentMotion
from musclesolve.dynamics.inverse.newton_euler import joint_loads as net_loads
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.muscles.leg_muscle_state import MuscleState, muscle_state
from musclesolve.muscles.placing.place_muscles import LEG_DOFS
from musclesolve.pipeline.elastic_leg import share_elastic_leg
from musclesolve.pipeline.rigid_leg import share_rigid_leg
from musclesolve.pipeline.run_options import Options
from musclesolve.pipeline.types import JOINTS, JointLoads, LegMechanics, LegResult, Mechanics


def leg_mechanics(
    options: Options, recorded: Mechanics, segments: SegmentMotion, side: str
) -> tuple[MuscleState, JointLoads]:
    """The muscles of one leg along the motion, and the loads of its joints."""
    model, motion = recorded.model, recorded.motion
    state = muscle_state(model, options.muscles(model, side), motion)
    return state, joint_loads(model, motion, segments, recorded.wrenches, state)


def leg_moments(model: Model, moments: Array, side: str) -> Array:
    """The columns (T, 7) over `LEG_DOFS` of generalized forces (T, K+6)."""
    return moments[:, [model.dof(f"{dof}_{side}") for dof in LEG_DOFS]]


def joint_loads(
    model: Model, motion: Motion, segments: SegmentMotion, wrenches: list[Wrench], state: MuscleState
) -> JointLoads:
    """Loads of hip, knee and ankle of one leg."""
    names = {joint: f"{dof}_{state.muscles.side}" for joint, dof in JOINTS.items()}
    net = net_loads(model, motion, segments, wrenches, list(names.values()))
    return JointLoads(
        net={joint: net[name].force for joint, name in names.items()},
        across={joint: state.path.pull(model.distal_bodies(name)) for joint, name in names.items()},
    )


def share_leg(leg: LegMechanics, options: Options) -> LegResult:
    """Share the moments of one leg among its muscles, behind rigid or elastic tendons.

    The status of a frame that is not usable is INVALID_MOTION, or NOT_MEASURED where its moments are not known.
    """
    return (share_elastic_leg if options.tendon == "elastic" else share_rigid_leg)(leg, options)
