"""Comparison of each subject of a study with the others: wrong units, signs, legs or masses; unusual subjects.

x_skp is the mean curve k of subject s at percentage p in one condition, m its pointwise median over the subjects.

**Errors** are faults that one transform explains: the curve of the subject lies far outside the curves of all others,
and the transformed curve is like them. The rules use medians, and hold while fewer than half of the subjects have
faults.

- Unit: the size of a subject is r_s = median over k of ln(rms_p x_sk / median over the subjects of it), with the
  spread sigma = 1.4826 median |r|, at least 0.15. A unit is wrong if |r_s| > max(6 sigma, ln 5) and r_s is within
  ln 3 of a factor of ``unit_factors.toml``; of no factor, it is a warning. The centers are taken over all groups: no
  two groups of people differ fivefold in the size of all their moments, and a group written in N mm is seen.
- Mass: over a cycle that repeats itself the mean vertical ground force is the body weight, however fast the subject
  moves. The mass is wrong if its logarithm is more than 6 spreads, at least 0.05 each, from the median, within 0.25
  of ln 2.2046 (lb) or of its inverse, and the moments, if there are any, are off by the same factor within ln 2.
- Sign and sides: D(y) = sqrt(mean over k of mean_p (y_kp - m_kp)^2 / mean_p m_kp^2) is the distance of a curve, or of
  all curves of a quantity, from the median. Reversed curves are y = -x; of exchanged legs, y is x half a cycle later.
  The fault is there if D(x) > 2.5 D_u and D(y) < 1.5 D_u, where D_u is the greatest distance of the subjects whom the
  identity explains best. Centers are taken over the subject's own group if it has `OWN_GROUP` subjects, else of all.

**Warnings** say that a subject without error is unusual within its own group and condition. By leave-one-out,

    t_sk^2 = mean_p (x_sk - mean_-s)^2 / (mean_p var_-s (1 + 1/(n-1))).

For a number of the cycles, or the size r_s of all curves of a quantity, t is Student's with n - 2 degrees of freedom;
the score of a curve is beyond a value less often, as its square is a weighted mean of squares. A subject is unusual
beyond the quantile at `LEVEL` of a study, divided by the number of tests, and not below `LEAST_T`, since persons have
heavier tails than the normal distribution. With few subjects the quantile rises by itself; `ComparedSubjects.said`
states it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import Any

import numpy as np
import xarray as xr

from musclesolve._util.arrays import Array, Indices, grouped, mean_of_known, median_of_known
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve._util.messages import enumerated
from musclesolve.constants import STANDARD_GRAVITY, USUAL_MASS
from musclesolve.laboratory.results.cycles.gait_cycles import PERCENT, SPREAD, curves_of
from musclesolve.laboratory.results.cycles.outliers import JUDGED, NORMAL
from musclesolve.laboratory.results.dataset.quantities import said_of, shown
from musclesolve.laboratory.results.finding import Cost, Finding, Where, finding, sorted_findings
from musclesolve.laboratory.results.movement import RUNNING, WALKING
from musclesolve.studies.study.means import COVERED, WITHIN

FEWEST_SUBJECTS, OWN_GROUP = 3, 4
"""Least number of subjects for a judgement, and for a group to be the reference of its members."""
LARGE, SCORE, NEAR = log(5.0), 6.0, log(3.0)
"""Limits of a unit factor: least size, least size in spreads, and distance from the named factor, which is
that of a weak or strong subject from the median; logarithms."""
LEAST_SPREAD = 0.15
"""Least spread of the logarithm of a size: peak moments of healthy adults differ by 15 % and more."""
POUNDS, NEAR_POUNDS, LEAST_WEIGHT_SPREAD, NEAR_MOMENT = log(2.20462), 0.25, 0.05, log(2.0)
"""Limits of the mean vertical force: ln of lb in a kg, how near to it, least spread by incomplete cycles and weighing,
and how near to the same factor the moments have to be."""
FAR_SUBJECT, LIKE = 2.5, 1.5
"""Distance of a subject as it is, and transformed, in greatest distances of the others."""
HOPELESS = 30.0
"""Distance in standard deviations between subjects that no sound subject reaches."""
MEANINGFUL = 0.05
"""Least size of a curve, in sizes of the largest of its quantity, that is judged by its own size."""
LEVEL = 0.01
"""Probability that a study of sound, normally distributed subjects has a warning."""
LEAST_SD = 0.05
"""Least spread between subjects, of the rms of the curve: below it a difference is small, however rare."""
LEAST_T = 7.0
"""Least distance of an unusual subject, in standard deviations."""


UNNAMED = "subject_outlying.size"
"""Text of a factor without a known unit."""


@dataclass(frozen=True)
class ComparedSubjects:
    """The subjects of a study, each against the others.

    Args:
        findings: errors first; `where` names subject, trials and quantity.
        wrong: (subject, condition) -> error of the subject there.
        said: sentences on the comparison and its limits.
    """

    findings: tuple[Finding, ...] = ()
    wrong: Mapping[tuple[str, str], str] = field(default_factory=dict)
    said: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _Quantity:
    """The mean curves of one quantity, of all subjects in all conditions; or one number of the cycles."""

    name: str
    unit: str
    names: list[str]
    values: Array  # (S, C, P, K) in the unit of the study; P = 1 of a number
    shared: Array  # (S, C, P, K), divided by the mass where the unit is not and all masses are known

    def sizes(self, condition: int) -> Array:
        """Logarithm of the rms (S, K) of the curves that are not small among the curves of the quantity, else NaN."""
        square = mean_of_known(self.shared[:, condition] ** 2, 1)
        with np.errstate(divide="ignore"):
            size = 0.5 * np.log(square)
        size[~np.isfinite(size)] = np.nan
        typical = median_of_known(size)
        if np.isfinite(typical).any():
            size[:, ~(typical >= np.nanmax(typical) + log(MEANINGFUL))] = np.nan
        return size

    def relative_sizes(self, condition: int) -> Array:
        """r_s (S,): ln of the size of each subject over the median of all."""
        size = self.sizes(condition)
        relative = median_of_known((size - median_of_known(size)).T)
        return np.asarray(relative - median_of_known(relative[:, None]))

    def called(self, place: int) -> str:
        """A curve in words: ankle_dorsiflexion moment."""
        return f"{self.names[place]} {said_of(self.name)}".strip()


@dataclass(frozen=True, eq=False)
class _Fault:
    """Fault, or an unusual value, of a subject in a condition."""

    subject: int
    condition: int
    text: str  # of findings.toml
    quantity: _Quantity
    curve: int | None  # its place in the quantity; None: all of them
    values: dict[str, Any]
    t: float = 0.0  # distance in standard deviations of what is usual


def compare_subjects(
    means: xr.Dataset,
    masses: Mapping[str, float] | None = None,
    trials: Mapping[tuple[str, str], Sequence[str]] | None = None,
) -> ComparedSubjects:
    """Compare each subject of a study with the others (module docstring).

    Args:
        means: what `subject_means` returned, of both legs together.
        masses: subject -> body mass [kg], of those who are known; curves in N m and N are compared over the mass where
            all are.
        trials: (subject, condition) -> names of the trials, for the findings.

    Returns:
        Findings and the subjects with errors; for fewer than `FEWEST_SUBJECTS` subjects only differences that two sets
        of units explain.
    """
    masses, trials = masses or {}, trials or {}
    subjects, conditions = ([str(value) for value in means[key].values] for key in ("subject", "condition"))
    groups = np.array([str(value) for value in means["group"].values])
    mass = np.array([masses.get(name, np.nan) for name in subjects], float)
    quantities = list(_quantities(means, mass))
    judged = [quantity for quantity in quantities if quantity.name in JUDGED]
    walks = set(np.atleast_1d(means.attrs.get("movements", []))) <= {WALKING, RUNNING}
    faults, strange = list[_Fault](), list[_Fault]()
    for c in range(len(conditions)):
        for unit in (fault for quantity in judged for fault in _units(quantity, c, mass)):
            (strange if unit.text == UNNAMED else faults).append(unit)
        faults += _mass(judged, c, {fault.subject for fault in faults if fault.condition == c})
        there = {(fault.subject, fault.quantity.name) for fault in faults if fault.condition == c}
        faults += [fault for quantity in judged for fault in _turned(quantity, c, groups, there, walks)]
    split = [fault for kind in judged for c in range(len(conditions)) for fault in _split(kind, c, faults)]
    counts = np.ones((len(subjects), len(conditions)), bool)
    for fault in faults:
        counts[fault.subject, fault.condition] = False
    unusual, said = _unusual(quantities, groups, counts)
    unusual = [*strange, *unusual]
    findings, wrong = list[Finding](), dict[tuple[str, str], str]()
    of_all = [*faults, *split, *unusual]
    alike = grouped(((x.subject, x.text, x.quantity.name if x in faults else ""), x) for x in of_all)
    for several in alike.values():
        first = max(several, key=lambda fault: fault.t)
        subject = subjects[first.subject]
        severity = "warning" if first in unusual else "error"
        which = (
            first.quantity.called(first.curve) if first.curve is not None else said_of(first.quantity.name)
        )
        of = [name for fault in several for name in trials.get((subject, conditions[fault.condition]), ())]
        more = len({(fault.quantity.name, fault.curve) for fault in several}) - 1
        values = {"subject": subject, "quantity": which, "key": "mass_kg", **first.values}
        values["more"] = f" ({more} more of this subject's curves as well)" * bool(more)
        cost = None if first in split else _cost(first, groups, counts)
        where = Where(field=f"subjects.{subject}", subject=subject, trials=tuple(of), quantity=which)
        findings.append(finding(first.text, severity, values, where, cost=cost))  # type: ignore[arg-type]
        if first in faults:
            for fault in several:
                wrong.setdefault((subject, conditions[fault.condition]), findings[-1].what)
    return ComparedSubjects(sorted_findings(findings), wrong, tuple(said))


def _quantities(means: xr.Dataset, mass: Array) -> Iterator[_Quantity]:
    """All curves and numbers of the cycles, without spreads within subjects."""
    order = ("subject", "condition", PERCENT)
    for name, variable in means.data_vars.items():
        if name == "cycles" or str(name).endswith((WITHIN, SPREAD)):
            continue
        unit = str(variable.attrs.get("units", ""))
        if PERCENT in variable.dims:
            curves = list(curves_of(variable))
            values = np.stack([curve.transpose(*order).values.astype(float) for _, curve in curves], -1)
            names = [label for label, _ in curves]
        elif variable.dims == order[:2]:
            values, names = variable.values.astype(float)[:, :, None, None], [""]
        else:
            continue
        covered = np.isfinite(values).mean(axis=2, keepdims=True) >= COVERED
        values = np.where(covered, values, np.nan)
        by = mass if unit in ("N m", "N", "W") and np.isfinite(mass).all() else np.ones(mass.size)
        yield _Quantity(str(name), unit, names, values, values / by[:, None, None, None])


def _units(quantity: _Quantity, condition: int, mass: Array) -> Iterator[_Fault]:
    """Subjects the size of whose curves is off by the factor of a unit."""
    r = quantity.relative_sizes(condition)
    rows = np.flatnonzero(np.isfinite(r))
    if rows.size < FEWEST_SUBJECTS:
        return
    far = np.abs(r[rows]) > max(SCORE * max(NORMAL * np.median(np.abs(r[rows])), LEAST_SPREAD), LARGE)
    others = r[rows][~far]
    for s in rows[far].tolist():
        words, factor = _named(quantity.name, float(r[s]), float(mass[s]))
        values: dict[str, Any] = {"factor": exp(r[s]), "named": factor, "words": words, "others": others.size}
        values |= {"least": exp(others.min()), "most": exp(others.max())}
        text = f"subject_scale.{quantity.name}" if words else UNNAMED
        yield _Fault(s, condition, text, quantity, None, values, np.inf)


def _named(variable: str, size: float, mass: float) -> tuple[str, str]:
    """Words and value of the unit factor that is nearest to a size, exp(size); "" where none is near."""
    known = mass if np.isfinite(mass) else USUAL_MASS
    near = list[tuple[float, str, str]]()
    for row in bundled_toml("musclesolve.studies.study", "unit_factors.toml").get(variable, ()):
        by = {"mass": known, "weight": known * STANDARD_GRAVITY}.get(row.get("over", ""), 1.0)
        factor = log(row["value"] / by)
        for sign, words in ((1.0, row["words"]), (-1.0, row.get("inverse", ""))):
            if words:
                size_of = exp(abs(factor))
                shown_as = f"{size_of:.3g}" if sign * factor > 0.0 else f"1/{size_of:.3g}"
                near.append((abs(size - sign * factor), words, shown_as))
    apart, words, factor_text = min(near, default=(np.inf, "", ""))
    return (words, factor_text) if apart <= NEAR else ("", "")


def _split(quantity: _Quantity, condition: int, faults: Sequence[_Fault]) -> Iterator[_Fault]:
    """Two sets of subjects who differ by the factor of a unit, of which neither is the smaller one."""
    r = quantity.relative_sizes(condition)
    rows = np.flatnonzero(np.isfinite(r))
    flagged = {fault.subject for fault in faults if fault.condition == condition}
    if rows.size < 2 or flagged & set(rows.tolist()):
        return
    order = rows[np.argsort(r[rows])]
    gaps = np.diff(r[order])
    place = int(np.argmax(gaps))
    words, factor = _named(quantity.name, -float(gaps[place]), np.nan)
    if gaps[place] > LARGE and words and 2 * (place + 1) == order.size:
        values = {"count": place + 1, "others": order.size - place - 1, "named": factor, "words": words}
        yield _Fault(int(order[place]), condition, "subjects_split", quantity, None, values)


def _mass(judged: Sequence[_Quantity], condition: int, flagged: set[int]) -> Iterator[_Fault]:
    """Subjects whose mean vertical force fits a mass in pounds."""
    by_name = {quantity.name: quantity for quantity in judged}
    force, moment = by_name.get("ground_reaction_force"), by_name.get("joint_moment")
    vertical = [] if force is None else [k for k, name in enumerate(force.names) if name.endswith("z")]
    if force is None or len(vertical) != 1:
        return
    with np.errstate(divide="ignore", invalid="ignore"):
        weight = np.log(mean_of_known(force.shared[:, condition, :, vertical[0]], 1))
    weight[~np.isfinite(weight)] = np.nan
    weight -= median_of_known(weight[:, None])
    rows = np.flatnonzero(np.isfinite(weight))
    if rows.size < FEWEST_SUBJECTS:
        return
    spread = max(NORMAL * float(np.median(np.abs(weight[rows]))), LEAST_WEIGHT_SPREAD)
    size = np.full(weight.size, np.nan) if moment is None else moment.relative_sizes(condition)
    for s in set(rows.tolist()) - flagged:
        w = float(weight[s])
        pounds = abs(w) > SCORE * spread and abs(abs(w) - POUNDS) < NEAR_POUNDS
        if pounds and not abs(size[s] - w) > NEAR_MOMENT:
            words = "in lb instead of kg" if w < 0.0 else "multiplied by 0.4536, as if it were in lb"
            values = {"factor": exp(w), "named": f"{exp(POUNDS * np.sign(w)):.2f}", "words": words}
            values |= {"others": rows.size - 1}
            yield _Fault(s, condition, "subject_mass", force, vertical[0], values)


def _turned(
    quantity: _Quantity, condition: int, groups: Any, there: set[tuple[int, str]], walks: bool
) -> Iterator[_Fault]:
    """Subjects whose curves equal the others' with the other sign, or half a cycle later."""
    values = quantity.shared[:, condition]
    present = np.isfinite(values).any(axis=(1, 2))
    sizes = quantity.sizes(condition)
    meaningful = np.flatnonzero(np.isfinite(sizes).any(axis=0))
    for group in np.unique(groups[present]).tolist():
        members = np.flatnonzero(present & (groups == group))
        rows = members if members.size >= OWN_GROUP else np.flatnonzero(present)
        if rows.size < FEWEST_SUBJECTS or not meaningful.size:
            continue
        whole = _reversed(values[rows][:, :, meaningful], walks)
        single = {k: _reversed(values[rows][:, :, [k]], walks) for k in meaningful.tolist()}
        for place, s in enumerate(rows.tolist()):
            if s not in members or (s, quantity.name) in there:
                continue
            turns: list[tuple[int | None, tuple[str, float, float]]] = [
                (k, of[place]) for k, of in [(None, whole), *single.items()] if place in of
            ]
            for k, (turn, apart, usual) in turns[:1] if place in whole else turns:
                numbers = {"apart": apart, "usual": usual, "others": rows.size - 1}
                name = f"subject_sign.{quantity.name}" if turn == "sign" else "subject_sides"
                yield _Fault(s, condition, name, quantity, k, numbers)


