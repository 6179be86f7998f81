"""Is every column of a file of moments the moment of its coordinate?

With the projection P onto forces that no wrench on the feet makes (`given_moments.surplus`), moments tau are

    P tau = P (s tau_0 + sum_i b_i tau_i + e) + theta P x,

s is the mass of the moments over the mass of the model, tau_i are what other masses of its segments, another center of
the trunk and a delay would change, with normal priors of b_i, and e is the rest. A fault adds theta x to the moments:

    a scale, of one side or both, in a part of the time      x = tau_k
    a constant, a drift                                      x = 1, x = t
    another moment in the column                             x = tau_j
    a delay of one leg, or of one column                     x = -d tau_k / dt
    two exchanged columns, or both legs from a time on       x = tau_k - tau_j in k, the opposite in j

Each hypothesis explains a share R of what is left; F = R / (1 - R) N with N the number of errors that are independent,
the rank of P once in each `MEMORY`. The one with the greatest R has the name of the fault, theta is its size, and the
next one is sought in what it leaves. A model with other arms and knees than the model of the moments errs in the gains
of both sides of a column, by a tenth: first great faults are sought without these errors, then all faults beside them.
Sound strides and parts of them have F of up to 27 without these errors, and of up to 9 with them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations, permutations

import numpy as np

from musclesolve._util.arrays import Array, true_runs, within
from musclesolve._util.messages import few
from musclesolve._util.sides import SIDE_NAMES, SIDES, has_side, side_of, split_side, twin
from musclesolve.dynamics.kinematics.low_pass import f90
from musclesolve.laboratory.checks.files.times_units_axes import LOWEST_RATE_HZ
from musclesolve.laboratory.checks.forces.newtons_law import SERIOUS, SMALLEST_S, shift_values
from musclesolve.laboratory.checks.forces.plate_zero_and_saturation import step_of, white_noise
from musclesolve.laboratory.checks.model.given_moments import (
    FITS,
    LEAST_MOMENT_RMS,
    SHOWN,
    Added,
    MomentCase,
    Surplus,
    surplus,
)
from musclesolve.laboratory.checks.model.load_units_and_axes import exceeds
from musclesolve.laboratory.checks.model.model_case import FEWEST_FRAMES, standard_errors
from musclesolve.laboratory.checks.model.posture import (
    ANGLES,
    STRIDE,
    held_stretches,
    rate_of_lines,
    repeated_rows,
    walks,
)
from musclesolve.laboratory.results.finding import Finding, error_if

EVIDENCE, EVIDENCE_OF_SIDES = 14.0, 40.0
"""F from which a hypothesis is no chance and no error of the model, and the same where gains of both sides of a column
are no errors. Sound files have up to 9, and up to 27."""
MOST_FAULTS, FEW = 4, 2
"""Most corrections of one file, and most groups of columns that have names of their own: a wrong motion needs more."""
STRETCH, STRETCH_STEP = 0.25, 0.05
"""Shortest part of the time that may have another scale, and the step between beginnings [s]."""
GAIN, LEAK, OFFSET, CHANGE = 1.2, 0.12, 6.0, 2.0
"""Factor, share of another moment, constant and rms of any change [N m] below which a column counts as sound, whatever
the evidence: other knees and arms of a model change single moments by up to 1.8 N m rms."""
LEAST = {"gain": 0.1, "leak": LEAK, "offset": OFFSET, "drift": 2.0 * OFFSET, "late": SMALLEST_S}
"""Kind of a fault -> size below which it is none."""
EXCHANGED = 0.7, 1.3
"""Size of an exchange that is one; no more of another moment is in a column."""
NOTHING, REVERSED = 0.8, 1.4
"""Share of a moment that is wrong from which it is unlike the moment needed, and from which it is reversed."""
CODES = {
    "gain": "moment_scale",
    "offset": "moment_offset",
    "drift": "moment_offset.drift",
    "leak": "moment_unlike.leak",
    "exchange": "columns_exchanged.moments",
    "sides": "sides_swapped.moments_later",
    "late": "time_offset.leg",
}
"""Kind of a fault -> its finding."""
REST = 0.3
"""Share of the change by another fault of the same column below which a fault is what this one leaves."""
PART = 0.1
"""Further share of what is left that a fault of a part of the time must explain."""
EQUAL = 1e-6
"""Difference of what two faults explain below which both explain the same: beside a factor of the whole time, factors
until and from a time do, and beside that of a column those of its twin and of both. The last of `hypotheses` counts,
not the last digits."""
CUT = 4, 5.0
"""Steps during which a moment keeps its greatest value where its peak is cut, and the change beside them over the
rounding."""
UNSURE = 0.05
"""Standard error of a size, as a share: errors of the model grow with the moments that the fault changed. Planted
gains are off by up to 0.07."""
NOISE = 2.0
"""White noise of the moment of a joint [N m rms]; sound files have up to 0.12."""
LOWEST_F90 = 3.7
"""Least f90 of the rates of moments of a walking person, as the mean of the columns [Hz]: public files have 4.9 to 6.0,
filtered at 6 Hz 4.5 to 5.0, at 3 Hz or averaged over 0.15 s 3.0 to 3.6."""


def held_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments that keep exactly one value or rate for a part of the motion, and rows that are no samples."""
    table, shared = case.table, {f"{name}_moment" for name in case.body.dofs}
    columns = [k for k, name in enumerate(table.names) if name in shared]
    inside = within(table.time, *case.body.time[[0, -1]])
    if inside.sum() < FEWEST_FRAMES:
        return
    names = [table.names[k] for k in columns]
    size = np.nanmax(np.abs(table.values[:, columns]), axis=0, initial=0.0) > LEAST_MOMENT_RMS
    time, moments = table.time[inside], table.values[inside][:, columns]
    if (sampled := rate_of_lines(moments, time)) < LOWEST_RATE_HZ:
        of_lines = {"recording": "moments", "rate": sampled, "needed": LOWEST_RATE_HZ}
        yield case.fault("low_rate.lines", "warning", of_lines)
    step, name = max((step_of(moment), name) for name, moment in zip(names, moments.T, strict=True))
    if step >= NOISE:
        rounded = {"name": name, "step": step, "unit": "N m"}
        yield case.fault("noise.steps", error_if(step > SERIOUS * case.fixed.model.mass), rounded)
        return
    if repeated := list(repeated_rows(moments, time, "moments", case.where)):
        yield from repeated
        return
    for name, begin, end, value, rate in held_stretches(moments, time, names):
        k = names.index(name)
        if size[k] and _is_apart(time, moments[:, k], begin, end, rate):
            keeps = "lies on a straight line" if rate else f"is exactly {value + 0.0:.3g} N m"
            said = {"name": name.removesuffix("_moment"), "first": begin, "last": end, "keeps": keeps}
            yield case.fault("moment_zero.stretch", error_if(not rate), said, times=((begin, end),))
    for name, moment in zip(names, moments.T, strict=True):
        steps = np.nan_to_num(np.abs(np.diff(moment)))
        rounding = float(steps.min(where=steps > 0.0, initial=np.inf))
        for most in (np.fmax.reduce(moment), np.fmin.reduce(moment)):
            for first, stop in true_runs(moment == most):
                beside = min([steps[k] for k in (first - 1, stop - 1) if 0 <= k < len(steps)], default=0.0)
                if stop - first > CUT[0] and beside > CUT[1] * rounding and abs(most) > LEAST_MOMENT_RMS:
                    begin, end = time[[first, stop - 1]]
                    said = {"name": name.removesuffix("_moment"), "first": begin, "last": end, "value": most}
                    yield case.fault("moment_unlike.cut", "warning", said, times=((begin, end),))


