"""Ground reaction on each foot, as a wrench about the global origin.

The center of pressure of an unloaded plate is a quotient of noise; force and moment are not. So force and moment are
filtered and sampled, and the center of pressure is computed from them where the force is large enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask, nearest_known, vector_product
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve._util.splines import spline_through
from musclesolve.laboratory.motion.signals.filter_choice import FilterChoice
from musclesolve.laboratory.recording.data import SIDES, PlateForce, Side


@dataclass(frozen=True)
class GroundReaction:
    """Ground reaction on one foot over T frames, global frame."""

    side: Side  # "r" or "l"
    force: Array  # (T, 3) [N]
    moment: Array  # (T, 3) [N m] about the global origin: center of pressure x force + free moment
    center_of_pressure: Array  # (T, 3) [m], NaN where the vertical force is below 20 N

    def frames(self, keep: Mask | slice | Indices) -> "GroundReaction":
        """Return the ground reaction in some frames: a mask (T,), a slice or numbers."""
        return GroundReaction(self.side, self.force[keep], self.moment[keep], self.center_of_pressure[keep])


def ground_reactions(forces: Sequence[PlateForce], time: Array, chosen: FilterChoice) -> list[GroundReaction]:
    """Return the ground reactions on the right and the left foot from their plates, filtered like markers.

    Plates of one side are added; times (T,) [s] lie within the recording.
    """
    reactions, unloaded_below = [], chosen.options.unloaded_below_n
    for side in SIDES:
        plates = [plate for plate in forces if plate.side == side]
        if plates:
            parts = [sampled_wrench(p, wrench_at_origin(p, unloaded_below), chosen, time) for p in plates]
            force, moment = np.split(np.asarray(sum(parts)), 2, axis=1)
            height = _ground_height(plates, time, max(unloaded_below, 1.0))
            place = center_of_pressure(force, moment, height)
            reactions.append(GroundReaction(side, force, moment, place))
    return reactions


def _ground_height(plates: Sequence[PlateForce], time: Array, least: float) -> Array:
    """Return the height (T,) [m] at which plates give their points of force: of the one that carries most at a time.

    It counts from `least` [N]. Between contacts it is the height of the contact nearer in time, zero without any.
    """
    carried, heights = np.zeros(time.size), np.full(time.size, np.nan)
    for plate in plates:
        load = np.interp(time, plate.time, np.abs(plate.force[:, 2]), 0.0, 0.0)
        loaded = np.abs(plate.force[:, 2]) >= least
        more = (load >= least) & (load > carried)
        if loaded.any():
            heights[more] = np.interp(time[more], plate.time[loaded], plate.point[loaded, 2])
        carried = np.maximum(carried, load)
    return nearest_known(heights)


def wrench_at_origin(plate: PlateForce, unloaded_below: float) -> Array:
    """Return force [N] and moment about the global origin [N m], M = p x F + T, (S, 6); zero while unloaded."""
    return origin_wrench(plate.force, plate.point, plate.moment, unloaded_below)


def origin_wrench(force: Array, point: Array, moment: Array, unloaded_below: float) -> Array:
    """Return force [N] and moment about the global origin [N m] (S, 6) of forces at points, (S, 3) each.

    Zero where the vertical force is below `unloaded_below` [N].
    """
    loaded = (np.abs(force[:, 2]) >= unloaded_below) & (force[:, 2] != 0.0)
    force = np.where(loaded[:, None], force, 0.0)
    # The point may be anything, NaN too, while unloaded: 0 x NaN would not be zero.
    point = np.where(loaded[:, None], point, 0.0)
    moment = np.where(loaded[:, None], moment, 0.0)
    return np.concatenate([force, vector_product(point, force) + moment], axis=1)


def filtered_plates(
    forces: Sequence[PlateForce], unloaded_below: float, chosen: FilterChoice, time: Array
) -> list[tuple[Side, Array, Array]]:
    """Side, force (T, 3) and moment about the origin (T, 3) of every plate, filtered; right feet first."""
    plates = []
    for side, plate in product(SIDES, forces):
        if plate.side == side:
            smooth = sampled_wrench(plate, wrench_at_origin(plate, unloaded_below), chosen, time)
            plates.append((side, smooth[:, :3], smooth[:, 3:]))
    return plates


def sampled_wrench(plate: PlateForce, wrench: Array, chosen: FilterChoice, time: Array) -> Array:
    """Return wrenches (S, k) of a plate filtered at its own rate and sampled at other times, (T, k)."""
    smooth = chosen.smooth_force(wrench, plate.rate)
    inside = np.clip(time, plate.time[0], plate.time[-1])
    return spline_through(plate.time, smooth)(inside)
