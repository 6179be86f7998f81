"""Loops closed by constraints between bodies, as coordinates that are functions of others.

Constraints c(q) = 0 with the Jacobian C determine r = rank(C) coordinates q_d by the others q_i. With the rates along
the null space of C,

    dq_d/dq_i = -C_d^+ C_i,        qdd_d = -C_d^+ (C_i qdd_i + Cd qd),

each dependent coordinate is coupled to the independent ones as by a coupler of the model. Forces of the constraints do
no work along these rates: generalized forces of the independent coordinates do not contain them. The dependent
coordinates are the columns on which a QR decomposition of C pivots in the default pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array, vector_product
from musclesolve.dynamics.rotations import to_vector
from musclesolve.errors import file_error
from musclesolve.opensim.inverse_dynamics import (
    BodyDynamics,
    ModelMotion,
    body_dynamics,
    center_accelerations,
)
from musclesolve.opensim.kinematics import BodyMotion, body_motion
from musclesolve.opensim.model import Coupler, Frame, Link, OpenSimModel

_STEPS = 50
_CLOSED = 1e-12
"""Largest step of a solved loop [rad or m]."""
_OPEN = 1e-6
"""Largest violation of a closed loop [m or rad]."""
_RANK = 1e-6
"""Least singular value of the Jacobian, beside the largest one, of a constraint that removes a freedom."""


@dataclass(eq=False)
class Loop:
    """Some links between bodies of a model, solved for dependent coordinates.

    tree: the model without the links; independent, dependent: columns of its coordinates.
    """

    tree: OpenSimModel
    links: tuple[Link, ...]
    independent: list[int]
    dependent: list[int]
    solved: tuple[Array, Array] = field(default_factory=lambda: (np.zeros((0, 0)), np.zeros((0, 0))))

    def values(self, x: Array) -> Array:
        """All coordinates (T, K) at independent ones x (T, c), the loops closed from the default of the dependent ones.

        Raises:
            InputError: the loop cannot be closed in a pose.
        """
        if np.array_equal(self.solved[0], x):
            return self.solved[1]
        start = [coordinate.default for coordinate in self.tree.coordinates.values()]
        values = np.tile(start, (len(x), 1))
        values[:, self.independent] = x
        for _ in range(_STEPS):
            gap, jacobian = self.gap(values)
            step = -(np.linalg.pinv(jacobian[:, :, self.dependent]) @ gap[..., None])[..., 0]
            values[:, self.dependent] += np.clip(step, -0.2, 0.2)
            if not np.abs(step).max(initial=0.0) > _CLOSED:
                break
        gap = np.abs(self.gap(values)[0]).max(axis=1, initial=0.0)
        if (open_at := np.flatnonzero(~(gap < _OPEN))).size:
            names = list(self.tree.coordinates)
            pose = {names[k]: round(float(values[open_at[0], k]), 4) for k in self.independent}
            raise file_error(
                "bad_model",
                (self.tree.file, ", ".join(link.name for link in self.links)),
                f"the loop stays open by {gap[open_at[0]]:.3g} [m or rad] at {pose} ({open_at.size} pose(s))",
                "coordinates at which the constraints can be satisfied",
                "give the coordinates of inverse kinematics of this model",
            )
        self.solved = (x.copy(), values)
        return values

    def gap(self, values: Array) -> tuple[Array, Array]:
        """Violations c (T, r) of the links and their Jacobian (T, r, K)."""
        pose = body_motion(self.tree, values, tuple(self.tree.coordinates))
        parts = [_gap(self.tree, link, pose) for link in self.links]
        return tuple(np.concatenate(each, axis=1) for each in zip(*parts, strict=True))  # type: ignore[return-value]

    def slope(self, values: Array) -> Array:
        """dq_d/dq_i (T, d, c)."""
        jacobian = self.gap(values)[1]
        return -np.linalg.pinv(jacobian[:, :, self.dependent]) @ jacobian[:, :, self.independent]

    def bend(self, values: Array, speed: Array) -> Array:
        """qdd_d (T, d) without accelerations of the independent coordinates, whose speeds are (T, c)."""
        rates = np.zeros_like(values)
        rates[:, self.independent] = speed
        rates[:, self.dependent] = (self.slope(values) @ speed[..., None])[..., 0]
        motion = ModelMotion(np.arange(len(values), dtype=float), values, rates, np.zeros_like(values))
        bodies = body_dynamics(self.tree, motion)
        drift = np.concatenate([_drift(self.tree, link, bodies) for link in self.links], axis=1)
        dependent = self.gap(values)[1][:, :, self.dependent]
        return -(np.linalg.pinv(dependent) @ drift[..., None])[..., 0]


@dataclass(frozen=True, eq=False)
class LoopCoordinate:
    """One dependent coordinate of a loop as a function of its independent ones."""

    loop: Loop
    number: int

    def value(self, x: Array) -> Array:
        """Value f(x) (T,) at coordinates x (T, c)."""
        return np.asarray(self.loop.values(x)[:, self.loop.dependent[self.number]])

    def derivative(self, x: Array) -> Array:
        """Derivative df/dx (T, c) at coordinates x (T, c)."""
        return np.asarray(self.loop.slope(self.loop.values(x))[:, self.number])

    def bend(self, x: Array, speed: Array) -> Array:
        """Sum d2f/(dx_i dx_j) xd_i xd_j (T,) at coordinates x (T, c) with speeds xd (T, c)."""
        return np.asarray(self.loop.bend(self.loop.values(x), speed)[:, self.number])


def loop_couplers(model: OpenSimModel, links: tuple[Link, ...]) -> tuple[Coupler, ...] | None:
    """Couplers of the dependent coordinates of links between bodies; None where other couplers move these bodies.

    model: with joints and coordinates, without the links.
    """
    free = {name for name, coordinate in model.coordinates.items() if not coordinate.locked}
    bodies = [frame.body for link in links for frame in link.frames]
    if not model.reachable.issuperset(bodies):
        return None
    moving = sorted(
        {name for link in links for name in model.coordinates_between([f.body for f in link.frames])} & free,
        key=list(model.coordinates).index,
    )
    coupled = {name for coupler in model.couplers for name in (coupler.dependent, *coupler.independent)}
    if coupled & set(moving):
        return None
    columns = [model.coordinate_number[name] for name in moving]
    loop = Loop(model, links, [], columns)
    values = np.array([[coordinate.default for coordinate in model.coordinates.values()]])
    jacobian = loop.gap(values)[1][0][:, columns]
    from scipy.linalg import qr  # models without loops do not load it

    _, triangle, order = qr(jacobian, pivoting=True, mode="economic")
    sizes = np.abs(np.diag(triangle))
    rank = int((sizes > _RANK * sizes.max(initial=0.0)).sum())
    loop.dependent = [columns[k] for k in order[:rank]]
    loop.independent = sorted(columns[k] for k in order[rank:])
    names = list(model.coordinates)
    independent = tuple(names[k] for k in loop.independent)
    return tuple(
        Coupler(names[column], independent, LoopCoordinate(loop, k), closes_loop=True)
        for k, column in enumerate(loop.dependent)
    )


def _ends(
    model: OpenSimModel, frames: tuple[Frame, Frame], pose: BodyMotion
) -> tuple[list[int], Array, Array]:
    """Bodies of two frames, and their rotations (2, T, 3, 3) and places (2, T, 3) in the ground."""
    numbers = [model.body_number[frame.body] for frame in frames]
    both = list(zip(numbers, frames, strict=True))
    rotation = np.stack([pose.rotation[:, k] @ frame.rotation for k, frame in both])
    place = np.stack([pose.rotation[:, k] @ frame.position + pose.position[:, k] for k, frame in both])
    return numbers, rotation, place


def _gap(model: OpenSimModel, link: Link, pose: BodyMotion) -> tuple[Array, Array]:
    """Violations (T, r) of a link and their Jacobian (T, r, K), in the axes of the ground."""
    (one, other), (turn_one, turn_other), (p, q) = _ends(model, link.frames, pose)
    rates = [
        pose.twist[:, :, k, 3:] + vector_product(pose.twist[:, :, k, :3], place[:, None])
        for k, place in ((one, p), (other, q))
    ]
    gap, jacobian = q - p, (rates[1] - rates[0]).swapaxes(1, 2)
    if link.distance is not None:  # half the difference of squares, over the distance
        along = gap / link.distance
        length = 0.5 * ((gap * along).sum(axis=1) - link.distance)
        return length[:, None], np.einsum("ti,tik->tk", along, jacobian)[:, None]
    if link.is_weld:
        turned = to_vector(turn_one.swapaxes(1, 2) @ turn_other)
        spin = pose.twist[:, :, other, :3] - pose.twist[:, :, one, :3]
        gap = np.concatenate([gap, (turn_one @ turned[..., None])[..., 0]], axis=1)
        jacobian = np.concatenate([jacobian, spin.swapaxes(1, 2)], axis=1)
    return gap, jacobian


def _drift(model: OpenSimModel, link: Link, bodies: BodyDynamics) -> Array:
    """Second time derivatives (T, r) of the violations of a closed link."""
    (one, other), _, (p, q) = _ends(model, link.frames, bodies.pose)
    center = np.zeros_like(bodies.pose.position)
    speed, change = [], []
    for k, place in ((one, p), (other, q)):
        center[:, k] = place
        change.append(center_accelerations(bodies, center)[:, k])
        speed.append(bodies.twist[:, k, 3:] + vector_product(bodies.twist[:, k, :3], place))
    drift = change[1] - change[0]
    if link.distance is not None:
        across = speed[1] - speed[0]
        return ((across**2 + (q - p) * drift).sum(axis=1) / link.distance)[:, None]
    if link.is_weld:
        drift = np.concatenate(
            [drift, bodies.acceleration[:, other, :3] - bodies.acceleration[:, one, :3]], axis=1
        )
    return drift
