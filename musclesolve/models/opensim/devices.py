"""Springs, ligaments and bushings of a model: forces that follow from its coordinates and their rates alone.

Such a force acts on a coordinate, along a path, or between two frames. OpenSim's inverse dynamics contains it unless
its setup excludes all forces; the usual setup excludes muscles only.
"""

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from musclesolve._util.arrays import Array, vector_product
from musclesolve.models.opensim.functions import Constant, Function, LinearFunction, simm_spline, smooth_step
from musclesolve.models.opensim.geometry import path_blocks, path_system
from musclesolve.models.opensim.kinematics import BodyMotion, frames_in_ground
from musclesolve.models.opensim.model import (
    Coordinate,
    Device,
    Frame,
    Law,
    OpenSimModel,
    OpenSimPath,
    OpenSimPoint,
)
from musclesolve.models.opensim.xml_tree import Context, Element, function_in, last_part, read_function
from musclesolve.muscles.paths.engine import solve_paths


def deflection(
    rotation: tuple[Array, Array], position: tuple[Array, Array], twist: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Deflection of two frames with its rates (T, 12), and the axes (T, 3, 3) of the rates of its angles in the ground.

    Args:
        rotation, position: (T, 3, 3) and (T, 3) [m] of the frames in the ground.
        twist: (T, 6) of their bodies about the origin of the ground.
    """
    (first, second), (p, q) = rotation, position
    turned = first.swapaxes(1, 2) @ second
    y = np.arcsin(np.clip(turned[:, 0, 2], -1.0, 1.0))
    x = np.arctan2(-turned[:, 1, 2], turned[:, 2, 2])
    angles = np.stack([x, y, np.arctan2(-turned[:, 0, 1], turned[:, 0, 0])], axis=1)
    none = np.zeros_like(x)
    axes = first @ np.stack(  # x, y after the turn about x, z after both
        [[none + 1.0, none, none], [none, np.cos(x), np.sin(x)], turned[:, :, 2].T]
    ).transpose(2, 1, 0)
    across = twist[1] - twist[0]
    spin, velocity = across[:, :3], across[:, 3:] + vector_product(across[:, :3], q)
    rates = np.linalg.solve(axes, spin[..., None])[..., 0]
    place, change = ((first.swapaxes(1, 2) @ gap[..., None])[..., 0] for gap in (q - p, velocity))
    return np.concatenate([angles, place, rates, change], axis=1), axes


def limit_force(
    x: Array, limits: tuple[float, float], stiffness: tuple[float, float], damping: float, transition: float
) -> Array:
    """OpenSim's CoordinateLimitForce: a spring and a damper that set in beyond a range of a coordinate.

    f = K_l(q) (q_l - q) - K_u(q) (q - q_u) - d (K_u / k_u + K_l / k_l) qd, with smooth steps K over the transition.
    """
    (lower, upper), (of_lower, of_upper) = limits, stiffness
    below = smooth_step(lower - transition, lower, 1.0, 0.0).value(x[:, :1])
    above = smooth_step(upper, upper + transition, 0.0, 1.0).value(x[:, :1])
    spring = of_lower * below * (lower - x[:, 0]) - of_upper * above * (x[:, 0] - upper)
    return np.asarray(spring - damping * (below + above) * x[:, 1])


def exponential_limit(
    x: Array, limits: tuple[float, float], lower: tuple[float, float], upper: tuple[float, float]
) -> Array:
    """OpenSim's ExponentialCoordinateLimitForce: f = a_l exp(b_l (q_l - q)) - a_u exp(b_u (q - q_u)).

    lower, upper: shapes (a, b).
    """
    q = x[:, 0]
    return np.asarray(
        lower[0] * np.exp(-lower[1] * (q - limits[0])) - upper[0] * np.exp(upper[1] * (q - limits[1]))
    )


def linear_stop(x: Array, limits: tuple[float, float], stiffness: float, damping: float) -> Array:
    """OpenSim's CoordinateLinearStopForce: f = min(0, -k (q - q_u) (1 + d qd)) above a limit, likewise below one.

    It never pulls back to the limit.
    """
    above, below = np.maximum(x[:, 0] - limits[1], 0.0), np.minimum(x[:, 0] - limits[0], 0.0)
    down = np.minimum(-stiffness * above * (1.0 + damping * x[:, 1]), 0.0)
    return np.asarray(down + np.maximum(-stiffness * below * (1.0 - damping * x[:, 1]), 0.0))


def bushing_force(x: Array, parts: Sequence[tuple[Law, slice]], damping: Array) -> Array:
    """f_i = -g_i(x) - d_i xd_i of six functions g of parts of a deflection (T, 6), with the damping (6,) of rates."""
    forces = [function(x[:, part]) for function, part in parts]
    return np.asarray(-np.stack(forces, axis=1) - damping * x[:, 6:])


def spring_tension(x: Array, rest: float, stiffness: float, damping: float) -> Array:
    """OpenSim's PathSpring: f = k (L - l0) (1 + d Ld) of a spring that is longer than at rest; d [s/m]."""
    return np.asarray(stiffness * np.maximum(x[:, 0] - rest, 0.0) * (1.0 + damping * x[:, 1]))


def ligament_tension(x: Array, rest: float, scale: float, curve: Function) -> Array:
    """OpenSim's Ligament: f = F g(L / l0) while it is longer than at rest, zero else, whatever its curve g is there."""
    return np.where(x[:, 0] > rest, scale * curve.value(x[:, :1] / rest), 0.0)


def blankevoort_tension(x: Array, slack: float, stiffness: float, transition: float, damping: float) -> Array:
    """OpenSim's Blankevoort1991Ligament: f = k s^2 / (2 e) up to a strain s of e, then k (s - e / 2), plus d sd.

    The damper acts while the strand, longer than its slack length, becomes longer; it sets in over a strain of 0.01.
    """
    strain, rate = x[:, 0] / slack - 1.0, np.maximum(x[:, 1] / slack, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # e may be zero
        toe = 0.5 * strain**2 / transition
    spring = np.where(strain < transition, toe, strain - 0.5 * transition)
    damper = damping * rate * ONSET.value(strain[:, None])
    return np.where(strain > 0.0, stiffness * spring + damper, 0.0)


_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_CALLS: dict[str, Callable[..., Array]] = {
    **{name: getattr(np, name) for name in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{name: getattr(np, f"arc{name[1:]}") for name in ("asin", "acos", "atan")},
    "step": lambda x: np.where(x >= 0.0, 1.0, 0.0),
    "abs": np.abs, "min": np.minimum, "max": np.maximum, "square": np.square,
    "cube": lambda x: x**3, "recip": lambda x: 1.0 / x,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula of variables: its tree, and the number of each variable by name."""

    tree: ast.expr
    numbers: Mapping[str, int]

    def __call__(self, x: Array) -> Array:
        """Value (T,) at variables x (T, c)."""
        with np.errstate(all="ignore"):
            return np.asarray(self.evaluate(list(x.T), _CALLS, np.asarray) + np.zeros(len(x)))

    def evaluate(
        self, x: Sequence[Any], calls: Mapping[str, Callable[..., Any]], constant: Callable[[float], Any]
    ) -> Any:
        """Value for variables of any kind, with the functions that formulas may call, and the kind of constants."""

        def value(node: ast.expr) -> Any:
            match node:
                case ast.Constant(value=int() | float() as number):
                    return constant(float(number))
                case ast.Name(id=name):
                    return x[self.numbers[name]]
                case ast.UnaryOp(op=sign, operand=inner):
                    return _OPERATORS[type(sign)](value(inner))
                case ast.BinOp(left=one, op=between, right=other):
                    return _OPERATORS[type(between)](value(one), value(other))
                case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                    return calls[name](*map(value, arguments))
            raise KeyError(ast.dump(node))

        return value(self.tree)


def read_formula(text: str, variables: Sequence[str]) -> Formula | None:
    """A formula of named variables, as OpenSim writes it: "-30*q^2*sin(q) - 2*qdot".

    None for what is no formula of these variables, or uses other functions.
    """
    numbers = {variable: k for k, variable in enumerate(variables)}
    try:
        law = Formula(ast.parse(text.strip().replace("^", "**"), mode="eval").body, numbers)
        law(np.full((1, len(variables)), 0.5))
    except (SyntaxError, KeyError, TypeError, RecursionError):
        return None
    return law


_ENDS = ("socket_frame1", "socket_frame2")
_PARTS = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")
ONSET = smooth_step(0.0, 0.01, 0.0, 1.0)
"""Share of the damper of a Blankevoort1991Ligament, by the strain."""
_LIGAMENT = (
    np.array([-5.0, 0.998, 0.999, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.601, 1.602, 5.0]),
    np.array([0.0, 0.0, 0.0, 0.0, 0.035, 0.12, 0.26, 0.55, 1.17, 2.0, 2.0, 2.0, 2.0]),
)
"""OpenSim's curve of a ligament that states none: length in resting lengths, tension."""
_DEFLECTIONS = tuple(f"{kind}_{axis}" for kind in ("theta", "delta") for axis in "xyz")
_AXES = tuple(zip(_PARTS, _DEFLECTIONS, strict=True))


def read_device(
    context: Context, element: Element, path: OpenSimPath | None, coordinates: Mapping[str, Coordinate]
) -> Device | None:
    """The device of an element of the set of forces, with its path if it has one; None for other forces.

    coordinates: of the model, by name.
    """

    def number(tag: str, otherwise: float = 0.0) -> float:
        return context.number(element, tag, otherwise)

    kind = element.tag
    coordinate = last_part(element.text_of("coordinate") or element.text_of("socket_coordinate"))
    law: Law | None = None
    frames: tuple[Frame, Frame] | None = None
    if kind == "SpringGeneralizedForce":
        stiffness, rates = number("stiffness"), -np.array([number("stiffness"), number("viscosity")])
        law = LinearFunction(rates, stiffness * number("rest_length")).value
    elif kind == "ExpressionBasedCoordinateForce":
        law = _formula(element, "expression", "q", "qdot")
    elif kind == "CoordinateLimitForce":
        # of an angle all numbers are in degrees
        unit = np.radians(1.0) if coordinate in coordinates and coordinates[coordinate].rotational else 1.0
        law = partial(
            limit_force,
            limits=(unit * number("lower_limit"), unit * number("upper_limit")),
            stiffness=(number("lower_stiffness", 1.0) / unit, number("upper_stiffness", 1.0) / unit),
            damping=number("damping", 0.001) / unit,
            transition=unit * number("transition", 0.1),
        )
    elif kind == "ExponentialCoordinateLimitForce":
        shapes = [element.filled(f"{end}_shape_parameters") for end in ("lower", "upper")]
        low, high = (np.zeros(2) if shape is None else shape.numbers(2) for shape in shapes)
        law = partial(
            exponential_limit,
            limits=(number("lower_limit"), number("upper_limit")),
            lower=(float(low[0]), float(low[1])),
            upper=(float(high[0]), float(high[1])),
        )
    elif kind in ("CoordinateLinearStop", "CoordinateLinearStopForce"):
        law = partial(
            linear_stop,
            limits=(number("lower_limit", number("q_low")), number("upper_limit", number("q_high"))),
            stiffness=number("stiffness"),
            damping=number("damping", number("dissipation")),
        )
    elif kind.endswith("BushingForce"):
        frames, law = _bushing(context, element)
    elif path is not None and any(point.moving for point in path.points):
        return None
    elif kind == "PathSpring":
        law = partial(
            spring_tension,
            rest=number("resting_length"),
            stiffness=number("stiffness"),
            damping=number("dissipation"),
        )
    elif kind == "Ligament":
        stated = [read_function(child) for child in element.children if child.name == "force_length_curve"]
        curve = (stated or [simm_spline(*_LIGAMENT)])[0]
        if curve is not None:
            rest, scale = number("resting_length"), number("pcsa_force")
            law = partial(ligament_tension, rest=rest, scale=scale, curve=curve)
    elif kind == "Blankevoort1991Ligament":
        law = partial(
            blankevoort_tension,
            slack=number("slack_length"),
            stiffness=number("linear_stiffness", 1.0),
            transition=number("transition_strain", 0.06),
            damping=number("damping_coefficient", 0.003),
        )
    elif kind == "PointToPointSpring":
        stiffness = number("stiffness", 1.0)
        law = LinearFunction(np.array([stiffness, 0.0]), -stiffness * number("rest_length")).value
    elif kind == "ExpressionBasedPointToPointForce":
        law = _formula(element, "expression", "d", "ddot")
    if kind in ("PointToPointSpring", "ExpressionBasedPointToPointForce"):
        path = _two_points(context, element)
    where = coordinate or path or frames
    return None if law is None or where is None else Device(element.name, kind, law, coordinate, path, frames)


def _bushing(context: Context, element: Element) -> tuple[tuple[Frame, Frame] | None, Law | None]:
    """The two frames of a bushing and the law of its force; None each where a frame or a function is not supported."""
    # an expression is a function of the whole deflection, any other function of its own part
    part_of = [slice(k, k + 1) for k in range(6)]
    functions: Sequence[Law | None]
    if element.tag == "BushingForce":
        stiffness_of = (
            *_vector(element, "rotational_stiffness"),
            *_vector(element, "translational_stiffness"),
        )
        functions = [LinearFunction(np.array([coefficient]), 0.0).value for coefficient in stiffness_of]
    elif element.tag == "ExpressionBasedBushingForce":
        functions = [_formula(element, f"{part}_expression", *_DEFLECTIONS) for part in _PARTS]
        part_of = [slice(6)] * 6
    else:
        named = [f"{part[0].lower()}_{part[1]}_{coefficient}_function" for part, coefficient in _AXES]
        holders = [element.find(tag) for tag in named]
        read = [Constant(0.0) if holder is None else function_in(holder) for holder in holders]
        functions = [None if function is None else function.value for function in read]
    ends = [context.frame(element, tag) for tag in _ENDS if element.filled(tag)]
    damping = np.concatenate(
        [_vector(element, "rotational_damping"), _vector(element, "translational_damping")]
    )
    match ends:
        case [Frame() as first, Frame() as second] if None not in functions:
            parts = list(zip(filter(None, functions), part_of, strict=True))
            return (first, second), partial(bushing_force, parts=parts, damping=damping)
    return None, None


def _vector(element: Element, tag: str) -> Array:
    """Three numbers, zero if there are none; they may be infinite, as a stiffness."""
    return element.vector_in(tag, 0.0, np.inf)


def _formula(element: Element, tag: str, *variables: str) -> Law | None:
    """The expression of some variables in an element; None if it has a function that is not supported."""
    return read_formula(element.text_of(tag) or "0", variables)


def _two_points(context: Context, element: Element) -> OpenSimPath | None:
    """The straight line between the two points of a force; None for frames of an unsupported kind."""
    points = []
    for end in "12":
        socket = element.filled(f"socket_body{end}") or element.require(f"body{end}")
        name = socket.text.strip()
        named = [path for path, frame in context.frames.items() if frame.name == name and frame.tag == "Body"]
        frame = context.pose(context.frames[named[0]] if named else context.connectee(element, socket))
        if frame is None:
            return None
        points.append(OpenSimPoint(end, frame, element.vector_in(f"point{end}", 0.0)))
    return OpenSimPath(element.name, tuple(points), ())


def device_force(
    model: OpenSimModel, device: Device, value: Array, speed: Array, pose: BodyMotion, twist: Array
) -> tuple[Array, Array]:
    """Wrenches (T, B, 6) of a device on bodies about the origin of the ground, and its force (T, K) on coordinates.

    Args:
        model: of the device.
        device: one of its devices.
        value, speed: (T, K) of all coordinates [rad or m, s].
        pose: of all bodies.
        twist: (T, B, 6) of all bodies.
    """
    wrench, force = np.zeros_like(twist), np.zeros_like(value)
    if device.coordinate:
        column = model.coordinate_number[device.coordinate]
        force[:, column] = device.law(np.stack([value[:, column], speed[:, column]], axis=1))
    elif device.path is not None:
        system = path_system(model, (device.path,))
        for part, _, paths in path_blocks(system, value):
            nodes = solve_paths(*paths)
            unit = system.sums(system.wrenches(nodes), np.eye(len(model.bodies)))[:, 0]
            rate = (unit * twist[part]).sum(axis=(1, 2))
            tension = device.law(np.stack([nodes.length[:, 0], rate], axis=1))
            wrench[part] = -tension[:, None, None] * unit
    elif device.frames is not None:
        numbers, (first, second), (p, q) = frames_in_ground(model, device.frames, pose)
        x, axes = deflection((first, second), (p, q), (twist[:, numbers[0]], twist[:, numbers[1]]))
        pull = device.law(x)
        at_place = (first @ pull[:, 3:, None])[..., 0]
        turn = np.linalg.solve(axes.swapaxes(1, 2), pull[:, :3, None])[..., 0]
        of_second = np.concatenate([turn + vector_product(q, at_place), at_place], axis=1)
        wrench[:, numbers[1]] += of_second
        wrench[:, numbers[0]] -= of_second
    return wrench, force
