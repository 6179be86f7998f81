"""Gait Profile Score, movement analysis profile, and the index of deviation, of the strides of a result.

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
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array
from musclesolve._util.long_arrays import in_turn
from musclesolve.errors import input_error
from musclesolve.results.cycles.clinical_sheet import Curve, leg_curves, panels
from musclesolve.results.cycles.gait_cycles import covered_cycles, sampled
from musclesolve.results.cycles.movement_landmarks import intervals
from musclesolve.results.dataset import frame_validity as frames
from musclesolve.results.movement import WALKING
from musclesolve.results.norms import LOG_SCORE, Norm, norms

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
    whole: float = float("nan")  # GPS of the person [deg]; NaN where a leg is missing
    # GDI* by side; empty without controls in the norm
    index: Mapping[str, float] = field(default_factory=dict)
    why_not: str = ""


def mean_curves(result: xr.Dataset, side: str) -> dict[Curve, Array]:
    """The curves of a leg at POINTS percentages, the mean of its strides; empty without a stride of 95 % or more."""
    found = intervals(result, side)
    used = [cycle for cycle in covered_cycles(result, side, found.cycles) if cycle.counts]
    curves = leg_curves(result, side)
    if not used or not curves or found.movement != WALKING:
        return {}
    time, percent = np.asarray(result["time"].values, dtype=float), np.linspace(0.0, 1.0, POINTS)
    table = np.stack(list(curves.values()), axis=1)
    total = np.zeros((POINTS, len(curves)))
    for each in in_turn(used):
        total += sampled(time, table, each.start + percent * (each.end - each.start), each.reach)
    return dict(zip(curves, (total / len(used)).T, strict=True))


def gait_scores(result: xr.Dataset, norm_file: str | Path | None = None) -> GaitScores:
    """The Gait Profile Score of a result with its movement analysis profile (Baker et al. 2009; module docstring).

    Args:
        result: of `musclesolve.run`, or on an OpenSim model.
        norm_file: norm of a laboratory (CSV, `musclesolve norms`); otherwise Schwartz et al. (2008), typically
            developing children at free speed.

    Returns:
        `variable` (GVS by leg and angle), `profile` (GPS by leg) and `whole` (GPS of the person), all [deg]; `index`
        (GDI* by leg) where the norm file has the scores of its controls; `why_not`: the reason without scores.

    Raises:
        InputError: the norm file is missing or wrong.

    Examples:
        >>> scores = ms.gait_scores(ms.run(ms.data.reference_stride()))
        >>> sorted(scores.profile), len(scores.variable["r"])
        (['r'], 9)
    """
    needed = score_variables()
    norm = next((each for each in norms(norm_file) if set(needed) <= set(each.curves)), None)
    if norm is None:
        return GaitScores(why_not="No norm has the nine angles of the Gait Profile Score.")
    curves = {side: mean_curves(result, side) for side in frames.sides(result) if side in ("r", "l")}
    variable = {
        side: variable_scores({key: own[key] for key in needed}, norm)
        for side, own in curves.items()
        if set(needed) <= set(own) and all(np.isfinite(own[key]).all() for key in needed)
    }
    if not variable:
        lacking = [
            " ".join(dict.fromkeys(key)) for own in curves.values() if own for key in needed if key not in own
        ]
        why = (
            f"The result lacks {', '.join(dict.fromkeys(lacking)).replace('_', ' ')}."
            if lacking
            else "No whole stride of level walking lies within the analyzed frames."
        )
        return GaitScores(norm, why_not=f"There is no Gait Profile Score. {why}")
    profile = {side: profile_score(own.values()) for side, own in variable.items()}
    whole = float("nan")
    if {"r", "l"} <= set(variable):
        right = {key: score for key, score in variable["r"].items() if key[0] != PELVIS}
        whole = profile_score([*variable["l"].values(), *right.values()])
    index = {}
    if (controls := norm.values.get(LOG_SCORE)) is not None:
        index = {side: deviation_index(np.log(score), *controls) for side, score in profile.items()}
    return GaitScores(norm, variable, profile, whole, index)


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
        >>> float(ms.gait_deviation_index(controls, controls).mean().round(6))
        100.0
    """
    g, others = np.atleast_2d(strides).astype(float), np.atleast_2d(controls).astype(float)
    basis = None if features is None else np.atleast_2d(features).astype(float)
    if (
        len(others) < 2
        or g.shape[1] != others.shape[1]
        or (basis is not None and basis.shape[1] != g.shape[1])
    ):
        raise input_error(
            "bad_shape",
            where="gait_deviation_index",
            problem=f"strides {g.shape}, controls {others.shape}, features {None if basis is None else basis.shape}",
            expected="(K, 459), (C, 459) of two controls or more, and (15, 459)",
            remedy="give nine angles at 51 percentages, one after the other",
        )
    mean = others.mean(axis=0)

    def log_distance(curves: Array) -> Array:
        away = curves - mean
        return np.log(np.linalg.norm(away if basis is None else away @ basis.T, axis=1))

    of_controls = log_distance(others)
    return np.asarray(100.0 - 10.0 * (log_distance(g) - of_controls.mean()) / of_controls.std(ddof=1))
