"""Curves of the clinical sheet, and their scores: Gait Profile Score, movement analysis profile, index of deviation.

The sheet has angles of pelvis, hip, knee, ankle and foot in three planes, moments and powers.

With x_k(t) the mean curve of a person and n_k(t) the mean of the norm, at 51 percentages t of the gait cycle, for nine
angles k [deg] (Baker et al. 2009, Gait Posture 30:265-269):

    GVS_k = sqrt(mean_t (x_k(t) - n_k(t))^2),    GPS = sqrt(mean_k GVS_k^2).

The nine are tilt, obliquity and rotation of the pelvis, flexion, adduction and rotation of the hip, flexion of the
knee, dorsiflexion of the ankle and the foot progression angle. The GPS of a leg has all nine. The GPS of the person has
fifteen, the pelvis once, as seen from the left leg. The profile is the set of the Gait Variable Scores GVS.

The Gait Deviation Index (Schwartz & Rozumalski 2008, Gait Posture 28:351-357) compares d, the distance of a stride to
the mean of controls among c = F g, the features of its curves g:

    GDI = 100 - 10 (ln d - mean(ln d_controls)) / sd(ln d_controls).

100 is the mean of the controls, and 10 points less are one standard deviation. F is the matrix of 15 features in the
electronic addendum of that paper. Without it all of g is compared, and d is the GPS of a leg times sqrt(459): the index
GDI* of Baker et al. (2009). It needs the logarithm of the GPS of the controls alone.

Norms of level walking are published curves (musclesolve/data/norms), and a norm file of one's own laboratory.

A norm file is a CSV table with a row for each percentage of a curve, and a row without percentage for a number of the
stride or of the controls:

    quantity                name         unit      percent  mean   sd    subjects
    joint_angle             hip_flexion  deg       0        24.1   5.2   20
    walking_speed                        m/s                1.31   0.12  20
    log_gait_profile_score               1                  1.62   0.21  20

`Norm` lists quantities, names and units. `log_gait_profile_score` is the natural logarithm of the Gait Profile
Score [deg] of each control to the mean of all. `ms.studies.draft_norms` drafts such a file from a study.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.checks import check_real_array
from musclesolve._util.messages import with_sizes
from musclesolve._util.sides import LEG_JOINTS
from musclesolve.errors import file_error, input_error
from musclesolve.laboratory.results.cycles.gait_cycles import covered_cycles, of_leg, sampled
from musclesolve.laboratory.results.cycles.movement_landmarks import intervals
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.dataset.result_quantities import (
    joint_dofs,
    joint_power,
    listed,
    number,
    without_turns,
)
from musclesolve.laboratory.results.movement import WALKING
from musclesolve.tables.text_file import read_lines

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
ADULT_YEARS = 18.0
"""Age from which a norm of children is of other people [years]."""
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
    # quantity of a study -> its unit, which no norm has
    left_out: Mapping[str, str] = field(default_factory=dict)
    people: str = ""  # such as "children", where the norm states it
    model: str = ""  # of the markers and joints, where the norm states it

    def caution(self, age_years: float | None) -> str:
        """A sentence on how the norm differs from a person of an age or of none stated; empty if in nothing known."""
        differs = list[str]()
        if self.people == "children" and (age_years is None or age_years >= ADULT_YEARS):
            differs.append("is of children" + (" (no age is stated here)" if age_years is None else ""))
        if self.model:
            differs.append(f"was recorded with {self.model}")
        if not differs:
            return ""
        return f"The norm {' and '.join(differs)}: offsets from it are expected, also without any disorder."

    @property
    def source(self) -> str:
        """Source, subjects and speed."""
        return ", ".join(filter(None, (self.name, self.subjects, self.speed)))

    @property
    def sentence(self) -> str:
        """Source, subjects and what is drawn."""
        spread = any(curve.sd is not None for curve in self.curves.values())
        return f"{'band: mean ± 1 SD' if spread else 'gray, dashed: mean'}, {self.source}"


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
    about = {key: file.get(key, "") for key in ("people", "model")}
    return Norm(file["name"], file["subjects"], file["speed"], speeds, percent, curves, standing, **about)


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
            "draft one from a study: ms.studies.draft_norms('OUT/study.nc', 'norms.csv')",
        )
    rows: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    values: dict[str, tuple[float, float]] = {}
    subjects = set[int]()
    for at_row, row in enumerate(csv.DictReader(lines), start=2):
        quantity, name = row["quantity"], row["name"] or row["quantity"]
        mean, sd, count = (_number(file, at_row, row, key) for key in ("mean", "sd", "subjects"))
        subjects.add(int(count))
        what, units, remedy = "curve", UNITS, "write one of these quantities, in its unit"
        if not row["percent"]:
            what, units = "row without percent", VALUE_UNITS | {LOG_SCORE: "1"}
            remedy = "write one of these quantities in its unit, or the percentage of a curve"
        unit = units.get(quantity)
        if row["unit"] not in (unit, SAME_UNITS.get(unit or "", unit)):
            raise file_error(
                "bad_value",
                (file, at_row),
                f"a {what} of {quantity} in {row['unit'] or 'no unit'}",
                ", ".join(f"{key} in {unit}" for key, unit in units.items()),
                remedy,
            )
        if row["percent"]:
            rows.setdefault((quantity, name), []).append((_number(file, at_row, row, "percent"), mean, sd))
        else:
            values[quantity] = mean, sd
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
    people = f"{' to '.join(map(str, dict.fromkeys((min(subjects), max(subjects)))))} subjects"
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


Curve = tuple[str, str]
"""A quantity and a name, such as ("joint_angle", "hip_flexion"); the keys of norms, too."""
OWN_NAME = ("foot_progression_angle", "knee_adduction_moment")
"""Quantities with a single curve for each leg."""


@dataclass(frozen=True)
class SheetPanel:
    """A panel of the sheet; clinical_sheet.toml describes the fields."""

    quantity: str
    name: str
    title: str
    least: float
    score: bool = False

    @property
    def curve(self) -> Curve:
        """The curve that it shows."""
        return self.quantity, self.name

    @property
    def unit(self) -> str:
        """Unit of its vertical axis."""
        return str(_sheet()["units"][self.quantity])


@cache
def _sheet() -> dict:  # type: ignore[type-arg]
    return bundled_toml(__package__, "clinical_sheet.toml")


@cache
def panels() -> list[list[SheetPanel]]:
    """The panels of the sheet, by row and plane."""
    return [[SheetPanel(**panel) for panel in row["panels"]] for row in _sheet()["row"]]


def in_models() -> dict[str, str]:
    """Coordinate of OpenSim's models of the leg -> degree of freedom of the sheet and of the norms."""
    return dict(_sheet()["in_models"])


