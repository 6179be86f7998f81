"""Drivers: constraints that prescribe the motion of every degree of freedom; their multipliers are the moments.

A joint driver fixes the angle phi between a direction v of the parent and u of the child, both perpendicular to
the joint axis n. The scalar product v.u - Lv Lu cos(phi) (2.13) loses its gradient at 0 and 180 degrees, so where
|cos phi| > 0.7 the row is n.(v x u) - Ln Lv Lu sin(phi) (correction B3). The moment of the multiplier lambda is lambda
Lv Lu sin(phi), and -lambda Ln Lv Lu cos(phi) for the second form.

Six rows drive the base body through its motion, with any points and vectors that it has. Its first point follows its
path, and two of its directions keep to prescribed axes: with a along the line between its first two points, b across it
toward its vector (or third point), c = a x b, and E the same axes prescribed,

    b . E_c = 0,   -a . E_c = 0,   a . E_b = 0

hold where the base is at its prescribed place. Each row responds to the rotation about one of E_a, E_b and E_c.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, dot
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import lines_of
from musclesolve.dynamics.rotations import from_cardan, from_vector, to_vector, wrapped
from musclesolve.errors import input_error

SWITCH = 0.7
"""Value of |cos phi| above which the driver takes its cross-product form."""


@dataclass(frozen=True)
class ConstraintRows:
    """Constraint rows of all frames: value, nu and gamma (T, c), jacobian (T, c, N, 3), by names (c,).

    Phi_q qd = nu (2.8), Phi_q qdd = gamma (2.11; the sign of nu_t by correction B7).
    """

    names: tuple[str, ...]
    value: Array
    jacobian: Array
    nu: Array
    gamma: Array


@dataclass(frozen=True)
class DriverRows(ConstraintRows):
    """Rows of the drivers of all degrees of freedom (K+6).

    moment_factor (T, K+6): generalized force per unit multiplier, so that tau = factor * lambda.
    """

    moment_factor: Array


def driver_rows(
    model: Model, motion: Motion, q: Array | None = None, qd: Array | None = None, base: bool = True
) -> DriverRows:
    """Rows that drive the model through a motion (Silva 2003, Table 2.1; correction B3).

    Args:
        motion: its motion over T frames.
        q, qd: (T, N, 3) [m, m/s] positions and velocities at which the rows are evaluated; the motion's unless given.
        base: add the six rows that drive the base, after the rows of the joints.

    Returns:
        Rows with values, Jacobian and moment factors.

    Raises:
        InputError: the model has spherical joints, which no three angles drive everywhere.
    """
    if len(model.tree.spherical):
        raise input_error("dynamics.no_angle_drivers", topology=model.topology.name)
    q = motion.q if q is None else q
    qd = motion.qd if qd is None else qd
    angles = DrivenAngles.from_model(model)
    *rows, factor = angles.rows(angles.of_motion(model, motion), q, qd)
    parts = [(*rows, model.tree.sign * factor)] + ([base_rows(model, motion, q, qd)] if base else [])
    names = model.topology.dof_names if base else model.topology.dof_names[: model.tree.joint_count]
    return DriverRows(names, *(np.concatenate(field, axis=1) for field in zip(*parts, strict=True)))


@dataclass(frozen=True)
class DrivenAngles:
    """Angles (K) from directions v to u about axes n, both perpendicular to n, which is fixed in one of the two bodies
    or both.

    lines: from- and to-slots (K, 2) of "n", "v" and "u"; length (K,): product of the lengths of v and u; axial (K,):
    this product times the length of n.
    """

    lines: dict[str, Indices]
    length: Array
    axial: Array

    @classmethod
    def build(cls, standing: Array, n: Indices, v: Indices, u: Indices) -> Self:
        """Angles from the slots (K, 2) of their lines in a standing layout (N, 3) [m]."""
        lines = {"n": n, "v": v, "u": u}
        n0, v0, u0 = (np.linalg.norm(lines_of(standing[None], slots)[0], axis=1) for slots in lines.values())
        return cls(lines, v0 * u0, v0 * u0 * n0)

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """Angles of all joints, by the directions that drive them."""
        slots_of, dofs = model.topology.slots_of, model.topology.dofs
        v, u = (np.array([slots_of(getattr(dof, end)) for dof in dofs]) for end in ("reference", "follower"))
        return cls.build(model.standing, model.tree.axis, v, u)

    def of_motion(self, model: Model, motion: Motion) -> tuple[Array, Array, Array]:
        """Angles of all joints of a model in a motion, with first and second derivative, (T, K) each [rad]."""
        tree, joints = model.tree, model.tree.joint_count
        n0, v0, u0 = (lines_of(model.standing[None], slots)[0] for slots in self.lines.values())
        start = np.arctan2(dot(n0, np.cross(v0, u0)) / np.linalg.norm(n0, axis=1), dot(v0, u0))
        angle, rate, second = (
            tree.sign * x[:, :joints] for x in (motion.coordinates, motion.rates, motion.second)
        )
        return start + angle, rate, second

    def rows(self, angle: tuple[Array, ...], q: Array, qd: Array) -> tuple[Array, ...]:
        """Rows that hold the angles at given values (2.13, 2.16-2.18, B3).

        angle: from v to u, with its first and second derivative, (T, K) each [rad]; q, qd (T, N, 3). Returns value
        (T, K), Jacobian (T, K, N, 3), nu, gamma, and moment about n per unit multiplier, (T, K) each.
        """
        n, v, u = (lines_of(q, slots) for slots in self.lines.values())
        nd, vd, ud = (lines_of(qd, slots) for slots in self.lines.values())
        phi, phid, phidd = angle
        sine, cosine = np.sin(phi), np.cos(phi)
        crossed = np.abs(cosine) > SWITCH

        value = np.where(
            crossed, dot(n, np.cross(v, u)) - self.axial * sine, dot(v, u) - self.length * cosine
        )
        nu = np.where(crossed, self.axial * cosine * phid, -self.length * sine * phid)
        curved = 2.0 * (dot(nd, np.cross(vd, u)) + dot(nd, np.cross(v, ud)) + dot(n, np.cross(vd, ud)))
        gamma = np.where(
            crossed,
            self.axial * (cosine * phidd - sine * phid**2) - curved,
            -self.length * (sine * phidd + cosine * phid**2) - 2.0 * dot(vd, ud),
        )
        pick = crossed[..., None]
        gradients = {
            "n": np.where(pick, np.cross(v, u), 0.0),
            "v": np.where(pick, np.cross(u, n), u),
            "u": np.where(pick, np.cross(n, v), v),
        }
        jacobian = self._spread(gradients, q.shape[1])
        return value, jacobian, nu, gamma, np.where(crossed, -self.axial * cosine, self.length * sine)

    def errors(self, angle: Array, q: Array) -> tuple[Array, Array]:
        """Return the errors a - phi (T, K) [rad] of the angles, within 180 degrees, and the Jacobian (T, K, N, 3).

        With a = atan2(n.(v x u) / Ln, v.u). Both rows of `rows` have a second solution, at -phi and at 180 degrees -
        phi; this error is zero only at the angle phi, and its gradient never vanishes.
        """
        n, v, u = (lines_of(q, slots) for slots in self.lines.values())
        size = self.axial / self.length
        sine, cosine = dot(n, np.cross(v, u)) / size, dot(v, u)
        square = np.maximum(sine**2 + cosine**2, 0.01 * self.length**2)
        along, across = (cosine / size / square)[..., None], (sine / square)[..., None]
        gradients = {
            "n": along * np.cross(v, u),
            "v": along * np.cross(u, n) - across * u,
            "u": along * np.cross(n, v) - across * v,
        }
        return wrapped(np.arctan2(sine, cosine) - angle), self._spread(gradients, q.shape[1])

    def bend(self, q: Array, qd: Array) -> Array:
        """Second derivative (T, K) [rad/s^2] of the angle of `errors` along the straight line q + t qd.

        a = atan2(s, c) has a' = (c s' - s c') / (s^2 + c^2) and
        a'' = (c s'' - s c'' - 2 a' (s s' + c c')) / (s^2 + c^2).
        """
        n, v, u = (lines_of(q, slots) for slots in self.lines.values())
        nd, vd, ud = (lines_of(qd, slots) for slots in self.lines.values())
        size = self.axial / self.length
        turned = np.cross(vd, u) + np.cross(v, ud)
        sine = dot(n, np.cross(v, u)) / size
        sine_1 = (dot(nd, np.cross(v, u)) + dot(n, turned)) / size
        sine_2 = 2.0 * (dot(nd, turned) + dot(n, np.cross(vd, ud))) / size
        cosine, cosine_1, cosine_2 = dot(v, u), dot(vd, u) + dot(v, ud), 2.0 * dot(vd, ud)
        square = sine**2 + cosine**2
        rate = (cosine * sine_1 - sine * cosine_1) / square
        along = sine * sine_1 + cosine * cosine_1
        return np.asarray((cosine * sine_2 - sine * cosine_2 - 2.0 * rate * along) / square)

    def _spread(self, gradients: dict[str, Array], size: int) -> Array:
        """Jacobian (T, K, N, 3) from the gradients by each line."""
        frames, rows = next(iter(gradients.values())).shape[:2]
        jacobian = np.zeros((frames, rows, size + 1, 3))
        index = np.arange(rows)
        for name, slots in self.lines.items():
            jacobian[:, index, slots[:, 1]] += gradients[name]
            jacobian[:, index, slots[:, 0]] -= gradients[name]
        return jacobian[:, :, :size]


@dataclass(frozen=True)
class BaseDriver:
    """Frame that drives the base: slot of its point, directions a and b as combinations of slots (2, N), axes (3,
    3).

    The columns of `triad` are a, b, c in the standing pose.
    """

    point: int
    combinations: Array
    triad: Array

    @classmethod
    def from_model(cls, model: Model) -> Self:
        """The driver of the first two points of the base body and its first vector or third point."""
        topology, standing = model.topology, model.standing
        base = topology.bodies[topology.body_index[topology.root]]
        first, second = (topology.slot[name] for name in base.points[:2])
        line = np.zeros(len(standing))
        line[second], line[first] = 1.0, -1.0
        line /= np.linalg.norm(line @ standing)
        across = np.zeros(len(standing))
        if base.vectors:
            across[topology.slot[base.vectors[0]]] = 1.0
        else:
            across[topology.slot[base.points[2]]], across[first] = 1.0, -1.0
        a = line @ standing
        across = across - (a @ (across @ standing)) * line
        across /= np.linalg.norm(across @ standing)
        b = across @ standing
        return cls(first, np.stack([line, across]), np.column_stack([a, b, np.cross(a, b)]))


def base_rows(model: Model, motion: Motion, q: Array, qd: Array) -> tuple[Array, ...]:
    """Value (T, 6), Jacobian (T, 6, N, 3), nu, gamma and moment factor (T, 6) of the rows of the base."""
    base, joints = BaseDriver.from_model(model), model.tree.joint_count
    rotation = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    spin, spin_rate = motion.speeds[:, joints + 3 :], motion.speed_rates[:, joints + 3 :]

    def carried(vector: Array) -> Array:
        """Acceleration of a vector (T, 3) that rotates with the base."""
        return np.cross(spin_rate, vector) + np.cross(spin, np.cross(spin, vector))

    arm = rotation @ model.standing[base.point]
    shift = slice(joints, joints + 3)
    value = [q[:, base.point] - motion.coordinates[:, shift] - arm]
    nu = [motion.speeds[:, shift] + np.cross(spin, arm)]
    gamma = [motion.speed_rates[:, shift] + carried(arm)]
    jacobian = np.zeros((len(q), 6, *q.shape[1:]))
    jacobian[:, range(3), base.point, range(3)] = 1.0
    axes = rotation @ base.triad
    for row, (direction, against, sign) in enumerate(((1, 2, 1.0), (0, 2, -1.0), (0, 1, 1.0)), start=3):
        weights, fixed = base.combinations[direction], sign * axes[:, :, against]
        now, rate = (np.einsum("n,tnx->tx", weights, x) for x in (q, qd))
        moved = np.cross(spin, fixed)
        value.append(dot(now, fixed)[:, None])
        nu.append(-dot(now, moved)[:, None])
        gamma.append((-2.0 * dot(rate, moved) - dot(now, carried(fixed)))[:, None])
        jacobian[:, row] = weights[:, None] * fixed[:, None]
    return np.hstack(value), jacobian, np.hstack(nu), np.hstack(gamma), -np.ones((len(q), 6))


def base_closure_errors(model: Model, motion: Motion, q: Array, largest: float) -> tuple[Array, Array, Array]:
    """Return the errors of the base's point and of its directions a and b from their prescribed places.

    Unlike the rows above, the errors are not zero where the base is rotated by 180 degrees about one of its axes.
    Returns the errors (T, 9), their Jacobian (T, 9, N, 3), and the part of the errors that a rotation by at most
    `largest` [rad] closes.
    """
    base, joints = BaseDriver.from_model(model), model.tree.joint_count
    rotation = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    place = motion.origin + rotation @ model.standing[base.point]
    weights = np.vstack([np.eye(q.shape[1])[base.point], base.combinations])
    now, axes = weights @ q, rotation @ base.triad
    a = now[:, 1] / np.linalg.norm(now[:, 1], axis=1, keepdims=True)
    b = now[:, 2] - dot(a, now[:, 2])[:, None] * a
    b = b / np.linalg.norm(b, axis=1, keepdims=True)
    present = np.stack([a, b, np.cross(a, b)], axis=-1)
    rest = to_vector(axes @ np.swapaxes(present, 1, 2))
    share = np.minimum(1.0, largest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-12))
    near = from_vector(share * rest) @ present
    error, part = (
        (now - np.stack([place, goal[..., 0], goal[..., 1]], axis=1)).reshape(len(q), 9)
        for goal in (axes, near)
    )
    jacobian = np.einsum("rn,xy->rxny", weights, np.eye(3)).reshape(9, -1, 3)
    return error, np.broadcast_to(jacobian, (len(q), *jacobian.shape)), part


def residual_about_origin(model: Model, motion: Motion, forces: Array) -> Array:
    """Force and moment (T, 6) of the rows, from their point and axes to the layout's origin and global axes."""
    base, joints = BaseDriver.from_model(model), model.tree.joint_count
    rotation = from_cardan(*motion.coordinates[:, joints + 3 :].T)
    force, moment = forces[:, :3], np.einsum("txy,ty->tx", rotation @ base.triad, forces[:, 3:])
    return np.hstack([force, moment + np.cross(rotation @ model.standing[base.point], force)])
