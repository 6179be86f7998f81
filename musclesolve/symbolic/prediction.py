"""Predicted motions: muscles, contact and a goal, without any recording.

The program has the frames and rows of motion_program.py. No marker draws it, and nothing but muscles and the ground
moves the body: reserves, torques and residuals are zero. Its equations hold in the frames alone, and between the frames
an optimum gains what it can: without limits of rates a body "jumps" kilometers. So the program is solved on finer and
finer meshes, each from the motion of the one before, and there is no result unless the error of the equations between
the frames of the last mesh is small.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline

from musclesolve._util.arrays import Array
from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_choice, check_integer, check_number, check_real_array, check_type
from musclesolve._util.messages import as_text, few, unknown_name, with_sizes
from musclesolve.errors import input_error
from musclesolve.sharing.solver.ipopt import run_casadi
from musclesolve.symbolic.motion_frames import (
    ACCELERATION,
    RATE,
    FrameData,
    FrameExpression,
    FrameFunctions,
    FrameSymbols,
    MotionWeights,
    frame_expression,
    frame_functions,
    numbered,
)
from musclesolve.symbolic.motion_program import (
    MotionProgram,
    ProgramMotion,
    checked_activation_times,
    checked_chains,
)
from musclesolve.symbolic.motion_sums import MotionSums
from musclesolve.symbolic.muscle_chain import MuscleChain
from musclesolve.symbolic.named_function import LISTED
from musclesolve.symbolic.skeleton import Skeleton
from musclesolve.symbolic.smooth_contact import SmoothContact

UNITS = {"q": ("c", 1.0), "qd": ("cd", RATE), "qdd": ("cdd", ACCELERATION)}
"""Kind of a limit -> its unknowns, and their unit."""

NEAR = 0.3
"""How far the balance at the beginning may be from the stated posture [rad, m]."""


@dataclass(frozen=True)
class Mesh:
    """The optimum on one mesh: frames, iterations, the value of the goal, and errors of the equations [N m, N].

    in_frames: largest error in the frames; between_frames: in the middle between two frames; worst: where.
    """

    frames: int
    converged: bool
    iterations: int
    goal: float
    in_frames: float
    between_frames: float
    worst: str


@dataclass(frozen=True, eq=False)
class Prediction:
    """The meshes of a prediction, and its motion where the last mesh is fine enough.

    contact_force, contact_place, contact_velocity (T, K, 3): force of the ground on each point [N], its position [m]
    and velocity [m/s]. largest_error: what the motion may miss between frames [N m, N].
    """

    meshes: tuple[Mesh, ...]
    largest_error: float
    contact_force: Array
    contact_place: Array
    contact_velocity: Array
    _motion: ProgramMotion = field(repr=False)

    __repr__ = with_sizes

    @property
    def motion(self) -> ProgramMotion:
        """The motion of the last mesh.

        Raises:
            InputError: Ipopt did not converge, or the equations are missed between the frames.
        """
        last = self.meshes[-1]
        if last.converged and last.between_frames <= self.largest_error:
            return self._motion
        problem = f"Ipopt ended with: {self._motion.message}"
        if last.converged:
            problem = (
                f"between {last.frames} frames the equations of motion are missed by up to "
                f"{last.between_frames:.3g} N m or N ({last.worst}): this is no motion of the body"
            )
        raise input_error(
            "not_solved",
            where="prediction",
            problem=problem,
            expected=f"errors up to {self.largest_error:g} N m or N between frames",
            remedy="finer meshes, narrower limits of rates and accelerations",
        )


def predicted_motion(
    body: Skeleton,
    duration: float,
    muscles: MuscleChain,
    contacts: Sequence[SmoothContact],
    goal: FrameExpression,
    start: ArrayLike,
    limits: Mapping[str, tuple[ArrayLike, ArrayLike]],
    *,
    costs: Sequence[FrameExpression] = (),
    activation_times: tuple[float, float] = (0.03, 0.06),
    jerk: float = 3000.0,
    meshes: Sequence[int] = (16, 31, 61),
    largest_error: float = 5.0,
    iterations: int = 500,
) -> Prediction:
    """The motion of a body that begins at rest, in balance, and makes a goal least at its end.

    Args:
        body: `ms.symbolic.skeleton(model, loads=...)`; the bodies of all contacts are among its loads.
        duration: [s].
        muscles: `ms.symbolic.muscle_chain` of the same model. Elastic tendons are in equilibrium at a constant length
            of the tendon: their recoil adds no velocity to the fibers.
        contacts: points that touch the ground.
        goal: function of the last frame, such as minus the height of a jump.
        start: coordinates (n,) near to which the body begins.
        limits: "q", "qd" and "qdd" -> lower and upper bounds of the coordinates [rad, m], rates and accelerations, one
            number or (n,) each. All three are needed.
        costs: functions of every frame, their sum over the frames divided by the number of frames.
        activation_times: shortest times [s] for an activation to rise from 0 to 1 and to fall from 1 to 0.
        jerk: how smooth accelerations are, as `MotionWeights.jerk` [rad/s3, m/s3].
        meshes: numbers of frames, one mesh after the other.
        largest_error: what the equations of motion may miss between the frames of the last mesh [N m, N].
        iterations: of Ipopt, at most, on each mesh.

    Raises:
        InputError: limits that lack, arrays of another shape, contacts on bodies without load or whose `up` is not
            against gravity, meshes that do not grow, a start without balance or outside the limits, a goal or cost that
            is no function of a frame, or is not finite.
    """
    check_type(body, Skeleton, "body", "ms.symbolic.skeleton(model, loads=...)")
    check_type(muscles, MuscleChain, "muscles", "ms.symbolic.muscle_chain(model)")
    for name, value in (("duration", duration), ("jerk", jerk), ("largest_error", largest_error)):
        check_number(value, name, "a positive number", above=0.0)
    checked_chains(body, muscles)
    activation_times = checked_activation_times(activation_times)
    check_integer(iterations, "iterations", 0)
    effort = numbered(costs, "costs", "a list of functions of a frame")
    meshes = _meshes(meshes)
    bounds = _bounds(limits, body.dofs)
    first = _checked_start(start, body.dofs, bounds["q"])
    ground = _ground(body, contacts)
    position = body.markers({"hidden": (body.bodies[0], (0.0, 0.0, 0.0))})
    data = {"last": np.zeros((1, 1)), "share": np.zeros((1, 1))}
    expressions = {"goal": _weighted(goal, "last", "goal")}
    expressions |= {name: _weighted(each, "share", name) for name, each in effort.items()}
    frame = frame_functions(body, (muscles,), position, _no_effort, expressions, {}, data, ground.loads)
    found, made = None, list[Mesh]()
    for frames in meshes:
        time = np.linspace(0.0, duration, frames)
        numbers = np.zeros((frames, 6 * len(body.loads) + 2))
        numbers[-1, -2], numbers[:, -1] = 1.0, 1.0 / frames
        program = MotionProgram(
            body=body,
            time=time,
            muscles=muscles.muscles,
            moved=frame.moved,
            targets=np.full((frames, 1, 3), np.nan),
            _position=position,
            _frame=frame,
            _numbers=numbers,
            _chains=(muscles,),
            _activation_times=activation_times,
        )
        free, rest = np.zeros(len(body.dofs), bool), np.zeros((frames, len(body.dofs)))
        weights = MotionWeights(jerk=jerk)
        sums = MotionSums(frame, time, numbers, free, weights, program.targets, rest, activation_times)
        limited = _unknown_limits(sums, bounds)
        if found is None:
            balanced = _balanced(frame, sums.numbers[:, 0], limited[:, 0], first)
        limited[:, 0, frame.parts["c"]] = balanced[frame.parts["c"]]
        begin = np.tile(balanced, (frames, 1)) if found is None else _interpolated(frame, time, found)
        optimum = sums.minimize(np.clip(begin, *limited), iterations, 1e-6, limited)
        found, certificate = program._motion(sums, optimum), optimum.certificate
        made.append(
            Mesh(
                frames,
                found.converged,
                found.iterations,
                _at_end(goal, found),
                certificate.motion_equations,
                certificate.between_frames,
                certificate.worst,
            )
        )
    assert found is not None
    c, cd = found.coordinates.T, found.rates.T
    shape = (len(found.time), len(contacts), 3)
    force, place, velocity = (np.array(x).T.reshape(shape) for x in ground.points.map(shape[0])(c, cd))
    return Prediction(tuple(made), largest_error, force, place, velocity, found)


@dataclass(frozen=True)
class _Ground:
    """Functions of c and cd: loads (6 L,) of the ground; force, place and velocity of the points (3, K) each."""

    loads: Any
    points: Any


def _ground(body: Skeleton, contacts: Sequence[SmoothContact]) -> _Ground:
    """The forces of the ground as functions of the motion."""
    gravity = body.gravity
    for each in check_type(contacts, Sequence, "contacts", "a list of ms.symbolic.SmoothContact"):
        check_type(each, SmoothContact, "contacts", "ms.symbolic.SmoothContact(body, place)")
        if each.body not in body.bodies:
            raise unknown_name(each.body, "body", body.bodies, where="contacts")
        if gravity.any() and gravity["xyz".index(each.up)] >= 0.0:
            raise input_error(
                "bad_axes",
                where="contacts",
                problem=f"up is {each.up!r}, and gravity is {as_text(gravity.tolist())} m/s2",
                expected="the axis of the laboratory against gravity",
                remedy=f"ms.symbolic.SmoothContact(..., up={'xyz'[int(gravity.argmin())]!r})",
            )
        if each.body not in body.loads:
            raise input_error(
                "unknown_name",
                where="contacts",
                problem=f"no load acts on {each.body}",
                expected=f"points of bodies with a load: {few(body.loads) or 'none'}",
                remedy=f"ms.symbolic.skeleton(model, loads={[*dict.fromkeys(one.body for one in contacts)]})",
            )
    if not contacts:
        raise input_error(
            "missing_argument",
            where="contacts",
            problem="nothing touches the ground",
            expected="a list of one or more points",
            remedy="contacts=[ms.symbolic.SmoothContact(body, place), ...]",
        )
    kind: Any = ca.MX if body.dependent else ca.SX
    c, cd = kind.sym("c", len(body.dofs)), kind.sym("cd", len(body.dofs))
    place = body.markers({str(k): (each.body, each.place) for k, each in enumerate(contacts)})(c)
    velocity = ca.reshape(ca.jtimes(ca.vec(place), c, cd), 3, -1)
    force = ca.horzcat(*(each.force(place[:, k], velocity[:, k]) for k, each in enumerate(contacts)))
    loads = {name: kind.zeros(6) for name in body.loads}
    for k, each in enumerate(contacts):
        loads[each.body] += ca.vertcat(force[:, k], ca.cross(place[:, k], force[:, k]))
    return _Ground(
        ca.Function("ground", [c, cd], [ca.vertcat(*loads.values())]),
        ca.Function("points", [c, cd], [ca.vec(force), ca.vec(place), ca.vec(velocity)]),
    )


NO_DATA = FrameData({}, "a predicted motion takes no data: write numbers into the function itself")


def _weighted(function: FrameExpression, factor: str, where: str) -> FrameExpression:
    """A function of a frame, times a number of the frame: `factor` is the name of the number."""
    return lambda frame: frame_expression(function, replace(frame, data=NO_DATA), where) * frame.data[factor]


def _no_effort(frame: FrameSymbols) -> float:
    """The effort of a prediction, whose costs are all stated."""
    return 0.0


def _meshes(meshes: object) -> tuple[int, ...]:
    """Numbers of frames; refuse an empty list, and meshes that do not become finer."""
    expected, given = "a list of growing numbers of frames, such as [16, 31, 61]", as_text(meshes)
    if not isinstance(meshes, Iterable):
        remedy = f"for one mesh, meshes=[{given}]"
        raise input_error(
            "bad_type", where="meshes", problem=f"meshes is {given}", expected=expected, remedy=remedy
        )
    numbers = tuple(check_integer(frames, "meshes", 3) for frames in meshes)
    if not numbers or any(after <= before for before, after in pairwise(numbers)):
        raise input_error(
            "bad_value",
            where="meshes",
            problem=f"meshes is {given}",
            expected=expected,
            remedy="give each mesh more frames than the one before it",
        )
    return numbers


def _checked_start(start: object, dofs: Sequence[str], limits: Array) -> Array:
    """The start (n,); refuse numbers outside the limits (2, n) of the coordinates, as angles in degrees are."""
    expected = f"{len(dofs)} coordinates [rad, m], in this order: {few(dofs, LISTED)}"
    order = "from a dict: start=[pose[name] for name in body.dofs]"
    first = check_real_array(start, "start", expected, shapes=((len(dofs),),), remedy=order)
    for name, value, lower, upper in zip(dofs, first, *limits, strict=True):
        if not lower <= value <= upper:
            code, problem, remedy = "not_finite", f"{name} is {value:g}", "a number within the limits"
            if np.isfinite(value):
                code, problem = "bad_value", f"{problem}, outside its limits"
                remedy = "numpy.radians of angles in degrees, or another start, or wider limits"
            raise input_error(
                code,
                where="start",
                problem=problem,
                expected=f"{name} from {lower:g} to {upper:g} [rad, m], as in limits['q']",
                remedy=remedy,
            )
    return first


def _bounds(limits: Mapping[str, tuple[ArrayLike, ArrayLike]], dofs: Sequence[str]) -> dict[str, Array]:
    """Limits (2, n) of coordinates, rates and accelerations."""
    expected = '{"q": (lower, upper), "qd": (lower, upper), "qdd": (lower, upper)}'
    check_type(limits, Mapping, "limits", expected)
    for name in limits:
        check_choice(name, "limit", tuple(UNITS), where="limits")
    if missing := [name for name in UNITS if name not in limits]:
        raise input_error(
            "missing_argument",
            where="limits",
            problem=f"there are no limits of {', '.join(missing)}: a body without them jumps kilometers",
            expected=expected,
            remedy='such as {"qd": (-15.0, 15.0), "qdd": (-400.0, 400.0)}, and "q" of the joints',
        )
    return {name: _pair(pair, f"limits[{name!r}]", dofs) for name, pair in limits.items()}


def _pair(pair: object, where: str, dofs: Sequence[str]) -> Array:
    """A lower and an upper limit of every coordinate (2, n)."""
    expected = f"(lower, upper), one number or {len(dofs)} numbers each, in the order of body.dofs"
    pair = list(pair) if isinstance(pair, np.ndarray) and pair.ndim else pair
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise input_error(
            "bad_type",
            where=where,
            problem=f"it is {as_text(pair)}, no pair",
            expected=expected,
            remedy="write both, such as (-15.0, 15.0)",
        )
    sides = [check_real_array(side, where, expected, shapes=((), (len(dofs),))) for side in pair]
    limits = np.stack([np.broadcast_to(side, len(dofs)) for side in sides])
    for name, lower, upper in zip(dofs, *limits.tolist(), strict=True):
        if not -np.inf < lower <= upper < np.inf:
            raise input_error(
                "bad_value",
                where=where,
                problem=f"{name} is from {lower:g} to {upper:g}",
                expected="finite limits, the lower one no more than the upper one",
                remedy="exchange them" if lower > upper else "finite numbers that the motion does not reach",
            )
    return limits


def _unknown_limits(sums: MotionSums, bounds: Mapping[str, Array]) -> Array:
    """Limits (2, T, k) of all unknowns: at rest in the first frame, and nothing but muscles and ground."""
    limits, parts = sums.usual_limits(), sums.frame.parts
    for name, (part, unit) in UNITS.items():
        limits[:, :, parts[part]] = bounds[name][:, None, :] / unit
    for part in ("cd", "cdd"):
        limits[:, 0, parts[part]] = 0.0
    for part in "sru":
        limits[:, :, parts[part]] = 0.0
    return limits


def _balanced(frame: FrameFunctions, numbers: Array, limits: Array, start: Array) -> Array:
    """Unknowns (k,) of a frame at rest in balance, near to a start; numbers of the frame, limits (2, k)."""
    y = ca.MX.sym("y", frame.size)
    rows = frame.constraints(y, numbers)
    c, a = frame.parts["c"], frame.parts["a"]
    begin = np.zeros(frame.size)
    begin[c], begin[a] = start, 0.1
    lower, upper = limits.copy()
    lower[c], upper[c] = np.maximum(lower[c], start - NEAR), np.minimum(upper[c], start + NEAR)
    program = {"x": y, "f": ca.sumsqr(y[c] - start) + 0.1 * ca.sumsqr(y[a]), "g": rows}
    quiet: dict[str, Any] = {
        "print_time": False,
        "ipopt.print_level": 0,
        "ipopt.sb": "yes",
        "ipopt.max_iter": 500,
    }
    solver = ca.nlpsol("balance", "ipopt", program, quiet)
    given = {"x0": np.clip(begin, lower, upper), "lbx": lower, "ubx": upper, "lbg": 0.0, "ubg": 0.0}
    (found,), stats = run_casadi(solver, given, ("x",))
    if not stats["success"]:
        raise input_error(
            "not_solved",
            where="start",
            problem="near it muscles and ground hold the body nowhere at rest",
            expected="a posture whose mass center is above the contacts, which touch the ground",
            remedy="another start, such as a shallower crouch, or wider limits of the coordinates",
        )
    return found


def _interpolated(frame: FrameFunctions, time: Array, before: ProgramMotion) -> Array:
    """Unknowns (T, k) of the motion of another mesh."""
    unknowns, parts = np.zeros((len(time), frame.size)), frame.parts
    motion = CubicHermiteSpline(before.time, before.coordinates, before.rates)
    for k, name in enumerate(UNITS):
        part, unit = UNITS[name]
        unknowns[:, parts[part]] = motion(time, k) / unit
    for column, values in zip(parts["a"], before.activation.T, strict=True):
        unknowns[:, column] = np.interp(time, before.time, values)
    return unknowns


def _at_end(goal: FrameExpression, motion: ProgramMotion) -> float:
    """The goal of the last frame."""
    of_motion = (motion.coordinates, motion.rates, motion.accelerations, motion.moment)
    of_muscles = (motion.activation, motion.force, motion.reserve, motion.residual)
    columns = [ca.DM(values[-1]) for values in (*of_motion, *of_muscles)]
    q, qd, qdd, moment, activation, force, reserve, residual = columns
    last = FrameSymbols(
        motion.dofs, motion.muscles, q, qd, qdd, moment, activation, force, reserve, residual, NO_DATA
    )
    return float(frame_expression(goal, last, "goal"))
