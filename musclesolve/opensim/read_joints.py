"""Joints of a model file, each written as rotations and translations by functions of its coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from musclesolve.opensim.functions import Constant, Linear, Scaled
from musclesolve.opensim.model import (
    GROUND,
    Coordinate,
    Coupler,
    Joint,
    OpenSimModel,
    OtherConstraint,
    TransformAxis,
)
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
_LINKED = ("body_1", "body_2", "line_body", "follower_body", "rolling_body", "surface_body")
"""What a constraint joins, in files before version 4."""


def read_joints(context: Context) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """The joints from the ground outward, and those that close loops; those of other kinds become `unsupported`."""
    joints = []
    for element in context.components.of_kind("Joint"):
        joint = _joint(context, element)
        if joint is None:
            context.unsupported[f"joint {element.name}"] = element.tag
        else:
            joints.append(joint)
    return _outward(context, joints)


def _outward(context: Context, joints: list[Joint]) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """The joints in an order in which each starts at a body that is placed already, and those that close loops."""
    placed, ordered, left = {GROUND}, [], joints
    while ready := [joint for joint in left if (joint.parent.body in placed) != (joint.child.body in placed)]:
        found = next((joint for joint in ready if joint.parent.body in placed), ready[0])
        ordered.append(replace(found, is_reversed=found.parent.body not in placed))
        placed |= {found.parent.body, found.child.body}
        left = [joint for joint in left if joint is not found]
    closing = tuple(joint for joint in left if joint.parent.body in placed)
    for joint in left:
        how = "closing a loop" if joint in closing else "not connected with the ground"
        context.unsupported[f"joint {joint.name}"] = how
    for body in context.bodies:
        if body not in placed:
            context.unsupported[f"body {body}"] = "no supported joint leads to it"
    return tuple(ordered), closing


def _joint(context: Context, element: Element) -> Joint | None:
    parent = context.frame(element, "socket_parent_frame")
    child = context.frame(element, "socket_child_frame")
    names = tuple(each.name for each in element.listed("coordinates"))
    if element.tag == "CustomJoint":
        axes = _custom(element.require("SpatialTransform"), names)
    elif element.tag in _AXES:
        axes = _standard(element, names)
    else:
        return None
    if axes is None or parent is None or child is None:
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


_NAMED_AXES = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))


def _custom(transform: Element, names: tuple[str, ...]) -> _Axes | None:
    """The axes by their names, in whatever order they stand."""
    elements = {child.name: child for child in transform.children if child.tag == "TransformAxis"}
    if set(elements) != set(_NAMED_AXES):
        transform.fail(
            f"its axes are {', '.join(elements) or 'none'}",
            expected=", ".join(_NAMED_AXES),
            remedy="correct the joint",
        )
    axes = [_axis(elements[name], names) for name in _NAMED_AXES]
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


def read_coordinates(context: Context, joints: Iterable[Joint]) -> dict[str, Coordinate]:
    """All coordinates of the joints in the order of the file."""
    found: dict[str, Coordinate] = {}
    angles = {name for joint in joints for name in _angles(joint)}
    for joint in context.components.of_kind("Joint"):
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
            prescribed = _prescribed(context, element)
            if prescribed is not None and prescribed.tag == "Constant":
                default, locked = prescribed.require("value").number(), True
            rotational = element.name in angles
            clamped = context.flag(element, "clamped", False)
            found[element.name] = Coordinate(element.name, default, lower, upper, locked, rotational, clamped)
    return found


def _prescribed(context: Context, coordinate: Element) -> Element | None:
    """The function of time that a coordinate has to follow."""
    holder = coordinate.find("prescribed_function")
    if holder is None or not holder.children or not context.flag(coordinate, "prescribed", False):
        return None
    return holder.children[0]


def _angles(joint: Joint) -> set[str]:
    """Coordinates that are angles (see Coordinate): by f = q, or -q, plus a constant, as OpenSim decides it."""
    rotating, translating = (_by_unit_slope(axes) for axes in (joint.rotations, joint.translations))
    return rotating - translating


def _by_unit_slope(axes: Iterable[TransformAxis]) -> set[str]:
    linear = [(axis.coordinates, axis.function) for axis in axes if isinstance(axis.function, Linear)]
    return {
        name
        for names, function in linear
        for name, slope in zip(names, np.abs(function.slopes), strict=True)
        if slope == 1.0
    }


def read_couplers(
    context: Context, known: Mapping[str, Coordinate]
) -> tuple[tuple[Coupler, ...], list[OtherConstraint]]:
    """Couplers in an order in which each depends on earlier ones only, and those that are not supported."""
    couplers, others = [], []
    for element in context.components.of_kind("CoordinateCouplerConstraint"):
        if not context.flag(element, "isEnforced", True):
            continue
        dependent, independent = _coupled(element, known)
        holder = element.require("coupled_coordinates_function")
        function = function_in(holder, len(independent))
        every = frozenset((dependent, *independent))
        if known[dependent].locked:
            others.append(
                OtherConstraint(element.name, f"{element.tag} of a locked coordinate", every, every)
            )
        elif function is None or isinstance(
            function, Constant
        ):  # by a constant, OpenSim holds the independent one
            kind = f"{element.tag} by {holder.children[0].tag}" if holder.children else element.tag
            others.append(OtherConstraint(element.name, kind, frozenset((dependent,)), every))
        else:
            scale = context.number(element, "scale_factor", 1.0)
            couplers.append(Coupler(dependent, independent, Scaled(function, scale)))
    return tuple(_by_dependence(context.root, couplers)), others


def read_links(context: Context, model: OpenSimModel, closing: Iterable[Joint]) -> list[OtherConstraint]:
    """Constraints between bodies, joints that close loops among them, by the coordinates between these bodies.

    A coordinate that follows a function of time is one too.
    """
    links = [(joint.name, joint.kind, [joint.parent.body, joint.child.body]) for joint in closing]
    for element in context.components.of_kind("Constraint"):
        if element.tag != "CoordinateCouplerConstraint" and context.flag(element, "isEnforced", True):
            links.append((element.name, element.tag, _linked_bodies(context, element)))
    locked = {name for name, coordinate in model.coordinates.items() if coordinate.locked}
    found = []
    for element in context.components.of_kind("Coordinate"):
        if _prescribed(context, element) is not None and element.name not in locked:
            own = frozenset((element.name,))
            found.append(OtherConstraint(element.name, "a coordinate prescribed over time", own, own))
    for name, kind, bodies in links:
        placed = bodies and model.reachable.issuperset(bodies)
        between = model.coordinates_between(bodies) if placed else frozenset(model.coordinates)
        found.append(OtherConstraint(name, kind, between - locked, between - locked))
    return found


def _linked_bodies(context: Context, element: Element) -> list[str]:
    """The bodies that a constraint joins; none where it does not say so in a way that is read."""
    sockets = [each for each in element.children if each.tag.startswith("socket_") or each.tag in _LINKED]
    frames = [context.pose(context.connectee(element, socket)) for socket in sockets if socket.words()]
    return [frame.body for frame in frames if frame] if None not in frames else []


def _coupled(element: Element, known: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """The dependent coordinate of a coupler and the independent ones."""
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
    return dependent, independent


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
