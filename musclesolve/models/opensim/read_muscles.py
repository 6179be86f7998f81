"""Muscles of a model file: paths and wrap objects, parameters and Hill curves.

Impossible values are refused while reading: a force-velocity curve that does not rise, a pennation angle in degrees, a
strain of zero. The ranges of ``muscle_properties.toml`` are far wider than the values of any muscle.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import grouped
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import WarningNote, few
from musclesolve.errors import file_error
from musclesolve.models.opensim.devices import read_device
from musclesolve.models.opensim.functions import Constant
from musclesolve.models.opensim.model import (
    Actuator,
    Coordinate,
    Device,
    Frame,
    MovingLocation,
    OpenSimMuscle,
    OpenSimPath,
    OpenSimPoint,
    PathFunction,
    Wrap,
    WrapSurface,
    rotation_xyz,
)
from musclesolve.models.opensim.xml_tree import FARTHEST, Context, Element, function_in, last_part
from musclesolve.muscles.curves.curve_family import CurveFamily, DeGrooteFregly2016, Thelen2003, curve_fault
from musclesolve.muscles.curves.millard_2013 import Millard2013
from musclesolve.muscles.hill_model import PassiveElement
from musclesolve.muscles.muscle_parameters import MuscleParameters, families_of
from musclesolve.muscles.paths.engine import METHODS
from musclesolve.muscles.strength import ACHILLES, TendonStrain, achilles_muscles, stated_strains


def muscle_parameters(
    muscles: Sequence[OpenSimMuscle],
    *,
    with_passive: bool = True,
    tendon_strain: TendonStrain | None = None,
    joints_crossed: ArrayLike = 1.0,
) -> MuscleParameters:
    """The parameters of n muscles with their Hill curves.

    Args:
        muscles: of a model.
        with_passive: False: passive elements without force.
        tendon_strain: instead of the strains of the model. Words are "all", "achilles" (soleus and gastrocnemius),
            names without _r and _l, and names.
        joints_crossed: see `joints_crossed` in kinematics.py; (n,), or one number for all muscles.
    """
    names = [muscle.name for muscle in muscles]
    of_stem = grouped((name.removesuffix("_r").removesuffix("_l"), k) for k, name in enumerate(names))
    of_name = {name: [k] for k, name in enumerate(names)}
    levels = ({ACHILLES: achilles_muscles([(name,) for name in names])}, of_stem, of_name)
    of_model = np.array([muscle.tendon_strain for muscle in muscles])
    strain = np.array([passive_strains(muscle) for muscle in muscles]).reshape(-1, 2)
    force = np.array([muscle.max_isometric_force for muscle in muscles])
    return MuscleParameters(
        names=tuple(names),
        max_isometric_force=force,
        optimal_fiber_length=np.array([muscle.optimal_fiber_length for muscle in muscles]),
        tendon_slack_length=np.array([muscle.tendon_slack_length for muscle in muscles]),
        pennation_angle=np.array([muscle.pennation_angle for muscle in muscles]),
        max_shortening_velocity=np.array([muscle.max_contraction_velocity for muscle in muscles]),
        tendon_strain=stated_strains(of_model, tendon_strain, levels, "this choice of muscles"),
        joints_crossed=np.array(np.broadcast_to(joints_crossed, len(names)), dtype=float),
        families=families_of([curve_family(muscle) for muscle in muscles]),
        passive=PassiveElement(
            force * [float(with_passive and muscle.passive) for muscle in muscles], strain[:, 0], strain[:, 1]
        ),
    )


_PARTS = {
    "active": "ActiveForceLengthCurve",
    "velocity": "ForceVelocityCurve",
    "passive": "FiberForceLengthCurve",
}
"""Curves of `Millard2013` and their elements."""
_FULL_DEGREES = 90.0

Range = Mapping[str, float | str]


def curve_parameters(context: Context, muscle: Element) -> dict[str, float]:
    """The parameters of the curves by their names in the file; for Millard et al. as CURVE.PARAMETER."""
    kind = next((kind for kind in ("Thelen", "DeGroote") if muscle.tag.startswith(kind)), "Millard")
    read = {tag: _number(context, muscle, tag, limits) for tag, limits in _table()[kind].items()}
    stated = {tag: value for tag, value in read.items() if value is not None}
    fault = _curves(tuple(stated.items()))[2]
    if fault is not None:
        part, sentence = fault
        of_part = {tag: value for tag, value in stated.items() if tag.startswith(_PARTS[part])} or stated
        items = [f"{tag} {value:g}" for tag, value in of_part.items()]
        muscle.fail(
            "bad_model",
            f"{sentence} with {', '.join(map(str, items))}",
            "active force that rises to 1 at the optimal fiber length and falls beyond it, "
            "a force-velocity curve that rises from 0 at the maximum shortening velocity "
            "through 1 at rest, a passive force that rises",
            "correct these parameters of the muscle",
        )
    return stated


def curve_family(muscle: OpenSimMuscle) -> CurveFamily:
    """The curves of a muscle."""
    return _curves(tuple(muscle.curve.items()))[0]


def passive_strains(muscle: OpenSimMuscle) -> tuple[float, float]:
    """Fiber strains at zero and at one norm force."""
    return _curves(tuple(muscle.curve.items()))[1]


@lru_cache(maxsize=256)
def _curves(
    parameters: tuple[tuple[str, float], ...],
) -> tuple[CurveFamily, tuple[float, float], tuple[str, str] | None]:
    """Family, strains at zero and at one norm force, and fault (see `curve_fault`) of parameters as in the file."""
    values, tables = dict(parameters), _table()
    kind = next(kind for kind in tables if kind != "muscle" and next(iter(tables[kind])) in values)
    family: CurveFamily
    if kind == "DeGroote":
        strains = 0.0, values["passive_fiber_strain_at_one_norm_force"]
        family = DeGrooteFregly2016(values["active_force_width_scale"])
    elif kind == "Thelen":
        strains = 0.0, values["FmaxMuscleStrain"]
        family = Thelen2003(*(values[tag] for tag in ("KshapeActive", "KshapePassive", "Af", "Flen")))
    else:
        shape = {
            part: {
                str(limits["as"]): values[tag]
                for tag, limits in tables[kind].items()
                if tag.startswith(curve) and "as" in limits and tag in values
            }
            for part, curve in _PARTS.items()
        }
        # With damped fibers or rigid tendons OpenSim ignores the least active force in the file.
        shape["active"]["minimum"] = 0.0
        zero, one = (
            values[f"{_PARTS['passive']}.strain_at_{end}"] for end in ("zero_force", "one_norm_force")
        )
        strains, family = (zero, one), Millard2013("millard_2013_of_model", shape)
    return family, strains, curve_fault(family, strains)


def curve_notes(muscles: Sequence[OpenSimMuscle]) -> list[str]:
    """Return a note on the muscles with Hill curves of another class than in the file."""
    other = [
        muscle for muscle in muscles if not muscle.kind.startswith(("Thelen2003", "Millard2012", "DeGroote"))
    ]
    return [
        f"The curves of {', '.join(dict.fromkeys(muscle.kind for muscle in other))} are not read; "
        f"{', '.join(muscle.name for muscle in other)} have the curves of Millard et al. (2013)."
    ] * bool(other)


_LEAST_CONTROL = 0.01
"""The least control of the muscles of OpenSim, unless a model states another."""


def control_notes(muscles: Sequence[OpenSimMuscle]) -> list[str]:
    """Return a note on the muscles that a model bounds in OpenSim's static optimization, other than by 0 and 1."""
    bounded = [
        f"{muscle.name} ({muscle.controls[0]:g} to {muscle.controls[1]:g})"
        for muscle in muscles
        if muscle.controls[0] > _LEAST_CONTROL or muscle.controls[1] != 1.0
    ]
    return [
        f"The model bounds the controls of {', '.join(bounded)}. OpenSim's static optimization keeps activations "
        "within these bounds, which are not used here."
    ] * bool(bounded)


