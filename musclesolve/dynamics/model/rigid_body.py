"""Rigid bodies in natural coordinates: material points from points and vectors, generalized forces, mass matrices.

Every body is reduced to the basic body of two points i, j and two vectors u, v (Silva 2003, 2.40-2.47):

    r = r_i + c1 (r_j - r_i) + c2 u + c3 v,      c = X'^-1 (r' - r_i'),   X' = [r_ij', u', v']

u and v depend on the points and vectors of a body (2.57, 2.64):

    two points, two vectors        u and v are its vectors
    three points, one vector       u is its vector, v = (r_k - r_j) / L_jk
    two points, one vector         u is its vector, v = u x r_ij / |u x r_ij|
    three points                   u = (r_k - r_i) / L_ik, v = u x r_ij / |u x r_ij|
    four points                    u = (r_k - r_i) / L_ik, v = (r_l - r_i) / L_il

Only the cross product makes the mass matrix depend on the pose (2.65-2.71, with the signs of corrections B1 and B2).
Forces become generalized forces by virtual power, without a matrix.

In the functions of mass matrices (Silva 2003, 2.51-2.55, 2.62, 2.70) q (T, N, 3) are natural coordinates [m, vectors
1], qd and qdd (T, N, 3) their derivatives, and `basic` (B, 4, 4) the mass matrices of the basic bodies.
"""

from collections.abc import Collection
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import comb
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, contiguous, vector_product
from musclesolve._util.checks import check_array, check_real_array, check_type
from musclesolve.dynamics.kernel.arrays import BodyArrays, BodyMotions
from musclesolve.dynamics.model.topology import RigidBody, Topology
from musclesolve.errors import input_error

PLACES = 6
"""Slots of a body: i, j, then from and to of u, from and to of v."""


