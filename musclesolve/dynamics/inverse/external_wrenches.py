"""External forces: wrenches on bodies as generalized forces (Silva 2003, 2.72-2.82)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, vector_product
from musclesolve._util.checks import check_array, check_type
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error


@dataclass(frozen=True)
class Wrench:
    """A force (T, 3) [N] and its moment about the global origin (T, 3) [N m] on one body.

    Moment about the origin = point of application x force + free moment. In this form the wrench of an unloaded plate,
    whose center of pressure has no meaning, is zero.
    """

    body: str
    force: Array
    moment: Array

    def __post_init__(self) -> None:
        """Refuse forces and moments of other shapes than (T, 3), or not finite."""
        force = check_array(self.force, f"the force on {self.body!r}", ("T", 3))
        moment = check_array(self.moment, f"the moment on {self.body!r}", (len(force), 3))
        object.__setattr__(self, "force", force)
        object.__setattr__(self, "moment", moment)

    def frames(self, keep: slice | Indices) -> Wrench:
        """The wrench at a slice of the frames."""
        return Wrench(self.body, self.force[keep], self.moment[keep])

    def about(self, point: Array) -> Array:
        """Moment about a moving point (T, 3) [N m]."""
        return self.moment - vector_product(point, self.force)


def external_force(model: Model, q: Array, wrenches: list[Wrench]) -> Array:
    """Generalized force (T, N, 3) of wrenches on bodies, in the poses q (T, N, 3) [m]."""
    return model.rigid_bodies.generalized(q, external_on_bodies(model, q, wrenches))


def external_on_bodies(model: Model, q: Array, wrenches: list[Wrench]) -> Array:
    """Wrenches as forces (T, B, 4, 3) on the basic coordinates of the bodies, in the poses q (T, N, 3) [m]."""
    check_frames(wrenches, len(q))
    force = np.zeros((len(q), len(model.rigid_bodies.slots), 4, 3), q.dtype)
    for wrench in wrenches:
        body = [model.body(wrench.body)]
        one = model.rigid_bodies.subset(np.array(body))
        force[:, body] += one.wrench_forces(q, wrench.force[:, None], wrench.moment[:, None])
    return force


def check_frames(wrenches: list[Wrench], frames: int) -> None:
    """Refuse what is no list of wrenches, and wrenches that do not last as long as the motion."""
    expected = "a list of Wrench; an empty one where nothing acts"
    for wrench in check_type(wrenches, Collection, "wrenches", expected):  # type: ignore[type-abstract]
        check_type(wrench, Wrench, "wrenches", expected)
        if len(wrench.force) != frames:
            raise input_error(
                "bad_shape",
                problem=f"the wrench on {wrench.body!r} has {len(wrench.force)} frames, the motion {frames}",
                expected="a force and a moment for every frame of the motion",
            )
