"""A small leg as an OpenSim model, and the few edits of its XML that mutations are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from musclesolve._util.arrays import Array

BODIES = {
    "pelvis": (0.0, 1.0, 0.0),
    "thigh": (-0.07, 0.93, 0.08),
    "patella": (-0.02, 0.53, 0.08),
    "shank": (-0.07, 0.53, 0.08),
    "foot": (-0.07, 0.10, 0.08),
}
"""Origins in the ground, standing [m]."""
PATHS: dict[str, tuple[tuple[str, float, float, float], ...]] = {
    "iliacus": (("pelvis", 0.02, 0.03, 0.06), ("thigh", 0.01, -0.08, 0.0)),
    "gluteus_maximus": (("pelvis", -0.15, 0.02, 0.05), ("thigh", -0.03, -0.12, 0.05)),
    "gluteus_medius": (("pelvis", -0.08, 0.06, 0.12), ("thigh", -0.01, -0.02, 0.07)),
    "adductor": (("pelvis", -0.03, -0.11, 0.01), ("thigh", 0.01, -0.2, 0.0)),
    "rotator": (("pelvis", -0.14, -0.03, 0.01), ("thigh", -0.02, -0.01, 0.06)),
    "tensor": (("pelvis", 0.01, 0.0, 0.12), ("thigh", 0.02, -0.15, 0.07), ("shank", 0.0, -0.05, 0.05)),
    "rectus": (("pelvis", 0.02, -0.02, 0.09), ("patella", 0.01, 0.02, 0.0), ("shank", 0.04, -0.06, 0.0)),
    "hamstrings": (("pelvis", -0.11, -0.1, 0.07), ("shank", -0.03, -0.06, -0.01)),
    "vasti": (("thigh", 0.03, -0.2, 0.02), ("patella", 0.01, 0.02, 0.0), ("shank", 0.04, -0.06, 0.0)),
    "biceps_short": (("thigh", 0.0, -0.22, 0.02), ("shank", -0.03, -0.05, 0.03)),
    "gastrocnemius": (("thigh", -0.02, -0.38, 0.0), ("foot", -0.05, 0.0, 0.0)),
    "soleus": (("shank", -0.02, -0.12, 0.0), ("foot", -0.05, 0.0, 0.0)),
    "tibialis": (("shank", 0.02, -0.15, 0.01), ("shank", 0.03, -0.38, 0.0), ("foot", 0.1, 0.0, 0.0)),
    "peroneus": (("shank", 0.0, -0.1, 0.05), ("shank", -0.02, -0.41, 0.04), ("foot", 0.03, 0.0, 0.05)),
}
_SCATTER = 0.004
_MASSES = {"pelvis": 11.0, "thigh": 9.0, "patella": 0.1, "shank": 3.7, "foot": 1.2}


def numbers(values: Sequence[float] | Array) -> str:
    """The text of some numbers."""
    return " ".join(f"{float(value):.17g}" for value in values)


def function(kind: str, **properties: str | float | Sequence[float] | Array | Element) -> Element:
    """An OpenSim function with its properties."""
    made = Element(kind)
    for tag, value in properties.items():
        child = ElementTree.SubElement(made, tag)
        if isinstance(value, Element):
            child.append(value)
        else:
            child.text = value if isinstance(value, str) else numbers(np.atleast_1d(value))
    return made


def linear(slope: float, intercept: float = 0.0) -> Element:
    """F = slope x + intercept."""
    return function("LinearFunction", coefficients=[slope, intercept])


def spline(kind: str, rng: np.random.Generator, size: float, reach: float = 1.6) -> Element:
    """A smooth function through six knots, zero at zero, of values up to about `size`."""
    x = np.linspace(-reach, reach, 6) + rng.uniform(-0.1, 0.1, 6)
    y = size * (0.6 * np.sin(x) + rng.uniform(-0.15, 0.15, 6))
    return function(kind, x=x, y=y)


def axis(name: str, coordinates: str, direction: Sequence[float] | Array, by: Element) -> Element:
    """One axis of a custom joint."""
    made = Element("TransformAxis", name=name)
    ElementTree.SubElement(made, "coordinates").text = coordinates
    ElementTree.SubElement(made, "axis").text = numbers(direction)
    made.append(by)
    return made


Moved = tuple[str, Sequence[float] | Array, Element]
"""An axis of a custom joint: its coordinates, its direction and its function."""


def transform(rotations: Sequence[Moved], translations: Sequence[Moved] = ()) -> Element:
    """The six axes of a custom joint; those that are not given do not move, and are not parallel to the others."""
    made = Element("SpatialTransform")
    for kind, given in (("rotation", list(rotations)), ("translation", list(translations))):
        while len(given) < 3:
            others = [np.asarray(direction) for _, direction, _ in given]
            free = max(
                np.eye(3),
                key=lambda unit: min([np.linalg.norm(np.cross(unit, v)) for v in others], default=1.0),
            )
            given.append(("", free, function("Constant", value=0.0)))
        for k, (coordinates, direction, by) in enumerate(given):
            made.append(axis(f"{kind}{k + 1}", coordinates, direction, by))
    return made


def joint(
    kind: str,
    name: str,
    ends: tuple[str, str],
    places: tuple[Array, Array, Array, Array],
    coordinates: Sequence[tuple[str, float, float, float]],
    *inside: Element,
) -> Element:
    """A joint between offset frames.

    Args:
        ends: parent and child body.
        places: translation and orientation of the offset frame in the parent, then in the child.
        coordinates: name, default, lower and upper end of the range.
        inside: more elements of the joint.
    """
    made = Element(kind, name=name)
    frames = Element("frames")
    for end, body, place, turn in zip(("parent", "child"), ends, places[::2], places[1::2], strict=True):
        ElementTree.SubElement(made, f"socket_{end}_frame").text = f"{body}_offset"
        frame = ElementTree.SubElement(frames, "PhysicalOffsetFrame", name=f"{body}_offset")
        ElementTree.SubElement(frame, "socket_parent").text = (
            "/ground" if body == "ground" else f"/bodyset/{body}"
        )
        ElementTree.SubElement(frame, "translation").text = numbers(place)
        ElementTree.SubElement(frame, "orientation").text = numbers(turn)
    listed = ElementTree.SubElement(made, "coordinates")
    for coordinate, default, lower, upper in coordinates:
        one = ElementTree.SubElement(listed, "Coordinate", name=coordinate)
        ElementTree.SubElement(one, "default_value").text = numbers([default])
        ElementTree.SubElement(one, "range").text = numbers([lower, upper])
    made.append(frames)
    made.extend(inside)
    return made


@dataclass(eq=False)
class Leg:
    """The model being edited and the random numbers of this mutant."""

    root: Element
    rng: np.random.Generator

    @property
    def model(self) -> Element:
        """The <Model>."""
        found = self.root.find("Model")
        assert found is not None
        return found

    def objects(self, kind: str) -> Element:
        """The <objects> of a set, made where there is none."""
        holder = self.model.find(kind)
        if holder is None:
            holder = ElementTree.SubElement(self.model, kind)
        found = holder.find("objects")
        return ElementTree.SubElement(holder, "objects") if found is None else found

    def named(self, kind: str, name: str) -> Element:
        """An object of a set."""
        return next(each for each in self.objects(kind) if each.get("name") == name)

    def replace(self, kind: str, name: str, new: Element) -> None:
        """Put another object in the place of one."""
        objects = self.objects(kind)
        place = list(objects).index(self.named(kind, name))
        objects[place] = new

    def muscle(self, name: str) -> Element:
        """A muscle."""
        return self.named("ForceSet", name)

    def points(self, name: str) -> Element:
        """The points of a muscle."""
        found = self.muscle(name).find(".//PathPointSet/objects")
        assert found is not None
        return found

    def wraps(self, name: str) -> Element:
        """The wraps of a muscle."""
        found = self.muscle(name).find(".//PathWrapSet/objects")
        assert found is not None
        return found

    def text(self) -> str:
        """The document."""
        ElementTree.indent(self.root)
        return ElementTree.tostring(self.root, encoding="unicode", xml_declaration=True)


def small_leg(rng: np.random.Generator) -> Leg:
    """A pelvis fixed to a hinge, hip of three angles, knee that glides, patella driven by it, oblique ankle."""
    root = Element("OpenSimDocument", Version="40500")
    leg = Leg(root, rng)
    ElementTree.SubElement(root, "Model", name="leg")
    for body, mass in _MASSES.items():
        leg.objects("BodySet").append(_body(leg, body, mass))
    for each in (_root(), _hip(leg), _knee(leg), _patella(leg), _ankle(leg)):
        leg.objects("JointSet").append(each)
    leg.objects("ConstraintSet").append(
        coupler("patella_follows", "knee_angle", "patella_angle", linear(0.9, 0.02))
    )
    for name, path in PATHS.items():
        leg.objects("ForceSet").append(muscle(leg, name, path))
    return leg


def _body(leg: Leg, name: str, mass: float) -> Element:
    body = Element("Body", name=name)
    ElementTree.SubElement(body, "mass").text = numbers([mass * leg.rng.uniform(0.8, 1.2)])
    ElementTree.SubElement(body, "mass_center").text = numbers(leg.rng.uniform(-0.1, 0.05, 3))
    size = mass * 0.01 * leg.rng.uniform(0.8, 1.0, 3)
    ElementTree.SubElement(body, "inertia").text = numbers([*size, *(0.05 * size)])
    wraps = ElementTree.SubElement(body, "WrapObjectSet")
    ElementTree.SubElement(wraps, "objects")
    return body


def coupler(name: str, independent: str, dependent: str, by: Element, scale: float = 1.0) -> Element:
    """A coordinate that others drive."""
    made = Element("CoordinateCouplerConstraint", name=name)
    ElementTree.SubElement(made, "isEnforced").text = "true"
    ElementTree.SubElement(made, "coupled_coordinates_function").append(by)
    ElementTree.SubElement(made, "independent_coordinate_names").text = independent
    ElementTree.SubElement(made, "dependent_coordinate_name").text = dependent
    ElementTree.SubElement(made, "scale_factor").text = numbers([scale])
    return made


def offsets(leg: Leg, parent: str, child: str, turn: float = 0.0) -> tuple[Array, Array, Array, Array]:
    """Offset frames of a joint at the origin of the child, both turned alike."""
    place = np.subtract(BODIES[child], BODIES[parent])
    angles = leg.rng.uniform(-turn, turn, 3)
    return place, angles, np.zeros(3), angles


def _root() -> Element:
    places = (np.array(BODIES["pelvis"]), np.zeros(3), np.zeros(3), np.zeros(3))
    return joint("PinJoint", "root", ("ground", "pelvis"), places, [("tilt", 0.0, -0.5, 0.5)])


def _hip(leg: Leg) -> Element:
    names = ("hip_flexion", "hip_adduction", "hip_rotation")
    axes = [(name, np.eye(3)[k], linear(1.0)) for name, k in zip(names, (2, 0, 1), strict=True)]
    coordinates = [(name, 0.05, -0.6, 0.8) for name in names]
    places = offsets(leg, "pelvis", "thigh")
    return joint("CustomJoint", "hip", ("pelvis", "thigh"), places, coordinates, transform(axes))


def _knee(leg: Leg) -> Element:
    turns = [
        ("knee_angle", (0.0, 0.0, 1.0), linear(-1.0)),
        ("knee_angle", (1.0, 0.0, 0.0), spline("SimmSpline", leg.rng, 0.05)),
        ("knee_angle", (0.0, 1.0, 0.0), spline("SimmSpline", leg.rng, 0.05)),
    ]
    shifts = [
        ("knee_angle", (1.0, 0.0, 0.0), spline("SimmSpline", leg.rng, 0.006)),
        ("knee_angle", (0.0, 1.0, 0.0), spline("SimmSpline", leg.rng, 0.006)),
    ]
    places = offsets(leg, "thigh", "shank")
    return joint(
        "CustomJoint",
        "knee",
        ("thigh", "shank"),
        places,
        [("knee_angle", 0.1, 0.0, 1.4)],
        transform(turns, shifts),
    )


def _patella(leg: Leg) -> Element:
    turns = [("patella_angle", (0.0, 0.0, 1.0), linear(-1.0))]
    shifts = [
        ("patella_angle", (1.0, 0.0, 0.0), spline("SimmSpline", leg.rng, 0.02)),
        ("patella_angle", (0.0, 1.0, 0.0), spline("SimmSpline", leg.rng, 0.02)),
    ]
    places = offsets(leg, "thigh", "patella")
    coordinates = [("patella_angle", 0.0, -2.0, 2.0)]
    return joint(
        "CustomJoint", "femoropatellar", ("thigh", "patella"), places, coordinates, transform(turns, shifts)
    )


def _ankle(leg: Leg) -> Element:
    places = offsets(leg, "shank", "foot", 0.2)
    return joint("PinJoint", "ankle", ("shank", "foot"), places, [("ankle_angle", 0.0, -0.6, 0.5)])


def path_point(name: str, body: str, place: Sequence[float] | Array, kind: str = "PathPoint") -> Element:
    """A point of a path on a body."""
    made = Element(kind, name=name)
    ElementTree.SubElement(made, "socket_parent_frame").text = (
        "/ground" if body == "ground" else f"/bodyset/{body}"
    )
    ElementTree.SubElement(made, "location").text = numbers(place)
    return made


def muscle(
    leg: Leg,
    name: str,
    path: Sequence[tuple[str, float, float, float]],
    kind: str = "Millard2012EquilibriumMuscle",
) -> Element:
    """A muscle whose points scatter a little; tendon and fibers share its length standing."""
    made = Element(kind, name=name)
    geometry = ElementTree.SubElement(made, "GeometryPath", name="path")
    points = ElementTree.SubElement(ElementTree.SubElement(geometry, "PathPointSet"), "objects")
    ElementTree.SubElement(ElementTree.SubElement(geometry, "PathWrapSet"), "objects")
    standing = []
    for k, (body, *place) in enumerate(path):
        at = np.array(place) + leg.rng.uniform(-_SCATTER, _SCATTER, 3)
        points.append(path_point(f"{name}-P{k + 1}", body, at))
        standing.append(at + (0.0 if body == "ground" else np.array(BODIES[body])))
    length = np.linalg.norm(np.diff(standing, axis=0), axis=1).sum()
    stated = {
        "max_isometric_force": leg.rng.uniform(400.0, 1200.0),
        "optimal_fiber_length": 0.45 * length,
        "tendon_slack_length": 0.55 * length,
        "pennation_angle_at_optimal": leg.rng.uniform(0.0, 0.3),
        "max_contraction_velocity": 10.0,
    }
    for tag, value in stated.items():
        ElementTree.SubElement(made, tag).text = numbers([value])
    return made
