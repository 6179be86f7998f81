"""Outliers: cycles of a study that are far from the other cycles of the same person, with the deviating quantity.

For each quantity q (angle, moment, ground force) the distance of cycle i from the subject's own median curve m of the
same leg and condition is d_iq = sqrt(mean over percent of (x_iq - m_q)^2 / (1 - 1/n)), as the cycle is one of the n
in the median. The usual distance is estimated from all cycles of all persons, since two to five cycles are too few:
with y = d^(2/3), the power that makes sums of squares nearly normal (Wilson & Hilferty 1931, PNAS 17:684-688), and its
median u_q over all cycles, the score of a cycle is

    z_i = max over q of (y_iq - u_q) / s_q,    s_q = 1.4826 median |y_iq - u_q|, at least 0.2 u_q,

where u_q is at least the score of a distance of 1 % of the root mean square of the quantity. Median and median absolute
deviation hold as long as fewer than half of the cycles are at fault.

An even number of cycles can fall into two halves that are equally far from their median, as when the legs were
exchanged in one of two trials. The half that is nearer to the median of the condition over the subjects is then taken
as normal, and its scores are at most the threshold. Where a leg has a single cycle the cycles of the other leg are
included; a single cycle of a person and condition is not judged.

Rate at which a cycle without fault has a score above 7, by simulation with 17 correlated quantities, smooth curves,
both legs and 4 000 cycles each, for 2, 3 and 5 cycles a leg: if persons differ in their spread by 30 % and the noise is
normal, 0.1 % of 20 persons and 0.7, 0.4 and 0.1 % of five; if they differ by 50 % and the noise has heavy tails
(Student's t of 5 degrees of freedom) 1.4, 1.1 and 0.9 % of 20 persons and 3.6, 1.4 and 1.0 % of five.
"""

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices, mean_of_known, median_of_known
from musclesolve.errors import input_error
from musclesolve.laboratory.results.cycles.normalization import check_cycles
from musclesolve.laboratory.results.dataset.quantities import in_set, said_of

JUDGED = in_set("judged")
"""Quantities that show a fault of markers, of forces, or an exchange of legs; muscle forces follow from them."""
THRESHOLD = 7.0
"""Score above which a cycle is an outlier."""
LEAST_USUAL, LEAST_SPREAD = 0.01, 0.2
"""Least usual distance, as a share of the root mean square of the quantity, and least spread, of the usual y."""
POWER, NORMAL = 2.0 / 3.0, 1.4826
"""Power of the distance; standard deviation over median absolute deviation of normal numbers."""
COMMON = 0.5
"""Least share of percentages that a cycle must share with a median to be compared with it."""
AXIS_WORDS = {"x": "forward", "y": "medial", "z": "vertical"}


def with_outliers(cycles: xr.Dataset) -> xr.Dataset:
    """Mark outliers among the cycles of a study by the coordinates outlier, outlier_reason and distance; keep all.

    Args:
        cycles: of all trials along ``cycle``, without side; with the coordinates ``subject`` and ``condition`` over
            cycle, or of one subject and condition without them. The quantities of `JUDGED` among them are judged.

    Returns:
        The cycles with coordinates over cycle: ``outlier`` (bool); ``outlier_reason``, such as "knee_flexion moment 0.9
        N m/kg from this subject's median, 12 times the usual distance", "" where there is none; ``distance``, the score
        z, NaN for a cycle without any cycle to compare with.

    Raises:
        InputError: none of the quantities is in these cycles.

    Examples:
        >>> strides = ms.laboratory.cycles(ms.run(ms.data.reference_stride()), "r", without_side=True)
        >>> ms.laboratory.with_outliers(strides)["outlier"].dims
        ('cycle',)
    """
    check_cycles(cycles)
    present = [name for name in JUDGED if name in cycles.data_vars and "percent" in cycles[name].dims]
    if not present:
        raise input_error(
            "bad_result",
            where="cycles",
            problem=f"none of {', '.join(JUDGED)} is in these cycles",
            expected="variables over cycle and percent",
        )
    count = cycles.sizes["cycle"]
    groups, conditions = _groups(cycles)
    labels, units = list[str](), list[str]()
    parts, typical, from_others = list[Array](), list[Array](), list[Array]()
    for name in present:
        cube = cycles[name].transpose("cycle", "percent", ...)
        names = [dim for dim in cube.dims if dim not in ("cycle", "percent")]
        values = np.asarray(cube.values, dtype=float).reshape(count, cycles.sizes["percent"], -1)
        near, far = _distances(values, groups, conditions)
        parts.append(near)
        usual_far = median_of_known(far)
        from_others.append(np.nan_to_num(far / np.where(usual_far > 0.0, usual_far, np.inf)))
        size = np.sqrt(mean_of_known(values**2, (0, 1)))
        typical.append(np.fmax(median_of_known(parts[-1]), LEAST_USUAL * size))
        new = [_label(name, cube, place) for place in np.ndindex(*(cube.sizes[dim] for dim in names))]
        labels += new
        units += [str(cube.attrs.get("units", ""))] * len(new)
    distance, usual = np.concatenate(parts, axis=1), np.concatenate(typical)
    judged = (usual > 0.0) & np.isfinite(distance).any(axis=0)
    score = np.full(distance.shape, np.nan)
    if judged.any():
        power, middle = distance[:, judged] ** POWER, usual[judged] ** POWER
        spread = np.fmax(NORMAL * median_of_known(np.abs(power - middle)), LEAST_SPREAD * middle)
        score[:, judged] = (power - middle) / spread
    greatest = np.where(
        np.isfinite(score).any(axis=1), np.fmax.reduce(score, axis=1, initial=-np.inf), np.nan
    )
    outlier = np.nan_to_num(greatest, nan=-np.inf) > THRESHOLD
    unlike = np.sum([np.sum(far**2, axis=1) for far in from_others], axis=0)
    for group in np.unique(groups[outlier]).tolist():
        rows = np.flatnonzero(groups == group)
        if rows.size % 2 == 0 and 2 * outlier[rows].sum() >= rows.size:
            usual_half = rows[unlike[rows] < np.median(unlike[rows])]
            outlier[usual_half] = False
            greatest[usual_half] = np.fmin(greatest[usual_half], THRESHOLD)
    reasons = [""] * count
    for place in np.flatnonzero(outlier):
        beyond = np.flatnonzero(np.nan_to_num(score[place], nan=-np.inf) > THRESHOLD)
        beyond = beyond[np.argsort(-score[place, beyond])]
        # the farthest of each variable, so that angles, moments and forces can all be seen
        variable = [labels[k].rpartition(" ")[2] for k in beyond]
        named = beyond[[variable.index(key) for key in dict.fromkeys(variable)]]
        words = [
            _words(labels[k], distance[place, k], units[k], distance[place, k] / usual[k]) for k in named
        ]
        others = beyond.size - named.size
        more = [f"{others} more {'quantity' if others == 1 else 'quantities'}"] if others else []
        reasons[place] = "; ".join([*words, *more])
    about = f"robust score of the distance from the subject's own median; outliers are above {THRESHOLD:g}"
    return cycles.assign_coords(
        outlier=("cycle", outlier),
        outlier_reason=("cycle", np.array(reasons, dtype=np.str_)),
        distance=("cycle", greatest, {"units": "1", "long_name": about, "threshold": THRESHOLD}),
    )


