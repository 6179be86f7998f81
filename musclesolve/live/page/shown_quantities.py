"""What can be chosen on the page: its name, words and unit, and its value in rows of frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array, Mask
from musclesolve._util.sides import OTHER, SIDE_NAMES, split_side, with_side
from musclesolve.recording.data import SIDES
from musclesolve.sharing.status import Status, is_solved

KINDS = {
    "joint_reaction": ("contact force", "BW", 2),
    "ground_reaction_force": ("vertical ground force", "BW", 2),
    "muscle_force": ("force", "N", 0),
    "activation": ("activation", "1", 2),
    "joint_moment": ("moment", "N m", 1),
    "joint_angle": ("angle", "deg", 1),
}
"""Variable of a result -> words after the name, unit on the page, decimals."""
WITHOUT_MOTION = (Status.INVALID_INPUT, Status.INVALID_MOTION, Status.INTERRUPTED)
"""With these not even angles and moments are known."""


@dataclass(frozen=True)
class ShownQuantity:
    """One number of a frame. key: variable and name in a result, as in "joint_reaction:knee_r"."""

    kind: str
    name: str

    @property
    def key(self) -> str:
        """By which settings name it."""
        return f"{self.kind}:{self.name}"

    @property
    def side(self) -> str:
        """Side of the body, "other" of the trunk."""
        return self.name if self.name in SIDE_NAMES else split_side(self.name)[1]

    def on(self, side: str) -> str:
        """Key of the same of the other or the same leg; the own one of what has no side."""
        if self.side == OTHER:
            return self.key
        return f"{self.kind}:{side if self.name in SIDE_NAMES else with_side(split_side(self.name)[0], side)}"

    @property
    def about(self) -> dict[str, Any]:
        """What the page says of it."""
        words, unit, decimals = KINDS[self.kind]
        stem = "" if self.name in SIDE_NAMES else split_side(self.name)[0].replace("_", " ")
        side = f", {SIDE_NAMES[self.side]}" if self.side in SIDE_NAMES else ""
        label = f"{stem} {words}".strip().capitalize() + side
        return {"key": self.key, "kind": self.kind, "label": label, "unit": unit, "decimals": decimals}


@dataclass(frozen=True)
class ShownQuantities:
    """All of a `Live`: names in the order of its rows; weight of the body [N]."""

    muscles: tuple[str, ...]
    dofs: tuple[str, ...]
    joints: tuple[str, ...]
    sides: tuple[str, ...]
    weight: float

    @property
    def every(self) -> list[ShownQuantity]:
        """In the order of the columns of `values`."""
        names = (self.joints, SIDES, self.muscles, self.muscles, self.dofs, self.dofs)
        return [ShownQuantity(kind, name) for kind, own in zip(KINDS, names, strict=True) for name in own]

    def values(self, rows: AnyArray) -> NDArray[np.float32]:
        """Values (k, Q) in rows (k,) of frames; NaN where they are not valid.

        What the muscles of a leg do is valid where its frame is; angles, moments and ground forces also where only the
        sharing among muscles has no solution.
        """
        valid = is_solved(rows["status"])
        moving = ~np.isin(rows["status"], WITHOUT_MOTION)
        joints, muscles = self._of_sides(valid, self.joints), self._of_sides(valid, self.muscles)
        dofs, feet = self._of_sides(moving, self.dofs), self._of_sides(moving, SIDES)
        columns = (
            np.where(joints, np.linalg.norm(rows["joint_reaction"], axis=2) / self.weight, np.nan),
            np.where(feet, rows["wrench"][:, :, 2] / self.weight, np.nan),
            np.where(muscles, rows["force"], np.nan),
            np.where(muscles, rows["activation"], np.nan),
            np.where(dofs, rows["moment"], np.nan),
            np.where(dofs, np.degrees(rows["angle"]), np.nan),
        )
        return np.concatenate(columns, axis=1).astype(np.float32)

    def _of_sides(self, mask: Mask, names: Sequence[str]) -> Mask:
        """A mask (k, S) over the sides as one (k, n) over names; all sides must hold for a name of none of them."""
        sides = [name if name in SIDE_NAMES else split_side(name)[1] for name in names]
        own = [mask[:, self.sides.index(side)] if side in self.sides else mask.all(axis=1) for side in sides]
        return np.stack(own, axis=1)


def statistic(name: str, values: Array) -> float:
    """Peak, lowest or mean of values (k,); NaN where one of them is not known, or there is none."""
    if not len(values) or not np.isfinite(values).all():
        return float("nan")
    return float(values.mean() if name == "mean" else values.max() if name == "peak" else values.min())
