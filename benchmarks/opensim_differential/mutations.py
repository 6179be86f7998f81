"""Edits of the small leg, each of one kind: joints, couplers, constraints, wraps, points, names, muscles.

`KINDS` has every kind by name. An edit draws its numbers from the generator of the leg.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from benchmarks.opensim_differential.small_leg import (
    BODIES,
    Leg,
    Moved,
    coupler,
    function,
    joint,
    linear,
    muscle,
    numbers,
    offsets,
    path_point,
    spline,
    transform,
)

Edit = Callable[[Leg], None]
_COORDINATES = {
    "WeldJoint": "",
    "PinJoint": "r",
    "SliderJoint": "t",
    "UniversalJoint": "rr",
    "GimbalJoint": "rrr",
    "BallJoint": "rrr",
    "PlanarJoint": "rtt",
    "EllipsoidJoint": "rrr",
    "ScapulothoracicJoint": "rrrr",
    "FreeJoint": "rrrttt",
}
"""Coordinates of each kind of joint: r an angle, t a length."""
_SITES = {
    "root": ("ground", "pelvis"),
    "hip": ("pelvis", "thigh"),
    "knee": ("thigh", "shank"),
    "ankle": ("shank", "foot"),
}
_INSIDE = {
    "EllipsoidJoint": {"radii_x_y_z": (0.02, 0.03, 0.025)},
    "ScapulothoracicJoint": {
        "thoracic_ellipsoid_radii_x_y_z": (0.03, 0.05, 0.03),
        "scapula_winging_axis_origin": (0.01, 0.01),
        "scapula_winging_axis_direction": (0.3,),
    },
}


def _named(site: str, letters: str) -> list[tuple[str, float, float, float]]:
    ranges = {"r": (0.1, -0.5, 0.7), "t": (0.005, -0.02, 0.03)}
    return [(f"{site}_{k}", *ranges[letter]) for k, letter in enumerate(letters)]


def _other_joint(leg: Leg, site: str, kind: str) -> None:
    """A joint of another kind at one place; the patella no longer follows a knee that is gone."""
    parent, child = _SITES[site]
    places = (
        offsets(leg, parent, child, 0.3)
        if site != "root"
        else (np.array(BODIES["pelvis"]), *np.zeros((3, 3)))
    )
    inside = [_number_element(tag, value) for tag, value in _INSIDE.get(kind, {}).items()]
    coordinates = _named(site, _COORDINATES[kind])
    leg.replace("JointSet", site, joint(kind, site, (parent, child), places, coordinates, *inside))
    if site == "knee":
        _drive_patella(leg, coordinates[0][0] if coordinates else "ankle_angle", linear(0.9, 0.02))


def _number_element(tag: str, value: tuple[float, ...]) -> Element:
    made = Element(tag)
    made.text = numbers(value)
    return made


def _drive_patella(leg: Leg, independent: str, by: Element, scale: float = 1.0) -> None:
    new = coupler("patella_follows", independent, "patella_angle", by, scale)
    leg.replace("ConstraintSet", "patella_follows", new)


def _custom(leg: Leg, site: str, letters: str, rotations: list[Moved], translations: list[Moved]) -> None:
    """A custom joint with the coordinates SITE_0, SITE_1, ..."""
    coordinates = _named(site, letters)
    places = offsets(leg, *_SITES[site], 0.3)
    made = joint("CustomJoint", site, _SITES[site], places, coordinates, transform(rotations, translations))
    leg.replace("JointSet", site, made)
    if site == "knee":
        _drive_patella(leg, "knee_0", linear(0.9, 0.02))


def _direction(leg: Leg) -> np.ndarray:
    found = leg.rng.normal(size=3)
    return found / np.linalg.norm(found)


def _twice(leg: Leg, site: str, slope: float) -> None:
    _custom(leg, site, "r", [(f"{site}_0", (0.0, 0.0, 1.0), linear(slope, 0.05))], [])


def _multiplied(leg: Leg, site: str, scale: float) -> None:
    by = function("MultiplierFunction", function=linear(1.0), scale=scale)
    _custom(leg, site, "r", [(f"{site}_0", (0.0, 0.0, 1.0), by)], [])


def _oblique(leg: Leg) -> None:
    """Rotations about axes that are neither orthogonal nor of unit length."""
    axes = [(f"hip_{k}", 1.5 * np.eye(3)[k] + 0.3 * leg.rng.normal(size=3), linear(1.0)) for k in range(3)]
    _custom(leg, "hip", "rrr", axes, [])


def _in_two_axes(leg: Leg) -> None:
    """One coordinate that turns about two axes and shifts."""
    axes = [
        ("knee_0", (0.0, 0.0, 1.0), linear(-1.0)),
        ("knee_0", (0.0, 1.0, 0.0), linear(0.3)),
        ("knee_1", (1.0, 0.0, 0.0), linear(1.0)),
    ]
    _custom(
        leg,
        "knee",
        "rr",
        axes,
        [("knee_0", _direction(leg), linear(0.02)), ("knee_1", _direction(leg), linear(-0.01))],
    )


def _function_of_two(leg: Leg) -> None:
    """An axis that turns with the sum of two coordinates."""
    axes = [("hip_0", (0.0, 0.0, 1.0), linear(1.0)), ("hip_1", (1.0, 0.0, 0.0), linear(1.0)),
            ("hip_0 hip_1", (0.0, 1.0, 0.0), function("LinearFunction", coefficients=[0.3, -0.2, 0.1]))]  # fmt: skip
    _custom(leg, "hip", "rr", axes, [])


def _shuffled(leg: Leg) -> None:
    """Coordinates listed in another order than the axes, a translation before a rotation."""
    axes = [("knee_2", (0.0, 0.0, 1.0), linear(-1.0)), ("knee_0", (1.0, 0.0, 0.0), linear(1.0))]
    _custom(leg, "knee", "rtr", axes, [("knee_1", (0.0, 1.0, 0.0), linear(1.0))])


def _all_by_one(leg: Leg, kind: str) -> None:
    """All axes of the knee by functions of one kind of one coordinate."""
    turns = [("knee_0", np.eye(3)[k], _any_function(leg, kind, 0.3)) for k in (1, 0)]
    shifts = [("knee_0", np.eye(3)[k], _any_function(leg, kind, 0.01)) for k in range(3)]
    _custom(leg, "knee", "r", [("knee_0", (0.0, 0.0, 1.0), linear(-1.0)), *turns], shifts)


def _any_function(leg: Leg, kind: str, size: float) -> Element:
    """A function of one coordinate of any kind that OpenSim knows."""
    rng = leg.rng
    if kind == "Constant":
        return function(kind, value=0.5 * size)
    if kind == "LinearFunction":
        return linear(size, 0.1 * size)
    if kind == "PolynomialFunction":
        return function(kind, coefficients=size * rng.uniform(-0.4, 0.4, 4))
    if kind == "MultiplierFunction":
        inner = spline("SimmSpline", rng, 1.0)
        return function(kind, function=function(kind, function=inner, scale=0.5), scale=2.0 * size)
    if kind == "GCVSpline":
        x = np.linspace(-1.7, 1.7, 8)
        y = size * 0.6 * np.sin(x + rng.uniform(-0.5, 0.5))
        return function(
            kind, half_order=str(rng.integers(1, 4)), error_variance=0.0, x=x, y=y, weights=np.ones(8)
        )
    if kind == "Sine":
        return function(kind, amplitude=size, omega=1.3, phase=0.2, offset=0.1 * size)
    if kind == "StepFunction":
        return function(
            kind, transition_start_time=-0.6, transition_end_time=1.5, start_value=0.0, end_value=size
        )
    if kind == "PiecewiseConstantFunction":
        return function(kind, x=[-1.0, 0.1, 0.5, 0.9], y=size * rng.uniform(-0.5, 0.5, 4))
    if kind == "MultivariatePolynomialFunction":
        return function(kind, coefficients=size * rng.uniform(-0.4, 0.4, 4), dimension="1", order="3")
    if kind == "ExpressionBasedFunction":
        return function(kind, expression=f"{size}*sin(x)", variables="x")
    return spline(kind, rng, size)


FUNCTIONS = (
    "Constant",
    "LinearFunction",
    "PolynomialFunction",
    "MultiplierFunction",
    "PiecewiseLinearFunction",
    "PiecewiseConstantFunction",
    "SimmSpline",
    "NaturalCubicSpline",
    "GCVSpline",
    "StepFunction",
    "Sine",
    "MultivariatePolynomialFunction",
    "ExpressionBasedFunction",
)


def _coupled(leg: Leg, kind: str) -> None:
    _drive_patella(leg, "knee_angle", _any_function(leg, kind, 1.0))


def _coupled_by_scale(leg: Leg) -> None:
    _drive_patella(leg, "knee_angle", spline("SimmSpline", leg.rng, 1.0), scale=0.6)


def _coupled_by_two(leg: Leg, kind: str) -> None:
    """A coordinate driven by two others."""
    by = (
        function(kind, coefficients=[0.7, 0.3, 0.02])
        if kind == "LinearFunction"
        else function(kind, coefficients=[0.02, 0.3, 0.1, 0.7, 0.2, 0.1], dimension="2", order="2")
    )
    _drive_patella(leg, "knee_angle hip_flexion", by)


def _not_enforced(leg: Leg) -> None:
    leg.named("ConstraintSet", "patella_follows").find("isEnforced").text = "false"  # type: ignore[union-attr]


def _chain_of_couplers(leg: Leg) -> None:
    """The ankle follows the patella, which follows the knee; the second stands first."""
    first = coupler("ankle_follows", "patella_angle", "ankle_angle", linear(-0.4, 0.05))
    leg.objects("ConstraintSet").insert(0, first)


def _coupled_ankle(leg: Leg) -> None:
    """A coordinate of its own moment drives another that muscles cross."""
    leg.objects("ConstraintSet").append(coupler("ankle_follows", "knee_angle", "ankle_angle", linear(-0.5)))


def _coupled_hip(leg: Leg, kind: str) -> None:
    by = _any_function(leg, kind, 0.5)
    leg.objects("ConstraintSet").append(coupler("rotation_follows", "hip_flexion", "hip_rotation", by))


def _coupled_ball(leg: Leg) -> None:
    """One angle of a ball joint driven by another."""
    _other_joint(leg, "hip", "BallJoint")
    leg.objects("ConstraintSet").append(coupler("rotation_follows", "hip_0", "hip_2", linear(0.5)))


def _driven_and_locked(leg: Leg) -> None:
    _coordinate(leg, "knee", "knee_angle", "locked", "true")


def _closed(leg: Leg, kind: str, enforced: str) -> None:
    """A bar from the shank to the pelvis, or the foot fixed to the ground."""
    made = Element(kind, name="closing")
    SubElement(made, "isEnforced").text = enforced
    if kind == "WeldConstraint":
        for k, body in enumerate(("pelvis", "foot")):
            SubElement(made, f"socket_frame{k + 1}").text = f"/bodyset/{body}"
        return leg.objects("ConstraintSet").append(made)
    for k, (body, place) in enumerate((("pelvis", (-0.1, -0.6, 0.08)), ("shank", (-0.1, -0.2, 0.0)))):
        SubElement(made, f"socket_body_{k + 1}").text = f"/bodyset/{body}"
        SubElement(made, f"location_body_{k + 1}").text = numbers(place)
    if kind == "ConstantDistanceConstraint":
        SubElement(made, "constant_distance").text = "0.1"
    return leg.objects("ConstraintSet").append(made)


def _closed_elsewhere(leg: Leg) -> None:
    """A loop of two bodies that no muscle touches."""
    for k, name in enumerate(("trunk", "arm")):
        body = copy.deepcopy(leg.named("BodySet", "foot"))
        body.set("name", name)
        leg.objects("BodySet").append(body)
        parent = ("pelvis", "trunk")[k]
        places = (np.array([0.0, 0.2, 0.0]), *np.zeros((3, 3)))
        leg.objects("JointSet").append(
            joint("PinJoint", f"joint_{name}", (parent, name), places, [(f"{name}_angle", 0.0, -0.5, 0.5)])
        )
    made = Element("ConstantDistanceConstraint", name="closing")
    SubElement(made, "isEnforced").text = "true"
    for k, (body, place) in enumerate((("pelvis", (0.1, 0.3, 0.0)), ("arm", (0.1, 0.1, 0.0)))):
        SubElement(made, f"socket_body_{k + 1}").text = f"/bodyset/{body}"
        SubElement(made, f"location_body_{k + 1}").text = numbers(place)
    SubElement(made, "constant_distance").text = "0.2"
    leg.objects("ConstraintSet").append(made)


def _reversed(leg: Leg, site: str) -> None:
    """A joint whose child is nearer to the ground than its parent."""
    made = leg.named("JointSet", site)
    parent, child = made.find("socket_parent_frame"), made.find("socket_child_frame")
    assert parent is not None and child is not None
    parent.text, child.text = child.text, parent.text


# ---- coordinates


def _coordinate(leg: Leg, site: str, name: str, tag: str, value: str) -> None:
    for each in leg.named("JointSet", site).iter("Coordinate"):
        if each.get("name") == name:
            found = each.find(tag)
            (SubElement(each, tag) if found is None else found).text = value


def _locked(leg: Leg, site: str, name: str) -> None:
    _coordinate(leg, site, name, "locked", "true")
    _coordinate(leg, site, name, "default_value", numbers([leg.rng.uniform(0.1, 0.3)]))


def _prescribed(leg: Leg, site: str, name: str, also: str = "") -> None:
    for each in leg.named("JointSet", site).iter("Coordinate"):
        if each.get("name") == name:
            SubElement(each, "prescribed").text = "true" if also != "off" else "false"
            SubElement(each, "prescribed_function").append(function("Constant", value=0.25))


def _default_off_range(leg: Leg) -> None:
    _coordinate(leg, "ankle", "ankle_angle", "default_value", "0.9")
    _coordinate(leg, "ankle", "ankle_angle", "clamped", "true")


def _one_name_twice(leg: Leg) -> None:
    """Two coordinates of different joints called alike."""
    for each in leg.named("JointSet", "ankle").iter("Coordinate"):
        each.set("name", "knee_angle")


# ---- wraps

_WRAP_SIZES = {
    "WrapCylinder": {"radius": (0.03,), "length": (0.3,)},
    "WrapSphere": {"radius": (0.035,)},
    "WrapEllipsoid": {"dimensions": (0.03, 0.05, 0.04)},
    "WrapTorus": {"inner_radius": (0.01,), "outer_radius": (0.03,)},
}
QUADRANTS = ("all", "x", "-x", "y", "-y", "z", "-z")
METHODS = ("hybrid", "midpoint", "axial")


def _surface(leg: Leg, name: str, kind: str, place: tuple[float, ...], **properties: str) -> Element:
    made = Element(kind, name=name)
    stated = {
        "active": "true",
        "xyz_body_rotation": numbers(leg.rng.uniform(-0.3, 0.3, 3)),
        "translation": numbers(np.array(place) + leg.rng.uniform(-0.004, 0.004, 3)),
        "quadrant": "all",
        **{
            tag: numbers(np.array(size) * leg.rng.uniform(0.9, 1.1))
            for tag, size in _WRAP_SIZES[kind].items()
        },
        **properties,
    }
    for tag, value in stated.items():
        SubElement(made, tag).text = value
    return made


def _add_surface(leg: Leg, body: str, made: Element) -> None:
    objects = leg.named("BodySet", body).find("WrapObjectSet/objects")
    assert objects is not None
    objects.append(made)


def _add_wrap(
    leg: Leg, name: str, surface: str, method: str = "hybrid", span: tuple[int, int] = (-1, -1)
) -> None:
    made = Element("PathWrap", name=f"{name}_wrap_{len(leg.wraps(name))}")
    SubElement(made, "wrap_object").text = surface
    SubElement(made, "method").text = method
    SubElement(made, "range").text = f"{span[0]} {span[1]}"
    leg.wraps(name).append(made)


_BEHIND_KNEE = (-0.01, -0.4, 0.0)


def _wrap(leg: Leg, kind: str, quadrant: str = "all", method: str = "hybrid", **properties: str) -> None:
    """Hamstrings, short biceps and gastrocnemius about a surface behind the knee."""
    _add_surface(leg, "thigh", _surface(leg, "condyle", kind, _BEHIND_KNEE, quadrant=quadrant, **properties))
    for name in ("hamstrings", "biceps_short"):
        _add_wrap(leg, name, "condyle", method)


def _wrap_on_two_bodies(leg: Leg, kind: str) -> None:
    """Surfaces called alike on two bodies, of different sizes and places."""
    _add_surface(leg, "thigh", _surface(leg, "condyle", kind, _BEHIND_KNEE))
    _add_surface(leg, "shank", _surface(leg, "condyle", kind, (0.02, -0.39, 0.0)))
    _add_wrap(leg, "hamstrings", "condyle")
    _add_wrap(leg, "soleus", "condyle")


def _wrap_range(leg: Leg) -> None:
    _add_surface(leg, "thigh", _surface(leg, "condyle", "WrapCylinder", (0.02, -0.15, 0.06)))
    _add_wrap(leg, "tensor", "condyle", span=(1, 2))


def _wrap_on_offset_frame(leg: Leg) -> None:
    frame = _offset_frame(leg, "thigh", "held", (0.0, -0.38, 0.0))
    objects = SubElement(SubElement(frame, "WrapObjectSet"), "objects")
    objects.append(_surface(leg, "condyle", "WrapCylinder", (-0.01, -0.02, 0.0)))
    _add_wrap(leg, "hamstrings", "condyle")


def _double_wrap(leg: Leg) -> None:
    _add_surface(leg, "thigh", _surface(leg, "condyle", "WrapCylinder", (-0.005, -0.4, 0.0), quadrant="-x"))
    _add_surface(leg, "shank", _surface(leg, "calf", "WrapCylinder", (-0.03, -0.25, 0.0), quadrant="-x"))
    for surface in ("condyle", "calf"):
        _add_wrap(leg, "gastrocnemius", surface)


# ---- frames, names, sockets


def _offset_frame(leg: Leg, body: str, name: str, place: tuple[float, ...], parent: str = "..") -> Element:
    """An offset frame among the components of a body."""
    components = leg.named("BodySet", body).find("components")
    if components is None:
        components = SubElement(leg.named("BodySet", body), "components")
    made = SubElement(components, "PhysicalOffsetFrame", name=name)
    SubElement(made, "socket_parent").text = parent
    SubElement(made, "translation").text = numbers(np.array(place) + leg.rng.uniform(-0.01, 0.01, 3))
    SubElement(made, "orientation").text = numbers(leg.rng.uniform(-0.3, 0.3, 3))
    return made


def _frames_alike(leg: Leg) -> None:
    """Offset frames of one name on three bodies; a point on the path of each."""
    for body in ("thigh", "shank", "foot"):
        _offset_frame(leg, body, "held", (0.0, -0.02, 0.0))
    for name, k in (("soleus", 0), ("gluteus_medius", 1), ("soleus", 1), ("biceps_short", 0)):
        point = leg.points(name)[k]
        socket = point.find("socket_parent_frame")
        assert socket is not None
        socket.text = f"{socket.text}/held"


def _frame_named_like_body(leg: Leg) -> None:
    """An offset frame of the shank that is called thigh, with a point on it."""
    _offset_frame(leg, "shank", "thigh", (0.0, -0.1, 0.0))
    leg.points("soleus")[0].find("socket_parent_frame").text = "/bodyset/shank/thigh"  # type: ignore[union-attr]


def _nested_frames(leg: Leg) -> None:
    _offset_frame(leg, "shank", "first", (0.0, -0.05, 0.0))
    _offset_frame(leg, "shank", "second", (0.0, -0.05, 0.0), parent="../first")
    leg.points("soleus")[0].find("socket_parent_frame").text = "/bodyset/shank/second"  # type: ignore[union-attr]


def _frame_in_frame(leg: Leg) -> None:
    """An offset frame that is a component of an offset frame."""
    outer = _offset_frame(leg, "shank", "outer", (0.0, -0.05, 0.0))
    inner = SubElement(SubElement(outer, "components"), "PhysicalOffsetFrame", name="inner")
    SubElement(inner, "socket_parent").text = ".."
    SubElement(inner, "translation").text = "0.01 0.02 -0.01"
    SubElement(inner, "orientation").text = "0.2 0 0.1"
    leg.points("soleus")[0].find("socket_parent_frame").text = "/bodyset/shank/outer/inner"  # type: ignore[union-attr]


def _frames_of_model(leg: Leg) -> None:
    """Offset frames among the components of the model, with sockets of several forms."""
    components = SubElement(leg.model, "components")
    for name, parent in (("far", "/bodyset/shank"), ("near", "far"), ("nearer", "/near")):
        made = SubElement(components, "PhysicalOffsetFrame", name=name)
        SubElement(made, "socket_parent").text = parent
        SubElement(made, "translation").text = numbers(leg.rng.uniform(-0.02, 0.02, 3))
        SubElement(made, "orientation").text = numbers(leg.rng.uniform(-0.3, 0.3, 3))
    leg.points("soleus")[0].find("socket_parent_frame").text = "/nearer"  # type: ignore[union-attr]
    leg.points("peroneus")[0].find("socket_parent_frame").text = "/far"  # type: ignore[union-attr]


def _sockets(leg: Leg, form: str) -> None:
    """Sockets of points and joints written relative to their owners, or as bare names."""
    for name in ("soleus", "vasti", "iliacus"):
        for point in leg.points(name):
            socket = point.find("socket_parent_frame")
            assert socket is not None and socket.text is not None
            body = socket.text.rsplit("/", 1)[-1]
            socket.text = {"up": f"../../../../bodyset/{body}", "bare": body, "part": f"bodyset/{body}"}[form]


def _sockets_of_joint(leg: Leg, form: str) -> None:
    made = leg.named("JointSet", "ankle")
    for end, body in (("parent", "shank"), ("child", "foot")):
        socket = made.find(f"socket_{end}_frame")
        assert socket is not None
        name = f"{body}_offset"
        socket.text = {
            "absolute": f"/jointset/ankle/{name}",
            "up": f"../ankle/{name}",
            "body": f"/bodyset/{body}",
        }[form]


def _frame_sockets_of_joint(leg: Leg, form: str) -> None:
    for frame in leg.named("JointSet", "ankle").iter("PhysicalOffsetFrame"):
        socket = frame.find("socket_parent")
        assert socket is not None and socket.text is not None
        body = socket.text.rsplit("/", 1)[-1]
        socket.text = {"up": f"../../../bodyset/{body}", "bare": body}[form]


def _joint_on_component_frames(leg: Leg) -> None:
    """A joint between offset frames that belong to the bodies."""
    _offset_frame(leg, "shank", "down", (0.0, -0.43, 0.0))
    _offset_frame(leg, "foot", "top", (0.0, 0.01, 0.0))
    made = leg.named("JointSet", "ankle")
    made.find("socket_parent_frame").text = "/bodyset/shank/down"  # type: ignore[union-attr]
    made.find("socket_child_frame").text = "/bodyset/foot/top"  # type: ignore[union-attr]


def _point_on_joint_frame(leg: Leg, form: str) -> None:
    """A point of a path on the offset frame of a joint."""
    text = {"absolute": "/jointset/ankle/foot_offset", "bare": "foot_offset"}[form]
    leg.points("soleus")[1].find("socket_parent_frame").text = text  # type: ignore[union-attr]
    leg.points("tibialis")[0].find("socket_parent_frame").text = "/jointset/knee/shank_offset"  # type: ignore[union-attr]


def _joint_frames_alike(leg: Leg) -> None:
    """Two joints whose frames are called alike, with a path point on each."""
    leg.points("soleus")[0].find("socket_parent_frame").text = "/jointset/knee/shank_offset"  # type: ignore[union-attr]
    leg.points("peroneus")[1].find("socket_parent_frame").text = "/jointset/ankle/shank_offset"  # type: ignore[union-attr]


def _point_in_ground(leg: Leg) -> None:
    leg.points("iliacus")[0].find("socket_parent_frame").text = "/ground"  # type: ignore[union-attr]
    leg.points("iliacus")[0].find("location").text = "0.1 1.1 0.05"  # type: ignore[union-attr]


def _muscle_named_like_body(leg: Leg) -> None:
    leg.muscle("soleus").set("name", "shank")


def _shared_objects(leg: Leg) -> None:
    """A wrap object and a muscle called alike, a joint called like a body."""
    _wrap(leg, "WrapCylinder")
    for each in leg.root.iter("WrapCylinder"):
        each.set("name", "hamstrings")
    for each in leg.root.iter("wrap_object"):
        each.text = "hamstrings"
    leg.named("JointSet", "ankle").set("name", "foot")


def _muscles_in_components(leg: Leg) -> None:
    components = SubElement(leg.model, "components")
    for name in ("soleus", "hamstrings"):
        each = leg.muscle(name)
        leg.objects("ForceSet").remove(each)
        components.append(each)


def _parts_in_components(leg: Leg, what: str) -> None:
    """A body, a joint, or a constraint among the components of the model."""
    components = SubElement(leg.model, "components")
    kind, name = {
        "body": ("BodySet", "foot"),
        "joint": ("JointSet", "ankle"),
        "constraint": ("ConstraintSet", "patella_follows"),
    }[what]
    each = leg.named(kind, name)
    leg.objects(kind).remove(each)
    components.append(each)
    if what == "body":
        for socket in leg.root.iter():
            if socket.text == "/bodyset/foot":
                socket.text = "/foot"


# ---- points


def _conditional(leg: Leg, form: str = "absolute") -> None:
    """Points that are on the path in a part of the knee's range, within it, at its ends and upside down."""
    ranges = [(0.3, 1.4), (-0.2, 0.6), (0.5, 0.7), (0.0, 3.0)]
    for k, (low, high) in enumerate(ranges):
        name = ("vasti", "rectus", "hamstrings", "biceps_short")[k]
        point = path_point(
            f"{name}-C", "thigh", (0.03 if k < 2 else -0.04, -0.36, 0.01), "ConditionalPathPoint"
        )
        text = {
            "absolute": "/jointset/knee/knee_angle",
            "up": "../../../../jointset/knee/knee_angle",
            "bare": "knee_angle",
        }
        SubElement(point, "socket_coordinate").text = text[form]
        SubElement(point, "range").text = numbers((low, high))
        leg.points(name).insert(1, point)


