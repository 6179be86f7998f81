"""Leaps: a marker, or all markers of a body, in another place from one frame to the next.

The third point of three goes on along the line of the first two, but for the acceleration. A leap by d has a second
difference of d to 2 d between frames of a rate f; the skin of a person stays below `FASTEST` / f^2, and below `LARGE`
or below `UNUSUAL` times its usual motion. The low-pass filter L of the analysis turns the second differences e of a
leap into an acceleration f^2 L(e), whose greatest size times the mass of the segment is the force that the leap adds;
one marker of several has its share of the segment.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from musclesolve._util.arrays import Array, Mask, median_of_known, time_spans
from musclesolve._util.messages import few
from musclesolve.constants import WALKING_CUTOFF_HZ
from musclesolve.dynamics.kinematics.low_pass import low_pass, lowest_carried
from musclesolve.dynamics.model.segment_inertia import segment_rows
from musclesolve.laboratory.checks.case import Case, recording_check
from musclesolve.laboratory.checks.newtons_law import grown
from musclesolve.laboratory.checks.recording.segments import bodies, exchanges_for_a_while
from musclesolve.laboratory.markers.gaps.gap_filling import without_ghosts
from musclesolve.laboratory.recording.data import Trial
from musclesolve.laboratory.results.finding import Cost, Finding, Where, finding

SMALLEST, LARGE = 0.015, 0.04
"""Second difference of the place of a marker [m] below which it does not leap, and from which it leaps whatever its
usual motion is: soft tissue at a landing has up to 0.018 (drop jumps of stanford_opencap)."""
FASTEST = 150.0
"""Acceleration of the skin of legs and trunk that walking and running do not reach [m/s^2]; arms that throw do, and are
left out."""
UNUSUAL = 8.0
"""Least ratio of a leap below `LARGE` to the second difference that the same marker exceeds in a tenth of its frames:
landings and noisy markers have up to 7.8 (vanderzee), leaps 8 to 70 (jag, cmu, sprint, leuven2, stanford_opencap)."""
SEGMENT = {name: name for name in ("thigh", "shank", "foot")} | dict.fromkeys(
    ("pelvis", "trunk"), "whole_trunk"
)
"""Body of markers that is examined -> its segment in the table of inertia."""


def part_of(body: str) -> str:
    """Return the name of a body without its side."""
    return body.removeprefix("cluster ").removesuffix("_r").removesuffix("_l")


def legs_and_trunk(trial: Trial) -> dict[str, tuple[tuple[str, ...], bool]]:
    """Return the bodies of markers whose segments are in `SEGMENT`."""
    return {body: entry for body, entry in bodies(trial).items() if part_of(body) in SEGMENT}


def second_differences(path: Array) -> Array:
    """Return the second differences (T, ..., 3) [m] of places (T, ..., 3), zero at ends and gaps."""
    change = np.zeros_like(path)
    if len(path) > 2:
        change[1:-1] = np.nan_to_num(np.diff(path, n=2, axis=0))
    return change


def leaping(size: Array, rate: float) -> Mask:
    """Return the frames (T,) whose second differences have a size (T,) [m] that no skin has."""
    moving = size[size > 0.0]
    usual = float(np.quantile(moving, 0.9)) if moving.size else 0.0
    return np.asarray(size > max(FASTEST / rate**2, min(LARGE, max(SMALLEST, UNUSUAL * usual))))


def leap_size(path: Array, frames: Mask) -> float:
    """Return the largest step [m] of places (T, 3) beside the usual step around it, where second differences leap.

    A sample that alone is off by d has a second difference of 2 d, a step by d one of d.
    """
    step = np.diff(path, axis=0, prepend=path[:1])
    largest = 0.0
    for k in np.flatnonzero(grown(frames, 1)):
        around = median_of_known(step[max(k - 3, 1) : k + 4])
        largest = max(largest, float(np.nan_to_num(np.linalg.norm(step[k] - around))))
    return largest


def added_force(trial: Trial, body: str, change: Array, frames: Mask, share: float) -> Cost | None:
    """Return the force [N] that second differences (T, 3) [m] in some frames (T,) add to the segment of a body.

    share: of the segment whose markers leap. None where the mass, or the filter, is not known.
    """
    rate, cutoff = trial.markers.rate, trial.settings.filter.fixed_cutoff or WALKING_CUTOFF_HZ
    if not np.isfinite(trial.subject.mass) or not lowest_carried(len(change), rate) < cutoff < 0.5 * rate:
        return None
    row = segment_rows(trial.subject.sex, trial.subject.age)[SEGMENT[part_of(body)]]
    whole = grown(frames, 2)  # a sample that is off shows in three second differences
    leap = low_pass(np.where(whole[:, None], change, 0.0), rate, cutoff) * rate**2
    force = share * row["mass_fraction"] * trial.subject.mass * float(np.linalg.norm(leap, axis=1).max())
    side = {"_r": "right ", "_l": "left "}.get(body[-2:], "")
    return Cost(force, "N", f"the {side}{part_of(body)}")


@recording_check()
def leaps(case: Case) -> Iterator[Finding]:
    """Find bodies whose markers leap together, and markers that leap alone."""
    rate = case.trial.markers.rate
    reported = {name for found in exchanges_for_a_while(case.trial) for name in (found.first, found.second)}
    # Samples that are left out as reflections change nothing.
    trial, _ = without_ghosts(case.trial, case.settings.gaps)
    alone, as_one = (
        list[tuple[str, str, Array, Mask, float]](),
        dict[str, tuple[tuple[str, ...], Array, Mask]](),
    )
    for body, (names, _) in legs_and_trunk(trial).items():
        change = second_differences(np.stack([trial.markers[name] for name in names], axis=1))
        size = np.linalg.norm(change, axis=2)
        together = leaping(size.min(axis=1), rate)
        if together.any() and not reported >= {*names}:
            as_one[body] = names, change, together
        for k, name in enumerate(names):
            frames = leaping(size[:, k], rate) & ~together
            if frames.any():
                alone.append((name, body, change[:, k], frames, 1.0 / len(names)))
    yield from _together(trial, as_one)
    reported |= {name for names, *_ in as_one.values() for name in names}
    for name, body, change, frames, share in alone:
        if name not in reported:
            reported.add(name)
            where = Where(trial.markers.path, markers=(name,), times=time_spans(frames, trial.markers.time))
            values = {"name": name, "size": leap_size(trial.markers[name], frames)}
            cost = added_force(trial, body, change, frames, share)
            yield finding("leap", "warning", values, where, cost=cost)


def _together(trial: Trial, bodies: Mapping[str, tuple[tuple[str, ...], Array, Mask]]) -> Iterator[Finding]:
    """Yield the findings on bodies whose markers leap together; one for all bodies that leap in the same frames.

    bodies: names of the markers, their second differences (T, k, 3) [m], and the frames (T,) of the leap.
    """
    left = dict(bodies)
    while left:
        first = next(iter(left))
        group = [body for body in left if (left[body][2] & left[first][2]).any()]
        parts = [(body, *left.pop(body)) for body in group]
        frames = np.any([at for *_, at in parts], axis=0)
        names = tuple(dict.fromkeys(name for _, markers, *_ in parts for name in markers))
        size = max(leap_size(trial.markers[name], frames) for name in names)
        costs = [added_force(trial, body, change.mean(axis=1), at, 1.0) for body, _, change, at in parts]
        cost = max((c for c in costs if c is not None), key=lambda c: c.size, default=None)
        where = Where(trial.markers.path, markers=names, times=time_spans(frames, trial.markers.time))
        values = {"names": few(names, 6), "size": size, "count": len(parts)}
        code = "leap.together" if len(parts) == 1 else "leap.bodies"
        yield finding(code, "warning", values, where, cost=cost)
