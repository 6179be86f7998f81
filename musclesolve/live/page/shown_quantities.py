"""What can be chosen on the page: its name, words and unit, and its value in rows of frames."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array, Indices
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
OF_MUSCLES = ("joint_reaction", "muscle_force", "activation")
"""What is known only where the sharing among muscles has a solution."""
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
        valid, moving = is_solved(rows["status"]), ~np.isin(rows["status"], WITHOUT_MOTION)
        columns = (
            np.linalg.norm(rows["joint_reaction"], axis=2) / self.weight,
            rows["wrench"][:, :, 2] / self.weight,
            rows["force"],
            rows["activation"],
            rows["moment"],
            np.degrees(rows["angle"]),
        )
        by_side = np.stack([np.column_stack([mask, mask.all(axis=1)]) for mask in (moving, valid)], axis=1)
        known = by_side[:, *self._asked]
        return np.where(known, np.concatenate(columns, axis=1), np.nan).astype(np.float32)

    @cached_property
    def _asked(self) -> tuple[Indices, Indices]:
        """For each column whether its frame must be valid (1) or only its motion (0), and of which side; S: of all."""
        number = {side: k for k, side in enumerate(self.sides)}
        sides = [number.get(each.side, len(self.sides)) for each in self.every]
        of_muscles = [each.kind in OF_MUSCLES for each in self.every]
        return np.array(of_muscles, np.intp), np.array(sides, np.intp)


def statistic(name: str, values: Array) -> float:
    """Peak, lowest or mean of values (k,); NaN where one of them is not known, or there is none."""
    if not len(values) or not np.isfinite(values).all():
        return float("nan")
    return float(values.mean() if name == "mean" else values.max() if name == "peak" else values.min())