def _is_apart(time: Array, moment: Array, first: float, last: float, rate: float) -> bool:
    """Return whether a stretch of a moment (T,) is no effect of rounding, nor of a moment that vanishes.

    Rounded moments keep a value where they are small or change slowly. In flight they vanish smoothly, and jump where
    the foot lands.
    """
    steps = np.nan_to_num(np.abs(np.diff(moment)))  # beside a gap as at the ends
    moved = steps[steps > 0.0]
    least, usual = CUT[1] * float(moved.min()), float(np.median(moved))
    begin, stop = np.searchsorted(time, [first - 1e-9, last - 1e-9])
    if rate:
        return bool(np.median(steps[begin:stop]) > least)
    before, after = (steps[k] if 0 <= k < len(steps) else 0.0 for k in (begin - 1, stop))
    value = abs(moment[begin])
    vanishes = begin > 0 and max(before, value) <= least
    moves = usual > least and (max(before, after) > least or value > LEAST_MOMENT_RMS)
    return bool(before > max(least, usual) or (moves and not vanishes))


def copied_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns that are copies of each other, of either sign."""
    table = case.table
    values = {name: table[f"{name}_moment"] for name in case.body.dofs if f"{name}_moment" in table.names}
    pairs = []
    for one, two in combinations(values, 2):
        size = float(np.nanmax(np.abs(values[two]), initial=0.0))
        apart = min(np.fmax.reduce(np.abs(values[two] - sign * values[one])) for sign in (1.0, -1.0))
        if size > LEAST_MOMENT_RMS and apart < 1e-6 * size:
            pairs.append(f"{one} and {two}")
    if pairs:
        yield case.fault("moment_copied", "error", {"pairs": few(pairs, 4)})


@dataclass(frozen=True, eq=False)
class Hypothesis:
    """A fault of columns, before or after a time [s], or always.

    number: the places of all columns. of: the columns whose moments they contain. when: of a drift, its ends.
    """

    kind: str
    number: Mapping[str, int]
    names: tuple[str, ...]
    of: tuple[str, ...] = ()
    when: tuple[float, float] = (-np.inf, np.inf)

    @property
    def in_part(self) -> bool:
        """Whether the fault begins or ends within the motion."""
        return int(np.isinf(self.when).sum()) == 1

    def is_same(self, other: "Hypothesis") -> bool:
        """Whether both are of whole legs, or one fault of a part of the time, from or until about the same time."""
        if min(len(self.names), len(other.names)) > 2:
            return True  # beside another mass a factor of one leg is one of the other leg, too
        near = any(abs(one - two) < STRETCH for one, two in zip(self.when, other.when, strict=True))
        return self.in_part and self.names == other.names and near

    def near(self, time: Array) -> "Iterator[Hypothesis]":
        """Yield the same fault from or until each of the times (F,) within a step."""
        for at in time[np.abs(time - min(self.when, key=abs)) < STRETCH_STEP]:
            begin, end = self.when
            yield replace(self, when=(begin, float(at)) if np.isinf(begin) else (float(at), end))

    def added(self, time: Array, moments: Array) -> Array:
        """Return what the fault adds to moments (T, R) at times (T,), in its unit of size."""
        columns, others = ([self.number[name] for name in names] for names in (self.names, self.of))
        change, (begin, end) = np.zeros_like(moments), self.when
        if self.kind in ("offset", "drift"):
            change[:, columns] = (time[:, None] - begin) / (end - begin) if self.kind == "drift" else 1.0
            return change
        if self.kind == "late":
            change[:, columns] = -np.gradient(moments[:, columns], time, axis=0)
            return change
        change[:, columns] = 0.0 if self.kind == "leak" else moments[:, columns]
        if self.of:
            change[:, columns] += moments[:, others] if self.kind == "leak" else -moments[:, others]
        return np.where(((time >= begin) & (time < end))[:, None], change, 0.0)

    def repaired(self, size: float) -> tuple[Added, float]:
        """Return what is added, and how much of it a repair takes away: of an exchange all."""
        return self.added, 1.0 if self.kind in ("exchange", "sides") else size

    def admits(self, size: float) -> bool:
        """Return whether a fault of this kind has this size."""
        if self.kind == "gain":
            return not 1.0 / GAIN < 1.0 - size < GAIN
        if self.kind in ("exchange", "sides"):
            return EXCHANGED[0] < size < EXCHANGED[1]
        return abs(size) > LEAST[self.kind] and (self.kind != "leak" or abs(size) < EXCHANGED[1])


def hypotheses(number: Mapping[str, int], legs: list[str], time: Array) -> Iterator[Hypothesis]:
    """Faults of the columns of the legs, among all columns, at times (F,)."""
    first, last = float(time[0]), float(time[-1])
    times = np.arange(first + STRETCH, last - STRETCH, STRETCH_STEP)
    both = [(name, twin(name)) for name in legs if name < twin(name) and twin(name) in legs]
    sides = [tuple(name for name in legs if split_side(name)[1] == side) for side in SIDES]
    for group in (*sides, *both, *((name,) for name in legs)):
        yield Hypothesis("gain", number, group)
    yield from (Hypothesis("late", number, names) for names in (*sides, *((name,) for name in legs)))
    yield from (Hypothesis("offset", number, pair) for pair in both)
    for name in legs:
        for when in times:
            yield Hypothesis("gain", number, (name,), when=(-np.inf, when))
            yield Hypothesis("gain", number, (name,), when=(when, np.inf))
        yield Hypothesis("offset", number, (name,))
        yield Hypothesis("drift", number, (name,), when=(first, last))
    for one, two in permutations(legs, 2):
        yield Hypothesis("leak", number, (one,), (two,))
    for one, two in combinations(legs, 2):
        yield Hypothesis("exchange", number, (one, two), (two, one))
    twins = tuple(map(twin, legs))
    for when in times if {*twins} == {*legs} else ():
        yield Hypothesis("sides", number, tuple(legs), twins, (when, np.inf))


def columns_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find columns that are exchanged or mixed, of another scale or sign, with an offset, or unlike the moment due."""
    spoiled = case.found("moment_zero", "moment_copied", "over_filtered", "frames_repeated", "noise")
    if spoiled or not case.shows_columns or (seen := surplus(case)) is None:
        return
    legs = [name for name in case.names if has_side(name) and name in seen.columns]
    number = {name: k for k, name in enumerate(seen.columns)}
    tried = list(hypotheses(number, legs, seen.time))
    faults = _faults_of(seen, tried)
    if sooner := [near for fault, *_ in faults if fault.in_part for near in fault.near(seen.time)]:
        faults = _faults_of(seen, [*tried, *sooner])
    mended = seen.without([fault.repaired(size) for fault, size, _ in faults])(case.table)
    if not faults or (left := surplus(replace(case, table=mended))) is None or left.rest > FITS:
        return  # no fault of columns makes them moments of this motion
    # errors of a model have more weight in a part of a stride
    part = max(1.0, STRIDE / max(case.common, 1e-9))
    faults = [f for f in faults if exceeds(f[1], part * LEAST.get(f[0].kind, 0.0), f[2])]
    count = Counter(name for fault, *_ in faults for name in fault.names)
    few_faults = len({fault.names for fault, *_ in faults}) <= FEW
    if case.found("angle_offset", "angle_scale"):  # wrong angles need other moments, as if moments were mixed
        faults = [f for f in faults if f[0].kind != "leak"]
    for fault, size, error in faults:
        if few_faults and all(count[name] == 1 for name in fault.names):
            yield _named(case, seen, fault, size, error)
    unlike = [(name,) for name in count if count[name] > 1] if few_faults else [tuple(count)]
    for names in unlike:
        sizes = [fault.repaired(size) for fault, size, _ in faults if {*names} & {*fault.names}]
        change = np.sum([size * added(seen.time, seen.moments) for added, size in sizes], axis=0)
        rms = float(np.sqrt(np.mean(change[:, [number[name] for name in names]] ** 2)))
        said = {"names": " and of ".join(names), "rms": rms}
        yield case.fault("moment_unlike", "warning", said, seen.without(sizes))


