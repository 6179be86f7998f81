"""The knees of an OpenSim model: joints, length of the shank, patella."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from musclesolve._util.sides import OTHER, joint_kind, side_of
from musclesolve.opensim.model import Joint, OpenSimModel


def knee_joints(joints: Iterable[Joint]) -> list[Joint]:
    """The first joint of each side that rotates and has a name with knee in it, from the thigh to the shank."""
    knees: dict[str, Joint] = {}
    for joint in joints:
        rotates = any(axis.coordinates for axis in joint.rotations) and not joint.is_reversed
        if joint_kind(joint.name) == "knee" and side_of(joint.name) != OTHER and rotates:
            knees.setdefault(side_of(joint.name), joint)
    return list(knees.values())


def shank_length(model: OpenSimModel, knee: Joint) -> float | None:
    """Distance from the knee to the joint that the shank carries [m], the farthest of several; None without any."""
    ends = [joint.inboard.position for joint in model.joints if joint.inboard.body == knee.outboard.body]
    return max((float(np.linalg.norm(end - knee.outboard.position)) for end in ends), default=None)


def patella_bodies(model: OpenSimModel, knee: Joint) -> list[str]:
    """Bodies that ride on the thigh and move with the knee, through a coupler or by its own coordinates."""
    moving = model.independent(knee.moved_by)
    return [
        joint.outboard.body
        for joint in model.joints
        if joint is not knee
        and joint.inboard.body == knee.inboard.body
        and model.independent(joint.moved_by) & moving
    ]
