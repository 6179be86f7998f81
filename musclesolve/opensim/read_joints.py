"""Joints of a model file, each as rotations and translations by functions of its coordinates."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

import numpy as np

from musclesolve.opensim.functions import Constant, LinearFunction, Scaled
from musclesolve.opensim.model import (
    GROUND,
    PRESCRIBED,
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
"""One letter for each coordinate: lower case for a rotation about this axis, upper case for a translation along it."""
_COLLINEAR = 1e-3
"""Sine of the angle between two axes below which their coordinates are the same motion."""
_LINKED = ("body_1", "body_2", "line_body", "follower_body", "rolling_body", "surface_body")
"""Tags of the bodies of a constraint in files before version 4."""


def read_joints(context: Context) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """The joints from the ground outward, and joints that close loops; joints of other kinds become `unsupported`."""
    left = []
    for element in context.of_kind("Joint"):
        joint = _joint(context, element)
        if joint is None:
            context.unsupported[f"joint {element.name}"] = element.tag
        else:
            left.append(joint)
    # in an order in which each starts at a body that is placed already
    placed, ordered = {GROUND}, []
    while ready := [joint for joint in left if (joint.parent.body in placed) != (joint.child.body in placed)]:
        joint = next((joint for joint in ready if joint.parent.body in placed), ready[0])
        ordered.append(replace(joint, is_reversed=joint.parent.body not in placed))
        placed |= {joint.parent.body, joint.child.body}
        left = [other for other in left if other is not joint]
    closing = tuple(joint for joint in left if joint.parent.body in placed)
    for joint in left:
        how = "closing a loop" if joint in closing else "not connected with the ground"
        context.unsupported[f"joint {joint.name}"] = how
    for body in context.of_kind("Body"):
        if body.name not in placed:
            context.unsupported[f"body {body.name}"] = "no supported joint leads to it"
    return tuple(ordered), closing


def _joint(context: Context, element: Element) -> Joint | None:
    """The joint from an element; None for an unsupported kind of joint or frame."""
    parent = context.frame(element, "socket_parent_frame")
    child = context.frame(element, "socket_child_frame")
    names = tuple(coordinate.name for coordinate in element.listed("coordinates"))
    rotations: list[TransformAxis | None] = []
    translations: list[TransformAxis | None] = []
    if element.tag == "CustomJoint":
        transform = element.require("SpatialTransform")
        axes = {each.name: each for each in transform.children if each.tag == "TransformAxis"}
        if set(axes) != set(_NAMED_AXES):  # in any order
            transform.fail(
                "opensim.dependent_axes",
                problem=f"its axes are {', '.join(axes) or 'none'}",
                code="bad_format",
                expected=", ".join(map(str, _NAMED_AXES)),
                remedy="correct the joint",
            )
        read = [_axis(axes[name], names) for name in _NAMED_AXES]
        rotations, translations = read[:3], read[3:]
    elif element.tag in _AXES:
        letters = _AXES[element.tag]
        if len(letters) != len(names):
            element.fail(
                "opensim.other_number_of_coordinates",
                problem=f"{len(names)} coordinates",
                code="bad_model",
                expected=f"{len(letters)}, as a {element.tag} has",
                remedy="open the model in OpenSim and save it again",
            )
        for letter, name in zip(letters, names, strict=True):
            along = np.eye(3)["xyz".index(letter.lower())]
            axis = TransformAxis(along, LinearFunction(np.ones(1), 0.0), (name,))
            (rotations if letter.islower() else translations).append(axis)
    else:
        return None
    for kind, axes_of_kind in (("rotation", rotations), ("translation", translations)):
        driven = [axis for axis in axes_of_kind if axis is not None and axis.coordinates]
        for one, other in pairwise(driven):
            collinear = np.linalg.norm(np.cross(one.axis, other.axis)) < _COLLINEAR
            if collinear and not set(one.coordinates) & set(other.coordinates):
                names_of_both = (*one.coordinates, *other.coordinates)
                element.fail(
                    "opensim.collinear_axes",
                    problem=f"{', '.join(map(str, names_of_both))} move the joint about or along the "
                    f"same axis ({kind}), so that no moment belongs to one of them alone",
                    code="bad_model",
                    expected="axes of different directions for different coordinates",
                    remedy="correct the axes of this joint",
                )
    turns, shifts = (tuple(a for a in part if a is not None) for part in (rotations, translations))
    if parent is None or child is None or len(turns) + len(shifts) < len(rotations) + len(translations):
        return None
    return Joint(element.name, element.tag, parent, child, turns, shifts, names)


_NAMED_AXES = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))


def _axis(element: Element, names: tuple[str, ...]) -> TransformAxis | None:
    """A transform axis; None for an unsupported function."""
    holder = element.find("coordinates")
    used = tuple(holder.words()) if holder else ()
    for name in used:
        if name not in names:
            element.fail(
                "opensim.joint_without_coordinate",
                problem=f"the joint has no coordinate '{name}'",
                code="unknown_name",
                expected=f"one of {', '.join(map(str, names))}",
                remedy="correct <coordinates>",
            )
    inner = element.find("function")
    if inner is not None and inner.children:  # layout of older files, <function><LinearFunction...>
        function = function_in(inner, len(used))
    else:
        others = [child for child in element.children if child.tag not in ("coordinates", "axis", "function")]
        function = read_function(others[0], len(used)) if others else Constant(0.0)
    axis = element.require("axis").vector()
    length = float(np.linalg.norm(axis))
    if not length > 0.0:
        element.fail(
            "opensim.axis_no_direction",
            problem="the axis has no direction",
            code="bad_model",
            expected="an axis",
            remedy="correct it",
        )
    return None if function is None else TransformAxis(axis / length, function, used)


def read_coordinates(context: Context, joints: Iterable[Joint]) -> dict[str, Coordinate]:
    """All coordinates of the joints in the order of the file."""
    coordinates: dict[str, Coordinate] = {}
    angles = set()  # see Coordinate: by f = q, or -q, plus a constant, as OpenSim decides it
    for moved in joints:
        rotating, translating = (
            {
                name
                for axis in axes
                if isinstance(axis.function, LinearFunction)
                for name, slope in zip(axis.coordinates, np.abs(axis.function.slopes), strict=True)
                if slope == 1.0
            }
            for axes in (moved.rotations, moved.translations)
        )
        angles |= rotating - translating
    for joint in context.of_kind("Joint"):
        for element in joint.listed("coordinates"):
            if element.name in coordinates:
                element.fail_repeated("coordinates")
            limits = context.property(element, "range")
            lower, upper = (-np.inf, np.inf) if limits is None or not limits.words() else limits.pair()
            default = context.number(element, "default_value", 0.0)
            locked, clamped = (context.flag(element, tag, False) for tag in ("locked", "clamped"))
            follows = element.find("prescribed_function")  # of time
            if follows is not None and follows.children and context.flag(element, "prescribed", False):
                if follows.children[0].tag == "Constant":
                    default, locked = follows.children[0].require("value").number(), True
                elif not locked:
                    context.prescribed.append(element.name)
            coordinates[element.name] = Coordinate(
                element.name, default, lower, upper, locked, element.name in angles, clamped
            )
    return coordinates


def read_couplers(
    context: Context, known: Mapping[str, Coordinate]
) -> tuple[tuple[Coupler, ...], list[OtherConstraint]]:
    """Couplers in an order in which each depends on earlier ones only, and unsupported ones."""
    left, others = [], []
    for element in context.of_kind("CoordinateCouplerConstraint"):
        if not context.flag(element, "isEnforced", True):
            continue
        independent = tuple(element.require("independent_coordinate_names").words())
        dependent = element.require("dependent_coordinate_name").text.strip()
        for name in (*independent, dependent):
            if name not in known:
                element.fail(
                    "opensim.no_coupled_coordinate",
                    problem=f"there is no coordinate '{name}'",
                    code="unknown_name",
                    expected="coordinates of the model",
                    remedy="correct the constraint",
                )
        holder = element.require("coupled_coordinates_function")
        function = function_in(holder, len(independent))
        coordinates = frozenset((dependent, *independent))
        if known[dependent].locked:
            kind = f"{element.tag} of a locked coordinate"
            others.append(OtherConstraint(element.name, kind, coordinates, coordinates))
        elif function is None or isinstance(function, Constant):
            # by a constant, OpenSim holds the independent one
            kind = f"{element.tag} by {holder.children[0].tag}" if holder.children else element.tag
            others.append(OtherConstraint(element.name, kind, frozenset((dependent,)), coordinates))
        else:
            scale = context.number(element, "scale_factor", 1.0)
            left.append(Coupler(dependent, independent, Scaled(function, scale)))
    ordered: list[Coupler] = []
    while left:
        driven = {coupler.dependent for coupler in left}
        ready = [coupler for coupler in left if not driven & set(coupler.independent)]
        if not ready or len(driven) < len(left):
            context.root.fail(
                "opensim.couplers_in_circle",
                problem=f"couplers contradict each other: {', '.join(map(str, sorted(driven)))}",
                code="bad_model",
                expected="each coordinate driven by one coupler at most, and no circle",
                remedy="remove one of them",
            )
        ordered += ready
        left = [coupler for coupler in left if coupler not in ready]
    return tuple(ordered), others


def read_links(context: Context, model: OpenSimModel, closing: Iterable[Joint]) -> list[OtherConstraint]:
    """Constraints between bodies, with joints that close loops, by the coordinates between these bodies.

    A coordinate that follows a function of time is also a constraint.
    """
    links = [(joint.name, joint.kind, [joint.parent.body, joint.child.body]) for joint in closing]
    for element in context.of_kind("Constraint"):
        if element.tag != "CoordinateCouplerConstraint" and context.flag(element, "isEnforced", True):
            sockets = [
                socket
                for socket in element.children
                if socket.tag.startswith("socket_") or socket.tag in _LINKED
            ]
            frames = [
                context.pose(context.connectee(element, socket)) for socket in sockets if socket.words()
            ]
            # none if it does not state its bodies in a supported form
            bodies = [] if None in frames else [frame.body for frame in frames if frame]
            links.append((element.name, element.tag, bodies))
    locked = {name for name, coordinate in model.coordinates.items() if coordinate.locked}
    constraints = []
    for coordinate in context.prescribed:
        itself = frozenset((coordinate,))
        constraints.append(OtherConstraint(coordinate, PRESCRIBED, frozenset(), itself))
    for name, kind, bodies in links:
        placed = bodies and model.reachable.issuperset(bodies)
        between = model.coordinates_between(bodies) if placed else frozenset(model.coordinates)
        constraints.append(OtherConstraint(name, kind, between - locked, between - locked))
    return constraints