def _table() -> Mapping[str, Mapping[str, Range]]:
    return bundled_toml(__package__, "muscle_properties.toml")


_WORDS = {"minimum": "of at least", "above": "above", "maximum": "of at most", "below": "below"}


def _number(context: Context, muscle: Element, path: str, limits: Range) -> float | None:
    """A number of a muscle, or of one of its curves ("CURVE.PARAMETER"), within its range; None without default."""
    holder, _, tag = path.rpartition(".")
    owner = context.property(muscle, holder) if holder else muscle
    element = None if owner is None else context.property(owner, tag)
    if element is None:
        return float(limits["default"]) if "default" in limits else None
    values = element.finite_numbers()
    single = values is not None and values.shape == (1,)
    value = float(values[0]) if values is not None and single else math.nan
    low, high = float(limits.get("minimum", "-inf")), float(limits.get("maximum", "inf"))
    above, below = float(limits.get("above", "-inf")), float(limits.get("below", "inf"))
    if low <= value <= high and above < value < below:
        return value
    bounds = [f"{word} {limits[key]:g}" for key, word in _WORDS.items() if key in limits]
    remedy = f"correct <{tag}>"
    if path.startswith("pennation") and 0.0 < value < _FULL_DEGREES:
        remedy = f"if these are degrees, write {math.radians(value):.6g}"
    elif path.endswith("_length") and value > 0.0:
        remedy = f"if these are millimeters, write {0.001 * value:.6g}"
    text = element.text.strip()[:40] or "empty"
    raise file_error(
        "not_numbers" if values is None else "bad_model" if single else "bad_format",
        (element.file, f"line {element.line}, {muscle.label}"),
        f"{path} is {text}",
        f"a number {' and '.join(map(str, bounds))}: {limits['about']}",
        remedy,
    )


