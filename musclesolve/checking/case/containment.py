"""One failing check hides no other: whatever it raises becomes a finding, and the checks that follow go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from musclesolve.checking.case.case import Case, finding_of
from musclesolve.checking.finding import Finding, Severity, Where, finding
from musclesolve.errors import InputError, MuscleSolveError, PoseError
from musclesolve.recording.data import Trial

# Parts of the model that other landmarks show than those of their name.
SHOWN_BY = {
    "hip": ("hip_center", "asis", "psis", "sacrum"),
    "pelvis": ("asis", "psis", "sacrum"),
    "back": ("asis", "psis", "sacrum", "shoulder"),
    "neck": ("neck_base", "shoulder"),
    "hand": ("hand_radial", "hand_ulnar"),
}


def pose_finding(error: PoseError, case: Case | None) -> Finding:
    """Return the finding of a failed pose, with its times and the markers of the points that fit worst."""
    trial = None if case is None else case.trial
    markers = () if trial is None else _markers(trial, [name for name, _ in error.worst])
    where = Where(None if trial is None else trial.markers.path, markers=markers, times=_times(error, trial))
    points = ", ".join(f"{name} ({1000 * distance:.0f} mm)" for name, distance in error.worst)
    values = {"sentence": str(error).partition("; there")[0], "points": points}
    return finding("pose", "error", values, where)


def _markers(trial: Trial, points: list[str]) -> tuple[str, ...]:
    """Return the markers that show some points or axes of the model, each once."""
    found: dict[str, None] = {}
    for point in points:
        part, side = point.split("_")[0], point[-2:] if point[-2:] in ("_r", "_l") else ""
        for landmark, weights in trial.mapping.items():
            own = landmark.removesuffix("_r").removesuffix("_l")
            if own in SHOWN_BY.get(part, ()) or own.split("_")[0] == part:
                if not side or landmark.endswith(side) or not landmark.endswith(("_r", "_l")):
                    found |= dict.fromkeys(weights)
    return tuple(found)


def _times(error: PoseError, trial: Trial | None) -> tuple[tuple[float, float], ...]:
    """Return the stretches of neighboring frames, (first, last) [s]."""
    if trial is None or not error.frames:
        return ()
    time = np.sort(np.array(error.frames, float))
    gaps = np.flatnonzero(np.diff(time) > 1.5 / trial.markers.rate) + 1
    return tuple((float(run[0]), float(run[-1])) for run in np.split(time, gaps))


@contextmanager
def contained(
    findings: list[Finding], what: str, case: Case | None = None, code: str = "refused"
) -> Iterator[None]:
    """Turn whatever is raised into a finding, and go on.

    what: the action, as "reading of the files". case: None before it is read. code: that of an input that is refused.
    """
    try:
        yield
    except InputError as error:
        findings.append(finding_of(code, error))
    except PoseError as error:
        findings.append(pose_finding(error, case))
    except MuscleSolveError as error:
        findings.append(Finding("refused", "error", str(error), "look at the markers and forces it names"))
    except Exception as error:
        # Without a case nothing can be examined.
        severity: Severity = "error" if case is None else "warning"
        findings.append(
            finding("check_failed", severity, {"action": what, "error": f"{type(error).__name__}: {error}"})
        )