def _conditional_on_driven(leg: Leg) -> None:
    """A point that is on the path in a part of the range of a driven coordinate."""
    point = path_point("vasti-C", "thigh", (0.04, -0.36, 0.01), "ConditionalPathPoint")
    SubElement(point, "socket_coordinate").text = "/jointset/femoropatellar/patella_angle"
    SubElement(point, "range").text = "0.5 2"
    leg.points("vasti").insert(1, point)


def _moving(leg: Leg, kind: str, driven: bool = False) -> None:
    """A point of the hamstrings that moves on the shank with the knee."""
    socket = "/jointset/femoropatellar/patella_angle" if driven else "/jointset/knee/knee_angle"
    for name in ("hamstrings", "vasti"):
        last = len(leg.points(name)) - 1
        old = leg.points(name)[last]
        place = [float(word) for word in (old.findtext("location") or "").split()]
        assert len(place) == 3  # it does not move yet
        made = Element("MovingPathPoint", name=old.get("name") or "")
        SubElement(made, "socket_parent_frame").text = "/bodyset/shank"
        for letter, start in zip("xyz", place, strict=True):
            SubElement(made, f"socket_{letter}_coordinate").text = socket
            by = _any_function(leg, kind, 0.02)
            moved = by.find("y")
            if moved is not None:
                moved.text = numbers([start + float(word) for word in (moved.text or "").split()])
            elif kind == "PolynomialFunction":
                by = function(kind, coefficients=[*leg.rng.uniform(-0.01, 0.01, 2), start])
            elif kind == "MultiplierFunction":
                by = function(kind, function=function("Constant", value=1.0), scale=start)
            else:
                by = (
                    function("LinearFunction", coefficients=[0.01, start]) if kind == "LinearFunction" else by
                )
            SubElement(made, f"{letter}_location").append(by)
        leg.points(name)[last] = made


