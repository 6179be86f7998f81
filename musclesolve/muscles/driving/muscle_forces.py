"""Muscles as a force of a simulation: activation from excitation, tension from activation, generalized force.

The tension follows from activation, length and rate of the path.

The generalized force of tensions F is -F dL_MT/dq (paths.py). It is computed from the wrenches of the path nodes on the
bodies, not from the rows dL_MT/dq: wrenches are summed on each body and converted to generalized coordinates once.
Where L_MT depends on a joint angle explicitly, as over a patella, F dL_MT/dtheta is a moment about that joint. On every
motion that the constraints allow, both together do the work of the rows.

Activation follows excitation, fast upward and slowly downward (`ActivationDynamics`). With the time constants t_a of
activation and t_d of deactivation and z = 1/2 + 3/2 a,

    thelen_2003        da/dt = (e - a) / (t_a z)  where e > a,   (e - a) z / t_d  where not      (Thelen 2003, 1-2)
    de_groote_2016     da/dt = (e - a) ((1/2 + f) / (t_a z) + (1/2 - f) z / t_d)
                       f = 1/2 tanh(b (e - a)),  b = 0.1                         (De Groote et al. 2016, 1-2)

The first is the second with a switch instead of the hyperbolic tangent. Both are at rest at a = e. With b = 0.1, as
published, f stays below 0.05: activation and deactivation then have nearly equal speeds, between the two constants.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve._util.checks import (
    check_array,
    check_choice,
    check_increasing,
    check_number,
    check_type,
    one_or_several,
)
from musclesolve._util.messages import check_known
from musclesolve.dynamics.forward.applied_forces import within
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples
from musclesolve.dynamics.kinematics.motion_derivatives import joint_angles, revolute_angles, single_joints
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.errors import input_error
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.paths.engine import PathLines
from musclesolve.muscles.paths.paths import Paths, PathState
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, joined

SMOOTHNESS = 0.1
"""b of De Groote et al. (2016)."""

_TOLERANCE = 1e-8

Rate = Callable[[Array, Array, float, float], Array]


def thelen_2003(excitation: Array, activation: Array, rise: float, fall: float) -> Array:
    """da/dt [1/s] of excitations and activations (...,), time constants [s]."""
    z = 0.5 + 1.5 * activation
    return (excitation - activation) * np.where(excitation > activation, 1.0 / (rise * z), z / fall)


def de_groote_2016(
    excitation: Array, activation: Array, rise: float, fall: float, smoothness: float = SMOOTHNESS
) -> Array:
    """da/dt [1/s] of excitations and activations (...,), time constants [s] and b."""
    z = 0.5 + 1.5 * activation
    f = 0.5 * np.tanh(smoothness * (excitation - activation))
    return (excitation - activation) * ((0.5 + f) / (rise * z) + (0.5 - f) * z / fall)


EQUATIONS: dict[str, Rate] = {"thelen_2003": thelen_2003, "de_groote_2016": de_groote_2016}
"""Equations of activation dynamics by name."""


@dataclass(frozen=True)
class ActivationDynamics:
    """Activation dynamics: the equation by name, its time constants [s], and the activation at the start.

    start: a number or (n,); unless given, the excitation at the start, at which activation is at rest.
    """

    equation: str = "thelen_2003"
    activation_time: float = 0.010
    deactivation_time: float = 0.040
    start: float | Array | None = None

    def __post_init__(self) -> None:
        """Refuse unknown equations and time constants that are not positive."""
        check_choice(self.equation, "the equation of activation dynamics", tuple(EQUATIONS))
        for name in ("activation_time", "deactivation_time"):
            check_number(getattr(self, name), name, "a positive number of seconds", above=0.0)

    def rate(self, excitation: Array, activation: Array) -> Array:
        """Rate of activation da/dt [1/s]."""
        return EQUATIONS[self.equation](excitation, activation, self.activation_time, self.deactivation_time)

    def activation(self, names: tuple[str, ...], excitation: "Course", time: Array | None) -> "Course":
        """The activation of muscles (n) as a function of time, from the first to the last of some times [s].

        Activation depends on the excitation alone, not on the motion. It is integrated before the simulation, by a
        Runge-Kutta method with its own steps (relative error 1e-8).
        """
        from scipy.integrate import solve_ivp

        if time is None:
            raise input_error(
                "missing_argument",
                where="time",
                problem="an excitation without times",
                expected="the times [s] between which its activation is needed",
            )
        first = excitation(time[:1])[0] if self.start is None else self.start
        start = muscle_course(names, first, Sampling(), KINDS["activation"])(time[:1])[0]
        solved = solve_ivp(
            lambda t, a: self.rate(excitation(np.array([t]))[0], a),
            (time[0], time[-1]),
            start,
            method="DOP853",
            rtol=_TOLERANCE,
            atol=_TOLERANCE,
            max_step=min(self.activation_time, self.deactivation_time),
            dense_output=True,
        )
        course = within(
            lambda at: solved.sol(at).T,
            time,
            "the excitation is given from {:g} to {:g} s, but its activation is needed at {:g} s",
            "simulate within these times, or give an excitation to the end",
        )
        return muscle_course(names, course, Sampling(), KINDS["activation"])


Course = Callable[[Array], Array]
"""Values (T, n) of muscles at times (T,) [s]."""

Given = float | Array | Course | Mapping[str, "float | Array | Course"]
"""A number for all muscles; numbers (n,); samples (T, n); a function of times (T,); or one of these by muscle name."""

ROUND_OFF = 1e-6
"""Distance by which a value may lie outside of its range: the tolerance of solvers at a bound."""

BETWEEN = ("linear", "spline")


class CourseKind(NamedTuple):
    """Kind of a course that drives muscles: its name, its largest value, and the expected values in words."""

    name: str
    most: float
    expected: str


KINDS = {
    "activation": CourseKind("activation", 1.0, "numbers from 0 to 1"),
    "excitation": CourseKind("excitation", 1.0, "numbers from 0 to 1"),
    "force": CourseKind("tendon force", np.inf, "numbers from 0 [N]"),
}
"""What may drive muscles."""


@dataclass(frozen=True)
class Sampling:
    """Times (T,) [s] of samples, None without samples, and the interpolation between them: "linear" or "spline"."""

    time: Array | None = None
    between: str = "linear"

    def __post_init__(self) -> None:
        check_choice(self.between, "between", BETWEEN)
        if self.time is not None:
            object.__setattr__(self, "time", check_increasing(self.time, 2))


def muscle_course(names: Sequence[str], drive: Given, sampling: Sampling, kind: CourseKind) -> Course:
    """Values (T, n) of the muscles `names` through time; muscles that are not in a mapping are zero."""
    names, what = tuple(names), f"the {kind.name}"
    if isinstance(drive, Mapping):
        courses = {}
        for name, value in drive.items():
            check_known([name], "muscle", names, " among those that act")
            courses[names.index(name)] = muscle_course((name,), _column(value), sampling, kind)

        def stacked(time: Array) -> Array:
            values = np.zeros((len(time), len(names)))
            for k, course in courses.items():
                values[:, k] = course(time)[:, 0]
            return values

        return stacked
    if callable(drive):

        def checked(time: Array) -> Array:
            shape = (len(time), len(names))
            return _checked(check_array(drive(time), what, shape, real=True, finite=False), names, kind, time)

        return checked
    shapes: dict[int, tuple[int | str, ...]] = {0: (), 1: (len(names),)}
    shape = shapes.get(np.ndim(drive), ("T", len(names)))
    time = sampling.time
    values = _checked(check_array(drive, what, shape, real=True, finite=False), names, kind, time)
    if values.ndim < 2:
        constant = np.broadcast_to(values, len(names))
        return lambda at: np.tile(constant, (len(at), 1))
    if time is None or len(time) != len(values):
        raise input_error(
            "bad_shape",
            problem=f"{len(values)} samples of {kind.name}, but {0 if time is None else len(time)} times",
            remedy="pass time= with as many entries as there are samples",
        )
    from scipy.interpolate import CubicSpline, make_interp_spline

    spline = sampling.between == "spline"
    curve = CubicSpline(time, values) if spline else make_interp_spline(time, values, k=1)
    return within(
        lambda at: np.clip(curve(at), 0.0, kind.most),  # a spline is kept within the range
        time,
        f"{what} is sampled from {{:g}} to {{:g}} s, but wanted at {{:g}} s",
        "simulate within the samples",
    )


def driving_course(
    names: tuple[str, ...],
    sampling: Sampling,
    dynamics: ActivationDynamics | None,
    driving: Mapping[str, Given | None],
) -> Course:
    """The course of the one of `driving` (keys of `KINDS`) that is given; of an excitation the activation."""
    stated = {name: value for name, value in driving.items() if value is not None}
    if len(stated) != 1:
        raise input_error(
            "conflict" if stated else "missing_argument",
            problem=f"{' and '.join(stated) or 'no activation'} given for the muscles",
            expected=f"one of {', '.join(map(str, list(driving)))}",
        )
    ((name, value),) = stated.items()
    if dynamics is not None and name != "excitation":
        raise input_error(
            "conflict",
            where="dynamics",
            problem="dynamics of activation are given, but no excitation",
            remedy=f"pass excitation= instead of {name}=, or leave dynamics out",
        )
    course = muscle_course(names, value, sampling, KINDS[name])
    if name != "excitation":
        return course
    dynamics = ActivationDynamics() if dynamics is None else dynamics
    check_type(dynamics, ActivationDynamics, "dynamics", "an ActivationDynamics")
    return dynamics.activation(names, course, sampling.time)


def _column(value: float | Array | Course) -> float | Array | Course:
    """Return the course of one muscle, samples (T,) or a function with values (T,), with one column."""
    if callable(value):
        function = value
        return lambda time: np.broadcast_to(np.asarray(function(time), dtype=float), len(time))[:, None]
    value = np.asarray(value)
    return value[:, None] if value.ndim == 1 else value


def _checked(values: Array, names: tuple[str, ...], kind: CourseKind, time: Array | None) -> Array:
    """The values, clipped to their range; refuses values outside by more than `ROUND_OFF`."""
    wrong = ~((values >= -ROUND_OFF) & (values <= kind.most + ROUND_OFF) & np.isfinite(values))
    if not wrong.any():
        return np.clip(values, 0.0, kind.most)
    first = tuple(np.argwhere(wrong)[0].tolist()) if values.ndim else ()
    whose = f" of {names[first[-1] if first else 0]}" if first or len(names) == 1 else ""
    when = (
        f" at {time[first[0]]:g} s" if len(first) == 2 and time is not None and first[0] < len(time) else ""
    )
    value = float(values[first])
    raise input_error(
        "bad_number" if np.isfinite(value) else "not_finite",
        problem=f"the {kind.name}{whose} is {value:g}{when}",
        expected=kind.expected,
    )


@dataclass(frozen=True, eq=False)
class MuscleForces:
    """Muscles (n) of a model as a force of `simulate`.

    course: activation, or tendon force [N] where `prescribed`, (T, n) at times (T,) [s].
    """

    model: Model
    parameters: MuscleParameters
    paths: Paths
    course: Course
    prescribed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return self.parameters.names

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        path = self.path(q)
        return self.generalized(path, self._tension(time, path, qd))

    def tension(self, time: Array, q: Array, qd: Array) -> Array:
        """Tendon forces (T, n) [N] at times (T,), positions q and velocities qd (T, N, 3)."""
        return self._tension(time, self.path(q), qd)

    def path(self, q: Array) -> PathState:
        """The paths in poses (T, N, 3)."""
        return self.paths.evaluate(q, self._coordinates(q))

    def lines(self, q: Array) -> PathLines:
        """The paths in poses (T, N, 3) as lines through points, for drawing."""
        return self.paths.lines(q, self._coordinates(q))

    def rate(self, path: PathState, qd: Array) -> Array:
        """dL_MT/dt (T, n) [m/s] of paths for velocities (T, N, 3)."""
        rates, dofs = np.zeros((len(qd), len(self.model.topology.dof_names))), path.paths.moving_dofs
        if dofs.size:
            distal, proximal = self._couples.distal[dofs], self._couples.proximal[dofs]
            spin = self._bodies[1].twists(path.q, qd)[..., :3]
            places = np.searchsorted(self._bodies[0], [distal, proximal])
            relative = spin[:, places[0]] - spin[:, places[1]]
            rates[:, dofs] = np.einsum("tdx,tdx->td", self._axes(path.q, dofs), relative)
        return path.rate(qd, rates)

    def generalized(self, path: PathState, tension: Array) -> Array:
        """Generalized force (T, N, 3) of tendon forces (T, n) [N]."""
        (bodies, rigid_bodies), dofs = self._bodies, path.paths.moving_dofs
        of_groups = -tension[:, path.paths.groups.muscle, None] * path.wrench
        wrench = self._gather @ of_groups
        if dofs.size:
            moment = -np.einsum("tnd,tn->td", path.explicit, tension)
            couple = self._axes(path.q, dofs) * moment[..., None]
            wrench[..., :3] += self._couples.spread[np.ix_(bodies, dofs)] @ couple
        return rigid_bodies.generalized(
            path.q, rigid_bodies.wrench_forces(path.q, wrench[..., 3:], wrench[..., :3])
        )

    def _tension(self, time: Array, path: PathState, qd: Array) -> Array:
        if self.prescribed:
            return self.course(time)
        # Behind a rigid tendon path and rate determine the fiber; behind an elastic one fiber length would be a state.
        fibers = self.parameters.fibers(path.length, self.rate(path, qd))
        capacity, passive = self.parameters.forces(fibers)
        return self.course(time) * capacity + passive

    def _axes(self, q: Array, dofs: Indices) -> Array:
        """Directions (T, D, 3) of the couples of some joints: the axes, except across a massless cross."""
        return (self._couples.axes(q) if self._crossed else self.model.tree.axes(q))[:, dofs]

    @cached_property
    def _crossed(self) -> bool:
        """Whether L_MT depends on an angle of a joint with a massless cross."""
        return any(np.isin(self.paths.frames.dof, group).any() for group in self._couples.groups)

    @cached_property
    def _couples(self) -> Couples:
        return Couples.build(self.model)

    @cached_property
    def _bodies(self) -> tuple[Indices, RigidBodies]:
        """The bodies with path nodes, and the bodies of joints on whose angles L_MT depends."""
        dofs, couples = self.paths.frames.dof, self._couples
        numbers = [self.paths.groups.body, couples.distal[dofs], couples.proximal[dofs]]
        bodies = np.unique(np.concatenate(numbers))
        return bodies, self.model.rigid_bodies.subset(bodies)

    @cached_property
    def _gather(self) -> Array:
        """Matrix (b, G): one where a group of nodes is on a body."""
        return (self._bodies[0][:, None] == self.paths.groups.body).astype(float)

    @cached_property
    def _angles(self) -> tuple[Indices, bool]:
        """The joints on whose angles paths depend, and whether all of them are single joints between two bodies."""
        needed = np.unique(np.concatenate([self.paths.frames.dof, self.paths.switch_dof])).astype(np.intp)
        return needed, bool(np.isin(needed, single_joints(self.model)).all())

    def _coordinates(self, q: Array) -> Array:
        """Joint coordinates (T, K+6), zero where no path depends on them."""
        coordinates = np.zeros((len(q), len(self.model.topology.dof_names)))
        needed, single = self._angles
        if needed.size:
            rotation = self.model.rigid_bodies.rotation(q)
            if single:
                coordinates[:, needed] = revolute_angles(self.model, rotation, needed)
            else:
                coordinates[:, needed] = joint_angles(self.model, rotation)[:, needed]
        return coordinates


def muscle_forces(
    model: Model,
    muscles: ScaledMuscles | Sequence[ScaledMuscles],
    activation: Given | None = None,
    time: Array | None = None,
    *,
    excitation: Given | None = None,
    force: Given | None = None,
    between: str = "linear",
    dynamics: ActivationDynamics | None = None,
) -> MuscleForces:
    """Muscles on a model as a force of `musclesolve.dynamics.simulate`.

    One of activation, excitation and force is given: a number for all muscles, (n,), samples (T, n) at `time`, a
    function of times (T,) that returns (T, n), or a mapping from names to such for one muscle (others: zero).

    Args:
        model: the subject.
        muscles: of one side or of both, from `scale_muscles` (model, set, side).
        activation: 0 to 1.
        time: (T,) [s] of the samples; for an excitation without samples, the first and the last time of the simulation.
        excitation: 0 to 1; the activation follows from it by first-order activation dynamics.
        force: prescribed tendon forces [N], independent of length and velocity.
        between: "linear" or "spline": interpolation between samples. A spline is clipped to the range.
        dynamics: of activation, for an excitation (10 and 40 ms by Thelen (2003) unless given).

    Raises:
        InputError: none or more than one of the three; dynamics without an excitation; muscles that do not come from
            `scale_muscles`, or of joints that the model lacks; none, some twice, or different families of Hill curves;
            any fault that `muscle_course` refuses.
    """
    expected = "the muscles of a side from scale_muscles (model, set, side), or a list of these"
    parts = [check_type(part, ScaledMuscles, "muscles", expected) for part in one_or_several(muscles)]
    for name in [name for part in parts for name in part.dof_names]:
        check_model(model).dof(name)  # the model has the joints of the muscles
    known = [name for part in parts for name in part.names]
    if not parts or len(set(known)) < len(known):
        sides = [side for part in parts for side in part.sides]
        raise input_error(
            "duplicate_name" if parts else "missing_argument",
            problem=f"muscles of {len(sides)} sides ({', '.join(map(str, sides))})",
            expected="the muscles of one side, or of the right and the left one",
        )
    if len(curves := {family.name for part in parts for family, _ in part.parameters.families}) > 1:
        raise input_error(
            "conflict",
            problem=f"muscles with different Hill curves: {', '.join(map(str, sorted(curves)))}",
            expected="muscles of one set",
        )
    placed = joined(parts)
    parameters, paths = placed.parameters, placed.paths
    sampling, names = Sampling(time, between), parameters.names
    driving = {"activation": activation, "excitation": excitation, "force": force}
    course = driving_course(names, sampling, dynamics, driving)
    return MuscleForces(model, parameters, paths, course, prescribed=force is not None)
