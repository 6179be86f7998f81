"""Feet of a model that carry the load of a force plate: contact by contact, the foot under the force.

A contact is a stretch in which the plate is loaded. If one foot is under its force throughout, the contact belongs to
this foot. A contact that feet share in turn, as on a treadmill with one belt, is divided at the times at which only one
of them stands: the lower point of a standing foot is near its lowest height and does not move relative to another
standing foot. No plate separates the forces of two feet that stand on it at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask, at_times, long_enough, true_runs
from musclesolve._util.message_text import few
from musclesolve.recording.data import Side
from musclesolve.recording.plates.foot_contacts import BRIEF, FARTHEST_PRESSURE, LIGHT

_CLEAR = 0.9
"""Share of the force of a contact that must be nearer to one foot than to the other."""
_SOLE = 0.08
"""Largest distance of the center of pressure from the line of heel and toes of a foot that carries the force alone
[m]: a sole is 0.1 m wide; a force on two feet acts between them.
"""
_LOW, _TOGETHER = 0.05, 1.0
"""Limits of a standing foot: height above its lowest place [m], speed relative to the other standing foot [m/s]; a
swinging foot is twice as fast.
"""


@dataclass(frozen=True, eq=False)
class Sole:
    """Heel and toes of a foot, (T, 3) each [m], at times (T,) [s]."""

    time: Array
    heel: Array
    toes: Array

    def distance(self, point: Array, time: Array) -> Array:
        """Return the distance of points (S, 3) at times (S,) from the line between heel and toes (S,) [m]."""
        heel = at_times(self.time, self.heel, time)
        along, beyond = at_times(self.time, self.toes, time) - heel, point - heel
        share = np.vecdot(beyond, along) / np.maximum(np.vecdot(along, along), 1e-12)
        return np.asarray(np.linalg.norm(beyond - np.clip(share, 0.0, 1.0)[:, None] * along, axis=1))

    def level(self, up: Array) -> Sole:
        """The sole seen from above, without height."""
        return Sole(self.time, _level(self.heel, up), _level(self.toes, up))

    def lower_point(self, up: Array) -> tuple[Array, Array]:
        """Height (T,) [m] of the lower one of heel and toes above its lowest place, and its velocity (T, 3) [m/s]."""
        points = np.stack([self.heel, self.toes])
        heights = points @ up
        heights = heights - heights.min(axis=1, keepdims=True)
        lower = (heights.argmin(axis=0), np.arange(len(self.time)))
        velocity = np.gradient(points, self.time, axis=1) if len(self.time) > 1 else np.zeros_like(points)
        return heights[lower], velocity[lower]


@dataclass(frozen=True, eq=False)
class PlateFeet:
    """Feet that carry the load of a plate at each of its S samples.

    under: foot -> samples (S,) whose force acts on it, with noise between its contacts; shared, far: samples (S,) of
    contacts in which both feet stand on the plate, and of contacts far from the feet; loaded: samples (S,) of
    contacts in the times of the motion; away: distance (S,) of the center of pressure from the nearest foot, seen from
    above [m].
    """

    under: Mapping[Side, Mask]
    shared: Mask
    far: Mask
    loaded: Mask
    away: Array

    @property
    def unknown(self) -> Mask:
        """Samples (S,) whose force cannot be assigned."""
        return self.shared | self.far


def feet_on_plate(
    time: Array,
    force: Array,
    point: Array,
    soles: Mapping[Side, Sole],
    up: Array,
    threshold: float,
    named: Side | None = None,
) -> PlateFeet:
    """Assign the load of a plate to the feet, contact by contact.

    Args:
        time: (S,) of the load [s].
        force, point: (S, 3) [N], [m], in the frame of the soles.
        soles: of one or both feet, at the same times (T,).
        up: (3,) unit vector.
        threshold: force above which the plate is loaded [N].
        named: the foot in the name of the plate, for contacts that do not show their foot.
    """
    size, sides = np.linalg.norm(force, axis=1), tuple(soles)
    frames = soles[sides[0]].time
    in_motion = (time >= frames[0]) & (time <= frames[-1])
    nearest = np.stack([soles[side].distance(point, time) for side in sides]).argmin(axis=0)
    above = np.stack([soles[side].level(up).distance(_level(point, up), time) for side in sides])
    both = _both_stand(soles, up)[np.searchsorted(0.5 * (frames[1:] + frames[:-1]), time)]
    foot = np.full(len(time), -1)
    shared, far, loaded = (np.zeros(len(time), dtype=bool) for _ in range(3))
    for first, stop in _contacts(time, size > threshold):
        contact = in_motion & (np.arange(len(time)) >= first) & (np.arange(len(time)) < stop)
        if not contact.any():
            continue
        light = bool(size[contact].max() < LIGHT or time[stop - 1] - time[first] < BRIEF)
        loaded |= contact & (not light)
        share = (
            np.array([size[contact & (nearest == k)].sum() for k in range(len(sides))]) / size[contact].sum()
        )
        away, main = np.median(above[:, contact], axis=1), int(share.argmax())
        between = _between_feet(away) and both[contact].mean() > 0.5
        if away.min() > FARTHEST_PRESSURE:
            far |= contact & (not light)
        elif light or (share[main] >= _CLEAR and not between):
            foot[contact] = main
        elif named in sides and away[sides.index(named)] <= FARTHEST_PRESSURE:
            foot[contact] = sides.index(named)
        else:  # feet in turn: one stands under the force, the other does not stand
            alone = contact & ~both & ~_between_feet(above)
            alone = long_enough(alone, 1 + int(BRIEF / np.diff(time).mean()))
            lost = alone & (above.min(axis=0) > FARTHEST_PRESSURE)
            foot[alone & ~lost] = nearest[alone & ~lost]
            shared |= contact & ~alone
            far |= lost & (size > LIGHT)
    # the other samples are noise of the unloaded plate and belong to the nearest contact
    if (assigned := np.flatnonzero((foot >= 0) | shared | far)).size:
        closest = assigned[np.searchsorted(0.5 * (assigned[1:] + assigned[:-1]), np.arange(len(time)))]
        foot = np.where(shared | far, -1, foot[closest])
    under = {side: np.asarray(foot == k) for k, side in enumerate(sides)}
    return PlateFeet(under, shared, far, loaded, above.min(axis=0))


def _level(point: Array, up: Array) -> Array:
    """Points (..., 3) seen from above, without height."""
    return point - (point @ up)[..., None] * up


def _between_feet(away: Array) -> Mask:
    """Mask of forces that act between the feet, by their distances (feet, ...) from them."""
    return np.asarray((away.min(axis=0) > np.maximum(_SOLE, 0.5 * away.max(axis=0))) & (len(away) > 1))


def _both_stand(soles: Mapping[Side, Sole], up: Array) -> Mask:
    """Mask (T,) of frames in which both feet stand, on one floor or belt."""
    lower = [sole.lower_point(up) for sole in soles.values()]
    low = np.all([height < _LOW for height, _ in lower], axis=0)
    if len(lower) == 1:
        return np.zeros_like(low)
    return np.asarray(low & (np.linalg.norm(_level(lower[0][1] - lower[1][1], up), axis=1) < _TOGETHER))


def _contacts(time: Array, loaded: Mask) -> list[tuple[int, int]]:
    """First sample and one past the last of each contact; a foot does not leave and return within a moment."""
    joined: list[tuple[int, int]] = []
    for first, stop in true_runs(loaded):
        if joined and time[first] - time[joined[-1][1] - 1] <= BRIEF:
            joined[-1] = (joined[-1][0], stop)
        else:
            joined.append((first, stop))
    return joined


def stretches(time: Array, mask: Mask) -> str:
    """First and last time of each run of a mask (T,), in words."""
    runs = [f"{time[first]:.3f} to {time[stop - 1]:.3f} s" for first, stop in true_runs(mask)]
    return few(runs, 4)