def _moving_with_several(leg: Leg) -> None:
    _moving(leg, "LinearFunction")
    for tag, name in (
        ("socket_y_coordinate", "/jointset/ankle/ankle_angle"),
        ("socket_z_coordinate", "/jointset/hip/hip_flexion"),
    ):
        for each in leg.root.iter(tag):
            each.text = name


# ---- muscles

_MUSCLES = (
    "Thelen2003Muscle",
    "DeGrooteFregly2016Muscle",
    "RigidTendonMuscle",
    "Schutte1993Muscle_Deprecated",
    "Delp1990Muscle_Deprecated",
    "Millard2012AccelerationMuscle",
)


def _other_muscles(leg: Leg, kind: str) -> None:
    for name in ("soleus", "tibialis", "vasti", "gluteus_medius"):
        leg.muscle(name).tag = kind


def _path_actuator(leg: Leg) -> None:
    """A path that pulls without fibers."""
    made = leg.muscle("peroneus")
    made.tag = "PathActuator"
    for child in [each for each in made if each.tag != "GeometryPath"]:
        made.remove(child)
    SubElement(made, "optimal_force").text = "300"


def _not_applied(leg: Leg) -> None:
    SubElement(leg.muscle("soleus"), "appliesForce").text = "false"


def _parameters(leg: Leg) -> None:
    """Parameters left to the defaults of the class."""
    for name, tag in (
        ("soleus", "max_contraction_velocity"),
        ("vasti", "pennation_angle_at_optimal"),
        ("tibialis", "max_isometric_force"),
    ):
        made = leg.muscle(name)
        for child in made.findall(tag):
            made.remove(child)


