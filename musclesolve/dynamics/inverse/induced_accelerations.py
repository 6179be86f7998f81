"""Induced accelerations: contributions of each force to accelerations, ground reactions and loads of joints.

In joint speeds u the equations of motion of linked rigid bodies (Kane's form) are linear in all forces,

    M(q) du/dt = sum_i Q_i + J^T f,        J du/dt = c,

    M = sum_b m_b R_b^T R_b + S_b^T I_b S_b,    R_b, S_b: velocity of the mass center and angular velocity by speed,

with the generalized forces Q_i of muscles, gravity, velocities and joint moments that no muscle makes, and with ground
reactions f. The rows J are the accelerations of the feet at the ground. Each force Q_i alone in these equations gives
its acceleration du_i/dt and its ground reaction f_i:

    f_i = (J M^-1 J^T)^-1 (c_i - J M^-1 Q_i),      du_i/dt = M^-1 (Q_i + J^T f_i)

(Zajac and Gordon 1989, Exerc Sport Sci Rev 17:187-230). c is the acceleration of the constraint rows in the recorded
motion and belongs to the part `motion`; for all other parts c_i = 0: the ground is at rest. For every contact model the
parts add up to the recorded accelerations, and their ground reactions to the measured ones; the share of each part
depends on the model. A foot touches the ground where its vertical force exceeds LOADED_FROM_N. Contact models:

    rocker   the point of the foot at the center of pressure has no acceleration, and the foot neither rolls about its
             long axis nor turns about the vertical (five rows): it turns forward and backward alone, as over the heel
             or the toes
    point    the point at the center of pressure has no acceleration (three rows); the foot turns freely about it. The
             moment about it that was measured is a part of its own, `free_moment`
    foot     the whole foot has no linear and no angular acceleration (six rows)

The load of a joint, the force and the moment about its center that the bodies beyond it receive from the bodies before
it and from the muscles between, follows from the accelerations and the ground reactions of each part:

    F_i = sum_beyond m_b (R_b du_i/dt - g_i) - f_i,    M_i = sum_beyond (r_b - p) x m_b (...) + I_b S_b du_i/dt - ...
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from musclesolve._util.arrays import UP, Array, Mask, unit_or_zero, vector_product
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.constants import LOADED_FROM_N
from musclesolve.dynamics.inverse.newton_euler import angular_momentum_rate, segment_motion, turned_inertia
from musclesolve.dynamics.kinematics.motion_derivatives import Motion
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import Wrench

CONTACTS = ("rocker", "point", "foot")
"""Contact models; the first one is that of figures."""
OTHER_PARTS = ("gravity", "motion", "free_moment", "other_moments", "residual")
"""Parts other than the actuators."""


@dataclass(frozen=True, eq=False)
class LinkedBodies:
    """B rigid bodies along a motion of T frames that K speeds move; global axes with z up.

    Attributes:
        mass: (B,) [kg].
        center: (T, B, 3) mass centers [m].
        inertia: (T, B, 3, 3) about the mass centers [kg m2].
        spin: (T, B, K, 3) angular velocity by unit speed.
        reach: (T, B, K, 3) velocity of the mass center by unit speed.
        center_acceleration: (T, B, 3) of the mass centers in the recorded motion [m/s2].
        momentum_rate: (T, B, 3) d(I w)/dt in the recorded motion [N m].
        speeds: (T, K) in the recorded motion.
        rates: (T, K) their derivatives.
        base: (K,) whether a speed moves the whole body: no joint moment acts along it.
        gravity: (3,) [m/s2].
    """

    mass: Array
    center: Array
    inertia: Array
    spin: Array
    reach: Array
    center_acceleration: Array
    momentum_rate: Array
    speeds: Array
    rates: Array
    base: Mask
    gravity: Array

    @classmethod
    def from_motion(cls, model: Model, motion: Motion) -> Self:
        """The bodies of a model of natural coordinates; speeds: of the joints, then the six of its base."""
        segments, bodies = segment_motion(model, motion), np.arange(len(model.topology.bodies))
        spin, reach = model.tree.body_directions(motion.q, motion.origin, bodies, segments.center)
        return cls(
            model.mass.mass,
            segments.center,
            turned_inertia(model, segments, bodies),
            spin,
            reach,
            segments.center_acceleration,
            angular_momentum_rate(model, segments, bodies),
            motion.speeds,
            motion.speed_rates,
            np.arange(spin.shape[2]) >= model.tree.joint_count,
            np.asarray(model.gravity),
        )

    @property
    def kinetic_power(self) -> Array:
        """Rate of the kinetic energy (T,) [W]: sum_b m v . a + w . d(I w)/dt."""
        velocity = np.einsum("tbkx,tk->tbx", self.reach, self.speeds)
        turning = np.einsum("tbkx,tk->tbx", self.spin, self.speeds)
        linear = np.einsum("b,tbx,tbx->t", self.mass, velocity, self.center_acceleration)
        return np.asarray(linear + (turning * self.momentum_rate).sum(axis=(1, 2)))

    def power(self, foot: "Footing") -> Array:
        """Power (T,) [W] of the ground on a foot: F . v + M . w, with the moment about the mass center."""
        velocity = np.einsum("tkx,tk->tx", self.reach[:, foot.body], self.speeds)
        turning = np.einsum("tkx,tk->tx", self.spin[:, foot.body], self.speeds)
        moment = foot.moment - vector_product(self.center[:, foot.body], foot.force)
        return np.asarray((foot.force * velocity).sum(axis=1) + (moment * turning).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Footing:
    """A foot on the ground: its number among the bodies, and the ground reaction on it.

    force (T, 3) [N] and moment (T, 3) about the global origin [N m]; forward (T, 3): its long axis, without unit;
    height, () or (T,): of the ground [m].
    """

    body: int
    force: Array
    moment: Array
    forward: Array
    height: Array | float = 0.0

    @property
    def center_of_pressure(self) -> Array:
        """The point (T, 3) of the ground where the force acts [m], NaN below 20 N."""
        return center_of_pressure(self.force, self.moment, self.height)

    @classmethod
    def from_wrench(cls, model: Model, motion: Motion, wrench: Wrench, height: Array | float = 0.0) -> Self:
        """The footing of a wrench on a foot of a model of natural coordinates, whose x axis points to the toes."""
        body = model.body(wrench.body)
        turned = model.rigid_bodies.subset(np.array([body])).rotation(motion.q)[:, 0]
        return cls(body, wrench.force, wrench.moment, turned[..., 0], height)


@dataclass(frozen=True, eq=False)
class LoadedJoint:
    """A joint whose load is computed: beyond (B,), the bodies beyond it; center (T, 3) [m]."""

    beyond: Mask
    center: Array


@dataclass(frozen=True, eq=False)
class InducedAccelerations:
    """Shares of parts in accelerations, ground reactions and loads of joints of a motion of T frames.

    Attributes:
        parts: names of the P parts.
        generalized (T, P, K): generalized forces of the parts [N m, N].
        joint (T, P, K): of the speeds [rad/s2; m/s2 of translations].
        center (T, P, 3): of the center of mass [m/s2].
        ground (T, P, L, 3): ground reaction of each footing [N], without moments.
        load_force (T, P, J, 3): of the loaded joints [N], without the forces of muscles that cross them.
        load_moment (T, P, J, 3): about their centers [N m].
        touching (T, L): whether the foot touches the ground.
    """

    parts: tuple[str, ...]
    generalized: Array
    joint: Array
    center: Array
    ground: Array
    load_force: Array
    load_moment: Array
    touching: Mask


def induced_accelerations(
    bodies: LinkedBodies,
    feet: Sequence[Footing],
    forces: Mapping[str, Array],
    joints: Sequence[LoadedJoint] = (),
) -> dict[str, InducedAccelerations]:
    """Accelerations, ground reactions and joint loads by each of the forces, by gravity, and by all other parts.

    Args:
        bodies: along the motion.
        feet: on the ground, with their reactions.
        forces: name -> generalized force (T, K) of actuators [N m, N], such as moment arm times muscle force.
        joints: J joints whose loads are computed.

    Returns:
        For each of CONTACTS the shares of `forces`, then of OTHER_PARTS: gravity, motion (velocities and the
        acceleration of the ground contact), free_moment (the part of the measured moment about the center of pressure
        that the contact model does not bear), other_moments (joint moments that no force of `forces` makes) and
        residual (force and moment that act on the base in the recorded motion, and on feet that do not touch the ground
        by definition).
    """
    spin, reach, mass_of = bodies.spin, bodies.reach, bodies.mass[:, None]
    frames, count, speeds = spin.shape[:3]
    turned = np.einsum("tbxy,tbky->tbkx", bodies.inertia, spin)

    def columns(values: Array) -> Array:
        """Vectors (T, B, K, 3) of the bodies below each other, (T, B * 3, K)."""
        return values.transpose(0, 1, 3, 2).reshape(frames, count * 3, speeds)

    def along(values: Array, vectors: Array) -> Array:
        """Generalized force (T, K) of vectors (T, B, 3) on the directions (T, B, K, 3)."""
        return np.asarray(np.einsum("tbkx,tbx->tk", values, vectors))

    heavy = reach * mass_of[:, :, None]
    mass = np.swapaxes(columns(reach), 1, 2) @ columns(heavy) + np.swapaxes(columns(spin), 1, 2) @ columns(
        turned
    )
    weight = np.broadcast_to(mass_of * bodies.gravity, bodies.center.shape)
    gravity = along(reach, weight)
    demand = along(reach, mass_of * bodies.center_acceleration - weight) + along(spin, bodies.momentum_rate)
    velocity = (mass @ bodies.rates[:, :, None])[:, :, 0] - demand - gravity

    # the feet: points at the centers of pressure, and the directions in which they and the feet move
    carriers = [foot.body for foot in feet]
    touching = np.stack([foot.force[:, 2] > LOADED_FROM_N for foot in feet], axis=1)
    pressed = np.stack([foot.center_of_pressure for foot in feet], axis=1)
    points = np.where(touching[:, :, None], pressed, 0.0)
    push = np.stack([foot.force for foot in feet], axis=1)
    about = np.stack([foot.moment for foot in feet], axis=1) - vector_product(points, push)
    turns = spin[:, carriers]
    moves = reach[:, carriers] + vector_product(turns, (points - bodies.center[:, carriers])[:, :, None])

    # generalized forces: of the actuators, and the rest of the equations in the recorded motion
    other = demand - along(moves, push) - along(turns, about)
    for force in forces.values():
        other -= force
    residual = np.where(bodies.base, other, 0.0)
    other = np.where(bodies.base, 0.0, other)
    hovering = ~touching[:, :, None]
    residual += along(moves, push * hovering) + along(turns, about * hovering)
    names = (*forces, *OTHER_PARTS)
    of_gravity, of_motion, of_turning, _, of_residual = range(len(forces), len(names))
    acting = np.stack([*forces.values(), gravity, velocity, np.zeros_like(other), other, residual], axis=2)

    # loads of the joints by unit accelerations of the speeds, by gravity and by velocities
    beyond = np.array([joint.beyond for joint in joints], bool).reshape(len(joints), count)
    centers = np.stack([joint.center for joint in joints], axis=1) if joints else np.zeros((frames, 0, 3))

    def carried(force: Array, moment: Array, at: Array, beyond: Array) -> tuple[Array, Array]:
        """Force and moment about the joints, (T, J, ..., 3), of forces (T, n, ..., 3) and their moments about points.

        at (T, n, 3): the points; beyond (J, n): one for the points beyond a joint.
        """
        arms, places = (np.expand_dims(x, tuple(range(2, force.ndim - 1))) for x in (at, centers))
        summed = np.einsum("jn,tn...->tj...", beyond, force)
        origin = np.einsum("jn,tn...->tj...", beyond, moment + vector_product(arms, force))
        return summed, origin - vector_product(places, summed)

    of_bodies = bodies.center, beyond.astype(float)
    by_rate = carried(heavy, turned, *of_bodies)
    by_weight = carried(-weight, np.zeros_like(weight), *of_bodies)
    bent = mass_of * (bodies.center_acceleration - np.einsum("tbkx,tk->tbx", reach, bodies.rates))
    spun = bodies.momentum_rate - np.einsum("tbkx,tk->tbx", turned, bodies.rates)
    by_velocity = carried(bent, spun, *of_bodies)
    total = bodies.mass.sum()
    of_center = heavy.sum(axis=1).swapaxes(1, 2) / total

    shares = {}
    ahead = unit_or_zero(np.stack([foot.forward for foot in feet], axis=1) * [1.0, 1.0, 0.0])
    upward = np.broadcast_to(UP, ahead.shape)
    held_axes = {
        "point": np.zeros((frames, len(feet), 0, 3)),
        "rocker": np.stack([ahead, upward], axis=2),
        "foot": np.broadcast_to(np.eye(3), (frames, len(feet), 3, 3)),
    }
    for contact in CONTACTS:
        axes = held_axes[contact]
        # rows of each foot: the acceleration of its point, then its angular acceleration about the held axes
        size = 3 + axes.shape[2]
        rows = np.concatenate([moves.swapaxes(2, 3), np.einsum("tlax,tlkx->tlak", axes, turns)], axis=2)
        held = np.repeat(touching, size, axis=1)
        jacobian = rows.reshape(frames, -1, speeds) * held[:, :, None]
        borne = np.einsum("tlax,tlay,tly->tlx", axes, axes, about)
        free_turning = (about - borne) * touching[:, :, None]
        generalized = acting.copy()
        generalized[:, :, of_turning] = along(turns, free_turning)
        right = np.zeros((frames, jacobian.shape[1], len(names)))
        right[:, :, of_motion] = (jacobian @ bodies.rates[:, :, None])[:, :, 0]
        free = np.linalg.solve(mass, np.concatenate([generalized, np.swapaxes(jacobian, 1, 2)], axis=2))
        alone, by_contact = free[:, :, : len(names)], free[:, :, len(names) :]
        stiffness = jacobian @ by_contact
        stiffness[:, np.arange(held.shape[1]), np.arange(held.shape[1])] += ~held
        reaction = np.linalg.solve(stiffness, right - jacobian @ alone)
        rates = np.swapaxes(alone + by_contact @ reaction, 1, 2)

        by_foot = reaction.reshape(frames, len(feet), size, -1).swapaxes(2, 3)  # (T, L, P, rows)
        ground, turning = by_foot[..., :3], np.einsum("tlpa,tlax->tlpx", by_foot[..., 3:], axes)
        center = np.einsum("txk,tpk->tpx", of_center, rates)
        center[:, of_motion] += bent.sum(axis=1) / total
        bearing = turning.copy()
        bearing[:, :, of_turning] += free_turning
        hover = np.zeros_like(ground)
        hover[:, :, of_residual] = push * hovering
        bearing[:, :, of_residual] += about * hovering
        loads = []
        by_ground = carried(ground + hover, bearing, points, of_bodies[1][:, carriers])
        for inertia, weights, velocities, lifted in zip(
            by_rate, by_weight, by_velocity, by_ground, strict=True
        ):
            load = np.einsum("tjkx,tpk->tpjx", inertia, rates) - lifted.swapaxes(1, 2)
            load[:, of_gravity] += weights
            load[:, of_motion] += velocities
            loads.append(load)
        shares[contact] = InducedAccelerations(
            names,
            generalized.swapaxes(1, 2),
            rates,
            center,
            ground.swapaxes(1, 2),
            loads[0],
            loads[1],
            touching,
        )
    return shares