_SURFACES = {
    "WrapCylinder": "cylinder",
    "WrapSphere": "sphere",
    "WrapEllipsoid": "ellipsoid",
    "WrapTorus": "torus",
}
_OBSTACLES = {"ContactCylinder": "cylinder", "ContactSphere": "sphere"}
_SIDES = ("all", "+x", "-x", "+y", "-y", "+z", "-z")


def read_surfaces(context: Context) -> dict[str, WrapSurface]:
    """Wrap objects by name; objects of other kinds become `unsupported`.

    Muscles name a wrap object without its body. As in OpenSim, the first one of this name is used.
    """
    surfaces: dict[str, WrapSurface] = {}
    named: dict[str, list[str]] = {}
    for owner in context.frames.values():
        for element in owner.listed("WrapObjectSet"):
            named.setdefault(element.name, []).append(owner.path)
            if len(named[element.name]) > 1:
                continue
            base = context.pose(owner)
            surface = _surface(context, element, base) if element.tag in _SURFACES and base else None
            if surface is None:
                context.unsupported[f"wrap object {element.name}"] = element.tag
            elif surface.kind == "cylinder" and surface.side.endswith("z"):
                # OpenSim's lengths jump at such points
                context.unsupported[f"wrap object {element.name}"] = (
                    "a cylinder with a quadrant along its axis"
                )
            else:
                surfaces[element.name] = surface
    for name, owners in named.items():
        if len(owners) > 1:
            context.notes.append(
                f"{len(owners)} wrap objects are called {name} ({', '.join(owners)}): all muscles that name it use "
                f"the one on {owners[0]}, as in OpenSim. Rename the others if that is not intended."
            )
    return surfaces


