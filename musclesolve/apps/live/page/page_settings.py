"""The quantities of the page, and the choices of the operator: curves, biofeedback, band; one set for all browsers."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from musclesolve._util.arrays import AnyArray, Array, Indices
from musclesolve._util.sides import OTHER, SIDE_NAMES, split_side, with_side
from musclesolve.errors import file_error
from musclesolve.laboratory.recording.data import SIDES
from musclesolve.laboratory.results.dataset.quantities import KINDS, QUANTITIES, by_formula, in_set
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.sharing.status import Status, is_solved

MOST_CURVES = 6
SPANS = (5.0, 10.0, 20.0)
"""Spans of the curves [s]."""
VALUES = ("now", "peak", "lowest", "mean")
DURING = ("stance", "cycle")
USUAL = (
    *("joint_reaction:knee_r", "joint_reaction:knee_l"),
    *("ground_reaction_force:r", "ground_reaction_force:l"),
    *("joint_angle:knee_flexion_r", "joint_angle:knee_flexion_l"),
)


@dataclass(frozen=True)
class PageSettings:
    """Settings of the page.

    curves: keys of at most six quantities; span: how long they are [s]. quantity: key of the one that is fed back;
    value: "now", or "peak", "lowest" or "mean" of each step; during: "stance" or "cycle". low, high: ends of the band
    in which it should be, in its unit; None: open.
    """

    curves: tuple[str, ...]
    quantity: str
    span: float = 10.0
    value: str = "peak"
    during: str = "stance"
    low: float | None = None
    high: float | None = None

    @classmethod
    def usual(cls, keys: Sequence[str]) -> Self:
        """Knee contact and ground forces and knee angles, as far as there are such."""
        curves = tuple(key for key in USUAL if key in keys) or tuple(keys[:MOST_CURVES])
        return cls(curves, curves[0])

    @classmethod
    def from_document(cls, stated: Any, keys: Sequence[str], file: Path | None = None) -> Self:
        """Settings from JSON, with the usual values for missing ones."""
        usual = asdict(cls.usual(keys))

        def check(right: bool, where: str, problem: str, expected: str, code: str = "bad_value") -> None:
            if not right:
                raise file_error(code, (file, where), problem, expected)

        what, known = "settings of the page that are no table", ", ".join(map(str, usual))
        check(isinstance(stated, dict), "settings", what, f"the keys {known}")
        for name in stated:
            check(name in usual, str(name), "no such setting", known, "unknown_name")
        values = usual | stated
        curves = values["curves"]
        few_enough = isinstance(curves, list | tuple) and len(curves) <= MOST_CURVES
        check(few_enough, "curves", f"{curves!r}", f"a list of {MOST_CURVES} names at most")
        for name, key in [("quantity", values["quantity"]), *(("curves", curve) for curve in curves)]:
            listed = ", ".join(map(str, keys))
            check(key in keys, name, f"no quantity {key!r}", f"one of {listed}", "unknown_name")
        for name, allowed in (("span", SPANS), ("value", VALUES), ("during", DURING)):
            listed = ", ".join(map(str, allowed))
            check(values[name] in allowed, name, f"{values[name]!r}", f"one of {listed}")
        for name in ("low", "high"):
            number = values[name]
            of_a_kind = isinstance(number, int | float) and not isinstance(number, bool)
            right = number is None or (of_a_kind and abs(number) <= sys.float_info.max)
            check(right, name, f"{number!r:.60}", "a number, or null for an open end", "not_numbers")
        low, high = values["low"], values["high"]
        if low is not None and high is not None:
            band = f"a band from {low:g} to {high:g}"
            check(low <= high, "low", band, "a lower end that is not above the upper one")
        return cls(**values | {"curves": tuple(curves)})

    @classmethod
    def read(cls, file: Path | None, keys: Sequence[str]) -> Self:
        """The settings of a file, where there is one; else the usual ones."""
        if file is None or not file.exists():
            return cls.usual(keys)
        try:
            stated = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise file_error(
                "bad_format",
                file,
                f"settings of the page that cannot be read: {error}",
                "the JSON that the page has written",
                "delete the file, and choose on the page anew",
            ) from error
        return cls.from_document(stated, keys, file)

    def write(self, file: Path) -> None:
        """Write them to a file, whole or not at all."""
        write_files(file.parent, {file.name: (json.dumps(asdict(self), indent=2) + "\n").encode()})

    def place(self, value: float) -> str:
        """The place of a value: "in" the band, "above" or "below"; "open" without a band, "unknown" without value."""
        if not np.isfinite(value):
            return "unknown"
        if self.low is None and self.high is None:
            return "open"
        if self.low is not None and value < self.low:
            return "below"
        return "above" if self.high is not None and value > self.high else "in"


ORDER = ("force", "muscle_force", "activation", "moment", "angle")
"""Kinds of quantities in the order of the page; then the others."""
WITHOUT_MOTION = (Status.INVALID_INPUT, Status.INVALID_MOTION, Status.INTERRUPTED)
"""Statuses without known angles and moments."""


GROUND = "ground_reaction_force"


def shown_kinds() -> list[str]:
    """Variables of the page: the variables of a frame, and what follows from them by a formula."""
    of_frame = {name for name, quantity in QUANTITIES.items() if quantity.frame or name == GROUND}
    there = [name for name in in_set("page") if of_frame.issuperset(QUANTITIES[name].arguments or (name,))]
    order = {kind: place for place, kind in enumerate(ORDER)}
    return sorted(there, key=lambda name: (order.get(QUANTITIES[name].kind, len(order)), name == GROUND))


@dataclass(frozen=True)
class ShownQuantity:
    """One number of a frame. kind: variable of a result; key: variable and name, as in "joint_reaction:knee_r"."""

    kind: str
    name: str

    @property
    def key(self) -> str:
        """Key of the quantity in settings."""
        return f"{self.kind}:{self.name}"

    @property
    def side(self) -> str:
        """Side of the body, "other" of the trunk."""
        return self.name if self.name in SIDE_NAMES else split_side(self.name)[1]

    def on(self, side: str) -> str:
        """Key of the same quantity of the other or the same leg; the own one of what has no side."""
        if self.side == OTHER:
            return self.key
        return f"{self.kind}:{side if self.name in SIDE_NAMES else with_side(split_side(self.name)[0], side)}"

    @property
    def about(self) -> dict[str, Any]:
        """Description of the quantity for the page."""
        quantity = QUANTITIES[self.kind]
        words = f"vertical {quantity.noun}" if self.kind == GROUND else quantity.noun
        stem = "" if self.name in SIDE_NAMES else split_side(self.name)[0].replace("_", " ")
        side = f", {SIDE_NAMES[self.side]}" if self.side in SIDE_NAMES else ""
        label = f"{stem} {words}".strip().capitalize() + side
        return {
            "key": self.key,
            "kind": self.kind,
            "side": self.side,
            "label": label,
            **KINDS[quantity.kind].page,
        }


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
        """All quantities, in the order of the columns of `values`."""
        names = {"joint": self.joints, "side": SIDES, "muscle": self.muscles, "dof": self.dofs}
        return [
            ShownQuantity(kind, name) for kind in shown_kinds() for name in names[QUANTITIES[kind].dims[1]]
        ]

    def values(self, rows: AnyArray) -> NDArray[np.float32]:
        """Values (k, Q) in rows (k,) of frames; NaN where they are not valid.

        What the muscles of a leg do is valid where its frame is; angles, moments and ground forces also where only the
        sharing among muscles has no solution.
        """
        valid, moving = is_solved(rows["status"]), ~np.isin(rows["status"], WITHOUT_MOTION)
        known: dict[str, Any] = {
            name: rows[quantity.frame]
            for name, quantity in QUANTITIES.items()
            if quantity.frame and quantity.frame in (rows.dtype.names or ())
        }
        known[GROUND] = rows["wrench"][:, :, :3]
        known |= by_formula(known, "page")
        columns = [self._of_page(kind, known[kind]) for kind in shown_kinds()]
        by_side = np.stack([np.column_stack([mask, mask.all(axis=1)]) for mask in (moving, valid)], axis=1)
        return np.where(by_side[:, *self._asked], np.concatenate(columns, axis=1), np.nan).astype(np.float32)

    def _of_page(self, kind: str, values: Array) -> Array:
        """Values (k, n) in the unit of the page, of vectors (k, n, 3) their magnitude, of ground forces upward."""
        if "axis" in QUANTITIES[kind].dims:
            values = values[:, :, 2] if kind == GROUND else np.linalg.norm(values, axis=2)
        of_kind = KINDS[QUANTITIES[kind].kind]
        rule = of_kind.units[of_kind.page["unit"]]
        return np.asarray(rule.factor * values / (self.weight if "weight" in rule.by else 1.0))

    @cached_property
    def _asked(self) -> tuple[Indices, Indices]:
        """For each column the condition, 1 for a valid frame or 0 for a valid motion, and the side; S: of all sides."""
        number = {side: k for k, side in enumerate(self.sides)}
        sides = [number.get(one.side, len(self.sides)) for one in self.every]
        of_muscles = [QUANTITIES[one.kind].follows == "solution" for one in self.every]
        return np.array(of_muscles, np.intp), np.array(sides, np.intp)


def statistic(name: str, values: Array) -> float:
    """Peak, lowest or mean of values (k,); NaN where one of them is not known, or there is none."""
    if not len(values) or not np.isfinite(values).all():
        return float("nan")
    return float(values.mean() if name == "mean" else values.max() if name == "peak" else values.min())