def leg_curves(result: xr.Dataset, side: str) -> dict[Curve, Array]:
    """The curves of the sheet that a result has of a leg, each (T,), in deg, N m/kg and W/kg.

    Pelvis and foot are seen from the leg, in its walking direction. A coordinate of a model that is positive in
    extension changes its sign. Without a body mass there are no moments and powers.
    """
    seen = {"heading", "pelvis_angle", "joint_angle", "joint_moment", *OWN_NAME} & set(result.variables)
    leg, mass = of_leg(result[[*seen]], side, without_side=True), number(result, "subject_mass_kg")
    curves = dict[Curve, Array]()
    names, flipped = in_models(), listed(result, "extension_positive")
    per_mass = 1.0 / mass if mass else np.nan
    if "heading" in result and "pelvis_angle" in leg:
        for name, angle in zip(leg["pelvis_rotation"].values, leg["pelvis_angle"].values.T, strict=True):
            curves["pelvis_angle", str(name)] = np.degrees(angle)
    of_dofs = {
        name: leg.variables[name].transpose("time", "dof").values
        for name in ("joint_angle", "joint_moment")
        if name in leg
    }
    for place, label in enumerate(map(str, leg["dof"].values) if "dof" in leg.dims else ()):
        sign = -1.0 if f"{label}_{side}" in flipped else 1.0
        for name, values in of_dofs.items():
            column = values[:, place]
            seen_as = without_turns(np.degrees(column)) if name == "joint_angle" else per_mass * column
            curves[name, names.get(label, label)] = sign * seen_as
    for name, scale in zip(OWN_NAME, (np.degrees(1.0), per_mass), strict=True):
        if name in leg:
            curves[name, name] = scale * leg[name].values
    for joint in LEG_JOINTS if "joint_power" in result else ():
        if joint_dofs(result, joint, side):
            curves["joint_power", joint] = per_mass * joint_power(result, joint, side)
    return {key: np.asarray(curve) for key, curve in curves.items() if np.isfinite(curve).any()}