def _surface(context: Context, element: Element, base: Frame) -> WrapSurface:
    kind = _SURFACES[element.tag]
    rotation = base.rotation @ rotation_xyz(element.require("xyz_body_rotation").vector())
    frame = Frame(base.body, rotation, base.place(element.require("translation").vector()))
    if kind == "ellipsoid":
        radii = element.require("dimensions").vector()
    elif kind == "torus":
        radii = np.array([element.require(f"{part}_radius").number() for part in ("inner", "outer")] + [0.0])
        if not 0.0 < radii[0] < radii[1]:
            element.fail(
                "bad_model",
                f"inner_radius {radii[0]:g} and outer_radius {radii[1]:g}",
                "a positive radius of the tube, smaller than the one of the ring [m]",
                "correct them",
            )
    else:
        radius = element.require("radius").number()
        radii = np.array([radius, radius, radius if kind == "sphere" else 0.0])
    length = element.require("length").number() if kind == "cylinder" else 0.0
    if min(radii[:2]) <= 0.0 or (kind in ("sphere", "ellipsoid") and radii[2] <= 0.0):
        element.fail("bad_model", "a radius is not positive", "radii [m]", "correct it")
    side = context.property(element, "quadrant")
    word = side.text.strip().lower() if side is not None and side.words() else "all"
    word = {"unassigned": "all"}.get(word, word)
    word = word if word in _SIDES else f"+{word}"
    if word not in _SIDES:
        element.fail("bad_model", f"quadrant '{word[1:]}'", ", ".join(_SIDES), "correct it")
    return WrapSurface(element.name, kind, frame, radii, length, word, context.flag(element, "active", True))


def read_muscles(
    context: Context, model: Element, coordinates: Mapping[str, Coordinate], surfaces: dict[str, WrapSurface]
) -> tuple[dict[str, OpenSimMuscle], dict[str, OpenSimMuscle], tuple[Device, ...], dict[str, Actuator]]:
    """Every force of the model with a path and fibers, those with a path of an unsupported kind, devices, actuators.

    Obstacles of paths are added to the surfaces.
    Other forces become `unsupported`. Muscles may be in the set of forces and among
    the components of the model.
    """
    muscles, pathless = dict[str, OpenSimMuscle](), dict[str, OpenSimMuscle]()
    devices: list[Device] = []
    actuators = dict[str, Actuator]()
    forces = model.listed("ForceSet")
    elsewhere = [part for part in context.of_kind("Muscle") if part not in forces]
    for element in [*forces, *elsewhere]:
        if element.name in muscles:
            element.fail_repeated("muscles")
        is_muscle = (
            element.tag.endswith("Muscle") or context.property(element, "optimal_fiber_length") is not None
        )
        holder = element.find("path") or element  # the path is an element of its kind, or inside <path>
        path = next((child for child in holder.children if child.tag.endswith("Path")), None)
        if is_muscle and _has_no_strength(context, element):
            context.notes.append(
                WarningNote(
                    f"The muscle {element.name} has no strength (max_isometric_force is 0, line {element.line} of the "
                    "model), and is left out: the other muscles, or a reserve, bear what it would.",
                    "model",
                    "state its max_isometric_force in the model, unless it is meant not to act",
                )
            )
        elif is_muscle and path is not None and path.tag == "GeometryPath":
            muscles[element.name] = _muscle(context, element, _path(context, element, path))
        elif is_muscle and path is not None and (over := _over_obstacles(context, element, path, surfaces)):
            muscles[element.name] = _muscle(context, element, over)
        elif is_muscle:
            by_function = path is not None and path.tag == "FunctionBasedPath"
            function = read_path_function(path, coordinates) if path is not None and by_function else None
            read = _muscle(context, element, OpenSimPath(element.name, (), ()), function)
            if function is not None:
                muscles[element.name] = read
            else:
                pathless[element.name] = read
                context.unsupported.setdefault(f"path of {element.name}", path.tag if path else "none")
        elif element.tag.endswith("Actuator"):
            actuators[element.name] = replace(
                _actuator(context, element), path=_drawn(context, element, path)
            )
        elif context.flag(element, "appliesForce", True):
            line = _drawn(context, element, path)
            device = read_device(context, element, line, coordinates)
            if device is None:
                context.unsupported[f"force {element.name}"] = element.tag
            else:
                devices.append(device)
    if moved := [name for name, muscle in muscles.items() if _moves_beside_its_body(muscle)]:
        context.notes.append(
            f"Moment arms are the derivatives of the lengths: OpenSim's leave out that points of {few(moved)} move "
            "beside points of the same body."
        )
    return muscles, pathless, tuple(devices), actuators