def _groups(cycles: xr.Dataset) -> tuple[Indices, Indices]:
    """Number of the comparison group of each cycle, and number of its condition, (C,) each."""
    count = cycles.sizes["cycle"]

    def column(name: str) -> list[str]:
        return [str(value) for value in cycles[name].values] if name in cycles.coords else [""] * count

    def numbers(*names: str) -> Indices:
        keys = list(zip(*map(column, names), strict=True))
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        return np.array([places[key] for key in keys], dtype=np.intp)

    persons = numbers("subject", "condition", "cycle_movement")
    legs = numbers("subject", "condition", "cycle_movement", "cycle_side")
    # a person one of whose legs has a single cycle is compared with both legs
    alone = np.bincount(legs)[legs] < 2
    together = np.isin(persons, persons[alone])
    groups = np.where(together, legs.max(initial=0) + 1 + persons, legs)
    return np.unique(groups, return_inverse=True)[1], numbers("condition", "cycle_movement")


def _distances(values: Array, groups: Indices, conditions: Indices) -> tuple[Array, Array]:
    """Root mean square distances (C, K) of curves (C, P, K) from the median of their group and of their condition.

    The distance in a group of n is divided by sqrt(1 - 1/n); NaN for a group of one, or without common percentages.
    """
    members = [np.flatnonzero(groups == group) for group in range(groups.max(initial=-1) + 1)]
    medians = np.stack([median_of_known(values[rows]) for rows in members]) if members else values[:0]
    of_condition = np.array([conditions[rows[0]] for rows in members], dtype=np.intp)
    every = {
        name: median_of_known(medians[of_condition == name]) for name in np.unique(of_condition).tolist()
    }
    within, others = (np.full((values.shape[0], values.shape[2]), np.nan) for _ in range(2))
    for rows, condition, median in zip(members, of_condition.tolist(), medians, strict=True):
        for target, reference, n in ((within, median, rows.size), (others, every[condition], np.inf)):
            if n > 1:
                apart = (values[rows] - reference) ** 2
                common = np.isfinite(apart).mean(axis=1) >= COMMON
                target[rows] = np.where(common, np.sqrt(mean_of_known(apart, 1) / (1.0 - 1.0 / n)), np.nan)
    return within, others


def _label(name: str, cube: xr.DataArray, place: tuple[int, ...]) -> str:
    """Name of a curve in words: "knee_flexion moment"; a ground force is named by its direction."""
    dims = [str(dim) for dim in cube.dims if dim not in ("cycle", "percent")]
    parts = [str(cube[dim].values[k]) for dim, k in zip(dims, place, strict=True)]
    words = [
        AXIS_WORDS.get(part, part) if dim == "axis" else part for dim, part in zip(dims, parts, strict=True)
    ]
    return " ".join([*words, said_of(name)])


def _words(label: str, size: float, unit: str, times: float) -> str:
    """Describe the deviation of a quantity, in its unit and in usual distances."""
    shown, called = (np.degrees(size), "degrees") if unit == "rad" else (size, unit)
    return f"{label} {shown:.2g} {called} from this subject's median, {times:.0f} times the usual distance"