def _faults_of(seen: Surplus, tried: list[Hypothesis]) -> list[tuple[Hypothesis, float, float]]:
    """Return the faults that explain what is left, with their sizes and standard errors; none if much stays left."""
    added = np.stack([fault.added(seen.time, seen.moments) for fault in tried], axis=2)
    in_part, chosen = np.array([fault.in_part for fault in tried]), list[int]()
    unit = np.linalg.norm(added, axis=(0, 1)) / np.sqrt(len(seen.time))  # rms [N m] at a size of 1
    other = np.ones(len(tried), bool)  # than the faults found
    moments, added = seen.of(seen.moments[:, :, None]), seen.of(added)
    for space, evidence in ((seen.of_sides, EVIDENCE_OF_SIDES), (seen, EVIDENCE)):
        patterns, rest = space.left(added), space.left(moments)[:, 0]
        whole = (patterns**2).sum(axis=0)
        for _ in range(MOST_FAULTS - len(chosen)):
            basis = np.linalg.qr(patterns[:, chosen])[0]
            others, left = patterns - basis @ (basis.T @ patterns), rest - basis @ (basis.T @ rest)
            power = np.maximum((others**2).sum(axis=0), 1e-9)
            size = others.T @ left / power
            share = size**2 * power / float(left @ left)
            fair = np.array([fault.admits(float(gain)) for fault, gain in zip(tried, size, strict=True)])
            fair &= other & (power > SHOWN * whole) & (np.abs(size) * unit > CHANGE)
            fair &= share * seen.count > evidence * (1.0 - share)
            if not fair.any():
                break
            worth = np.where(fair, share - PART * in_part, -1.0)
            chosen.append(int(np.flatnonzero(worth > worth.max() - EQUAL)[-1]))
            other &= [not tried[chosen[-1]].is_same(fault) for fault in tried]
    sizes = np.linalg.lstsq(patterns[:, chosen], rest, rcond=None)[0]
    change = dict(zip(chosen, np.abs(sizes) * unit[chosen], strict=True))
    # a small fault of a column is what a great one leaves
    for one in [*chosen]:
        beside = [two for two in chosen if {*tried[one].names} & {*tried[two].names}]
        if change[one] < REST * max(change[two] for two in beside):
            chosen.remove(one)
    sizes = np.linalg.lstsq(patterns[:, chosen], rest, rcond=None)[0]
    if not chosen:
        return []
    left = rest - patterns[:, chosen] @ sizes
    apart = seen.of_sides.left(np.concatenate([moments, added[:, :, chosen]], axis=2))
    remains = apart[:, 0] - apart[:, 1:] @ np.linalg.lstsq(apart[:, 1:], apart[:, 0], rcond=None)[0]
    shape = len(seen.time), seen.beyond.shape[1], len(chosen)
    used = slice(0, shape[0] * shape[1])
    of_columns, of_both = (
        standard_errors(shown[used].reshape(shape), rest[used].reshape(shape[:2]), seen.memory)[1]
        for shown, rest in ((patterns[:, chosen], left), (apart[:, 1:], remains))
    )
    # the gain of both sides of a column is an error of the model otherwise
    errors = np.where(
        [tried[k].kind == "gain" and len(tried[k].names) == 2 for k in chosen], of_both, of_columns
    )
    return [
        (tried[k], float(size), float(np.hypot(error, UNSURE * size)))
        for k, size, error in zip(chosen, sizes, errors, strict=True)
    ]