@dataclass(frozen=True)
class RigidBodies:
    """The bodies of a model as arrays over bodies (B).

    slots (B, 6): i, j, u from, u to, v from, v to, as indices into the generalized coordinates (N); N means none.
    crossed (B,): v is the cross product. length_u, length_v (B,): divisors of the differences.
    inverse (B, 3, 3): X'^-1; origin (B, 3): standing position of point i; incidence (N, B, 6).

    In all methods q (T, N, 3) are natural coordinates [m, vectors 1], qd and qdd (T, N, 3) their derivatives.
    """

    slots: Indices
    crossed: Mask
    length_u: Array
    length_v: Array
    inverse: Array
    origin: Array
    incidence: Array
    _subsets: "dict[bytes, RigidBodies]" = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def build(cls, topology: Topology, standing: Array) -> Self:
        """Arrays of every body from the standing layout (N, 3)."""
        none = len(standing)
        slots, crossed, incidence = body_numbers(topology)
        padded = np.vstack([standing, np.zeros(3)])
        r_ij = padded[slots[:, 1]] - padded[slots[:, 0]]
        u = padded[slots[:, 3]] - padded[slots[:, 2]]
        length_u = np.where(slots[:, 2] == none, 1.0, np.linalg.norm(u, axis=1))
        u = u / length_u[:, None]
        v = np.where(crossed[:, None], vector_product(u, r_ij), padded[slots[:, 5]] - padded[slots[:, 4]])
        plain = (slots[:, 4] == none) & ~crossed
        length_v = np.where(plain, 1.0, np.linalg.norm(v, axis=1))
        base = np.stack([r_ij, u, v / np.where(length_v > 0.0, length_v, 1.0)[:, None]], axis=2)
        scale = np.linalg.norm(base, axis=1).prod(axis=1)
        if (flat := np.abs(np.linalg.det(base)) < 1e-9 * np.maximum(scale, 1e-30)).any():
            body = topology.bodies[int(np.argmax(flat))]
            raise input_error(
                "bad_model",
                problem=f"body {body.name!r}: its points {list(body.points)} and vectors "
                f"{list(body.vectors)} lie in one plane",
                expected="a line and two directions that span space",
            )
        inverse = np.linalg.inv(base)
        return cls(slots, crossed, length_u, length_v, inverse, standing[slots[:, 0]], incidence)

    def subset(self, bodies: Indices) -> "RigidBodies":
        """The arrays of some bodies, by number, in the given order (a body may come more than once).

        They are kept: every frame needs the same ones again.
        """
        key = np.asarray(bodies, np.intp).tobytes()
        if key not in self._subsets:
            names = ("slots", "crossed", "length_u", "length_v", "inverse", "origin")
            picked = {name: getattr(self, name)[bodies] for name in names}
            self._subsets[key] = replace(self, **picked, incidence=self.incidence[:, bodies])
        return self._subsets[key]

    def coordinates(self, standing_point: Array) -> Array:
        """Coefficients (B, 4) of r_i, r_j, u, v that give a material point, from its standing position (B, 3)."""
        c = np.einsum("bij,bj->bi", self.inverse, standing_point - self.origin)
        return np.column_stack([1.0 - c[:, 0], c])

    def combinations(self, topology: Topology, bodies: Indices, coefficients: Array) -> Array:
        """Weights (n, N) of the generalized coordinates in c_0 r_i + c_1 r_j + c_2 u + c_3 v of bodies (n,); c (n, 4).

        Raises InputError where v is a cross product, which no linear combination can express (2.19, 2.64).
        """
        if self.crossed[bodies].any():
            body = bodies[self.crossed[bodies].argmax()]
            raise input_error(
                "bad_model",
                problem=f"body {topology.bodies[body].name!r} has too few points and vectors for a "
                "spherical joint's axes or extra points",
                expected="two points and two vectors, three points and one vector, or four points",
            )
        c_i, c_j, c_u, c_v = coefficients.T
        c_u, c_v = c_u / self.length_u[bodies], c_v / self.length_v[bodies]
        slots = np.stack([c_i, c_j, -c_u, c_u, -c_v, c_v], axis=1)
        return np.asarray((self.incidence[:, bodies] * slots).sum(axis=2).T)

    @cached_property
    def compiled(self) -> BodyArrays:
        """The arrays of the bodies for compiled code."""
        return BodyArrays(
            contiguous(self.slots, np.intp),
            contiguous(self.crossed, bool),
            np.column_stack([self.length_u, self.length_v]),
            contiguous(self.inverse),
            contiguous(self.origin),
        )

    def basic(self, q: Array, qd: Array | None = None, qdd: Array | None = None) -> Array:
        """r_i, r_j, u, v of every body, (T, B, 4, 3), from q (T, N, 3) [m]. With qd, their first time derivative
        (2.66); with qdd as well, the second one (2.67, second block of V with the sign of correction B2).
        """
        rates = [self._parts(x) for x in (q, qd, qdd) if x is not None]
        order = len(rates) - 1
        r_i, r_j, u, v = rates[order]
        arm, axis = [j - i for i, j, _, _ in rates], [axis for _, _, axis, _ in rates]
        # d^n (u x r_ij) by Leibniz' rule
        product = vector_product(axis[order], arm[0])
        for k in range(1, order + 1):
            product = product + comb(order, k) * vector_product(axis[order - k], arm[k])
        v = np.where(self.crossed[:, None], product / self.length_v[:, None], v)
        return np.stack([r_i, r_j, u, v], axis=2)

    def _parts(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """r_i, r_j, u and the linear v of every body, (T, B, 3) each."""
        padded = np.concatenate([q, np.zeros_like(q[:, :1])], axis=1)
        i, j, u_from, u_to, v_from, v_to = self.slots.T
        u = (padded[:, u_to] - padded[:, u_from]) / self.length_u[:, None]
        v = (padded[:, v_to] - padded[:, v_from]) / self.length_v[:, None]
        return padded[:, i], padded[:, j], u, v

    def rotation(self, q: Array) -> Array:
        """Rotation of every body from the standing pose, (T, B, 3, 3): R = X X'^-1 (2.46)."""
        if not np.iscomplexobj(q):
            return self._moved(q, q).rotation
        basic = self.basic(q)
        columns = np.stack([basic[:, :, 1] - basic[:, :, 0], basic[:, :, 2], basic[:, :, 3]], axis=-1)
        return columns @ self.inverse

    def twists(self, q: Array, qd: Array) -> Array:
        """Angular velocity [rad/s] and velocity of the material point at the global origin [m/s] of every body,
        (T, B, 6).

        With dR/dt = [w]x R: w is half the sum of e x de/dt over the axes e of the body.
        """
        return self._moved(q, qd).twist

    def _moved(self, q: Array, qd: Array) -> BodyMotions:
        """The bodies in T poses q with velocities qd, (T, N, 3) each: arrays of `BodyMotions` with frames first."""
        from musclesolve.dynamics.kernel.entry import MOVE_ALL

        frames, bodies = len(q), len(self.slots)
        rotation, place, twist = (np.empty((frames, bodies, *axes)) for axes in ((3, 3), (3,), (6,)))
        motions = BodyMotions(rotation, place, twist, np.empty((3, 3, 3)))
        MOVE_ALL.load()(contiguous(q), contiguous(qd), self.compiled, motions)
        return motions

    def slot_forces(self, q: Array, force: Array) -> Array:
        """Forces on (r_i, r_j, u, v), (T, B, 4, 3), on the six slots by virtual power, (T, B, 6, 3).

        The transpose of V (2.58, 2.68): a force on a difference is a pair on its ends; one on v = u x r_ij / L acts
        on u as r_ij x f / L and on r_ij as f x u / L.
        """
        f_i, f_j, f_u, f_v = np.moveaxis(force, 2, 0)
        f_v = f_v / self.length_v[:, None]
        r_i, r_j, u, _ = self._parts(q)
        crossed = self.crossed[:, None]
        on_line = np.where(crossed, vector_product(f_v, u), 0.0)
        f_u = (f_u + np.where(crossed, vector_product(r_j - r_i, f_v), 0.0)) / self.length_u[:, None]
        f_v = np.where(crossed, 0.0, f_v)
        return np.stack([f_i - on_line, f_j + on_line, -f_u, f_u, -f_v, f_v], axis=2)

    def generalized(self, q: Array, force: Array) -> Array:
        """Generalized force (T, N, 3) of forces (T, B, 4, 3) on the basic coordinates of the bodies."""
        slots = self.slot_forces(q, force)
        frames, bodies = slots.shape[:2]
        return self.incidence.reshape(-1, bodies * PLACES) @ slots.reshape(frames, bodies * PLACES, 3)

    def moment_forces(self, q: Array, moment: Array) -> Array:
        """Forces on the basic coordinates (T, B, 4, 3) that do the work of a couple (T, B, 3) [N m].

        The power of a couple is m.w = 1/2 sum_a de_a/dt . (m x e_a) over the axes e_a of the body, and
        de/dt = dX/dt X'^-1; unlike (2.80) it holds for a couple along r_ij as well (correction B4).
        """
        axes = np.moveaxis(self.rotation(q), -1, 2)  # (T, B, axis a, 3)
        on_axes = 0.5 * vector_product(moment[:, :, None, :], axes)
        on_columns = np.einsum("bsa,tbax->tbsx", self.inverse, on_axes)
        return np.concatenate([-on_columns[:, :, :1], on_columns], axis=2)

    def wrench_forces(self, q: Array, force: Array, moment: Array) -> Array:
        """Forces on the basic coordinates (T, B, 4, 3) of a force [N] and its moment about the global origin [N m],
        (T, B, 3) each: the force at point i, with a couple.
        """
        basic = self.moment_forces(q, moment - vector_product(q[:, self.slots[:, 0]], force))
        basic[:, :, 0] += force
        return basic


def lines_of(q: Array, slots: Indices) -> Array:
    """Lines (T, ..., 3) between slots (..., 2) of q (T, N, 3); slot N is zero, the start of vectors."""
    padded = np.concatenate([q, np.zeros_like(q[:, :1])], axis=1)
    return padded.take(slots[..., 1], axis=1) - padded.take(slots[..., 0], axis=1)


@lru_cache(maxsize=8)
def body_numbers(topology: Topology) -> tuple[Indices, Mask, Array]:
    """Slots, crossed and incidence of `RigidBodies`, which no length changes."""
    bodies, none = topology.bodies, len(topology.coordinate_names)
    slots = np.array([body_slots(body, topology.slot, none) for body in bodies])
    incidence = np.zeros((none + 1, len(slots), PLACES))
    for place in range(PLACES):
        incidence[slots[:, place], np.arange(len(slots)), place] = 1.0
    crossed = np.array([len(body.points) + len(body.vectors) == 3 for body in bodies])
    return slots, crossed, incidence[:none]


def body_slots(body: RigidBody, slot: dict[str, int], none: int) -> list[int]:
    """The six slots of one body; the two of v are `none` if v is a cross product."""
    points, vectors = [slot[name] for name in body.points], [slot[name] for name in body.vectors]
    i, j = points[:2]
    match len(points), len(vectors):
        case 2, 2:
            return [i, j, none, vectors[0], none, vectors[1]]
        case 3, 1:
            return [i, j, none, vectors[0], j, points[2]]
        case 2, 1:
            return [i, j, none, vectors[0], none, none]
        case 3, 0:
            return [i, j, i, points[2], none, none]
        case _:
            return [i, j, i, points[2], i, points[3]]


_SKEW = 1e-9  # Largest difference across the diagonal of an inertia, as a share of its trace


@dataclass(frozen=True)
class MassProperties:
    """Mass (B,) [kg], center of mass (B, 3) [m] in the standing pose and inertia (B, 3, 3) [kg m2] about it, global
    axes.

    allow_impossible: accept inertias that no body can have, such as printed ones; for inverse dynamics only.
    names: of the bodies of the model, in its order, for messages.
    """

    mass: Array
    center: Array
    inertia: Array
    allow_impossible: bool = False
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse impossible values: negative mass, skew inertia, a principal moment above the sum of the others."""
        names = tuple(check_type(self.names, Collection, "names", "names of the bodies"))
        count = np.size(check_real_array(self.mass, "mass", "masses (B,) [kg]"))
        shapes = {"mass": (count,), "center": (count, 3), "inertia": (count, 3, 3)}
        for name, shape in shapes.items():
            array = check_array(getattr(self, name), f"the {name} of the bodies", shape, names, axis=0)
            object.__setattr__(self, name, array)
        if len(names) not in (0, count):
            raise input_error(
                "bad_shape",
                problem=f"{len(names)} names of {count} bodies",
                expected="one name for each body, or none",
            )
        if (self.mass < 0).any():
            body = int(np.argmin(self.mass))
            raise input_error(
                "bad_model", problem=f"{self._body_name(body)} has a negative mass ({self.mass[body]:g} kg)"
            )
        size = np.maximum(1e-12, np.trace(self.inertia, axis1=1, axis2=2))
        skew = np.abs(self.inertia - np.swapaxes(self.inertia, 1, 2)).max(axis=(1, 2), initial=0.0) / size
        if (skew > _SKEW).any():
            called = self._body_name(int(np.argmax(skew)))
            raise input_error(
                "bad_model",
                problem=f"the inertia of {called} is not symmetric",
                expected="the same product of inertia on both sides of the diagonal",
            )
        if self.allow_impossible:
            return
        smallest = np.linalg.eigvalsh(second_moment(self.inertia))[:, 0]
        if (smallest < -1e-9 * size).any():
            body = int(np.argmin(smallest + 1e-9 * size))
            raise input_error(
                "bad_model",
                problem=f"the inertia of {self._body_name(body)} is one that no rigid body can have",
                expected="each principal moment at most the sum of the other two",
            )

    def _body_name(self, body: int) -> str:
        return f"body {self.names[body]!r}" if self.names else f"the body at index {body}"

    def scaled(self, factor: Array | float) -> Self:
        """Masses and inertias times factors (B,) or one factor, 0 or more, which make no possible body impossible."""
        other, by = copy(self), np.broadcast_to(factor, self.mass.shape)
        vars(other).update(mass=by * self.mass, inertia=by[:, None, None] * self.inertia)
        return other

    @property
    def total(self) -> float:
        """Mass of the whole model [kg]."""
        return float(self.mass.sum())


def second_moment(inertia: Array) -> Array:
    """Integral of r r^T dm from the inertia tensor: 1/2 tr(I) 1 - I (2.53)."""
    trace = np.trace(inertia, axis1=-2, axis2=-1)[..., None, None]
    return 0.5 * trace * np.eye(3) - inertia


def basic_mass_matrix(rigid_bodies: RigidBodies, mass: MassProperties) -> Array:
    """Mass matrices M_e (B, 4, 4) of basic bodies; each entry is a factor on the 3 x 3 unit matrix (2.55)."""
    arm = mass.center - rigid_bodies.origin
    about_i = second_moment(mass.inertia) + mass.mass[:, None, None] * arm[:, :, None] * arm[:, None, :]
    z = rigid_bodies.inverse @ about_i @ np.swapaxes(rigid_bodies.inverse, 1, 2)
    ma = mass.mass[:, None] * np.einsum("bij,bj->bi", rigid_bodies.inverse, arm)
    matrix = np.empty((len(mass.mass), 4, 4))
    matrix[:, 1:, 1:] = z
    matrix[:, 0, 1:] = matrix[:, 1:, 0] = ma - z[:, 0]
    matrix[:, 0, 0] = mass.mass - 2.0 * ma[:, 0] + z[:, 0, 0]
    return matrix


def mass_matrix(rigid_bodies: RigidBodies, basic: Array, q: Array) -> Array:
    """Mass matrix of the whole system in natural coordinates (Silva 2003, 2.62, 2.70).

    Constant where a body has three points and a vector (2.62); V(q)^T M_e V(q) where a body has two (2.70).

    Args:
        rigid_bodies: `Model.rigid_bodies`.
        basic: `Model.basic_mass`, the matrices of the bodies in their basic coordinates [kg].
        q: (T, N, 3) [m] poses.

    Returns:
        (T, 3N, 3N) [kg].

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> mass = ms.dynamics.mass_matrix(model.rigid_bodies, model.basic_mass, model.standing[None])[0]
        >>> qd = np.zeros_like(model.standing)
        >>> qd[: model.topology.point_count, 0] = 1.0     # all points forward at 1 m/s: kinetic energy m / 2
        >>> float(0.5 * qd.ravel() @ mass @ qd.ravel()), 0.5 * model.mass.total
        (35.125, 35.125)
    """
    check_type(rigid_bodies, RigidBodies, "rigid_bodies", "Model.rigid_bodies")
    basic = check_array(basic, "basic", (len(rigid_bodies.slots), 4, 4), axis=0)
    q = check_array(q, "q", ("T", "N", 3), real=True)
    frames, slots = q.shape[:2]
    size = 3 * (slots + 1)
    # V: derivative of (r_i, r_j, u, v) by the coordinates in the six slots, (T, B, 4, 3, 18)
    bodies = len(rigid_bodies.slots)
    unit = np.broadcast_to(np.eye(12).reshape(12, 1, 1, 4, 3), (12, frames, bodies, 4, 3))
    poses = np.broadcast_to(q, (12, *q.shape)).reshape(-1, *q.shape[1:])
    forces = rigid_bodies.slot_forces(poses, unit.reshape(-1, bodies, 4, 3))
    transform = forces.reshape(12, frames, bodies, 3 * PLACES).transpose(1, 2, 0, 3)
    transform = transform.reshape(frames, bodies, 4, 3, 3 * PLACES)
    moved = np.einsum("bef,tbfxc->tbexc", basic, transform)
    rows, columns = (part.reshape(*part.shape[:2], 12, 18) for part in (transform, moved))
    blocks = np.swapaxes(rows, 2, 3) @ columns
    place = (3 * rigid_bodies.slots[:, :, None] + np.arange(3)).reshape(-1, 18)
    cell = place[:, :, None] * size + place[:, None, :]
    cell = cell + size**2 * np.arange(frames)[:, None, None, None]
    entries: Array = np.bincount(cell.ravel(), blocks.ravel(), frames * size**2).astype(float, copy=False)
    return entries.reshape(frames, size, size)[:, : 3 * slots, : 3 * slots]


def inertia_force(rigid_bodies: RigidBodies, basic: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """Generalized force M qdd - g_v (T, N, 3) that accelerates the masses."""
    return rigid_bodies.generalized(q, inertia_on_bodies(rigid_bodies, basic, q, qd, qdd))


def inertia_on_bodies(rigid_bodies: RigidBodies, basic: Array, q: Array, qd: Array, qdd: Array) -> Array:
    """The force that accelerates the masses, on the basic coordinates of the bodies (T, B, 4, 3).

    Includes the velocity-dependent part of the two-point bodies, V^T M_e Vdot qd (2.71, sign of correction B1).
    """
    return np.einsum("bef,tbfx->tbex", basic, rigid_bodies.basic(q, qd, qdd))


def weight_force(rigid_bodies: RigidBodies, mass: MassProperties, q: Array, gravity: Array) -> Array:
    """Generalized force of gravity (T, N, 3); gravity is (3,) [m/s2]."""
    force = weight_on_bodies(rigid_bodies, mass, gravity)
    return rigid_bodies.generalized(q, np.broadcast_to(force, (len(q), *force.shape)))


def weight_on_bodies(rigid_bodies: RigidBodies, mass: MassProperties, gravity: Array) -> Array:
    """Gravity (3,) [m/s2] as forces on the basic coordinates of the bodies (B, 4, 3), the same in every pose."""
    weight = mass.mass[:, None] * rigid_bodies.coordinates(mass.center)
    return weight[:, :, None] * gravity


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

    def frames(self, keep: slice | Indices) -> "Wrench":
        """The wrench at a slice of the frames."""
        return Wrench(self.body, self.force[keep], self.moment[keep])

    def about(self, point: Array) -> Array:
        """Moment about a moving point (T, 3) [N m]."""
        return self.moment - vector_product(point, self.force)


def check_frames(wrenches: list[Wrench], frames: int) -> None:
    """Refuse what is no list of wrenches, and wrenches that do not last as long as the motion."""
    expected = "a list of Wrench; an empty one where nothing acts"
    for wrench in check_type(wrenches, Collection, "wrenches", expected):
        check_type(wrench, Wrench, "wrenches", expected)
        if len(wrench.force) != frames:
            raise input_error(
                "bad_shape",
                problem=f"the wrench on {wrench.body!r} has {len(wrench.force)} frames, the motion {frames}",
                expected="a force and a moment for every frame of the motion",
            )