def _defaults(leg: Leg) -> None:
    """Parameters from <defaults>."""
    defaults = Element("defaults")
    stated = SubElement(defaults, "Millard2012EquilibriumMuscle", name="default")
    for tag, value in (
        ("max_isometric_force", 777.0),
        ("max_contraction_velocity", 12.0),
        ("pennation_angle_at_optimal", 0.2),
    ):
        SubElement(stated, tag).text = numbers([value])
        for name in ("soleus", "vasti"):
            for child in leg.muscle(name).findall(tag):
                leg.muscle(name).remove(child)
    leg.model.insert(0, defaults)


_CURVES = {
    "ActiveForceLengthCurve": {
        "min_norm_active_fiber_length": 0.35,
        "transition_norm_fiber_length": 0.7,
        "max_norm_active_fiber_length": 1.9,
        "shallow_ascending_slope": 0.8,
        "minimum_value": 0.05,
    },
    "ForceVelocityCurve": {
        "concentric_slope_at_vmax": 0.0,
        "concentric_slope_near_vmax": 0.3,
        "isometric_slope": 4.0,
        "eccentric_slope_at_vmax": 0.0,
        "eccentric_slope_near_vmax": 0.2,
        "max_eccentric_velocity_force_multiplier": 1.5,
        "concentric_curviness": 0.7,
        "eccentric_curviness": 0.8,
    },
    "FiberForceLengthCurve": {"strain_at_zero_force": -0.05, "strain_at_one_norm_force": 0.5},
}