POINTS = 51
PELVIS = "pelvis_angle"


def score_variables() -> list[Curve]:
    """The nine curves of the Gait Profile Score, in the order of the sheet."""
    return [panel.curve for row in panels() for panel in row if panel.score]


@dataclass(frozen=True)
class GaitScores:
    """The scores of the legs of a person, or the reason why there are none."""

    norm: Norm | None = None
    variable: Mapping[str, Mapping[Curve, float]] = field(default_factory=dict)  # GVS by side and curve [deg]
    profile: Mapping[str, float] = field(default_factory=dict)  # GPS by side [deg]
    of_person: float = float("nan")  # GPS of the person [deg]; NaN where a leg is missing
    # GDI* by side; empty without controls in the norm
    index: Mapping[str, float] = field(default_factory=dict)
    why_not: str = ""

    __repr__ = with_sizes


def mean_curves(result: xr.Dataset, side: str) -> dict[Curve, Array]:
    """The curves of a leg at POINTS percentages, the mean of its strides; empty without a stride of 95 % or more."""
    cut = intervals(result, side)
    used = [cycle for cycle in covered_cycles(result, side, cut.cycles) if cycle.counts]
    curves = leg_curves(result, side)
    if not used or not curves or cut.movement != WALKING:
        return {}
    time, percent = np.asarray(result["time"].values, dtype=float), np.linspace(0.0, 1.0, POINTS)
    table = np.stack(list(curves.values()), axis=1)
    total = np.zeros((POINTS, len(curves)))
    for stride in used:
        total += sampled(time, table, stride.start + percent * (stride.end - stride.start), stride.reach)
    return dict(zip(curves, (total / len(used)).T, strict=True))


def gait_scores(result: xr.Dataset, norm_file: str | Path | None = None) -> GaitScores:
    """The Gait Profile Score of a result with its movement analysis profile (Baker et al. 2009; module docstring).

    Args:
        result: of `musclesolve.run`, or on an OpenSim model.
        norm_file: norm of a laboratory (CSV, `draft_norms`); otherwise Schwartz et al. (2008), typically
            developing children at free speed.

    Returns:
        `variable` (GVS by leg and angle), `profile` (GPS by leg) and `of_person` (its GPS), all [deg]; `index`
        (GDI* by leg) where the norm file has the scores of its controls; `why_not`: the reason without scores.

    Raises:
        InputError: no result, or the norm file is missing or wrong.

    Examples:
        >>> scores = ms.laboratory.gait_scores(ms.run(ms.data.reference_stride()))
        >>> sorted(scores.profile), len(scores.variable["r"])
        (['r'], 9)
    """
    needed = score_variables()
    norm = next((entry for entry in norms(norm_file) if set(needed) <= set(entry.curves)), None)
    if norm is None:
        return GaitScores(why_not="No norm has the nine angles of the Gait Profile Score.")
    sides = frames.sides(checked_result(result, least=1))
    curves = {side: mean_curves(result, side) for side in sides if side in ("r", "l")}
    variable = {
        side: variable_scores({key: of[key] for key in needed}, norm)
        for side, of in curves.items()
        if set(needed) <= set(of) and all(np.isfinite(of[key]).all() for key in needed)
    }
    if not variable:
        lacking = [
            " ".join(dict.fromkeys(key)) for of in curves.values() if of for key in needed if key not in of
        ]
        why = (
            f"The result lacks {', '.join(dict.fromkeys(lacking)).replace('_', ' ')}."
            if lacking
            else "It needs a stride of level walking in one piece, and no stride lies whole within the frames."
        )
        return GaitScores(norm, why_not=f"There is no Gait Profile Score. {why}")
    profile = {side: profile_score(of.values()) for side, of in variable.items()}
    of_person = float("nan")
    if {"r", "l"} <= set(variable):
        right = {key: score for key, score in variable["r"].items() if key[0] != PELVIS}
        of_person = profile_score([*variable["l"].values(), *right.values()])
    index = {}
    if (controls := norm.values.get(LOG_SCORE)) is not None:
        index = {side: deviation_index(np.log(score), *controls) for side, score in profile.items()}
    return GaitScores(norm, variable, profile, of_person, index)


