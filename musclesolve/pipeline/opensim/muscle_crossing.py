"""Which coordinates a muscle of an OpenSim model can act on, read from the structure of the model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from musclesolve.opensim.functions import Linear, Scaled
from musclesolve.opensim.model import Joint, OpenSimModel, OpenSimMuscle, TransformAxis

Crossing = Mapping[str, frozenset[str]]
"""Muscle -> the independent coordinates that its length depends on."""


def muscle_crossing(model: OpenSimModel) -> dict[str, frozenset[str]]:
    """The independent coordinates that the length of each muscle depends on, locked ones included.

    Those of the joints between the bodies of its path, and those that its moving and conditional points name; a
    coordinate that a coupler drives stands for those it depends on.
    """
    joints = {joint.child.body: joint for joint in model.joints}
    return {
        name: independent(model, _between(model, joints, muscle) | _of_points(muscle))
        for name, muscle in model.muscles.items()
    }


def independent(model: OpenSimModel, names: Iterable[str]) -> frozenset[str]:
    """The coordinates themselves, or those that drive them."""
    found = set(names)
    for coupler in reversed(model.couplers):
        if coupler.dependent in found:
            found = (found - {coupler.dependent}) | set(coupler.independent)
    return frozenset(found)


def rotational(model: OpenSimModel) -> frozenset[str]:
    """Coordinates that are angles: those in proportion to which a joint rotates. A file may give these in degrees."""
    axes = [axis for joint in model.joints for axis in joint.rotations]
    return frozenset(axis.coordinates[0] for axis in axes if _proportional(axis))


def _proportional(axis: TransformAxis) -> bool:
    function = axis.function.function if isinstance(axis.function, Scaled) else axis.function
    return isinstance(function, Linear) and len(axis.coordinates) == 1


def joint_coordinates(joint: Joint) -> set[str]:
    """The coordinates that a joint moves with."""
    return {name for axis in (*joint.rotations, *joint.translations) for name in axis.coordinates}


def _between(model: OpenSimModel, joints: Mapping[str, Joint], muscle: OpenSimMuscle) -> set[str]:
    """Coordinates of the joints that lie between the bodies of a path."""
    surfaces = [model.surfaces[wrap.surface] for wrap in muscle.wraps if wrap.surface in model.surfaces]
    bodies = {point.frame.body for point in muscle.points} | {each.frame.body for each in surfaces}
    chains = [_chain(joints, body) for body in bodies]
    across = set().union(*chains).difference(frozenset(chains[0]).intersection(*chains))
    return {name for body in across for name in joint_coordinates(joints[body])}


def _chain(joints: Mapping[str, Joint], body: str) -> set[str]:
    """A body and those between it and the ground."""
    found: set[str] = set()
    while body in joints and body not in found:
        found.add(body)
        body = joints[body].parent.body
    return found


def _of_points(muscle: OpenSimMuscle) -> set[str]:
    moving = {name for point in muscle.points if point.moving for name in point.moving.coordinates}
    return moving | {point.condition[0] for point in muscle.points if point.condition}


def separate_groups(
    crossing: Crossing, muscles: Sequence[str], dofs: Sequence[str]
) -> list[tuple[list[int], list[int]]]:
    """Coordinates and muscles, by number, that can be shared apart: no muscle of a group acts on another group.

    Returns:
        Coordinates and muscles of each group, in the order of the first coordinate.
    """
    group = np.arange(len(dofs))
    acts = [[k for k, dof in enumerate(dofs) if dof in crossing[name]] for name in muscles]
    for own in acts:
        group[np.isin(group, group[own])] = group[own].min()
    return [
        (np.flatnonzero(group == first).tolist(), [i for i, own in enumerate(acts) if group[own[0]] == first])
        for first in np.unique(group)
    ]