def _curves(leg: Leg, **passive: float) -> None:
    """Curves of Millard et al. with parameters of their own."""
    for name in ("soleus", "vasti", "hamstrings", "tibialis"):
        for kind, stated in _CURVES.items():
            curve = SubElement(leg.muscle(name), kind, name=f"{name}_{kind}")
            for tag, value in {**stated, **(passive if kind.startswith("Fiber") else {})}.items():
                SubElement(curve, tag).text = numbers([value])


_STIFF = {"stiffness_at_low_force": 0.3, "stiffness_at_one_norm_force": 5.0, "curviness": 0.6}


def _de_groote(leg: Leg) -> None:
    """Muscles of De Groote and Fregly with curves of their own."""
    for name in ("soleus", "tibialis", "vasti", "gluteus_medius"):
        leg.muscle(name).tag = "DeGrooteFregly2016Muscle"
        SubElement(leg.muscle(name), "active_force_width_scale").text = "1.4"
        SubElement(leg.muscle(name), "passive_fiber_strain_at_one_norm_force").text = "0.45"


def _new_path_property(leg: Leg) -> None:
    """The path inside <path>, as OpenSim 4.5 writes it."""
    for each in leg.objects("ForceSet"):
        geometry = each.find("GeometryPath")
        if geometry is not None:
            each.remove(geometry)
            geometry.attrib.pop("name")
            SubElement(each, "path").append(geometry)


