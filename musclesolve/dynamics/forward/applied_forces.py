"""Forces that act during a simulation: joint moments, external wrenches, springs with dampers.

A force is a function of time (T,), q and qd (T, N, 3) that returns a generalized force (T, N, 3).

Springs with dampers (`SpringDampers`) join points of two bodies of a model, or of a body and the ground. The tension
f(L - L_0) + c(dL/dt) draws both ends together along the line between them; where it is negative it pushes them apart.
An end is a linear combination of the natural coordinates (Silva 2003, 2.47), so its velocity and the generalized force,
-dL/dq times the tension, follow from the same weights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, equal_groups
from musclesolve._util.checks import check_array, check_increasing, check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve.dynamics.inverse.inverse_dynamics import external_force
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import Wrench, check_frames
from musclesolve.errors import input_error

Curve = Callable[[Array], Array]
"""Values at times (T,) [s]."""
Course = float | Array | Curve
"""A value through time: a constant, samples (T,), or a function of times (T,)."""


class Force(Protocol):
    """A force of a simulation."""

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3) at times (T,)."""
        ...


@dataclass(frozen=True)
class JointMoments:
    """Moments about joint axes through time, each on the far body and back on the near one."""

    couples: Couples
    courses: dict[int, Curve]

    @classmethod
    def build(cls, model: Model, moments: Mapping[str, Course], time: Array | None = None) -> Self:
        """Moments [N m] by the names of degrees of freedom.

        Constants, functions of time, or samples at `time` (T,) [s], interpolated by cubic splines.

        Raises:
            InputError: a name that is no joint degree of freedom, or samples that do not fit `time`.
        """
        expected = "a dict of moments by the names of degrees of freedom"
        named = check_type(moments, Mapping, "moments", expected).items()
        courses = {check_model(model).joint(name): _course(name, value, time) for name, value in named}
        return cls(Couples.build(model), courses)

    def values(self, time: Array) -> Array:
        """The moments (T, K) [N m] at times (T,)."""
        moments = np.zeros((len(time), len(self.couples.distal)))
        for k, course in self.courses.items():
            moments[:, k] = course(time)
        return moments

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        return self.couples.force(q, self.values(time))


@dataclass(frozen=True)
class ExternalForces:
    """Wrenches on bodies through time, interpolated between samples by cubic splines.

    courses: force and moment (T, 6) of each body at times (T,).
    """

    model: Model
    bodies: tuple[str, ...]
    courses: tuple[Curve, ...]

    @classmethod
    def build(cls, model: Model, time: Array, wrenches: list[Wrench]) -> Self:
        """Forces and moments from samples at times (T,) [s].

        Raises:
            InputError: samples that do not fit `time`, or a body that the model does not have.
        """
        check_frames(wrenches, len(check_increasing(time)))
        check_known((wrench.body for wrench in wrenches), "body", check_model(model).topology.body_index)
        samples = [np.hstack([wrench.force, wrench.moment]) for wrench in wrenches]
        courses = [_course(wrench.body, x, time) for wrench, x in zip(wrenches, samples, strict=True)]
        return cls(model, tuple(wrench.body for wrench in wrenches), tuple(courses))

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        pairs = zip(self.bodies, (course(time) for course in self.courses), strict=True)
        now = [Wrench(body, both[:, :3], both[:, 3:]) for body, both in pairs]
        return external_force(self.model, q, now)


def _course(name: str, value: Course, time: Array | None) -> Curve:
    """A value through time as a function of times (T,)."""
    from scipy.interpolate import CubicSpline

    if callable(value):
        return value
    if np.ndim(value) == 0:
        samples = check_array(value, f"the value for {name!r}", (), axis=0)
        return lambda at: np.full(len(at), float(samples))
    time = None if time is None else check_increasing(time, 2)
    samples = check_array(value, f"the sample for {name!r}", ("T",) if np.ndim(value) == 1 else ("T", 6))
    if time is None or len(time) != len(samples):
        raise input_error(
            "bad_shape",
            problem=f"{len(samples)} samples for {name!r}, but {0 if time is None else len(time)} times",
            remedy="pass time= with as many entries as there are samples",
        )
    said = f"{name!r} is sampled from {{:g}} to {{:g}} s, but needed at {{:g}} s"
    return within(CubicSpline(time, samples), time, said, "simulate within the samples")


def within(curve: Curve, time: Array, problem: str, remedy: str) -> Curve:
    """A curve that raises an error outside its times (T,) [s]; the text has places for first, last and other."""
    first, last = float(time[0]), float(time[-1])

    def values(at: Array) -> Array:
        if at.min() < first - 1e-12 or at.max() > last + 1e-12:
            outside = float(at.min() if at.min() < first else at.max())
            raise input_error("bad_range", problem=problem.format(first, last, outside), remedy=remedy)
        return np.asarray(curve(np.clip(at, first, last)))

    return values