def _reversed(curves: Array, walks: bool) -> dict[int, tuple[str, float, float]]:
    """Row of curves (n, P, K) -> the transform that explains it, distance from the median, greatest usual one."""
    middle = median_of_known(curves)
    whole = np.isfinite(middle).all(axis=1)
    size = np.sqrt(np.nansum(middle**2, axis=1).mean())
    turns = {"": curves, "sign": -curves}
    if walks and whole.all():
        half = (np.arange(curves.shape[1] - 1) + (curves.shape[1] - 1) // 2) % (curves.shape[1] - 1)
        turns["sides"] = curves[:, np.append(half, half[0])]
    squares = np.stack([np.nansum(mean_of_known((y - middle) ** 2, 1), axis=-1) for y in turns.values()])
    apart = np.sqrt(squares) / size if size > 0.0 else np.full(squares.shape, np.nan)
    best = np.argmin(np.where(np.isfinite(apart), apart, np.inf), axis=0)
    if 2 * np.count_nonzero(best) >= len(curves):
        return {}
    usual = float(apart[0, best == 0].max())
    faulty = (best > 0) & (apart[0] > FAR_SUBJECT * usual) & (apart.min(axis=0) < LIKE * usual)
    return {s: (list(turns)[best[s]], float(apart[0, s]), usual) for s in np.flatnonzero(faulty).tolist()}


def _unusual(quantities: Sequence[_Quantity], groups: Any, counts: Any) -> tuple[list[_Fault], list[str]]:
    """Find subjects who are far from the others of their group and condition, and the limit of this distance."""
    from scipy import stats  # slow to load

    tests = [
        test
        for quantity in quantities
        for c in range(counts.shape[1])
        for group in np.unique(groups).tolist()
        for test in _tests(quantity, c, np.flatnonzero((groups == group) & counts[:, c]))
    ]
    sizes = sorted({int(test.values["others"]) + 1 for test in tests})
    level = 0.5 * LEVEL / max(len(tests), 1)
    limits = {n: max(float(stats.t.isf(level, n - 2)), LEAST_T) for n in sizes}
    beyond = [test for test in tests if test.t > limits[int(test.values["others"]) + 1]]
    apart = {n: limits[n] * float(np.sqrt(1.0 + 1.0 / (n - 1))) for n in sizes}
    hopeless = [f"{n}" for n in sizes if apart[n] >= HOPELESS]
    said = [
        f"a group of {n}: a subject is unusual whose distance from the mean is {apart[n]:.2g} or more times the "
        "standard deviation between subjects"
        for n in sizes
        if apart[n] < HOPELESS
    ]
    if hopeless:
        said.append(
            f"a group of {enumerated(hopeless, 'or')} is too small to find an unusual subject: only units, signs, legs "
            "and masses are judged"
        )
    return beyond, said


def _tests(quantity: _Quantity, condition: int, rows: Indices) -> Iterator[_Fault]:
    """Subjects of one group, each against the others, with the t of each curve or number."""
    values = quantity.shared[rows, condition]
    curves = list[tuple[int | None, Array, bool]]()  # place, (n, P), whether they are logarithms
    if values.shape[1] == 1:
        numbers = values[:, :, 0]
        positive = bool((numbers[np.isfinite(numbers)] > 0.0).all())
        curves.append((0, np.log(numbers) if positive else numbers, positive))
    else:
        if quantity.name in JUDGED:
            meaningful = np.flatnonzero(np.isfinite(quantity.sizes(condition)).any(axis=0))
            curves += [(k, values[:, :, k], False) for k in meaningful.tolist()]
        if quantity.name != "joint_angle":  # the size of an angle depends on its zero
            curves.append((None, quantity.relative_sizes(condition)[rows, None], True))
    for k, curve, logarithms in curves:
        present = np.flatnonzero(np.isfinite(curve).any(axis=1))
        x = curve[present][:, np.isfinite(curve[present]).all(axis=0)]
        n = present.size
        if n < FEWEST_SUBJECTS or x.shape[1] < COVERED * curve.shape[1] or not x.any():
            continue
        # mean and variance of the others, for all subjects at once
        middle = (x.sum(axis=0) - x) / (n - 1)
        square = ((x**2).sum(axis=0) - x**2 - (n - 1) * middle**2) / (n - 2)
        least = LEAST_SD * (1.0 if logarithms else float(np.sqrt((x**2).mean())))
        spread = np.sqrt(np.maximum(square.mean(axis=1), least**2))
        times = np.sqrt(((x - middle) ** 2).mean(axis=1)) / spread
        for place, row in enumerate(present.tolist()):
            numbers_of = {"others": n - 1, "times": float(times[place])}
            t = float(times[place] / np.sqrt(1.0 + 1.0 / (n - 1)))
            yield _Fault(int(rows[row]), condition, "subject_outlying", quantity, k, numbers_of, t)


def _cost(fault: _Fault, groups: Any, counts: Any) -> Cost | None:
    """The largest change of the group's mean curve by a subject, in the unit of the curve."""
    quantity, s, c = fault.quantity, fault.subject, fault.condition
    values = quantity.values[:, c]
    others = (groups == groups[s]) & counts[:, c] & (np.arange(len(groups)) != s)
    if not np.isfinite(values[others]).any():
        return None
    change = np.abs(
        mean_of_known(values[others | (np.arange(len(groups)) == s)]) - mean_of_known(values[others])
    )
    change = change if fault.curve is None else change[:, [fault.curve]]
    if not np.isfinite(change).any():
        return None
    places = np.unravel_index(int(np.nanargmax(change)), change.shape)
    factor, unit = shown(quantity.unit)
    curve = quantity.called(int(places[1]) if fault.curve is None else fault.curve)
    return Cost(factor * float(change[places]), unit, f"the mean {curve}")