def variable_scores(curves: Mapping[Curve, Array], norm: Norm) -> dict[Curve, float]:
    """GVS [deg] of curves (51,) [deg] to the mean of a norm."""
    percent = np.linspace(0.0, 100.0, POINTS)
    return {
        key: float(np.sqrt(np.mean((curve - np.interp(percent, norm.percent, norm.curves[key].mean)) ** 2)))
        for key, curve in curves.items()
    }


def profile_score(scores: Iterable[float]) -> float:
    """GPS [deg]: the root mean square of Gait Variable Scores [deg]."""
    return float(np.sqrt(np.mean(np.square(list(scores)))))


def deviation_index(log_distance: float, mean: float, sd: float) -> float:
    """GDI of the logarithm of a distance, with mean and standard deviation of this logarithm of the controls."""
    return float(100.0 - 10.0 * (log_distance - mean) / sd) if sd > 0.0 else float("nan")


def gait_deviation_index(strides: Array, controls: Array, features: Array | None = None) -> Array:
    """Gait Deviation Index of strides to controls (Schwartz & Rozumalski 2008).

        GDI = 100 - 10 (ln d - mean(ln d_controls)) / sd(ln d_controls),    d = |F (g - mean(g_controls))|.

    Args:
        strides: the curves g [deg] of strides, (K, 459): nine angles one after the other, each at 51 percentages.
        controls: the curves of the controls, (C, 459), a mean for each person.
        features: the matrix F of the electronic addendum, (15, 459); without it all of g is compared, which gives the
            index GDI* of Baker et al. (2009).

    Returns:
        The index of each stride, (K,): 100 as the controls, 10 less for each standard deviation.

    Raises:
        InputError: fewer than two controls, or arrays of other shapes.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> controls = rng.normal(size=(20, 459))
        >>> float(ms.laboratory.gait_deviation_index(controls, controls).mean().round(6))
        100.0
    """
    expected = "(K, 459), (C, 459) of two controls or more, and (15, 459)"
    g, others = (np.atleast_2d(check_real_array(rows, "curves", expected)) for rows in (strides, controls))
    features = np.eye(g.shape[1]) if features is None else features
    basis = np.atleast_2d(check_real_array(features, "features", expected))
    alike = len({(rows.ndim, rows.shape[1]) for rows in (g, others, basis)}) == 1 and g.ndim == 2
    if len(others) < 2 or not alike:
        raise input_error(
            "bad_shape",
            where="gait_deviation_index",
            problem=f"strides {g.shape}, controls {others.shape}, features {basis.shape}",
            expected=expected,
            remedy="give nine angles at 51 percentages, one after the other",
        )
    away = [(curves - others.mean(axis=0)) @ basis.T for curves in (g, others)]
    of_strides, of_controls = (np.log(np.linalg.norm(rows, axis=1)) for rows in away)
    return np.asarray(100.0 - 10.0 * (of_strides - of_controls.mean()) / of_controls.std(ddof=1))
