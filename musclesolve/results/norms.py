"""Norms of level walking: published curves (musclesolve/data/norms), and a norm file of one's own laboratory.

A norm file is a CSV table with a row for each percentage of a curve, and a row without percentage for a number of the
stride or of the controls:

    quantity                name         unit      percent  mean   sd    subjects
    joint_angle             hip_flexion  deg       0        24.1   5.2   20
    walking_speed                        m/s                1.31   0.12  20
    log_gait_profile_score               1                  1.62   0.21  20

`Norm` lists quantities, names and units. `log_gait_profile_score` is the natural logarithm of the Gait Profile
Score [deg] of each control to the mean of all. `musclesolve norms` drafts such a file from a study.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.errors import file_error
from musclesolve.recording.text.text_file import read_lines

NORMS = ("schwartz_2008", "winter_1991")
"""Files; of two with the same curve the first one is shown."""
OF_FILE = ("standing_deg",)
"""Tables of a file that are not curves of a quantity."""
COLUMNS = ("quantity", "name", "unit", "percent", "mean", "sd", "subjects")
"""Columns of a norm file."""
UNITS = {
    **dict.fromkeys(("joint_angle", "pelvis_angle", "foot_progression_angle"), "deg"),
    **dict.fromkeys(("joint_moment", "knee_adduction_moment"), "N m/kg"),
    "joint_power": "W/kg",
    "ground_reaction_force": "N/kg",
    "activation": "1",
    "muscle_force": "N",
}
"""Quantities of the curves of a norm, with their units."""
SPEED, LOG_SCORE = "walking_speed", "log_gait_profile_score"
WIDE = 2.0
"""Standard deviations of the speed of the controls within which a norm file is drawn."""


@dataclass(frozen=True)
class NormCurve:
    """Mean over the gait cycle (P,), and the standard deviation between subjects where it was published."""

    mean: Array
    sd: Array | None


@dataclass(frozen=True)
class Norm:
    """Curves of one publication or laboratory by quantity and name, with the signs of this project.

    joint_angle [deg] and joint_moment [N m/kg] by degree of freedom, joint_power [W/kg] by joint, both without side;
    ground_reaction_force [N/kg] by axis: x forward, z up; activation [1] and muscle_force [N] by muscle without side;
    foot_progression_angle [deg] and knee_adduction_moment [N m/kg] by their own names; pelvis_angle [deg] as seen from
    a leg: tilt forward, list and rotation with this side
    up and forward. Angles are zero in standing: standing_deg was subtracted.
    """

    name: str  # authors and year, or the file
    subjects: str
    speed: str
    speed_range: tuple[float, float]  # for which it is drawn [m/s]
    percent: Array  # of the gait cycle, (P,)
    curves: Mapping[tuple[str, str], NormCurve]
    standing_deg: Mapping[str, float] = field(default_factory=dict)
    # mean and standard deviation of measures of the stride, such as cadence, and of `LOG_SCORE`
    values: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """Source, subjects and speed."""
        return ", ".join(filter(None, (self.name, self.subjects, self.speed)))

    @property
    def sentence(self) -> str:
        """Source, subjects and what is drawn."""
        spread = any(curve.sd is not None for curve in self.curves.values())
        return f"{'band: mean ± 1 SD' if spread else 'dashed: mean'}, {self.source}"


@cache
def norm(name: str) -> Norm:
    """The normative curves of a bundled file."""
    file = bundled_toml("musclesolve.data", "norms", f"{name}.toml")
    standing = file.get("standing_deg", {})
    curves = {}
    for quantity, table in file.items():
        if quantity not in OF_FILE and isinstance(table, dict):
            for key, curve in table.items():
                zero = standing.get(key, 0.0) if quantity.endswith("_angle") else 0.0
                sd = np.array(curve["sd"]) if "sd" in curve else None
                curves[quantity, key] = NormCurve(np.array(curve["mean"]) - zero, sd)
    percent = np.array(file["percent"], dtype=float)
    speeds = tuple(file["speed_range_m_s"])
    return Norm(file["name"], file["subjects"], file["speed"], speeds, percent, curves, standing)


def norms(path: str | Path | None = None) -> tuple[Norm, ...]:
    """The norms in the order of preference: the norm of a file, if one is named, before the published ones."""
    return (*((read_norms(path),) if path else ()), *map(norm, NORMS))


def read_norms(path: str | Path) -> Norm:
    """Read the norm file of a laboratory (module docstring).

    It is drawn for speeds within two standard deviations of the mean speed of its subjects, or for every speed where
    it states none.

    Raises:
        InputError: no such file, no table of these columns, an unknown quantity or unit, or values that are no numbers;
            with the line.
    """
    file = Path(path)
    lines = read_lines(file)
    columns = next(csv.reader(lines[:1]))
    if ";" in lines[0] and "," not in lines[0]:
        raise file_error(
            "bad_value",
            (file, 1),
            "semicolons separate the columns of the norm file",
            "commas between the columns, and points in the numbers",
            "save it as CSV with commas",
        )
    if lacking := [name for name in COLUMNS if name not in columns]:
        raise file_error(
            "missing_column",
            (file, 1),
            f"the norm file has no column {', '.join(lacking)}",
            f"the columns {', '.join(COLUMNS)}",
            "draft one from a study: musclesolve norms OUT/study.nc -o norms.csv",
        )
    rows: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    values: dict[str, tuple[float, float]] = {}
    subjects = set[int]()
    for number, row in enumerate(csv.DictReader(lines), start=2):
        quantity, name = row["quantity"], row["name"] or row["quantity"]
        mean, sd, count = (_number(file, number, row, key) for key in ("mean", "sd", "subjects"))
        subjects.add(int(count))
        if not row["percent"]:
            known = VALUE_UNITS.get(quantity, "1" if quantity == LOG_SCORE else None)
            if row["unit"] not in (known, SAME_UNITS.get(known or "", known)):
                raise file_error(
                    "bad_value",
                    (file, number),
                    f"a row without percent of {quantity} in {row['unit'] or 'no unit'}",
                    ", ".join(f"{key} in {unit}" for key, unit in (*VALUE_UNITS.items(), (LOG_SCORE, "1"))),
                    "write one of these quantities in its unit, or the percentage of a curve",
                )
            values[quantity] = mean, sd
            continue
        if row["unit"] != UNITS.get(quantity):
            raise file_error(
                "bad_value",
                (file, number),
                f"a curve of {quantity} in {row['unit'] or 'no unit'}",
                ", ".join(f"{key} in {unit}" for key, unit in UNITS.items()),
                "write one of these quantities, in its unit",
            )
        rows.setdefault((quantity, name), []).append((_number(file, number, row, "percent"), mean, sd))
    percent = np.linspace(0.0, 100.0, 51)
    curves = {}
    for (quantity, name), points in rows.items():
        place, mean_, sd_ = np.array(sorted(points)).T
        if place[0] != 0.0 or place[-1] != 100.0 or np.any(np.diff(place) <= 0.0):
            raise file_error(
                "bad_value",
                (file, f"{quantity} {name}"),
                "the percentages of this curve do not go from 0 to 100, each once",
                "a row for 0, 2, ... 100 % of the gait cycle",
                "write the missing rows, and each percentage once",
            )
        curves[quantity, name] = NormCurve(np.interp(percent, place, mean_), np.interp(percent, place, sd_))
    people = f"{'to'.join(map(str, dict.fromkeys((min(subjects), max(subjects)))))} subjects".replace(
        "to", " to "
    )
    mean, sd = values.get(SPEED, (0.0, np.inf))
    speed = f"{mean:.2f} m/s" if SPEED in values else ""
    return Norm(
        file.name, people, speed, (mean - WIDE * sd, mean + WIDE * sd), percent, curves, values=values
    )


def _number(file: Path, line: int, row: Mapping[str, str], key: str) -> float:
    try:
        value = float(row[key])
        fits = value >= 0.0 if key != "mean" else np.isfinite(value)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise file_error(
            "not_numbers",
            (file, line),
            f"{key} is {row[key]!r}",
            "a number" if key == "mean" else "a number from 0 on",
            "correct the row",
        )
    return value


def table_of(norm: Norm, subjects: int) -> Iterator[tuple[str, ...]]:
    """The rows of the norm file of a norm, the names of the columns first."""
    yield COLUMNS
    for (quantity, name), curve in norm.curves.items():
        sd = np.zeros(curve.mean.size) if curve.sd is None else curve.sd
        for at, mean, spread in zip(norm.percent, curve.mean, sd, strict=True):
            numbers = (f"{at:g}", f"{mean:.4f}", f"{spread:.4f}", str(subjects))
            yield quantity, "" if name == quantity else name, UNITS[quantity], *numbers
    for name, (mean, spread) in norm.values.items():
        yield name, "", VALUE_UNITS.get(name, "1"), "", f"{mean:.6g}", f"{spread:.6g}", str(subjects)


VALUE_UNITS = {
    **dict.fromkeys(("stride_time",), "s"),
    "cadence": "1/min",
    SPEED: "m/s",
    **dict.fromkeys(("stride_length", "step_width", "step_length"), "m"),
    **dict.fromkeys(("stance_percent", "double_support_percent"), "%"),
}
"""Units of the numbers of a norm."""
SAME_UNITS = {"1/min": "steps/min"}
"""Other words of these units."""