def _moves_beside_its_body(muscle: OpenSimMuscle) -> bool:
    """Whether a moving point follows or precedes a point of its body: OpenSim's arms leave out such segments."""
    return any(
        (one.moving is not None or other.moving is not None) and one.frame.body == other.frame.body
        for one, other in pairwise(muscle.points)
    )


def _drawn(context: Context, element: Element, path: Element | None) -> OpenSimPath | None:
    """The path of a force through points; None of another kind, or without a path."""
    return _path(context, element, path) if path is not None and path.tag == "GeometryPath" else None


def _actuator(context: Context, element: Element) -> Actuator:
    """An actuator, without its path."""
    between = (last_part(element.text_of("bodyA")), last_part(element.text_of("bodyB")))
    axis = element.vector_in("axis", 0.0) if element.tag == "TorqueActuator" else np.zeros(3)
    size = float(np.linalg.norm(axis))
    return Actuator(
        element.tag,
        last_part(element.text_of("coordinate") or element.text_of("socket_coordinate")),
        context.number(element, "optimal_force", 1.0),
        (
            _control(context, element, "min_control", -np.inf),
            _control(context, element, "max_control", np.inf),
        ),
        between,
        axis / size if size > 0.0 else None,
        context.flag(element, "torque_is_global", True),
        context.flag(element, "appliesForce", True),
    )


def _has_no_strength(context: Context, element: Element) -> bool:
    """Whether a muscle is stated to have no force, as of a nerve that is blocked."""
    stated = context.property(element, "max_isometric_force")
    values = None if stated is None else stated.finite_numbers()
    return values is not None and values.shape == (1,) and float(values[0]) == 0.0


def _path(context: Context, element: Element, path: Element) -> OpenSimPath:
    """The path of a force; a point of an unsupported kind makes it `unsupported`."""
    points = [_point(context, child) for child in path.listed("PathPointSet")]
    if len(points) < 2:
        element.fail("bad_model", f"its path has {len(points)} point(s)", "two or more", "correct the path")
    for child, point in zip(path.listed("PathPointSet"), points, strict=True):
        if point is None:
            context.unsupported[f"path of {element.name}"] = child.tag
    wraps = tuple(_wrap(wrap, len(points)) for wrap in path.listed("PathWrapSet"))
    return OpenSimPath(element.name, tuple(point for point in points if point is not None), wraps)


