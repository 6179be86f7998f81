"""Forces that act during a simulation: joint moments and outside wrenches, as functions of time or recorded arrays.

A force is anything that can be called with time (T,), q and qd (T, N, 3) and gives a generalized force (T, N, 3).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.interpolate import CubicSpline

from musclesolve.dynamics.couples import Couples
from musclesolve.dynamics.external import Wrench, external_force
from musclesolve.dynamics.model import Model
from musclesolve.errors import InputError

Array = np.ndarray
Course = float | Array | Callable[[Array], Array]
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
    courses: dict[int, Callable[[Array], Array]]

    @classmethod
    def build(cls, model: Model, moments: Mapping[str, Course], time: Array | None = None) -> JointMoments:
        """Moments by the names of degrees of freedom.

        Args:
            model: the body.
            moments: [N m], constants, functions of time, or samples at `time`, between which cubic splines run.
            time: (T,) [s] of the samples.

        Raises:
            InputError: a name that is no joint degree of freedom, or samples that do not fit `time`.
        """
        names = model.topology.dof_names[: model.tree.joint_count]
        unknown = [name for name in moments if name not in names]
        if unknown:
            raise InputError(
                f"there is no joint degree of freedom {unknown[0]!r} in {model.topology.name!r}",
                expected=f"some of {', '.join(names)}",
            )
        courses = {names.index(name): _course(name, value, time) for name, value in moments.items()}
        return cls(Couples.build(model), courses)

    def values(self, time: Array) -> Array:
        """The moments (T, K) [N m] at times (T,)."""
        moments = np.zeros((len(time), len(self.couples.far)))
        for k, course in self.courses.items():
            moments[:, k] = course(time)
        return moments

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        return self.couples.force(q, self.values(time))


@dataclass(frozen=True)
class OutsideForces:
    """Wrenches on bodies through time; between samples cubic splines run."""

    model: Model
    bodies: tuple[str, ...]
    course: Callable[[Array], Array]

    @classmethod
    def build(cls, model: Model, time: Array, wrenches: list[Wrench]) -> OutsideForces:
        """Forces and moments that were sampled at times (T,) [s].

        Raises:
            InputError: samples that do not fit `time`, or a body that the model does not have.
        """
        for wrench in wrenches:
            if wrench.body not in model.topology.body_index:
                raise InputError(
                    f"a wrench acts on {wrench.body!r}, which {model.topology.name!r} does not have",
                    expected=f"one of {', '.join(model.topology.body_index)}",
                )
        samples = [np.hstack([wrench.force, wrench.moment]) for wrench in wrenches]
        courses = [_course(wrench.body, x, time) for wrench, x in zip(wrenches, samples, strict=True)]
        return cls(
            model,
            tuple(wrench.body for wrench in wrenches),
            lambda at: np.stack([np.asarray(course(at)) for course in courses]),
        )

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        now = [
            Wrench(body, both[:, :3], both[:, 3:])
            for body, both in zip(self.bodies, self.course(time), strict=True)
        ]
        return external_force(self.model, q, now)


def _course(name: str, value: Course, time: Array | None) -> Callable[[Array], Array]:
    """A value through time as a function of times (T,)."""
    if callable(value):
        return value
    samples = np.asarray(value, dtype=float)
    if samples.ndim == 0:
        return lambda at: np.full(len(at), float(samples))
    if time is None or len(time) != len(samples):
        raise InputError(
            f"{len(samples)} samples for {name!r}, but {0 if time is None else len(time)} times",
            remedy="pass time= with as many entries as there are samples",
        )
    if not np.isfinite(samples).all():
        raise InputError(f"the samples for {name!r} are not all finite numbers")
    spline = CubicSpline(time, samples, extrapolate=False)
    first, last = float(time[0]), float(time[-1])

    def within(at: Array) -> Array:
        if at.min() < first - 1e-12 or at.max() > last + 1e-12:
            raise InputError(
                f"{name!r} is sampled from {first:g} to {last:g} s, but wanted at {float(at.max()):g} s",
                remedy="simulate within the samples",
            )
        return spline(np.clip(at, first, last))

    return within
