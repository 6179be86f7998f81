"""Forces that act during a simulation: joint moments and external wrenches, as functions of time or recorded arrays.

A force is a function of time (T,), q and qd (T, N, 3) that returns a generalized force (T, N, 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_array, check_increasing
from musclesolve.dynamics.inverse.inverse_dynamics import Wrench, external_force
from musclesolve.dynamics.inverse.joint_couples import Couples
from musclesolve.dynamics.model.model import Model
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
    def build(cls, model: Model, moments: Mapping[str, Course], time: Array | None = None) -> JointMoments:
        """Moments [N m] by the names of degrees of freedom.

        Constants, functions of time, or samples at `time` (T,) [s], interpolated by cubic splines.

        Raises:
            InputError: a name that is no joint degree of freedom, or samples that do not fit `time`.
        """
        courses = {model.joint(name): _course(name, value, time) for name, value in moments.items()}
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
    def build(cls, model: Model, time: Array, wrenches: list[Wrench]) -> ExternalForces:
        """Forces and moments from samples at times (T,) [s].

        Raises:
            InputError: samples that do not fit `time`, or a body that the model does not have.
        """
        for wrench in wrenches:
            model.body(wrench.body)
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
    samples = check_array(value, f"the sample for {name!r}", ("T",) if np.ndim(value) == 1 else ("T", 6))
    if time is None or len(time) != len(samples):
        raise input_error(
            "bad_shape",
            problem=f"{len(samples)} samples for {name!r}, but {0 if time is None else len(time)} times",
            remedy="pass time= with as many entries as there are samples",
        )
    time = check_increasing(time, 2)
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
