"""Joints of a model file, each written as rotations and translations by functions of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from musclesolve.opensim.functions import Constant, Linear, Scaled
from musclesolve.opensim.model import GROUND, Coordinate, Coupler, Joint, TransformAxis
from musclesolve.opensim.read_context import Context, function_in, read_function
from musclesolve.opensim.xml_tree import Element

_AXES = {
    "WeldJoint": "",
    "PinJoint": "z",
    "SliderJoint": "X",
    "UniversalJoint": "xy",
    "BallJoint": "xyz",
    "GimbalJoint": "xyz",
    "PlanarJoint": "zXY",
    "FreeJoint": "xyzXYZ",
}
"""One letter for each coordinate: small, a rotation about this axis; large, a translation along it."""


def read_joints(context: Context, model: Element) -> tuple[Joint, ...]:
    """The joints from the ground outward; those of other kinds become `unsupported`."""
    joints = []
    for element in model.listed("JointSet"):
        joint = _joint(context, element)
        if joint is None:
            context.unsupported[f"joint {element.name}"] = element.tag
        else:
            joints.append(joint)
    return _outward(context, joints)


def _outward(context: Context, joints: list[Joint]) -> tuple[Joint, ...]:
    """The joints in an order in which each starts at a body that is placed already."""
    placed, ordered, left = {GROUND}, [], joints
    while ready := [
        joint for joint in left if joint.parent.body in placed and joint.child.body not in placed
    ]:
        ordered.append(ready[0])
        placed.add(ready[0].child.body)
        left = [joint for joint in left if joint is not ready[0]]
    for joint in left:
        context.unsupported[f"joint {joint.name}"] = "not connected with the ground, or closing a loop"
    for body in context.bodies:
        if body not in placed:
            context.unsupported[f"body {body}"] = "no supported joint leads to it"
    return tuple(ordered)


def _joint(context: Context, element: Element) -> Joint | None:
    own = {frame.name: frame for frame in element.listed("frames")}
    parent = context.frame(element, "socket_parent_frame", own)
    child = context.frame(element, "socket_child_frame", own)
    names = tuple(each.name for each in element.listed("coordinates"))
    if element.tag == "CustomJoint":
        axes = _custom(context, element.require("SpatialTransform"), names)
    elif element.tag in _AXES:
        axes = _standard(element, names)
    else:
        return None
    if axes is None:
        return None
    rotations, translations = axes
    return Joint(element.name, element.tag, parent, child, rotations, translations, names)


_Axes = tuple[tuple[TransformAxis, ...], tuple[TransformAxis, ...]]


def _standard(element: Element, names: tuple[str, ...]) -> _Axes:
    letters = _AXES[element.tag]
    if len(letters) != len(names):
        element.fail(
            f"{len(names)} coordinates",
            expected=f"{len(letters)}, as a {element.tag} has",
            remedy="open the model in OpenSim and save it again",
            code="bad_model",
        )
    axes = [
        (letter, TransformAxis(np.eye(3)["xyz".index(letter.lower())], Linear(np.ones(1), 0.0), (name,)))
        for letter, name in zip(letters, names, strict=True)
    ]
    return tuple(a for c, a in axes if c.islower()), tuple(a for c, a in axes if c.isupper())


def _custom(context: Context, transform: Element, names: tuple[str, ...]) -> _Axes | None:
    elements = [child for child in transform.children if child.tag == "TransformAxis"]
    if len(elements) != 6:
        transform.fail(
            f"{len(elements)} axes",
            expected="three rotations and three translations",
            remedy="correct the joint",
        )
    axes = [_axis(element, names) for element in elements]
    if None in axes:
        return None
    kept = [axis for axis in axes if axis is not None]
    return tuple(kept[:3]), tuple(kept[3:])


def _axis(element: Element, names: tuple[str, ...]) -> TransformAxis | None:
    """A transform axis; None when its function is of another kind."""
    holder = element.find("coordinates")
    used = tuple(holder.words()) if holder else ()
    for name in used:
        if name not in names:
            element.fail(
                f"the joint has no coordinate '{name}'",
                expected=f"one of {', '.join(names)}",
                remedy="correct <coordinates>",
                code="unknown_name",
            )
    inner = element.find("function")
    if inner is not None and inner.children:  # layout of older files, <function><Linear...>
        function = function_in(inner, len(used))
    else:
        given = [child for child in element.children if child.tag not in ("coordinates", "axis", "function")]
        function = read_function(given[0], len(used)) if given else Constant(0.0)
    axis = element.require("axis").vector()
    length = float(np.linalg.norm(axis))
    if not length > 0.0:
        element.fail("the axis has no direction", expected="an axis", remedy="correct it", code="bad_model")
    return None if function is None else TransformAxis(axis / length, function, used)


def read_coordinates(context: Context, model: Element, joints: Iterable[Joint]) -> dict[str, Coordinate]:
    """All coordinates of the joints in the order of the file."""
    found: dict[str, Coordinate] = {}
    angles = {name for joint in joints for name in _angles(joint)}
    for joint in model.listed("JointSet"):
        for element in joint.listed("coordinates"):
            if element.name in found:
                element.fail(
                    f"there are two coordinates '{element.name}'",
                    expected="every name once",
                    remedy="rename one of them",
                    code="duplicate_name",
                )
            limits = context.property(element, "range")
            lower, upper = (-np.inf, np.inf) if limits is None else limits.pair()
            default = context.number(element, "default_value", 0.0)
            locked = context.flag(element, "locked", False)
            rotational = element.name in angles
            found[element.name] = Coordinate(element.name, default, lower, upper, locked, rotational)
    return found


def _angles(joint: Joint) -> set[str]:
    """Coordinates that are angles: one of the rotations is by f = q, or -q, plus a constant."""
    found = set()
    for axis in joint.rotations:
        if isinstance(axis.function, Linear):
            slopes = np.abs(axis.function.slopes)
            found |= {name for name, slope in zip(axis.coordinates, slopes, strict=True) if slope == 1.0}
    return found


def read_couplers(context: Context, model: Element, known: Iterable[str]) -> tuple[Coupler, ...]:
    """Couplers in an order in which each depends on earlier ones only; other constraints become `unsupported`."""
    known, couplers = set(known), []
    for element in model.listed("ConstraintSet"):
        if not context.flag(element, "isEnforced", True):
            continue
        coupler = _coupler(context, element, known) if element.tag == "CoordinateCouplerConstraint" else None
        if coupler is None:
            context.unsupported[f"constraint {element.name}"] = element.tag
        else:
            couplers.append(coupler)
    return tuple(_by_dependence(model, couplers))


def _coupler(context: Context, element: Element, known: set[str]) -> Coupler | None:
    independent = tuple(element.require("independent_coordinate_names").words())
    dependent = element.require("dependent_coordinate_name").text.strip()
    for name in (*independent, dependent):
        if name not in known:
            element.fail(
                f"there is no coordinate '{name}'",
                expected="coordinates of the model",
                remedy="correct the constraint",
                code="unknown_name",
            )
    function = function_in(element.require("coupled_coordinates_function"), len(independent))
    if function is None:
        return None
    scale = context.number(element, "scale_factor", 1.0)
    return Coupler(dependent, independent, Scaled(function, scale))


def _by_dependence(model: Element, couplers: list[Coupler]) -> list[Coupler]:
    ordered: list[Coupler] = []
    left = couplers
    while left:
        dependent = {coupler.dependent for coupler in left}
        ready = [coupler for coupler in left if not dependent & set(coupler.independent)]
        if not ready or len(dependent) < len(left):
            model.fail(
                f"couplers contradict each other: {', '.join(sorted(dependent))}",
                expected="each coordinate driven by one coupler at most, and no circle",
                remedy="remove one of them",
                code="bad_model",
            )
        ordered += ready
        left = [coupler for coupler in left if coupler not in ready]
    return ordered