def _other_path(leg: Leg) -> None:
    """A muscle whose length is a function of coordinates."""
    made = leg.muscle("soleus")
    made.remove(made.find("GeometryPath"))  # type: ignore[arg-type]
    path = Element("FunctionBasedPath")
    SubElement(path, "coordinate_paths").text = "/jointset/ankle/ankle_angle"
    SubElement(path, "length_function").append(linear(-0.04, 0.33))
    SubElement(made, "path").append(path)


def _other_force(leg: Leg, kind: str) -> None:
    """A force that is neither a muscle nor an actuator."""
    made = Element(kind, name="other")
    if kind == "BushingForce":
        for k, body in enumerate(("shank", "foot")):
            SubElement(made, f"socket_frame{k + 1}").text = f"/bodyset/{body}"
        for tag in ("rotational_stiffness", "translational_stiffness"):
            SubElement(made, tag).text = "10 10 10"
    elif kind == "Ligament":
        geometry = copy.deepcopy(leg.muscle("soleus").find("GeometryPath"))
        assert geometry is not None
        made.append(geometry)
        SubElement(made, "resting_length").text = "0.2"
        SubElement(made, "pcsa_force").text = "100"
    else:
        SubElement(made, "coordinate").text = "ankle_angle"
    leg.objects("ForceSet").append(made)


