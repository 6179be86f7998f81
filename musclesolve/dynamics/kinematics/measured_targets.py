"""Measured points and directions, by the names of the model, and the rotations that they do not show.

While a hinge is straight, the rotation of the body before it about its long axis follows from the whole motion
(`straight_hinges`). Shoulder, elbow and wrist show the plane of a bent elbow, and so the rotation phi of the upper arm
about its long axis. A straight elbow does not show it: with the forearm of length r bent by theta, the wrist lies at p
= r sin(theta) (cos phi, sin phi) beside the upper arm, and any phi is as good as another where p = 0. A pose (phi + pi,
-theta), an elbow that bends backward, shows the same points. Frame by frame the pose would jump between the two.

The rotation is therefore found for all frames together, as the path phi(t) that is least in

    sum_t |p_t|^2 sin^2(phi_t - phi0_t) + max(0, -|p_t| cos(phi_t - phi0_t) - r sin h)^2
        + rest^2 / (w dt)^2 (phi_t - phi_t-1)^2 + rest^2 / T phi_t^2

with phi0 the direction of p. The first term is the square of the distance by which the wrist misses its place, the
second forbids a hinge to bend backward by more than h. The third is the cost of a rotation that the points do not show:
a rotation at the speed w costs as much as an error `rest` of the wrist, the arm on which an undetermined angle is drawn
to its place. A bent hinge is followed, a straight one keeps the rotation of the frames before and after it. The last
term, whose sum is as large as for one frame, decides where no other term does.

The first sum has two minima in every frame; the path of least sum is found by dynamic programming (Viterbi 1967) on a
grid of angles, then by Gauss-Newton between them.

The nearest pose of a frame is drawn to this path with the weight that its two neighbors have there,
2 rest^2 / (w dt)^2, times (1 - (s / (5 rest))^2)^2 where a rotation of 1 rad moves the points by s < 5 rest, and not at
all elsewhere: a bent hinge determines the rotation in its frame. s is |p|, or the distance by which a rotation about
the first axis of the joint before the body moves its end, if this distance is smaller: where the long axis lies along
the first axis, the two rotations cannot be distinguished.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, slices, vector_product
from musclesolve._util.checks import check_array, check_number, check_type
from musclesolve._util.messages import check_known
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import lines_of
from musclesolve.errors import input_error

_BLOCK = 500  # Frames whose misfits are computed together
DIRECTION_ARM = 0.1
"""A direction weighs as much as a point seen on an arm of this length [m]."""


@dataclass(frozen=True)
class Targets:
    """Measured targets of a pose: slots (n,), positions or unit directions (T, n, 3), weights (n,)."""

    slots: Indices
    values: Array
    weights: Array

    @classmethod
    def build(
        cls,
        model: Model,
        points: Mapping[str, Array],
        directions: Mapping[str, Array],
        weights: Mapping[str, float] | None = None,
    ) -> Self:
        """Targets from named points [m] and unit directions, each (T, 3), by the model's names.

        weights: factors on squared distances by name, 1 where absent.

        Raises:
            InputError: no target at all, a name that the model does not have or of the other kind, values that are not
                finite or have another number of frames; a weight without its target or not above zero.
        """
        expected = "a dict of names and (T, 3) numbers"
        for part, name in ((points, "points"), (directions, "directions")):
            check_type(part, Mapping, name, expected)
        named = [*points.items(), *directions.items()]
        if not named:
            raise input_error(
                "missing_argument",
                problem="no points or directions to fit",
                expected="the natural coordinates of at least one body",
            )
        slots = np.array([check_model(model).slot(name) for name, _ in named])
        for slot, (name, _) in zip(slots[: len(points)], named, strict=False):
            if slot >= model.topology.point_count:
                raise input_error(
                    "conflict", problem=f"{name!r} is a direction of {model.topology.name!r}, not a point"
                )
        frames = len(np.atleast_1d(named[0][1]))
        checked = [check_array(value, f"target {name!r}", (frames, 3)) for name, value in named]
        values = np.stack(checked, axis=1)
        names, weights = [name for name, _ in named], weights or {}
        for name, weight in weights.items():
            check_known([name], "measured point or direction", names, where="weights")
            check_number(weight, f"the weight of {name!r}", "a finite number above 0", above=0.0)
        factors = np.array([float(weights.get(name, 1.0)) for name in names])
        size = np.where(slots < model.topology.point_count, 1.0, DIRECTION_ARM**2)
        return cls(slots, values, factors * size)

    def frames(self, keep: slice | Indices | Mask) -> "Targets":
        """The targets at some frames: a slice, a mask (T,) or indices."""
        return Targets(self.slots, self.values[keep], self.weights)

    def among(self, places: Indices) -> "Targets":
        """Some of the targets, by their places (k,) among the n."""
        return Targets(self.slots[places], self.values[:, places], self.weights[places])


BACKWARDS = np.radians(15.0)
"""Angle by which a hinge may bend backward [rad]: elbows and knees hyperextend by up to 10 degrees, hypermobile ones
by more (Beighton et al. 1973, Ann Rheum Dis 32:413-8)."""
USUAL_SPEED = 10.0
"""Rotation about the long axis of a segment that costs as much as a point that is off by its rest length [rad/s]; in
walking and running upper arms rotate at less than half of it."""
USUAL_STEP = 0.01
"""Assumed time [s] between frames without times."""
SHOWN = 5.0
"""Multiple of the rest length: a rotation is shown by points that move by this much at 1 rad, with an error of 0.2
rad if they are off by the rest length.
"""
_GRID = 72  # Angles on a circle among which the path is looked for, 5 degrees apart
_STEPS, _CLOSE = 50, 1e-10  # Steps of Gauss-Newton, and the change [rad] that ends them


@dataclass(frozen=True)
class Hinge:
    """A hinge whose bending shows the rotation of the body before it about its long axis, which no other target shows.

    first, rotation, bend: the degrees of freedom of the first axis of the joint before the body, of the rotation of the
    body about its long axis, and of the hinge; twist: the degree of freedom of the rotation about the long axis beyond
    the hinge, None where none is free. near, far: from- and to-slot of the long axes of the two bodies; reach: length
    of the far one [m]; rest: the arm on which the rotation is drawn to its place [m].
    """

    first: int
    rotation: int
    bend: int
    twist: int | None
    near: tuple[int, int]
    far: tuple[int, int]
    reach: float
    rest: float


def straight_hinges(model: Model, free: Mask, drawn: Mask) -> list[Hinge]:
    """The free hinges at the end of bodies with an undetermined rotation; masks free (K+6,) and drawn (K,)."""
    topology, hinges = model.topology, list[Hinge]()
    for k, dof in enumerate(topology.dofs):
        if not (free[k] and drawn[k]):
            continue
        bends = [j for j, other in enumerate(topology.dofs) if other.parent == dof.child and free[j]]
        bends = [
            j for j in bends if topology.slots_of(topology.dofs[j].axis) == topology.slots_of(dof.follower)
        ]
        if not bends:
            continue
        hinge = topology.dofs[bends[0]]
        near, far = topology.slots_of(hinge.reference), topology.slots_of(hinge.follower)
        straight = lines_of(model.standing[None], np.array([near, far]))[0]
        if np.linalg.norm(np.cross(*straight)) > 1e-9:  # bent while the coordinate is zero
            continue
        twists = [j for j, other in enumerate(topology.dofs) if other.parent == hinge.child and free[j]]
        twists = [j for j in twists if topology.slots_of(topology.dofs[j].axis) == far]
        before = {other.child: j for j, other in enumerate(topology.dofs) if other.pivot == dof.pivot}
        first = k
        while topology.dofs[first].parent in before:
            first = before[topology.dofs[first].parent]
        reach = float(np.linalg.norm(straight[1]))
        twist = twists[0] if twists else None
        hinges.append(Hinge(first, k, bends[0], twist, near, far, reach, dof.rest))
    return hinges


class Bent(NamedTuple):
    """Bending of a hinge in T frames.

    beside (T,), complex, and along (T,) [m]: position of the end beyond the hinge beside the body before it, and along
    it; the direction of the first is the rotation of the body at which the hinge bends forward, its size reach
    sin(bend), the second is reach cos(bend). hidden (T,): share to which the points do not show the rotation, 0 to 1.
    """

    beside: Array
    along: Array
    hidden: Array

    @classmethod
    def from_pose(cls, hinge: Hinge, angles: Array, measured: Array, axes: Array) -> Self:
        """Return the bending by measured points, see `with_measured`.

        A nearby pose gives the angles (T, K), the axes of the joints (T, K, 3) and, elsewhere, measured (T, N, 3).
        """
        lines = lines_of(measured, np.array([hinge.near, hinge.far]))
        lengths = np.linalg.norm(lines, axis=2)
        near, far = np.moveaxis(lines / lengths[..., None], 1, 0)
        bending, long = axes[:, hinge.bend], axes[:, hinge.rotation]
        normal = vector_product(near, far)
        beside = np.vecdot(normal, bending) + 1j * np.vecdot(normal, vector_product(long, bending))
        beside *= hinge.reach * np.exp(1j * angles[:, hinge.rotation])
        shown = np.abs(beside)
        if hinge.first != hinge.rotation:
            crossed = np.linalg.norm(vector_product(axes[:, hinge.first], long), axis=1)
            shown = np.minimum(shown, lengths[:, 0] * crossed)
        share = np.minimum(shown / (SHOWN * hinge.rest), 1.0)
        return cls(beside, hinge.reach * np.vecdot(near, far), (1.0 - share**2) ** 2)


def with_measured(model: Model, targets: Targets, q: Array) -> Array:
    """Return the coordinates (T, N, 3) [m] of a pose with measured points in place of points of the model."""
    measured, points = q.copy(), targets.slots < model.topology.point_count
    measured[:, targets.slots[points]] = targets.values[:, points]
    return measured


def stiffness(time: Array | None, frames: int, rest: float) -> Array:
    """The cost of a rotation from each frame to the next, rest^2 / (w dt)^2, (T-1,) [m2]; time (T,) [s] or None."""
    step = np.full(frames - 1, USUAL_STEP) if time is None else np.diff(time)
    return np.asarray((rest / (USUAL_SPEED * step)) ** 2)


def shown_rotation(stiff: Array, beside: Array, reach: float, rest: float) -> Array:
    """The rotation phi (T,) [rad] of a body about its long axis, as derived in the module.

    stiff (T-1,) [m2]: see `stiffness`; beside (T,), complex [m]: p; reach, rest [m]: r and rest.
    """
    frames = len(beside)
    prior = rest**2 / frames
    grid = np.arange(_GRID) * (2.0 * np.pi / _GRID) - np.pi
    # distance of a pair of angles, in the shorter direction
    apart = np.abs(grid[:, None] - grid)
    apart = np.minimum(apart, 2.0 * np.pi - apart) ** 2
    best, came = np.empty(_GRID), np.zeros((frames, _GRID), np.uint8)
    for some in slices(frames, _BLOCK):
        turned = beside[some, None] * np.exp(-1j * grid)
        misfit = turned.imag**2 + _backward(turned.real, reach) ** 2 + prior * grid**2
        for t, miss in enumerate(misfit, start=some.start):
            if t == 0:
                best = miss
                continue
            total = best[:, None] + stiff[t - 1] * apart
            came[t] = total.argmin(axis=0)
            best = miss + total[came[t], np.arange(_GRID)]
    path = np.empty(frames, np.intp)
    path[-1] = best.argmin()
    for t in range(frames - 1, 0, -1):
        path[t - 1] = came[t, path[t]]
    rotation = np.unwrap(grid[path])
    rotation -= 2.0 * np.pi * np.round(rotation.mean() / (2.0 * np.pi))
    return _refined(rotation, beside, reach, stiff, prior)


def _backward(forward: Array, reach: float) -> Array:
    """The distance beyond the limit by which a hinge bends backward, from the forward position of its end [m]."""
    return np.maximum(0.0, -forward - reach * np.sin(BACKWARDS))


def _refined(rotation: Array, beside: Array, reach: float, stiff: Array, prior: float) -> Array:
    """The path of least sum near one of the grid, by damped steps of Gauss-Newton."""
    from musclesolve._util.series_kernel import BAND

    def total(path: Array) -> float:
        turned = beside * np.exp(-1j * path)
        square = turned.imag**2 + _backward(turned.real, reach) ** 2 + prior * path**2
        return float(square.sum() + (stiff * np.diff(path) ** 2).sum())

    least, damping = total(rotation), 0.0
    scale = prior + np.abs(beside) ** 2
    for _ in range(_STEPS):
        turned = beside * np.exp(-1j * rotation)
        over = _backward(turned.real, reach)
        slope = np.where(over > 0.0, turned.imag, 0.0)
        change = stiff * np.diff(rotation)
        gradient = turned.imag * turned.real + over * slope - prior * rotation
        gradient[:-1] += change
        gradient[1:] -= change
        band = np.zeros((len(rotation), 3))
        band[:, 1] = turned.real**2 + slope**2 + prior + damping * scale
        for rows, beside_it in ((slice(None, -1), 2), (slice(1, None), 0)):
            band[rows, 1] += stiff
            band[rows, beside_it] = -stiff
        step = gradient[:, None]
        BAND.load()(band, step)
        tried = total(rotation + step[:, 0])
        if tried <= least * (1.0 + 1e-12):
            rotation, least, damping = rotation + step[:, 0], tried, 0.1 * damping
            if np.abs(step).max() < _CLOSE:
                break
        else:
            damping = max(10.0 * damping, 1e-3)
    return rotation
