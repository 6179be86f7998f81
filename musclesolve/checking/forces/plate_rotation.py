"""By which angle plates are rotated about the vertical, as far as Newton's law shows it, and how surely.

What markers and segment masses leave unexplained of the sideward forces is as large as the effect of some ten degrees,
and part of it always goes along with the forward forces. So an angle counts only where it explains most of what is
unexplained, and where braking and push-off of every foot agree on it, which push opposite ways.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, true_runs

Group = tuple[int, ...]

# Nearer to a multiple of a quarter of a circle it is an exchange of axes, or nothing [deg].
SMALLEST = 12.0
# Share of what is unexplained that a rotation must explain to be reported, and to be an error: of all plates together,
# and of one plate alone, which an error of the motion imitates more easily, and which is an error from an angle on
# [deg].
# With random errors of the sideward motion of up to 90 % of what is due, one correct recording in 150 has a warning and
# one in 6000 an error.
TOGETHER, ALONE, FAR_ALONE = (0.4, 0.55), (0.5, 0.7), 25.0
# Share of the pieces of steps that must show a third of the angle at least; the angle of every plate is half of it.
AGREEING, OF_PIECE, OF_PLATE = 0.75, 1.0 / 3.0, 0.5
# Forces below this share of the greatest one show nothing; nor do fewer samples.
FAINT, FEWEST = 0.1, 5


@dataclass(frozen=True)
class PlateRotation:
    """A rotation of plates about the vertical that explains the forces."""

    plates: Group  # which plates
    angle: float  # by which their forces must be rotated, to the left [rad]
    explained: float  # share of what is unexplained without it that it explains
    sure: bool  # whether this is beyond what errors of correct recordings can imitate

    @property
    def change(self) -> Array:
        """What rows of horizontal forces are multiplied with, (2, 2)."""
        return rotation_matrix(self.angle)


def rotation_matrix(angle: float) -> Array:
    """Return the matrix (2, 2) that rotates rows of horizontal vectors to the left by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, s], [-s, c]])


def best_rotation(force: list[Array], due: Array, groups: list[Group]) -> PlateRotation | None:
    """Return the rotation of one of the groups of plates that explains the forces best, None where none does clearly.

    force: horizontal force (T, 2) of every plate [N]; due (T, 2): what their sum must be by the motion [N].
    """
    # Along the axes of the motion: it is the small variation across the way in which a rotation shows.
    variation, axes = np.linalg.eigh(np.cov(due.T))
    if not (variation > 0.0).all():
        return None
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    own = [part @ axes for part in force]
    candidates = [_rotation(own, due @ axes, group, variation) for group in groups]
    return max(
        (found for found in candidates if found is not None), key=lambda found: found.explained, default=None
    )


def _rotation(force: list[Array], due: Array, group: Group, variation: Array) -> PlateRotation | None:
    """Return the rotation of one group of plates, None where its evidence is weak.

    The angle that minimises sum |R f - d|^2 is atan2(sum f x d, sum f . d). Whether it is accepted is decided with both
    directions measured by their own variation (2,).
    """
    own = np.sum([force[k] for k in group], axis=0)
    rest = due - (np.sum(force, axis=0) - own)
    angle = float(np.arctan2(_cross(own, rest).sum(), np.sum(own * rest)))
    if abs(np.sin(2.0 * angle)) <= np.sin(2.0 * np.radians(SMALLEST)):
        return None
    rotated = [part @ rotation_matrix(angle) if k in group else part for k, part in enumerate(force)]
    left, now = (np.sum((np.sum(parts, axis=0) - due) ** 2 / variation) for parts in (rotated, force))
    explained = float(1.0 - left / now)
    together = len(group) > 1
    least, clear = TOGETHER if together else ALONE
    if explained < least or not _agreed(rotated, due, group, angle):
        return None
    sure = explained >= clear and (together or abs(angle) >= np.radians(FAR_ALONE))
    return PlateRotation(group, angle, explained, sure)


def _agreed(rotated: list[Array], due: Array, group: Group, angle: float) -> bool:
    """Return whether every plate, and braking and push-off of its steps, show the angle by which they are rotated."""
    left = due - np.sum(rotated, axis=0)
    own = angle + _of_plates([rotated[k] for k in group], left)
    found = [_pieces(rotated, k, sign) for k in group for sign in (1.0, -1.0)]
    # Of a foot that only brakes, or only pushes, an error of the sideward motion goes along with the forward force.
    if not all(found):
        return False
    pieces = angle + np.array([_angle(part, left) for some in found for part in some])
    way = np.sign(angle)
    agreeing = np.mean(way * pieces > OF_PIECE * abs(angle))
    return bool((way * own > OF_PLATE * abs(angle)).all() and agreeing >= AGREEING)


def _of_plates(force: list[Array], left: Array) -> Array:
    """Return the small further rotations of all plates (n,) [rad] that explain best what is left (T, 2)."""
    across = np.stack([np.stack([-part[:, 1], part[:, 0]], axis=1).ravel() for part in force], axis=1)
    return np.asarray(np.linalg.lstsq(across, left.ravel(), rcond=None)[0], float)


def _pieces(force: list[Array], plate: int, sign: float) -> list[Array]:
    """Return the force (T, 2) of one plate while it pushes one way along the motion, step by step; else zero."""
    along = force[plate][:, 1]
    faint = FAINT * max(float(np.abs(part[:, 1]).max()) for part in force)
    pieces = []
    for first, stop in true_runs(sign * along > faint):
        if stop - first >= FEWEST:
            piece = np.zeros_like(force[plate])
            piece[first:stop] = force[plate][first:stop]
            pieces.append(piece)
    return pieces


def _angle(force: Array, left: Array) -> float:
    """Return the small further rotation of a force (T, 2) that explains best what is left (T, 2) [rad]."""
    return float(_cross(force, left).sum() / np.sum(force**2))


def _cross(one: Array, other: Array) -> Array:
    return np.asarray(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])