# ---- layout


def _version(leg: Leg, version: str) -> None:
    leg.root.set("Version", version)


def _gravity(leg: Leg) -> None:
    SubElement(leg.model, "gravity").text = numbers([0.5, -9.0, 1.0])


def _names_of_sets(leg: Leg) -> None:
    """Sets with names and groups, as many files have them."""
    for kind in ("BodySet", "JointSet", "ForceSet", "ConstraintSet"):
        holder = leg.model.find(kind)
        assert holder is not None
        holder.set("name", kind.lower())
        SubElement(holder, "groups")


def _without_inertia(leg: Leg) -> None:
    """A body without mass properties of its own."""
    body = leg.named("BodySet", "patella")
    for tag, value in (("mass", "0"), ("mass_center", "0 0 0"), ("inertia", "0 0 0 0 0 0")):
        body.find(tag).text = value  # type: ignore[union-attr]


def _no_inertia(leg: Leg) -> None:
    body = leg.named("BodySet", "patella")
    for tag in ("mass", "mass_center", "inertia"):
        body.remove(body.find(tag))  # type: ignore[arg-type]


def _two_chains(leg: Leg) -> None:
    """A muscle between the pelvis and a body of its own joint to the ground."""
    body = copy.deepcopy(leg.named("BodySet", "foot"))
    body.set("name", "cart")
    leg.objects("BodySet").append(body)
    places = (np.array([0.0, 0.5, 0.0]), *np.zeros((3, 3)))
    leg.objects("JointSet").append(
        joint("SliderJoint", "rail", ("ground", "cart"), places, [("cart_x", 0.0, -0.1, 0.1)])
    )
    leg.objects("ForceSet").append(
        muscle(leg, "rope", (("pelvis", 0.1, -0.1, 0.0), ("ground", 0.1, 0.7, 0.1)))
    )
    leg.points("rope")[1].find("socket_parent_frame").text = "/bodyset/cart"  # type: ignore[union-attr]
    leg.points("rope")[1].find("location").text = "0.1 0.2 0.1"  # type: ignore[union-attr]


