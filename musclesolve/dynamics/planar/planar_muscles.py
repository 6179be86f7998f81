"""Muscles of a planar body as lines between points of its segments, and the matrix B of their forces.

A muscle may represent several lines that share its force in fixed parts (muscles merged at equal stress): its length is
then the mean of their lengths with these weights, and its column of B is -dL/dp, by virtual work.
"""

from dataclasses import dataclass, field

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve._util.checks import check_array
from musclesolve.dynamics.planar.planar_dynamics import torque_matrix
from musclesolve.dynamics.planar.planar_tree import PlanarTree, allowed, material_points
from musclesolve.errors import input_error


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