def _over_obstacles(
    context: Context, muscle: Element, path: Element, surfaces: dict[str, WrapSurface]
) -> OpenSimPath | None:
    """The path of a Scholz2015GeometryPath over spheres and cylinders, which are added to the surfaces; else None.

    Such a path is the shortest one that passes each obstacle on the side of its hint: our path around a wrap object
    whose axis x points to the hint, held on the half +x.
    """
    if path.tag != "Scholz2015GeometryPath":
        return None
    points, wraps, around = list[OpenSimPoint | None](), list[Wrap](), dict[str, WrapSurface]()
    shapes = {shape.path: shape for shape in context.of_kind("") if shape.tag.startswith("Contact")}
    for element in path.listed("path_elements"):
        if element.tag == "Scholz2015GeometryPathPoint":
            points += [_point(context, element.require("PathPoint"))]
            continue
        shape = shapes.get(context.path_of(element, socket := element.require("socket_contact_geometry")))
        if shape is None:
            socket.fail(
                "unknown_name",
                f"there is no contact geometry '{socket.text.strip()}'",
                "the path of a contact geometry",
                "write the whole path, /contactgeometryset/NAME",
            )
        base = context.frame(shape, "socket_frame")
        if base is None or shape.tag not in _OBSTACLES:
            context.unsupported[f"path of {muscle.name}"] = f"{path.tag} over a {shape.tag}"
            return None
        name = f"{muscle.name}/{element.name}"
        kind = _OBSTACLES[shape.tag]
        hint = element.vector_in("contact_hint", 0.0)
        radius = shape.require("radius").number()
        across = hint * ([1.0, 1.0, 0.0] if kind == "cylinder" else 1.0)
        if not (radius > 0.0 and np.linalg.norm(across) > 0.0):
            element.fail(
                "bad_model",
                f"an obstacle of radius {radius:g} with the hint {hint}",
                "a radius [m] and a place beside the center",
                "correct <contact_hint>, or <radius> of the contact geometry",
            )
        x = across / np.linalg.norm(across)
        # a cylinder keeps its axis z
        y = np.cross([0.0, 0.0, 1.0] if abs(x[2]) < 0.9 else [0.0, 1.0, 0.0], x)
        y /= np.linalg.norm(y)
        angles, place = shape.vector_in("orientation", 0.0), shape.vector_in("location", 0.0)
        turned = base.rotation @ rotation_xyz(angles) @ np.stack([x, y, np.cross(x, y)], axis=1)
        radii = np.array([radius, radius, radius if kind == "sphere" else 0.0])
        frame = Frame(base.body, turned, base.place(place))
        around[name] = WrapSurface(name, kind, frame, radii, 2.0 * FARTHEST, "held +x", True)
        wraps.append(Wrap(name, len(points), len(points) + 1, "hybrid"))
    known = tuple(point for point in points if point is not None)
    if len(known) < len(points):
        return None
    surfaces |= around
    return OpenSimPath(muscle.name, known, tuple(wraps), is_geodesic=True)


def read_path_function(path: Element, coordinates: Collection[str]) -> PathFunction | None:
    """The length of a FunctionBasedPath; None for an unsupported kind of function.

    Moment arms and rates follow from its derivatives; functions of their own are not read.
    """
    names = tuple(map(last_part, path.text_of("coordinate_paths").split()))
    holder = path.find("length_function")
    remedy = "correct <coordinate_paths>, or give the paths of this model"
    path.check_coordinates(names, coordinates, remedy)
    function = function_in(holder, len(names)) if names and holder is not None else None
    return None if function is None else PathFunction(names, function)


def _muscle(
    context: Context, element: Element, line: OpenSimPath, function: PathFunction | None = None
) -> OpenSimMuscle:
    # all these parameters have a default
    limits_of = _table()["muscle"].items()
    timed, smooth = element.tag.startswith(_TIMED), element.tag.startswith("DeGroote")
    numbers: dict[str, Any] = {
        tag: _number(context, element, tag, limits)
        for tag, limits in limits_of
        if not (timed and tag == _VELOCITY)
    }
    if timed:  # these muscles divide by a time, whatever velocity they state
        scale = context.number(element, "time_scale", 0.1)
        if not scale > 0.0:
            element.fail(
                "bad_model", f"time_scale is {scale:g}", "a positive time [s]", "correct <time_scale>"
            )
        numbers[_VELOCITY] = 1.0 / scale
    numbers["pennation_angle"] = numbers.pop("pennation_angle_at_optimal")
    return OpenSimMuscle(
        **vars(line),
        kind=element.tag,
        **numbers,
        curve=curve_parameters(context, element),
        enabled=context.flag(element, "appliesForce", True),
        controls=(
            _control(context, element, "min_control", _LEAST_CONTROL if element.tag in _ACTIVE else 0.0),
            _control(context, element, "max_control", 1.0),
        ),
        by_function=function,
        time_constants=_time_constants(context, element),
        smoothness=context.number(element, "activation_dynamics_smoothing", 0.1) if smooth else None,
        passive=not context.flag(element, "ignore_passive_fiber_force", False),
    )


