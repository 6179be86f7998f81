"""Forces between the bodies of a joint: what inverse dynamics asks for, less what muscles give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_real_array
from musclesolve.opensim.geometry import path_wrenches
from musclesolve.opensim.inverse.inverse_dynamics import InverseDynamics, carried_by_joints
from musclesolve.opensim.inverse.model_motion import ModelMotion
from musclesolve.opensim.model import OpenSimModel


@dataclass(frozen=True, eq=False)
class JointReactions:
    """What the child body of each joint (J) receives from its parent over time (T), in the axes of the ground.

    force (T, J, 3) [N]; moment (T, J, 3) [N m] about the point; point (T, J, 3) [m]: origin of the joint's frame on
    the child. With muscle forces it is the contact force; the moment about the joint's axes is then what muscles do
    not balance: reserves, ligaments and couplings.
    """

    joints: tuple[str, ...]
    force: Array
    moment: Array
    point: Array


def joint_reactions(
    model: OpenSimModel,
    dynamics: InverseDynamics,
    motion: ModelMotion,
    muscles: Sequence[str] = (),
    tendon_force: Array | None = None,
) -> JointReactions:
    """Joint reactions; contact forces if tendon forces (T, n) [N] of muscles are given.

    The wrench that the bodies from the joint outward need is made by the joint and by the muscles on these bodies.

    Raises:
        InputError: a muscle is unknown or not supported, or the forces are of another shape.
    """
    wrench = dynamics.wrench
    if tendon_force is not None:
        shape = (len(motion.time), len(muscles))
        force = check_real_array(
            tendon_force, "tendon_force", f"shape {shape}", where="joint_reactions", shapes=(shape,)
        )
        wrench = wrench - path_wrenches(model, motion.value, muscles, force)
    carried = carried_by_joints(model, wrench)
    pose = dynamics.bodies.pose
    child = [model.body_number[joint.child.body] for joint in model.joints]
    outer = [model.body_number[joint.outboard.body] for joint in model.joints]
    sense = np.array([-1.0 if joint.is_reversed else 1.0 for joint in model.joints])[:, None]
    offset = np.array([joint.child.position for joint in model.joints])
    point = (pose.rotation[:, child] @ offset[..., None])[..., 0] + pose.position[:, child]
    force, about_origin = sense * carried[:, outer, 3:], sense * carried[:, outer, :3]
    names = tuple(joint.name for joint in model.joints)
    return JointReactions(names, force, about_origin - np.cross(point, force), point)
