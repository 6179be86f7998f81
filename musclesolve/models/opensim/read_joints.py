"""Joints of a model file, each as rotations and translations by functions of its coordinates.

Loops that constraints between bodies close become coordinates that are functions of others. Constraints c(q) = 0 with
the Jacobian C determine r = rank(C) coordinates q_d by the others q_i. With the rates along the null space of C,

    dq_d/dq_i = -C_d^+ C_i,        qdd_d = -C_d^+ (C_i qdd_i + Cd qd),

each dependent coordinate is coupled to the independent ones as by a coupler of the model. Forces of the constraints do
no work along these rates: generalized forces of the independent coordinates do not contain them. The dependent
coordinates are the columns on which a QR decomposition of C pivots in the default pose.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from musclesolve._util.arrays import Array, vector_product
from musclesolve.dynamics.rotations import to_vector
from musclesolve.errors import file_error
from musclesolve.models.opensim.functions import (
    ArcComponent,
    Constant,
    LinearFunction,
    Scaled,
    TurnedComponent,
)
from musclesolve.models.opensim.inverse_dynamics import (
    BodyDynamics,
    ModelMotion,
    body_dynamics,
    center_accelerations,
)
from musclesolve.models.opensim.kinematics import BodyMotion, body_motion, frames_in_ground
from musclesolve.models.opensim.model import (
    GROUND,
    PRESCRIBED,
    Coordinate,
    Coupler,
    Frame,
    Joint,
    Link,
    OpenSimModel,
    OtherConstraint,
    TransformAxis,
)
from musclesolve.models.opensim.xml_tree import FARTHEST, Context, Element, function_in, read_function

_STEPS = 50
_CLOSED = 1e-12
"""Largest step of a solved loop [rad or m]."""
OPEN = 1e-6
"""Largest violation of a closed loop [m or rad]."""
_RANK = 1e-6
"""Least singular value of the Jacobian, beside the largest one, of a constraint that removes a freedom."""


@dataclass(eq=False)
class Loop:
    """Some links between bodies of a model, solved for dependent coordinates.

    tree: the model without the links; independent, dependent: columns of its coordinates.
    """

    tree: OpenSimModel
    links: tuple[Link, ...]
    independent: list[int]
    dependent: list[int]
    solved: tuple[Array, Array] = field(default_factory=lambda: (np.zeros((0, 0)), np.zeros((0, 0))))

    def values(self, x: Array) -> Array:
        """All coordinates (T, K) at independent ones x (T, c), the loops closed from the default of the dependent ones.

        Raises:
            InputError: the loop cannot be closed in a pose.
        """
        if np.array_equal(self.solved[0], x):
            return self.solved[1]
        start = [coordinate.default for coordinate in self.tree.coordinates.values()]
        values = np.tile(start, (len(x), 1))
        values[:, self.independent] = x
        for _ in range(_STEPS):
            gap, jacobian = self.gap(values)
            step = -(np.linalg.pinv(jacobian[:, :, self.dependent]) @ gap[..., None])[..., 0]
            values[:, self.dependent] += np.clip(step, -0.2, 0.2)
            if not np.abs(step).max(initial=0.0) > _CLOSED:
                break
        gap = np.abs(self.gap(values)[0]).max(axis=1, initial=0.0)
        if (open_at := np.flatnonzero(~(gap < OPEN))).size:
            names = list(self.tree.coordinates)
            pose = {names[k]: round(float(values[open_at[0], k]), 4) for k in self.independent}
            raise file_error(
                "bad_model",
                (self.tree.file, ", ".join(link.name for link in self.links)),
                f"the loop stays open by {gap[open_at[0]]:.3g} [m or rad] at {pose} ({open_at.size} pose(s))",
                "coordinates at which the constraints can be satisfied",
                "give the coordinates of inverse kinematics of this model",
            )
        self.solved = (x.copy(), values)
        return values

    def gap(self, values: Array) -> tuple[Array, Array]:
        """Violations c (T, r) of the links and their Jacobian (T, r, K)."""
        pose = body_motion(self.tree, values, tuple(self.tree.coordinates))
        parts = [_gap(self.tree, link, pose) for link in self.links]
        return tuple(np.concatenate(part, axis=1) for part in zip(*parts, strict=True))  # type: ignore[return-value]

    def slope(self, values: Array) -> Array:
        """dq_d/dq_i (T, d, c)."""
        jacobian = self.gap(values)[1]
        return -np.linalg.pinv(jacobian[:, :, self.dependent]) @ jacobian[:, :, self.independent]

    def bend(self, values: Array, speed: Array) -> Array:
        """qdd_d (T, d) without accelerations of the independent coordinates, whose speeds are (T, c)."""
        rates = np.zeros_like(values)
        rates[:, self.independent] = speed
        rates[:, self.dependent] = (self.slope(values) @ speed[..., None])[..., 0]
        motion = ModelMotion(np.arange(len(values), dtype=float), values, rates, np.zeros_like(values))
        bodies = body_dynamics(self.tree, motion)
        drift = np.concatenate([_drift(self.tree, link, bodies) for link in self.links], axis=1)
        dependent = self.gap(values)[1][:, :, self.dependent]
        return -(np.linalg.pinv(dependent) @ drift[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class LoopCoordinate:
    """One dependent coordinate of a loop as a function of its independent ones."""

    loop: Loop
    number: int

    def value(self, x: Array) -> Array:
        """Value f(x) (T,) at coordinates x (T, c)."""
        return np.asarray(self.loop.values(x)[:, self.loop.dependent[self.number]])

    def derivative(self, x: Array) -> Array:
        """Derivative df/dx (T, c) at coordinates x (T, c)."""
        return np.asarray(self.loop.slope(self.loop.values(x))[:, self.number])

    def bend(self, x: Array, speed: Array) -> Array:
        """Sum d2f/(dx_i dx_j) xd_i xd_j (T,) at coordinates x (T, c) with speeds xd (T, c)."""
        return np.asarray(self.loop.bend(self.loop.values(x), speed)[:, self.number])


def loop_couplers(model: OpenSimModel, links: tuple[Link, ...]) -> tuple[Coupler, ...] | None:
    """Couplers of the dependent coordinates of links between bodies; None where other couplers move these bodies.

    model: with joints and coordinates, without the links.
    """
    free = {name for name, coordinate in model.coordinates.items() if not coordinate.locked}
    bodies = [frame.body for link in links for frame in link.frames]
    if not model.reachable.issuperset(bodies):
        return None
    moving = sorted(
        {name for link in links for name in model.coordinates_between([f.body for f in link.frames])} & free,
        key=list(model.coordinates).index,
    )
    coupled = {name for coupler in model.couplers for name in (coupler.dependent, *coupler.independent)}
    if coupled & set(moving):
        return None
    columns = [model.coordinate_number[name] for name in moving]
    loop = Loop(model, links, [], columns)
    values = np.array([[coordinate.default for coordinate in model.coordinates.values()]])
    jacobian = loop.gap(values)[1][0][:, columns]
    from scipy.linalg import qr  # models without loops do not load it

    _, triangle, order = qr(jacobian, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > _RANK * sizes.max(initial=0.0)).sum())
    loop.dependent = [columns[k] for k in order[:rank]]
    loop.independent = sorted(columns[k] for k in order[rank:])
    names = list(model.coordinates)
    independent = tuple(names[k] for k in loop.independent)
    return tuple(
        Coupler(names[column], independent, LoopCoordinate(loop, k), closes_loop=True)
        for k, column in enumerate(loop.dependent)
    )


def _gap(model: OpenSimModel, link: Link, pose: BodyMotion) -> tuple[Array, Array]:
    """Violations (T, r) of a link and their Jacobian (T, r, K), in the axes of the ground."""
    (one, other), (turn_one, turn_other), (p, q) = frames_in_ground(model, link.frames, pose)
    rates = [
        pose.twist[:, :, k, 3:] + vector_product(pose.twist[:, :, k, :3], place[:, None])
        for k, place in ((one, p), (other, q))
    ]
    gap, jacobian = q - p, (rates[1] - rates[0]).swapaxes(1, 2)
    if link.distance is not None:  # half the difference of squares, over the distance
        along = gap / link.distance
        length = 0.5 * ((gap * along).sum(axis=1) - link.distance)
        return length[:, None], np.einsum("ti,tik->tk", along, jacobian)[:, None]
    if link.is_weld:
        turned = to_vector(turn_one.swapaxes(1, 2) @ turn_other)
        spin = pose.twist[:, :, other, :3] - pose.twist[:, :, one, :3]
        gap = np.concatenate([gap, (turn_one @ turned[..., None])[..., 0]], axis=1)
        jacobian = np.concatenate([jacobian, spin.swapaxes(1, 2)], axis=1)
    return gap, jacobian


def _drift(model: OpenSimModel, link: Link, bodies: BodyDynamics) -> Array:
    """Second time derivatives (T, r) of the violations of a closed link."""
    (one, other), _, (p, q) = frames_in_ground(model, link.frames, bodies.pose)
    center = np.zeros_like(bodies.pose.position)
    speed, change = [], []
    for k, place in ((one, p), (other, q)):
        center[:, k] = place
        change.append(center_accelerations(bodies, center)[:, k])
        speed.append(bodies.twist[:, k, 3:] + vector_product(bodies.twist[:, k, :3], place))
    drift = change[1] - change[0]
    if link.distance is not None:
        across = speed[1] - speed[0]
        return ((across**2 + (q - p) * drift).sum(axis=1) / link.distance)[:, None]
    if link.is_weld:
        drift = np.concatenate(
            [drift, bodies.acceleration[:, other, :3] - bodies.acceleration[:, one, :3]], axis=1
        )
    return drift


_AXES = {
    "WeldJoint": "",
    "PinJoint": "z",
    "SliderJoint": "X",
    "UniversalJoint": "xy",
    "BallJoint": "xyz",
    "GimbalJoint": "xyz",
    "PlanarJoint": "zXY",
    "FreeJoint": "xyzXYZ",
    "EllipsoidJoint": "xyz",
    "ScapulothoracicJoint": "xyzx",
}
"""One letter for each coordinate: lower case for a rotation about this axis, upper case for a translation along it."""
_RADII = {"EllipsoidJoint": "radii_x_y_z", "ScapulothoracicJoint": "thoracic_ellipsoid_radii_x_y_z"}
"""Tags of the radii of joints on an ellipsoid."""
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
    if element.tag == "CustomJoint":
        rotations, translations = _custom_axes(element, names)
    elif element.tag in _RADII:
        rotations, _ = _lettered_axes(element, names)
        radii, offset = element.require(_RADII[element.tag]).vector(), np.zeros(3)
        if element.tag == "ScapulothoracicJoint":
            # its ellipsoid is turned by 90 degrees about z: abduction is about y, elevation about -x
            parent, child = (None if pose is None else _turned_about_z(pose) for pose in (parent, child))
            radii, offset = radii[[1, 0, 2]], _winging_offset(element)
            rotations[3] = _winging_axis(context, element, names[3])
        translations = _axes_on_ellipsoid(radii, offset, names)
        if child is not None:
            child = Frame(child.body, child.rotation, child.place(offset))
    elif element.tag in _AXES:
        rotations, translations = _lettered_axes(element, names)
    elif element.tag == "ConstantCurvatureJoint":
        rotations, translations = _axes_of_arc(context, element, names)
    else:
        return None
    for kind, axes in (("rotation", rotations), ("translation", translations)):
        _check_directions(element, kind, axes)
    turns, shifts = (tuple(axis for axis in axes if axis is not None) for axes in (rotations, translations))
    if parent is None or child is None or len(turns) + len(shifts) < len(rotations) + len(translations):
        return None
    return Joint(element.name, element.tag, parent, child, turns, shifts, names)


ReadAxes = tuple[list[TransformAxis | None], list[TransformAxis | None]]
"""Axes of rotations and of translations; None for an unsupported function."""


def _custom_axes(element: Element, names: tuple[str, ...]) -> ReadAxes:
    """The six axes of a CustomJoint."""
    transform = element.require("SpatialTransform")
    axes = {axis.name: axis for axis in transform.children if axis.tag == "TransformAxis"}
    if set(axes) != set(_NAMED_AXES):  # in any order
        transform.fail(
            "bad_format",
            f"its axes are {', '.join(axes) or 'none'}",
            ", ".join(_NAMED_AXES),
            "correct the joint",
        )
    read = [_axis(axes[name], names) for name in _NAMED_AXES]
    return read[:3], read[3:]


def _lettered_axes(element: Element, names: tuple[str, ...]) -> ReadAxes:
    """The axes of a joint by the letters of its kind, of its angles alone if it is on an ellipsoid."""
    letters = _AXES[element.tag]
    _check_count(element, names, len(letters))
    rotations: list[TransformAxis | None] = []
    translations: list[TransformAxis | None] = []
    for letter, name in zip(letters, names, strict=True):
        along = np.eye(3)["xyz".index(letter.lower())]
        axis = TransformAxis(along, LinearFunction(np.ones(1), 0.0), (name,))
        (rotations if letter.islower() else translations).append(axis)
    return rotations, translations


def _check_count(element: Element, names: tuple[str, ...], count: int) -> None:
    """Refuse a joint with another number of coordinates than its kind has."""
    if len(names) != count:
        element.fail(
            "bad_model",
            f"{len(names)} coordinates",
            f"{count}, as a {element.tag} has",
            "open the model in OpenSim and save it again",
        )


def _winging_offset(element: Element) -> Array:
    """A point (3,) [m] of the axis of winging, in the turned frame of a ScapulothoracicJoint."""
    origin = element.filled("scapula_winging_axis_origin")
    if origin is None:
        return np.zeros(3)
    x, y = origin.pair()
    return np.array([y, -x, 0.0])


def _winging_axis(context: Context, element: Element, name: str) -> TransformAxis:
    """The axis of winging of a ScapulothoracicJoint by its coordinate."""
    direction = context.number(element, "scapula_winging_axis_direction", 0.0)
    along = np.array([np.cos(direction), np.sin(direction), 0.0])
    return TransformAxis(along, LinearFunction(np.ones(1), 0.0), (name,))


def _axes_on_ellipsoid(radii: Array, offset: Array, names: tuple[str, ...]) -> list[TransformAxis | None]:
    """The translations of a child on an ellipsoid of some radii (3,) [m], by the three angles of the joint.

    The child is where the normal, of a sphere, is its z axis: p_k = r_k (R z)_k + (R o)_k with the offset o (3,) [m].
    """
    return [
        TransformAxis(along, TurnedComponent(k, offset + radii[k] * np.eye(3)[2]), names[:3])
        for k, along in enumerate(np.eye(3))
    ]


def _axes_of_arc(context: Context, element: Element, names: tuple[str, ...]) -> ReadAxes:
    """The axes of a ConstantCurvatureJoint, whose child is at the end of an arc."""
    _check_count(element, names, len("xzy"))
    neutral = element.vector_in("neutral_angle_x_z_y", 0.0)
    length = context.number(element, "length", 1.0)
    context.notes.append(
        f"Rates of the joint {element.name} (ConstantCurvatureJoint) are the derivatives of its places. OpenSim's "
        "rates are in other axes than its places, so that its inverse dynamics differs there."
    )
    rotations: list[TransformAxis | None] = [
        TransformAxis(np.eye(3)["xyz".index(letter)], LinearFunction(np.ones(1), float(angle)), (name,))
        for letter, name, angle in zip("xzy", names, neutral, strict=True)
    ]
    return rotations, [
        TransformAxis(along, ArcComponent(k, length, neutral[:2]), names[:2])
        for k, along in enumerate(np.eye(3))
    ]


def _check_directions(element: Element, kind: str, axes: Sequence[TransformAxis | None]) -> None:
    """Refuse different coordinates about or along one axis."""
    driven = [axis for axis in axes if axis is not None and axis.coordinates]
    for first, second in pairwise(driven):
        collinear = np.linalg.norm(np.cross(first.axis, second.axis)) < _COLLINEAR
        if collinear and not set(first.coordinates) & set(second.coordinates):
            names_of_both = (*first.coordinates, *second.coordinates)
            element.fail(
                "bad_model",
                f"{', '.join(names_of_both)} move the joint about or along the "
                f"same axis ({kind}), so that no moment belongs to one of them alone",
                "axes of different directions for different coordinates",
                "correct the axes of this joint",
            )


def _turned_about_z(frame: Frame) -> Frame:
    """A frame turned by 90 degrees about its z axis: its x axis is the old y axis."""
    turned = np.stack([frame.rotation[:, 1], -frame.rotation[:, 0], frame.rotation[:, 2]], axis=1)
    return Frame(frame.body, turned, frame.position)


_NAMED_AXES = tuple(f"{kind}{k}" for kind in ("rotation", "translation") for k in (1, 2, 3))


def _axis(element: Element, names: tuple[str, ...]) -> TransformAxis | None:
    """A transform axis; None for an unsupported function."""
    holder = element.find("coordinates")
    used = tuple(holder.words()) if holder else ()
    element.check_coordinates(used, names, "correct <coordinates>")
    inner = element.find("function")
    if inner is not None and inner.children:  # layout of older files, <function><LinearFunction...>
        function = function_in(inner, len(used))
    else:
        others = [child for child in element.children if child.tag not in ("coordinates", "axis", "function")]
        function = read_function(others[0], len(used)) if others else Constant(0.0)
    axis = element.require("axis").numbers(3, 1e100)  # a direction of any length
    length = float(np.linalg.norm(axis))
    if not length > 0.0:
        element.fail("bad_model", "the axis has no direction", "an axis", "correct it")
    if isinstance(function, Constant) and abs(function.constant) > FARTHEST:
        problem, expected = f"its value is {function.constant:g}", f"{FARTHEST:g} at most [m, rad]"
        element.fail("bad_model", problem, expected, "correct <value>")
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
            default = context.number(element, "default_value", 0.0, FARTHEST)
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
        element.check_coordinates((*independent, dependent), known, "correct the constraint")
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
                "bad_model",
                f"couplers contradict each other: {', '.join(sorted(driven))}",
                "each coordinate driven by one coupler at most, and no circle",
                "remove one of them",
            )
        ordered += ready
        left = [coupler for coupler in left if coupler not in ready]
    return tuple(ordered), others


def read_links(
    context: Context, model: OpenSimModel, closing: Iterable[Joint]
) -> tuple[tuple[Coupler, ...], list[OtherConstraint]]:
    """Couplers of the loops that constraints and joints between bodies close, and unsupported constraints.

    Unsupported ones state the coordinates between their bodies. A coordinate that follows a function of time is also a
    constraint.
    """
    links, lost = [], []
    for joint in closing:
        if joint.kind in ("WeldJoint", "BallJoint"):
            links.append(Link(joint.name, (joint.parent, joint.child), joint.kind == "WeldJoint"))
        else:
            lost.append((joint.name, joint.kind, [joint.parent.body, joint.child.body]))
    kinds = {joint.name: joint.kind for joint in closing}
    for element in context.of_kind("Constraint"):
        if element.tag != "CoordinateCouplerConstraint" and context.flag(element, "isEnforced", True):
            kinds[element.name] = element.tag
            sockets = [
                socket
                for socket in element.children
                if socket.tag.startswith("socket_") or socket.tag in _LINKED
            ]
            frames = [
                context.pose(context.connectee(element, socket)) for socket in sockets if socket.words()
            ]
            link = _link(element, frames)
            if link is not None:
                links.append(link)
            else:  # no bodies if it does not state them in a supported form
                bodies = [] if None in frames else [frame.body for frame in frames if frame]
                lost.append((element.name, element.tag, bodies))
    couplers: list[Coupler] = []
    for group in _joined(model, links):
        coupling = loop_couplers(model, group)
        if coupling is None:
            lost += [(link.name, kinds[link.name], [frame.body for frame in link.frames]) for link in group]
        else:
            couplers += coupling
            for link in group:
                context.unsupported.pop(f"joint {link.name}", None)
    locked = {name for name, coordinate in model.coordinates.items() if coordinate.locked}
    constraints = []
    for coordinate in context.prescribed:
        itself = frozenset((coordinate,))
        constraints.append(OtherConstraint(coordinate, PRESCRIBED, frozenset(), itself))
    for name, kind, bodies in lost:
        placed = bodies and model.reachable.issuperset(bodies)
        between = model.coordinates_between(bodies) if placed else frozenset(model.coordinates)
        constraints.append(OtherConstraint(name, kind, between - locked, between - locked))
    return tuple(couplers), constraints


def _link(element: Element, frames: Sequence[Frame | None]) -> Link | None:
    """The link of a constraint between two frames; None for another kind, or frames of an unsupported kind."""
    one, other = frames if len(frames) == 2 else (None, None)
    if one is None or other is None:
        return None
    placed = [
        Frame(frame.body, frame.rotation, frame.place(element.vector_in(f"location_body_{k}", 0.0)))
        for k, frame in ((1, one), (2, other))
    ]
    match element.tag:
        case "PointConstraint":
            return Link(element.name, (placed[0], placed[1]))
        case "ConstantDistanceConstraint":
            distance = element.require("constant_distance").number()
            return Link(element.name, (placed[0], placed[1]), distance=distance) if distance > 0.0 else None
        case "WeldConstraint" if element.find("socket_frame1") is not None:
            return Link(element.name, (one, other), is_weld=True)
    return None


def _joined(model: OpenSimModel, links: Sequence[Link]) -> list[tuple[Link, ...]]:
    """Links in groups that share no coordinate."""
    groups: list[tuple[tuple[Link, ...], frozenset[str]]] = []
    for link in links:
        chain: tuple[Link, ...] = (link,)
        moving, apart = model.coordinates_between([frame.body for frame in link.frames]), []
        for others, theirs in groups:
            if theirs & moving:
                chain, moving = (*others, *chain), moving | theirs
            else:
                apart.append((others, theirs))
        groups = [*apart, (chain, moving)]
    return [group for group, _ in groups]
