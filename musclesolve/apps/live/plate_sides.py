"""Assignment of feet to plates, from the samples so far: contact by contact, the foot nearest to the pressure.

The rule is the same as for recordings (`laboratory.trial.plates.foot_contacts`) without what comes later.
While a plate is
loaded, every sample is given to the foot whose line from heel to toe is nearer to the center of pressure, by its
vertical force; the foot with the clear majority since the plate was loaded stands on it. While there is none, or no
foot is near, nobody knows whose force it is, and neither leg is measured.

What cannot be of the foot, by the limits for recordings (`sample_fault`), is not measured either, nor what a loaded
plate repeats to the last digit: its amplifier or its program has stopped.
"""

import math
from collections.abc import Sequence

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.laboratory.bodies.mechanics import Mechanics
from musclesolve.laboratory.motion.ground_reaction import origin_wrench
from musclesolve.laboratory.recording.data import SIDE_NAMES, SIDES, Side, Trial
from musclesolve.laboratory.trial.plates import foot_contacts
from musclesolve.laboratory.trial.plates.plate_checks import sample_fault

LOOK = "see whether sign, units and order of the plates are right (--plate)"
"""Remedy for a force that cannot be of its foot."""
LONGEST_REPEAT = 0.1
"""A plate under a foot repeats all its numbers exactly for less than this [s]: they have noise."""

CARRIES = 0.2
"""Vertical force, in body weights, from which a plate carries a foot."""
LACKING_LIFT = 0.1
"""Upward force, in body weights, that may be missing at the pelvis before a foot near the floor is taken to stand on
something that is not measured; residuals of good recordings are half of it (Hicks et al. 2015)."""
BELT_MEMORY = 1.0
"""Time with a loaded foot over which the velocity of a belt is averaged [s]; it may change."""
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
        stated = [[side == foot for foot in SIDES] for side in self.sides]
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
            away[borne] = foot_contacts.distance_to_foot(point[borne, None], feet[:, 0], feet[:, 1])
        for k in self._open:
            if not loaded[k]:
                self._weight[k] = 0.0
                continue
            near = away[k].min() <= foot_contacts.FARTHEST_PRESSURE
            if near:
                self._weight[k, np.argmin(away[k])] += abs(force[k, 2])
            share = self._weight[k] / max(self._weight[k].sum(), 1e-300)
            if near and share.max() >= foot_contacts.CLEAR:
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
                amiss = f"the force on the {SIDE_NAMES[SIDES[foot]]} foot {fault}, and is left out: {LOOK}"
            elif force[k, 2] > CARRIES * self._weight_of_body:
                self.area[k, 0] = np.minimum(self.area[k, 0], point[k, :2])
                self.area[k, 1] = np.maximum(self.area[k, 1], point[k, :2])
        # zero times an unknown value is zero
        on_foot = np.where(on[:, :, None] == 0.0, 0.0, wrench[:, None] * on[:, :, None])
        return np.asarray(on_foot.sum(axis=0)), amiss

    def empty(self, feet: Array, bare: Mask) -> Mask:
        """Plates (P,) that show no load under a foot that stands where they have carried it.

        Args:
            feet: heel and toe of the right and the left foot, (2, 2, 3) [m].
            bare: (2,) feet that stand without a force.
        """
        middle = feet[:, :, :2].mean(axis=1)
        lower, upper = self.area[:, None, 0] - BESIDE, self.area[:, None, 1] + BESIDE
        there = ((middle >= lower) & (middle <= upper)).all(axis=2)
        may = np.array([[side in (foot, None) for foot in SIDES] for side in self.sides]).reshape(-1, 2)
        unloaded = np.abs(self._before[:, 2]) <= self._below
        return np.asarray((there & may & bare).any(axis=1) & unloaded)


class BareFeet:
    """Feet that stand where no plate measures them.

    Args:
        trial: its subject and plates.
        mechanics: its model, and the motion that shows the heights of the ground.
        feet: numbers of heel and toe of the right and the left foot among the points of the model, (2, 2).
        rate: samples a second.
    """

    def __init__(self, trial: Trial, mechanics: Mechanics, feet: Indices, rate: float) -> None:
        self._feet, self._rate, model = feet, rate, mechanics.model
        self._pelvis = model.rigid_bodies.slots[model.body("pelvis"), 0]
        self._weight, self._touch = model.weight, foot_contacts.touch(trial)
        # heights (2, 2) [m] at which heels and toes rest
        ends = mechanics.fit.q[:, feet]
        speed = np.linalg.norm(np.gradient(ends, mechanics.measured.time, axis=0), axis=3)
        self._floor = np.empty(feet.shape)
        for place in np.ndindex(feet.shape):
            slow = speed[:, *place] < foot_contacts.SLOW
            self._floor[place] = np.quantile(ends[slow if slow.sum() > 5 else ..., *place, 2], 0.25)
        self.clear()

    def clear(self) -> None:
        """Forget all samples."""
        self._down = np.zeros(2)  # for how many frames each foot is down without a force
        # mean velocities of a loaded foot and of the pelvis [m/s], over so many frames and feet
        self._belt, self._loaded = np.zeros((2, 2)), 0.0
        self._bare = np.zeros(2, bool)

    def unmeasured(self, q: Array, qd: Array, wrench: Array, lacking: float) -> Mask:
        """Feet (2,) whose contact no plate measures, from poses and velocities (N, 3), wrenches (2, 6) and balance.

        A foot is one from `EDGE` after it has come down without a force, or as soon as it is near the floor while an
        upward force of `LACKING_LIFT` body weights is missing (`lacking` [N]), until it is in the air. Where the force
        on the other foot is not known there is no balance, and a zero force is not believed either near the floor.
        Speeds are relative to the belt, whose velocity the loaded feet show.
        """
        known = np.isfinite(wrench[:, 2])  # a plate without numbers says nothing of its foot
        height = q[self._feet, 2] - self._floor
        velocity = qd[self._feet]
        for side in np.flatnonzero(known & (wrench[:, 2] > CARRIES * self._weight)):
            self._loaded = min(self._loaded + 1.0, BELT_MEMORY * self._rate)
            shown = velocity[side, np.argmin(height[side]), :2], qd[self._pelvis, :2]
            self._belt += (np.array(shown) - self._belt) / self._loaded
        belt, travel = self._belt
        if math.hypot(*travel) < foot_contacts.IN_PLACE < math.hypot(*belt):
            velocity = velocity - np.append(belt, 0.0)
        speed = np.sqrt(np.vecdot(velocity, velocity))
        down = ((height < foot_contacts.LOW) & (speed < foot_contacts.SLOW)).any(axis=1)
        air = ((height > foot_contacts.HIGH) | (speed > foot_contacts.FAST)).all(axis=1)
        without = known & (np.abs(wrench[:, 2]) < self._touch)
        self._down = np.where(down & without, self._down + 1.0, 0.0)
        seen = self._down > foot_contacts.EDGE * self._rate
        standing = self._bare & ~air
        # a foot that is known to stand beside the plates explains what is missing
        if not known.all() or (lacking > LACKING_LIFT * self._weight and not standing.any()):
            seen = seen | without
        self._bare = standing | (seen & ~air)
        return self._bare
