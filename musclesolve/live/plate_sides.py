"""Assignment of feet to plates, from the samples so far: contact by contact, the foot nearest to the pressure.

The rule is the same as for recordings (`recording.plates.plate_assignment`) without what comes later. While a plate is
loaded, every sample is given to the foot whose line from heel to toe is nearer to the center of pressure, by its
vertical force; the foot with the clear majority since the plate was loaded stands on it. While there is none, or no
foot is near, nobody knows whose force it is, and neither leg is measured.

What cannot be of the foot, by the limits for recordings (`sample_fault`), is not measured either, nor what a loaded
plate repeats to the last digit: its amplifier or its program has stopped.
"""

from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.motion.ground_reaction import origin_wrench
from musclesolve.recording.data import SIDE_NAMES, SIDES, Side
from musclesolve.recording.plates.plate_assignment import CLEAR, FARTHEST_PRESSURE, distance_to_foot
from musclesolve.recording.plates.plate_checks import sample_fault

LONGEST_REPEAT = 0.1
"""A plate under a foot repeats all its numbers exactly for less than this [s]: they have noise."""

CARRIES = 0.2
"""Vertical force, in body weights, from which a plate carries a foot."""
BESIDE = 0.05
"""Largest distance of the middle of a foot from the places at which a plate has carried it [m]."""


class PlateSides:
    """Wrenches of the feet from samples of P plates.

    Args:
        sides: of each plate the foot that it measures, None where that is found contact by contact.
        unloaded_below: vertical force under which a plate counts as unloaded [N].
        weight: of the body [N].
        rate: samples a second.

    Attributes:
        stuck: (P,) which plates have repeated the numbers of a load for `LONGEST_REPEAT`.
        area: (P, 2, 2) lower and upper ends of the horizontal places at which each plate has carried a foot [m].
    """

    def __init__(
        self, sides: Sequence[Side | None], unloaded_below: float, weight: float, rate: float
    ) -> None:
        self.sides, self._weight_of_body = tuple(sides), weight
        self._below, self._most_repeated = unloaded_below, max(round(LONGEST_REPEAT * rate), 5)
        self._before, self._repeated = np.full((len(self.sides), 9), np.nan), np.zeros(len(self.sides))
        self.stuck = np.zeros(len(self.sides), bool)
        self.area = np.full((len(self.sides), 2, 2), np.inf) * np.array([[[1.0], [-1.0]]])
        stated = [[side == each for each in SIDES] for side in self.sides]
        self._stated = np.array(stated, float).reshape(-1, 2)
        # foot of each plate, by its number: as stated, or in the newest sample
        self._foot = {k: SIDES.index(side) for k, side in enumerate(self.sides) if side is not None}
        self._open = [k for k, side in enumerate(self.sides) if side is None]
        # vertical force near each foot since the plate is loaded
        self._weight = np.zeros((len(self.sides), 2))

    def wrenches(self, plates: Array, feet: Array | None) -> tuple[Array, str]:
        """Force [N] and moment about the global origin [N m] on the right and the left foot, (2, 6), and what is amiss.

        A foot whose force is not known has NaN.

        Args:
            plates: (P, 9) force [N], its point [m], and the moment about that [N m], global frame.
            feet: heel and toe of the right and the left foot, (2, 2, 3) [m]; None where they are not known.
        """
        force, point, moment = plates[:, :3], plates[:, 3:6], plates[:, 6:]
        wrench = origin_wrench(force, point, moment, self._below)
        on, amiss = self._stated.copy(), ""
        # missing values of a loaded plate are not zero
        silent = np.asarray(~np.isfinite(force).all(axis=1))
        same = (plates == self._before).all(axis=1) & (np.abs(force[:, 2]) > self._below)
        self._repeated = np.where(same, self._repeated + 1.0, 0.0)
        self._before, self.stuck = plates.copy(), np.asarray(self._repeated >= self._most_repeated)
        lost = silent | self.stuck
        for which, what in (
            (silent, "no numbers of {} came in time"),
            (self.stuck, "the numbers of {} repeat"),
        ):
            if which.any():
                amiss = what.format(" and ".join(f"plate {k + 1}" for k in np.flatnonzero(which)))
        wrench[lost] = np.nan
        loaded = np.asarray(wrench.any(axis=1))
        (borne,) = np.nonzero(loaded & ~lost)  # plates whose force on a foot was measured
        away = np.full(on.shape, np.inf)
        if feet is not None and borne.size:
            away[borne] = distance_to_foot(point[borne, None], feet[:, 0], feet[:, 1])
        for k in self._open:
            if not loaded[k]:
                self._weight[k] = 0.0
                continue
            near = away[k].min() <= FARTHEST_PRESSURE
            if near:
                self._weight[k, np.argmin(away[k])] += abs(force[k, 2])
            share = self._weight[k] / max(self._weight[k].sum(), 1e-300)
            if near and share.max() >= CLEAR:
                self._foot[k] = int(np.argmax(share))
                on[k, self._foot[k]] = 1.0
            else:
                self._foot.pop(k, None)
                on[k] = np.nan
                amiss = f"it is not clear which foot stands on plate {k + 1}"
        for k in borne.tolist() if feet is not None else ():
            foot = self._foot.get(k)
            if foot is None:
                continue
            if fault := sample_fault(force[k], moment[k], float(away[k, foot]), self._weight_of_body):
                wrench[k] = np.nan
                amiss = f"the force on the {SIDE_NAMES[SIDES[foot]]} foot {fault}, and is left out"
            elif force[k, 2] > CARRIES * self._weight_of_body:
                self.area[k, 0] = np.minimum(self.area[k, 0], point[k, :2])
                self.area[k, 1] = np.maximum(self.area[k, 1], point[k, :2])
        # zero times an unknown value is zero
        each = np.where(on[:, :, None] == 0.0, 0.0, wrench[:, None] * on[:, :, None])
        return np.asarray(each.sum(axis=0)), amiss

    def empty(self, feet: Array, bare: Mask) -> Mask:
        """Plates (P,) that show no load under a foot that stands where they have carried it.

        Args:
            feet: heel and toe of the right and the left foot, (2, 2, 3) [m].
            bare: (2,) feet that stand without a force.
        """
        middle = feet[:, :, :2].mean(axis=1)
        lower, upper = self.area[:, None, 0] - BESIDE, self.area[:, None, 1] + BESIDE
        there = ((middle >= lower) & (middle <= upper)).all(axis=2)
        may = np.array([[side in (each, None) for each in SIDES] for side in self.sides]).reshape(-1, 2)
        unloaded = np.abs(self._before[:, 2]) <= self._below
        return np.asarray((there & may & bare).any(axis=1) & unloaded)
