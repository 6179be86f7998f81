"""An OpenSim model scaled by factors for each body, without OpenSim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from musclesolve._util.arrays import Array
from musclesolve.models.opensim.functions import Scaled
from musclesolve.models.opensim.model import GROUND, BodyMass, Frame, Joint, OpenSimModel, TransformAxis

Factors = Mapping[str, Array]


def scaled_skeleton(model: OpenSimModel, factors: Factors, masses: Mapping[str, BodyMass]) -> OpenSimModel:
    """Joints moved with the bodies' factors (3,), mass properties of elsewhere; the muscles stay as they are."""
    joints = tuple(_joint(joint, factors) for joint in model.joints)
    return replace(model, joints=joints, masses=masses)


def _joint(joint: Joint, factors: Factors) -> Joint:
    translations = tuple(_translation(axis, joint.parent.body, factors) for axis in joint.translations)
    parent, child = _frame(joint.parent, factors), _frame(joint.child, factors)
    return replace(joint, parent=parent, child=child, translations=translations)


def _translation(axis: TransformAxis, parent: str, factors: Factors) -> TransformAxis:
    """Along the axes of the parent: only functions of a coupled motion grow with it."""
    if parent == GROUND:
        return axis
    return replace(axis, function=Scaled(axis.function, float(abs(axis.axis) @ factors[parent])))


def _frame(frame: Frame, factors: Factors) -> Frame:
    return frame if frame.body == GROUND else replace(frame, position=frame.position * factors[frame.body])
