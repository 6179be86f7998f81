"""Balance of plates and motion: the force at the pelvis that inverse dynamics leaves, and the motion behind it.

The residual is the force that acts on nothing: ground reactions less the force that the motion needs. Frames beyond the
limit are not valid; all others are as good as they were.
"""

from collections.abc import Iterator

import numpy as np

from musclesolve._util.arrays import Array, time_spans
from musclesolve.laboratory.checks.case import Case, recording_check
from musclesolve.laboratory.motion.anatomy.proportions import OFF_STATURE, fitting_stature
from musclesolve.laboratory.results.finding import Cost, Finding, Where, finding

EXPLAINED = 0.5
"""Share of the unbalanced frames that another mass must balance to be named as their cause: most of them, because a
foot beside a plate, a seat or a wrong marker is wrong for a part of a motion, and a mass throughout."""


@recording_check()
def residual_at_the_pelvis(case: Case) -> Iterator[Finding]:
    """Find frames in which the plates do not balance the motion."""
    body = case.body
    if body is None or body.is_predicted:
        return
    model, limit = body.mechanics.model, body.mechanics.balance_limit * body.mechanics.model.weight
    joints = model.tree.joint_count
    lacking = body.moments[:, joints : joints + 3]
    residual = np.linalg.norm(lacking, axis=1)
    beyond = residual > limit
    if beyond.any():
        values = {"count": beyond.sum(), "frames": np.isfinite(residual).sum(), "limit": limit}
        values |= {"usual": float(np.nanmedian(residual))}
        where = Where(case.trial.forces[0].path, times=time_spans(beyond, body.time))
        cost = Cost(float(residual[beyond].max()), "N", "the pelvis", limit)
        supplied = np.sum([ground.force for ground in body.mechanics.reactions], axis=0)
        factor = mass_factor(supplied, supplied + lacking)
        left = np.linalg.norm(supplied - factor * (supplied + lacking), axis=1) > factor * limit
        code, mended = "unbalanced.recording", int((beyond & ~left).sum())
        if mended > EXPLAINED * beyond.sum():
            given = case.trial.subject.mass
            code = "unbalanced.mass"
            values |= {"given": given, "fitting": factor * given, "mended": mended}
        yield finding(code, "warning", values, where, cost=cost)


def mass_factor(supplied: Array, required: Array) -> float:
    """The factor of all masses with which the required forces (T, 3) [N] come nearest to the supplied ones."""
    known = np.isfinite(required).all(axis=1)
    return float((supplied[known] * required[known]).sum() / np.square(required[known]).sum())


@recording_check()
def implausible_motion(case: Case) -> Iterator[Finding]:
    """Report what the analysis itself finds implausible in the motion, with the frames that are not valid."""
    if case.body is None:
        return
    recorded = case.body.mechanics
    for warning in recorded.warnings(case.trial):
        # Frames of an implausible motion are left out of the results; the others are as good as they were.
        place = Where(markers=warning.markers, times=warning.times)
        lacking = warning.residual
        cost = (
            None if lacking is None else Cost(lacking, "body weights", "the pelvis", recorded.balance_limit)
        )
        yield Finding(warning.code, "warning", warning.what, warning.remedy, place, cost=cost)
    if (change := recorded.change) is not None:
        moved = {"rms": float(np.sqrt(np.mean(change.change**2))), "most": float(change.change.max())}
        masses = {"carried": change.carried, "given": case.trial.subject.mass}
        yield finding("motion_change", "note", moved | masses, case.key("consistency", "residual"))


@recording_check()
def measured_segments(case: Case) -> Iterator[Finding]:
    """Note a stature, proportions and joints that are unusual, and the remarks of the measurement of the body."""
    if case.body is None:
        return
    measured = case.body.mechanics.measured
    fitting, stated = fitting_stature(measured.offsets), case.trial.subject.stature
    off = fitting / stated - 1.0
    if abs(off) > OFF_STATURE:
        change = {("subject", "stature_m"): round(fitting, 2)}
        values = {"fitting": fitting, "given": stated, "off": off, "limit": OFF_STATURE}
        yield finding("stature", "note", values, case.key("subject", "stature_m"), change=change)
    for unusual in measured.unusual:
        what = f"{unusual.what} (expected: {unusual.expected})"
        yield Finding("proportions", "note", what, unusual.remedy, case.key("mapping", unusual.landmark))
    loose = measured.remarks["loose"]
    for sentence in loose:
        yield finding("uncertain_joint", "note", {"sentence": sentence})
    known = {*loose, *map(str, measured.unusual)}
    for note in (note for note in measured.notes if note not in known):
        yield finding("remark", "note", {"sentence": note})