_ACTIVE = ("Thelen2003Muscle", "Millard2012EquilibriumMuscle")
"""Muscles whose control is `_LEAST_CONTROL` at least unless they state it (OpenSim 4.6)."""
_TIMES = {
    "Thelen2003Muscle": (0.015, 0.050),
    "Millard2012EquilibriumMuscle": (0.010, 0.040),
    "DeGrooteFregly2016Muscle": (0.015, 0.060),
}
"""Time constants of activation and deactivation that a muscle has unless it states them [s] (OpenSim 4.6)."""


def _time_constants(context: Context, element: Element) -> tuple[float, float] | None:
    """The time constants of activation and deactivation [s]; None for a kind without such dynamics."""
    if element.tag not in _TIMES:
        return None
    rise, fall = _TIMES[element.tag]
    return (
        context.number(element, "activation_time_constant", rise),
        context.number(element, "deactivation_time_constant", fall),
    )


_TIMED = ("Schutte1993Muscle", "Delp1990Muscle")
"""Muscles whose velocity curve is over v time_scale / L0."""
_VELOCITY = "max_contraction_velocity"


def _control(context: Context, element: Element, tag: str, otherwise: float) -> float:
    """A bound of the control of a muscle, which may be infinite."""
    stated = context.property(element, tag)
    if stated is None or not stated.words():
        return otherwise
    bounds = {"inf": np.inf, "+inf": np.inf, "infinity": np.inf, "-inf": -np.inf, "-infinity": -np.inf}
    bound = bounds.get(stated.text.strip().lower())
    return stated.number() if bound is None else bound


def _point(context: Context, element: Element) -> OpenSimPoint | None:
    """A path point; None for an unsupported kind of point, frame or function."""
    if element.tag not in ("PathPoint", "ConditionalPathPoint", "MovingPathPoint"):
        return None
    frame = context.frame(element, "socket_parent_frame")
    if frame is None:
        return None
    if element.tag == "MovingPathPoint":
        names, functions = [], []
        for axis in "xyz":
            holder = element.find(f"{axis}_location")
            functions.append(Constant(0.0) if holder is None else function_in(holder))
            if functions[-1] is not None:
                names.append(last_part(element.require(f"socket_{axis}_coordinate").text))
        x, y, z = functions
        if x is None or y is None or z is None:
            return None
        return OpenSimPoint(
            element.name, frame, None, MovingLocation((names[0], names[1], names[2]), (x, y, z))
        )
    place = element.require("location").vector()
    if element.tag == "PathPoint":
        return OpenSimPoint(element.name, frame, place)
    lower, upper = element.require("range").pair()
    coordinate = last_part(element.require("socket_coordinate").text)
    return OpenSimPoint(element.name, frame, place, condition=(coordinate, lower, upper))


def _wrap(element: Element, points: int) -> Wrap:
    holder = element.find("range")
    first, last = (-1, -1) if holder is None else map(int, holder.pair())
    word = element.text_of("method").lower()
    word = "hybrid" if word in ("", "unassigned") else word
    if word not in METHODS:
        element.require("method").fail("bad_model", f"method '{word}'", ", ".join(METHODS), "correct it")
    surface = element.require("wrap_object").text.strip()
    if not max(first, 1) < (last if last > 0 else points) <= points:
        element.fail(
            "bad_model",
            f"the wrap acts from point {first} to point {last} of {points}",
            "two points of the path in their order; -1 for its ends",
            "correct <range>",
        )
    return Wrap(surface, first if first > 0 else None, last if last > 0 else None, word)
