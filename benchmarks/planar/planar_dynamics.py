"""Dynamics of a planar tree by projection: joint moments and reactions, contact with the ground, forces of muscles.

M pdd = h - C^T lambda in absolute coordinates (Blajer & Czaplicki 2005, 2.2). Projection on the columns of D gives the
equations in q (2.9), projection on the columns of E the reactions without any inversion (2.10). lambda_j is the force
that the distal segment of joint j exerts on the proximal one (z points from proximal to distal): a net intersegmental
force, and the contact of the bones only if h contains the muscle forces.

Three constraints hold a foot (Blajer, Dziewiecki & Mazur 2006, 14, second row with -l3 cos phi3, correction E3): the
ground point keeps its place and one segment its angle. Mode a clamps the foot (flat on the ground), mode b the toes
(heel raised); both reduce the reaction to the end of the instep.

Mbar qdd + dbar = fbar_g + Bbar u - Cbar^T lambda: lambda is the load of the body on the ground, the ground
reaction is -lambda. In the source both legs move as one, so both feet are one support and the reaction is their sum.
Where two legs stand apart, the motion does not determine the load of each foot: three of the six components are free,
and only the sum is computed here (`total_reaction`). The share of each foot has to be measured.

Muscles are lines between points of the segments (`PlanarMuscles`), with the matrix B of their forces. A muscle may
represent several lines that share its force in fixed parts (muscles merged at equal stress): its length is then the
mean of their lengths with these weights, and its column of B is -dL/dp, by virtual work.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from benchmarks.planar.planar_tree import (
    PlanarMotion,
    PlanarTree,
    allowed,
    bias,
    material_points,
    open_directions,
    rotated,
)
from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array, check_choice
from musclesolve.errors import MuscleSolveError, input_error


@dataclass(frozen=True)
class Load:
    """A force (T, 2) [N] from outside on one segment, and its moment about the global origin (T,) [N m].

    Moment = x f_y - y f_x of the point of application, plus a free couple. The load of an unloaded plate, whose
    center of pressure has no meaning, is zero.
    """

    segment: str
    force: Array
    moment: Array

    @classmethod
    def at(cls, segment: str, force: Array, point: Array) -> Self:
        """A force (T, 2) at a point (T, 2)."""
        return cls(segment, force, point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0])


def mass_diagonal(tree: PlanarTree) -> Array:
    """Diagonal of M, (3B,): m, m, J of every segment."""
    return np.column_stack([tree.mass, tree.mass, tree.inertia]).ravel()


def weight_force(tree: PlanarTree) -> Array:
    """f_g (3B,) (Blajer et al. 2006, 1)."""
    return np.column_stack([0.0 * tree.mass, -tree.gravity * tree.mass, 0.0 * tree.mass]).ravel()


def torque_matrix(tree: PlanarTree) -> Array:
    """Columns of B for joint moments, (3B, J): +1 on the distal segment's angle, -1 on the proximal one's."""
    matrix = np.zeros((len(tree.names), 3, len(tree.joints)))
    joint = np.arange(len(tree.joints))
    matrix[tree.joints, 2, joint] = 1.0
    matrix[tree.parent[tree.joints], 2, joint] = -1.0
    return matrix.reshape(-1, len(tree.joints))


def load_force(tree: PlanarTree, p: Array, loads: Sequence[Load]) -> Array:
    """Generalized force (T, 3B) of outside loads."""
    center = p.reshape(len(p), -1, 3)
    force = np.zeros_like(center)
    for load in loads:
        b = tree.segment(load.segment)
        check_array(load.force, f"the force on {load.segment!r}", (len(p), 2))
        check_array(load.moment, f"the moment on {load.segment!r}", (len(p),))
        arm = center[:, b]
        force[:, b, :2] += load.force
        force[:, b, 2] += load.moment - arm[:, 0] * load.force[:, 1] + arm[:, 1] * load.force[:, 0]
    return force.reshape(len(p), -1)


@dataclass(frozen=True)
class PlanarEquations:
    """Mbar qdd + dbar = hbar, (2.9) = (13) of the 2006 paper: matrices at each frame.

    directions D (T, 3B, n); mass Mbar (T, n, n); bias dbar (T, n); weight fbar_g (T, n), n = B + 2.
    """

    directions: Array
    mass: Array
    bias: Array
    weight: Array

    def project(self, force: Array) -> Array:
        """D^T h, (T, n), of a force (T, 3B) in absolute coordinates."""
        return np.einsum("tik,ti->tk", self.directions, force)


def equations(tree: PlanarTree, q: Array, qd: Array) -> PlanarEquations:
    """Projected equations of motion at q, qd (T, n)."""
    directions, diagonal = allowed(tree, q), mass_diagonal(tree)
    heavy = diagonal[:, None] * directions
    return PlanarEquations(
        directions=directions,
        mass=np.swapaxes(directions, 1, 2) @ heavy,
        bias=np.einsum("tik,ti->tk", heavy, bias(tree, q, qd)),
        weight=np.einsum("tik,i->tk", directions, weight_force(tree)),
    )


def accelerate(tree: PlanarTree, q: Array, qd: Array, force: Array) -> Array:
    """Forward dynamics: qdd (T, n) of applied forces h (T, 3B), gravity not included in them (2.9)."""
    system = equations(tree, q, qd)
    right = system.project(force) + system.weight - system.bias
    return np.asarray(np.linalg.solve(system.mass, right[..., None])[..., 0], right.dtype)


@dataclass(frozen=True)
class PlanarMoments:
    """Joint moments (T, J) [N m], distal segment counter-clockwise positive, and the residual at the base.

    residual (T, 3): force [N] and moment about H [N m] on the base segment that no joint, weight or load supplies:
    zero in free flight, the ground reaction where `loads` does not contain it.
    """

    torque: Array
    residual: Array


def inverse_dynamics(tree: PlanarTree, motion: PlanarMotion, loads: Sequence[Load] = ()) -> PlanarMoments:
    """Joint moments of a motion under known outside loads: n equations (2.9) for J moments and three residuals.

    The torque of a joint is the sum of the angle equations of all distal segments, in which the torques between them
    cancel.
    """
    p, _, pdd = motion.absolute(tree)
    needed = mass_diagonal(tree) * pdd - weight_force(tree) - load_force(tree, p, loads)
    along = np.einsum("tik,ti->tk", allowed(tree, motion.q), needed)
    summed = along[:, 2:] @ tree.distal_segments
    return PlanarMoments(summed[:, tree.joints], np.column_stack([along[:, :2], summed[:, tree.root]]))


def base_load(tree: PlanarTree, motion: PlanarMotion, residual: Array) -> Load:
    """The residual (T, 3) as a load on the base segment."""
    force, point = residual[:, :2], motion.q[:, :2]
    about_origin = residual[:, 2] + point[:, 0] * force[:, 1] - point[:, 1] * force[:, 0]
    return Load(tree.names[tree.root], force, about_origin)


def joint_reactions(tree: PlanarTree, motion: PlanarMotion, force: Array) -> Array:
    """Joint reactions lambda = E^T (h - M (D qdd + gamma)), (T, 2J) [N] (2.10): no matrix is inverted.

    force (T, 3B): applied forces without gravity. Couples do not change the result.
    """
    _, _, pdd = motion.absolute(tree)
    return (force + weight_force(tree) - mass_diagonal(tree) * pdd) @ open_directions(tree)


@dataclass(frozen=True)
class Support:
    """A point of a segment, in its frame (2,) [m], that keeps its place, and a segment that keeps its angle."""

    segment: str
    point: Array
    clamped: str


def foot_support(tree: PlanarTree, mode: str, foot: str = "foot", toes: str = "toes") -> Support:
    """Support mode "flat" (a: the foot keeps its angle) or "toes" (b: the toes do), on the end of the instep.

    Raises:
        InputError: another mode, or a body without these segments.
    """
    check_choice(mode, "support mode", ("flat", "toes"))
    tree.segment(foot)
    return Support(foot, tree.mount[tree.segment(toes)], foot if mode == "flat" else toes)


def support_position(tree: PlanarTree, q: Array, support: Support) -> Array:
    """Position of the ground point and the clamped angle, (T, 3): Phibar of (14) without the terms x0, y0 and pi/2."""
    point = q[:, :2] + rotated(_reach(tree, support), q[:, 2:]).sum(axis=1)
    return np.column_stack([point, q[:, 2 + tree.segment(support.clamped)]])


def support_rows(tree: PlanarTree, q: Array, support: Support) -> Array:
    """Cbar = dPhibar/dq, (T, 3, B+2)."""
    rows = np.zeros((len(q), 3, q.shape[1]), dtype=q.dtype)
    rows[:, 0, 0] = rows[:, 1, 1] = rows[:, 2, 2 + tree.segment(support.clamped)] = 1.0
    rows[:, :2, 2:] = np.swapaxes(rotated(_reach(tree, support), q[:, 2:] + 0.5 * np.pi), 1, 2)
    return rows


def support_bias(tree: PlanarTree, q: Array, qd: Array, support: Support) -> Array:
    """Accelerations xibar = -d(Cbar)/dt qd, (T, 3) (the print lacks the dot, correction E3)."""
    pull = rotated(_reach(tree, support), q[:, 2:]) * qd[:, 2:, None] ** 2
    return np.column_stack([pull.sum(axis=1), np.zeros(len(q))])


def support_directions(tree: PlanarTree, q: Array, support: Support) -> Array:
    """Dbar (T, B+2, B-1) with Cbar Dbar = 0: all angles except the clamped one are free, H follows from the ground
    point.
    """
    count, clamped = len(tree.names), tree.segment(support.clamped)
    free = np.delete(np.arange(count), clamped)
    directions = np.zeros((len(q), count + 2, count - 1), dtype=q.dtype)
    directions[:, :2] = -support_rows(tree, q, support)[:, :2, 2 + free]
    directions[:, 2 + free, np.arange(count - 1)] = 1.0
    return directions


def constraint_force(
    tree: PlanarTree, q: Array, qd: Array, drive: Array, supports: Sequence[Support]
) -> Array:
    """Multipliers lambda (T, 3s) of (16) for known drives: the loads of the body on the ground, support by support.

    lambda = (Cbar Mbar^-1 Cbar^T)^-1 (Cbar Mbar^-1 (fbar_g - dbar + Bbar u) - xibar), for the projected forces Bbar u
    (T, B+2) of muscles, torques and other loads; with these known, the share of each of several feet is determined.

    Raises:
        MuscleSolveError: the supports hold more than the body can move.
    """
    system = equations(tree, q, qd)
    rows = np.concatenate([support_rows(tree, q, support) for support in supports], axis=1)
    xi = np.concatenate([support_bias(tree, q, qd, support) for support in supports], axis=1)
    free = np.linalg.solve(system.mass, (system.weight - system.bias + drive)[..., None])
    light = rows @ np.linalg.solve(system.mass, np.swapaxes(rows, 1, 2))
    condition = np.linalg.cond(light)
    if not (condition < 1e13).all():
        raise MuscleSolveError(
            f"the {rows.shape[1]} support constraints depend on each other in frame {int(np.argmax(condition))}: "
            "the reaction of each foot is not determined there, only their sum is"
        )
    return np.linalg.solve(light, rows @ free - xi[..., None])[..., 0]


@dataclass(frozen=True)
class Supported:
    """Joint moments (T, J) [N m] and the ground reaction on the body: force (T, 2) [N], moment (T,) [N m].

    The force acts at the ground point; the moment acts on the clamped segment. violation (T, 3): accelerations of the
    ground point [m/s2] and of the clamped angle [rad/s2] in the motion, which the support forbids. The smaller the
    violation, the better torques and reaction agree with the motion; a measured foot never stands perfectly still.
    """

    torque: Array
    force: Array
    moment: Array
    violation: Array


def supported_inverse(
    tree: PlanarTree, motion: PlanarMotion, supports: Support | Sequence[Support]
) -> Supported:
    """Joint moments by (15), free of the ground reaction, then the ground reaction by (16).

    Raises:
        InputError: several feet on the ground: their shares do not follow from the motion.
    """
    several = [supports] if isinstance(supports, Support) else list(supports)
    if len(several) != 1:
        raise input_error(
            "conflict",
            problem=f"{len(several)} supports at once: {3 * len(several)} reactions and "
            f"{len(tree.joints)} torques from {len(tree.names) + 2} equations",
            expected="one support",
            remedy="give the measured force under each foot to `inverse_dynamics`, take both legs as "
            "one where they move together, or ask for `total_reaction`, which needs no share",
        )
    support, q, qd = several[0], motion.q, motion.qd
    system = equations(tree, q, qd)
    # Dbar^T Bbar u = Dbar^T (Mbar qdd + dbar - fbar_g) (15)
    onto = np.swapaxes(support_directions(tree, q, support), 1, 2)
    needed = np.einsum("tij,tj->ti", system.mass, motion.qdd) + system.bias - system.weight
    control = np.swapaxes(system.directions, 1, 2) @ torque_matrix(tree)
    torque = np.linalg.solve(onto @ control, onto @ needed[..., None])[..., 0]
    drive = system.project(torque @ torque_matrix(tree).T)
    reaction = -constraint_force(tree, q, qd, drive, [support])
    moved = np.einsum("tcn,tn->tc", support_rows(tree, q, support), motion.qdd)
    violation = moved - support_bias(tree, q, qd, support)
    return Supported(torque, reaction[:, :2], reaction[:, 2], violation)


def total_reaction(tree: PlanarTree, motion: PlanarMotion) -> Load:
    """Sum of all ground reactions (force, moment about the origin) on any number of feet; zero in flight."""
    return base_load(tree, motion, inverse_dynamics(tree, motion).residual)


def _reach(tree: PlanarTree, support: Support) -> Array:
    """(B, 2): the ground point is H plus the sum of these local vectors."""
    segment = tree.segment(support.segment)
    reach = tree.chain[segment].copy()
    reach[segment] = support.point
    return reach


@dataclass(frozen=True)
class Switches:
    """Points (C,) that belong to their line only in a range of a joint angle.

    point: index among the path points, never the first of its line; joint: distal segment of the joint; its angle
    counts from the standing pose, counter-clockwise; lower, upper [rad]: inside them the point is on the line.
    """

    point: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    joint: Indices = field(default_factory=lambda: np.zeros(0, dtype=int))
    lower: Array = field(default_factory=lambda: np.zeros(0))
    upper: Array = field(default_factory=lambda: np.zeros(0))

    def on(self, tree: PlanarTree, p: Array) -> Mask:
        """(T, C) which of the points are on their lines."""
        bend = p.reshape(len(p), -1, 3)[..., 2].real - tree.rest
        angle = bend[:, self.joint] - bend[:, tree.parent[self.joint]]
        return (angle >= self.lower) & (angle <= self.upper)


@dataclass(frozen=True)
class PlanarMuscles:
    """Muscles (n), the lines (l) that they represent, and the points (P) of the lines, from origin to insertion.

    max_force (n,) [N]; share (n, l): part of a muscle's force on each line; line (P,), segment (P,): indices;
    local (P, 2): in the segment's frame, from its proximal joint [m]; lateral (P,): out of the plane [m], zero for
    muscles projected on the plane. With lateral coordinates the force is the full muscle
    force, of which only the part along the plane acts; without them it is the projected force, as in the source.
    """

    names: tuple[str, ...]
    max_force: Array
    share: Array
    line: Indices
    segment: Indices
    local: Array
    lateral: Array
    switches: Switches = field(default_factory=Switches)

    def __post_init__(self) -> None:
        points = np.bincount(self.line, minlength=self.share.shape[1])
        if (points < 2).any() or (np.diff(self.line) < 0).any():
            raise input_error(
                "bad_muscle_set",
                problem=f"lines with {points.tolist()} points",
                expected="at least two each, line after line",
            )
        check_array(self.local, "the place of an attachment point", ("P", 2), axis=0)
        check_array(self.lateral, "the lateral place of an attachment point", ("P",), axis=0)

    @property
    def _starts(self) -> Indices:
        """First point of each straight piece."""
        return np.flatnonzero(self.line[:-1] == self.line[1:])

    def _pieces(self, tree: PlanarTree, p: Array) -> tuple[Array, Array, Array]:
        """Points (T, P, 2), straight pieces (T, S, 2) and their lengths (T, S)."""
        r = material_points(p, self.segment, self.local - tree.center[self.segment])
        side = np.broadcast_to(self.lateral, r.shape[:2]).copy()
        on = self.switches.on(tree, p)
        for c, point in enumerate(self.switches.point):
            # An absent point lies on the one before it: its piece has no length and no direction.
            r[:, point] = np.where(on[:, c, None], r[:, point], r[:, point - 1])
            side[:, point] = np.where(on[:, c], side[:, point], side[:, point - 1])
        first = self._starts
        step, across = r[:, first + 1] - r[:, first], side[:, first + 1] - side[:, first]
        return r, step, np.sqrt((step**2).sum(axis=2) + across**2)

    def length(self, tree: PlanarTree, p: Array) -> Array:
        """Musculotendon lengths L (T, n) [m]."""
        pieces = self._pieces(tree, p)[2]
        on_line = self.line[self._starts] == np.arange(self.share.shape[1])[:, None]
        return pieces @ on_line.T.astype(float) @ self.share.T

    def force_matrix(self, tree: PlanarTree, p: Array) -> Array:
        """Columns of B for muscle forces, (T, 3B, n): B = -dL/dp (Blajer, Dziewiecki & Mazur 2006, 3 and 4)."""
        r, step, length = self._pieces(tree, p)
        unit = step / np.where(length == 0.0, 1.0, length)[..., None]
        pull = np.zeros_like(r)
        pull[:, self._starts] += unit
        pull[:, self._starts + 1] -= unit
        on = self.switches.on(tree, p)
        for c, point in reversed(list(enumerate(self.switches.point))):
            passed = np.where(on[:, c, None], 0.0, pull[:, point])
            pull[:, point - 1] += passed
            pull[:, point] -= passed
        arm = r - p.reshape(len(p), -1, 3)[:, self.segment, :2]
        moment = arm[..., 0] * pull[..., 1] - arm[..., 1] * pull[..., 0]
        acting = np.concatenate([pull, moment[..., None]], axis=2)
        on_segment = self.segment == np.arange(len(tree.names))[:, None]
        line_forces = self.share[:, None, self.line] * on_segment
        return np.einsum("nbp,tpc->tbcn", line_forces, acting, optimize=True).reshape(
            len(p), -1, len(self.names)
        )

    def control_matrix(self, tree: PlanarTree, p: Array, muscled: tuple[str, ...]) -> Array:
        """B (T, 3B, m) of the controls u = [F_1 ... F_n, torques of joints with distal segments not `muscled`] (1)."""
        left = np.delete(torque_matrix(tree), [tree.joint(name) for name in muscled], axis=1)
        forces = self.force_matrix(tree, p)
        return np.concatenate([forces, np.broadcast_to(left, (len(p), *left.shape))], axis=2)

    def moment_arms(self, tree: PlanarTree, q: Array, p: Array) -> Array:
        """Joint moment per unit force, (T, J, n) [m]: tau = arms @ F is the moment of the muscles in (13)."""
        bar = np.swapaxes(allowed(tree, q), 1, 2) @ self.force_matrix(tree, p)
        return (tree.distal_segments.T @ bar[:, 2:])[:, tree.joints]


def into_plane(points: Array, rest: Array) -> tuple[Array, Array]:
    """Points (P, 3) of the standing body (forward, left, up from the proximal joint) [m] on the sagittal plane.

    Returns local (P, 2) xi, eta in segments that stand at the angles rest (P,) [rad], and the lateral coordinate (P,).
    """
    forward, left, up = points.T
    sine, cosine = np.sin(rest), np.cos(rest)
    return np.column_stack([forward * sine - up * cosine, forward * cosine + up * sine]), left