def _named(case: MomentCase, seen: Surplus, fault: Hypothesis, size: float, error: float) -> Finding:
    """The finding of one fault of a size, with its standard error."""
    factor = 1.0 / (1.0 - size) if fault.kind == "gain" else 1.0
    begin, end = np.clip(fault.when, *seen.time[[0, -1]])
    said: dict[str, object] = {"size": size, "factor": factor, "other": fault.of[-1] if fault.of else ""}
    said |= {"names": (" and of " if fault.kind == "gain" else " and ").join(fault.names)}
    said |= {"error": factor**2 * error if fault.kind == "gain" else error}
    said |= {"when": f" from {begin:.2f} to {end:.2f} s" if fault.in_part else ""}
    code, grave = CODES[fault.kind], fault.kind not in ("offset", "drift", "leak")
    if fault.kind == "late":
        leg = f"the moments of the {SIDE_NAMES[side_of(fault.names[0])]} leg are"
        whose = leg if len(fault.names) > 1 else f"the moment of {fault.names[0]} is"
        said |= shift_values(size, LEAST["late"]) | {"whose": whose}
        grave = abs(size) >= SERIOUS
    if fault.kind == "gain" and size > REVERSED:
        code = "moment_sign.column"
    elif fault.kind == "gain" and size > (NOTHING if fault.in_part else 1.0 - 2.0 * error):
        code = "moment_unlike.part"
    return case.fault(code, error_if(grave), said, seen.without([fault.repaired(size)]))


def spectra_of_moments(case: MomentCase) -> Iterator[Finding]:
    """Find moments that were filtered too much, or that are noise from row to row."""
    table = case.table
    inside = within(table.time, *case.fixed.time[[0, -1]])
    names = [name for name in case.body.dofs if split_side(name)[0] in ANGLES[:2] + ANGLES[3:]]
    columns = [table.names.index(f"{name}_moment") for name in names if f"{name}_moment" in table.names]
    values, seconds = table.values[inside][:, columns], table.time[inside]
    shown = len(columns) > 3 and np.isfinite(values).all() and np.ptp(seconds) >= 1.0
    if not shown or case.found("noise") or not walks(case.fixed):
        return
    white = white_noise(values)
    if white.max() > NOISE:
        said = {"name": names[int(white.argmax())], "noise": white.max(), "limit": NOISE}
        yield case.fault("noise.moments", "warning", said)
    fast = float(np.mean([f90(column, 1.0 / float(np.diff(seconds).mean()), 2) for column in values.T]))
    if fast < LOWEST_F90:
        said = {"frequency": fast, "least": LOWEST_F90}
        yield case.fault("over_filtered.moments", "warning", said)