Law = Callable[[Array], Array]
"""Forces [N] at elongations [m] or rates [m/s]."""
End = tuple[str, Sequence[float]]
"""A body and a position on it in the standing layout [m]; an empty name stands for the ground."""


@dataclass(frozen=True)
class BrokenLine:
    """A force that runs straight between corners (x, y), with the slopes `before` the first and `after` the last."""

    x: Sequence[float]
    y: Sequence[float]
    before: float
    after: float

    def __post_init__(self) -> None:
        """Refuse corners that are not finite or whose x does not increase."""
        check_array((self.before, self.after), "the slopes", (2,), axis=0)
        if not self._corners.size or (np.diff(self._corners[0]) <= 0.0).any():
            raise input_error(
                "bad_model", problem="the x of the corners does not increase", expected="x that increases"
            )

    @cached_property
    def _corners(self) -> Array:
        return check_array((self.x, self.y), "the corners", (2, "corners"))

    def __call__(self, at: Array) -> Array:
        """Force at x = `at`, an array of the same shape."""
        x, y = self._corners
        outside = self.before * np.minimum(at - x[0], 0.0) + self.after * np.maximum(at - x[-1], 0.0)
        return np.asarray(np.interp(at, x, y) + outside)


@dataclass(frozen=True)
class SpringDamper:
    """A spring and a damper side by side.

    ends: where both are fixed; rest: length L_0 [m]; spring: force [N] of L - L_0 [m]; damper: force [N] of dL/dt
    [m/s]: functions of arrays, such as `BrokenLine`.
    """

    name: str
    ends: tuple[End, End]
    rest: float
    spring: Law
    damper: Law


@dataclass(frozen=True)
class SpringDampers:
    """Springs (S) of a model: weights (S, N) of the natural coordinates and shift (S, 3) [m] in the line from the first
    end to the second.
    """

    springs: tuple[SpringDamper, ...]
    weights: Array
    shift: Array

    @classmethod
    def build(cls, model: Model, springs: Sequence[SpringDamper]) -> Self:
        """Springs by the names of the bodies at their ends.

        Raises:
            InputError: a body that the model does not have, or that has no more than two points and a vector; a place
                that is no position, a negative rest length.
        """
        bodies = model.rigid_bodies
        weights, shift = np.zeros((len(springs), len(model.standing))), np.zeros((len(springs), 3))
        for k, spring in enumerate(springs):
            check_number(spring.rest, f"rest of {spring.name!r}", "zero or more meters", least=0.0)
            for sign, (name, position) in zip((-1.0, 1.0), spring.ends, strict=True):
                place = check_array(position, f"an end of {spring.name!r}", (3,), axis=0)
                if not name:
                    shift[k] += sign * place
                    continue
                body = model.body(name)
                c = bodies.inverse[body] @ (place - bodies.origin[body])
                coefficients = np.array([1.0 - c[0], *c])
                weights[k] += (
                    sign * bodies.combinations(model.topology, np.array([body]), coefficients[None])[0]
                )
        return cls(tuple(springs), weights, shift)

    @cached_property
    def _rest(self) -> Array:
        return np.array([spring.rest for spring in self.springs])

    @cached_property
    def _by_law(self) -> list[tuple[tuple[Law, Law], Indices]]:
        """Laws of spring and damper, with the numbers of the springs that share them."""
        springs, dampers = ([getattr(one, law) for one in self.springs] for law in ("spring", "damper"))
        return [((springs[k[0]], dampers[k[0]]), k) for k in equal_groups(springs, dampers)]

    def lengths(self, q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """Lengths (T, S) [m], their rates [m/s], and unit vectors (T, S, 3) from the first ends to the second."""
        line, moving = self.weights @ q + self.shift, self.weights @ qd
        length = np.sqrt(np.einsum("tsx,tsx->ts", line, line))
        along = line / np.maximum(length, 1e-12)[..., None]
        return length, np.einsum("tsx,tsx->ts", along, moving), along

    def tension(self, q: Array, qd: Array) -> Array:
        """Tension (T, S) [N] in the poses q with the velocities qd (T, N, 3)."""
        return self._tension(*self.lengths(q, qd)[:2])

    def _tension(self, length: Array, rate: Array) -> Array:
        tension = np.empty(length.shape)
        for (spring, damper), chosen in self._by_law:
            tension[:, chosen] = spring(length[:, chosen] - self._rest[chosen]) + damper(rate[:, chosen])
        return tension

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        length, rate, along = self.lengths(q, qd)
        return np.asarray(-self.weights.T @ (self._tension(length, rate)[..., None] * along))