def _kinds() -> dict[str, Edit]:
    kinds: dict[str, Edit] = {"as it is": lambda leg: None}
    for site in ("hip", "knee", "ankle"):
        for kind in _COORDINATES:
            kinds[f"{kind} at the {site}"] = partial(_other_joint, site=site, kind=kind)
    for kind in ("FreeJoint", "BallJoint", "PlanarJoint", "WeldJoint"):
        kinds[f"{kind} at the root"] = partial(_other_joint, site="root", kind=kind)
    for site in ("hip", "knee", "ankle"):
        kinds[f"{site} turns by 2 q"] = partial(_twice, site=site, slope=2.0)
        kinds[f"{site} turns by -0.5 q"] = partial(_twice, site=site, slope=-0.5)
        kinds[f"{site} turns by 1.5 times a function"] = partial(_multiplied, site=site, scale=1.5)
        kinds[f"{site} turns by -1 times a function"] = partial(_multiplied, site=site, scale=-1.0)
        kinds[f"joint of the {site} reversed"] = partial(_reversed, site=site)
    kinds |= {
        "rotations about oblique axes": _oblique,
        "one coordinate in several axes": _in_two_axes,
        "axis of two coordinates": _function_of_two,
        "coordinates in another order": _shuffled,
        "joint of the femoropatellar reversed": partial(_reversed, site="femoropatellar"),
    }
    for kind in FUNCTIONS:
        kinds[f"knee by {kind}"] = partial(_all_by_one, kind=kind)
        kinds[f"patella by {kind}"] = partial(_coupled, kind=kind)
        kinds[f"hip rotation by {kind}"] = partial(_coupled_hip, kind=kind)
        kinds[f"point by {kind}"] = partial(_moving, kind=kind)
    kinds |= {
        "coupler with a scale factor": _coupled_by_scale,
        "coupler of two coordinates, linear": partial(_coupled_by_two, kind="LinearFunction"),
        "coupler of two coordinates, polynomial": partial(
            _coupled_by_two, kind="MultivariatePolynomialFunction"
        ),
        "coupler not enforced": _not_enforced,
        "coupler of a coupled coordinate": _chain_of_couplers,
        "ankle coupled to the knee": _coupled_ankle,
        "coupler within a ball joint": _coupled_ball,
        "coupler of a locked coordinate": _driven_and_locked,
        "loop without muscles": _closed_elsewhere,
    }
    for kind in ("WeldConstraint", "PointConstraint", "ConstantDistanceConstraint"):
        for enforced in ("true", "false"):
            kinds[f"{kind}, enforced {enforced}"] = partial(_closed, kind=kind, enforced=enforced)
    kinds |= {
        "knee locked": partial(_locked, site="knee", name="knee_angle"),
        "hip rotation locked": partial(_locked, site="hip", name="hip_rotation"),
        "patella locked": partial(_locked, site="femoropatellar", name="patella_angle"),
        "ankle prescribed": partial(_prescribed, site="ankle", name="ankle_angle"),
        "ankle prescribed but off": partial(_prescribed, site="ankle", name="ankle_angle", also="off"),
        "default beyond the range": _default_off_range,
        "two coordinates of one name": _one_name_twice,
    }
    for kind in _WRAP_SIZES:
        for quadrant in QUADRANTS:
            kinds[f"{kind}, quadrant {quadrant}"] = partial(_wrap, kind=kind, quadrant=quadrant)
        if kind != "WrapTorus":
            for method in METHODS[1:]:
                kinds[f"{kind}, method {method}"] = partial(_wrap, kind=kind, method=method)
            kinds[f"{kind}s called alike"] = partial(_wrap_on_two_bodies, kind=kind)
    kinds |= {
        "wrap inactive": partial(_wrap, kind="WrapCylinder", active="false"),
        "wrap without quadrant": partial(_wrap, kind="WrapCylinder", quadrant="Unassigned"),
        "wrap with an upper-case quadrant": partial(_wrap, kind="WrapCylinder", quadrant="-X"),
        "wrap between two of three points": _wrap_range,
        "wrap on an offset frame": _wrap_on_offset_frame,
        "two wraps": _double_wrap,
        "frames called alike": _frames_alike,
        "frame called like a body": _frame_named_like_body,
        "frames on one another": _nested_frames,
        "frame inside a frame": _frame_in_frame,
        "frames of the model": _frames_of_model,
        "sockets of points upward": partial(_sockets, form="up"),
        "sockets of points by name": partial(_sockets, form="bare"),
        "sockets of points in part": partial(_sockets, form="part"),
        "sockets of a joint absolute": partial(_sockets_of_joint, form="absolute"),
        "sockets of a joint upward": partial(_sockets_of_joint, form="up"),
        "joint on the bodies": partial(_sockets_of_joint, form="body"),
        "frames of a joint upward": partial(_frame_sockets_of_joint, form="up"),
        "frames of a joint by name": partial(_frame_sockets_of_joint, form="bare"),
        "joint on frames of bodies": _joint_on_component_frames,
        "points on frames of joints": partial(_point_on_joint_frame, form="absolute"),
        "points on frames of joints by name": partial(_point_on_joint_frame, form="bare"),
        "frames of two joints called alike": _joint_frames_alike,
        "point in the ground": _point_in_ground,
        "muscle called like a body": _muscle_named_like_body,
        "wrap called like a muscle": _shared_objects,
        "muscles in components": _muscles_in_components,
        "body in components": partial(_parts_in_components, what="body"),
        "joint in components": partial(_parts_in_components, what="joint"),
        "constraint in components": partial(_parts_in_components, what="constraint"),
        "conditional points": _conditional,
        "conditional points upward": partial(_conditional, form="up"),
        "conditional points by name": partial(_conditional, form="bare"),
        "conditional point of a driven coordinate": _conditional_on_driven,
        "moving point of a driven coordinate": partial(_moving, kind="SimmSpline", driven=True),
        "moving point of several coordinates": _moving_with_several,
    }
    for kind in _MUSCLES:
        kinds[kind] = partial(_other_muscles, kind=kind)
    for kind in ("BushingForce", "Ligament", "CoordinateLimitForce"):
        kinds[kind] = partial(_other_force, kind=kind)
    kinds |= {
        "path actuator": _path_actuator,
        "muscle that applies no force": _not_applied,
        "parameters left to the class": _parameters,
        "parameters in defaults": _defaults,
        "curves of its own": _curves,
        "passive curves of its own": partial(_curves, **_STIFF),
        "DeGrooteFregly2016Muscle of its own": _de_groote,
        "path in <path>": _new_path_property,
        "function-based path": _other_path,
        "other gravity": _gravity,
        "sets with names": _names_of_sets,
        "body without mass": _without_inertia,
        "body without mass properties": _no_inertia,
        "second chain from the ground": _two_chains,
    }
    for version in ("40000", "40500", "40600"):
        kinds[f"version {version}"] = partial(_version, version=version)
    return kinds


KINDS = _kinds()
"""Every kind of edit by name."""
