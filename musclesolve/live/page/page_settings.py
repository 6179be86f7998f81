"""Choices of the operator: curves, the quantity of the biofeedback, its band. One set for all browsers."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from musclesolve.errors import file_error
from musclesolve.results.files.atomic_writing import write_files

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
    def usual(cls, keys: Sequence[str]) -> PageSettings:
        """Knee contact and ground forces and knee angles, as far as there are such."""
        curves = tuple(key for key in USUAL if key in keys) or tuple(keys[:MOST_CURVES])
        return cls(curves, curves[0])

    @classmethod
    def from_document(cls, stated: Any, keys: Sequence[str], file: Path | None = None) -> PageSettings:
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
    def read(cls, file: Path | None, keys: Sequence[str]) -> PageSettings:
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
        text = json.dumps(asdict(self), indent=2) + "\n"
        write_files(file.parent, {file.name: text.encode()})

    def place(self, value: float) -> str:
        """The place of a value: "in" the band, "above" or "below"; "open" without a band, "unknown" without value."""
        if not np.isfinite(value):
            return "unknown"
        if self.low is None and self.high is None:
            return "open"
        if self.low is not None and value < self.low:
            return "below"
        return "above" if self.high is not None and value > self.high else "in"
