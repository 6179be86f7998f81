"""Is the standing trial of this person, with the same markers in the same places?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from musclesolve.checking.case import Case
from musclesolve.checking.distances import distances

# Only distances this long say something of size [m]; how far the sizes may differ; how many must agree on it.
LONG, SIZE, FEWEST = 0.08, 0.03, 6
# A marker off its standing place by so much sits elsewhere [m].
MOVED = 0.025


def all_standing(case: Case) -> None:
    """Compare the distances within segments between standing trial and motion."""
    if _another_person(case):
        return
    pairs, static = distances(case.trial), case.trial.static
    if pairs is None or static is None:
        return
    told = {m for f in case.findings for m in f.where.markers}
    error = np.abs(pairs.usual - pairs.standing)
    for marker in pairs.markers:
        own = error[pairs.of(marker)]
        own = own[np.isfinite(own)]
        name = pairs.names[marker]
        if own.size > 1 and np.median(own) > MOVED and name not in told:
            case.tell(
                "marker_moved",
                "warning",
                f"'{name}' is {1000 * np.median(own):.0f} mm nearer to or farther from the markers of its segment in "
                f"the motion than in the standing trial, expected less than {1000 * MOVED:.0f} mm",
                "record the standing trial with the markers as they are in the motion, or leave the marker out",
                file=static.path,
                markers=(name,),
            )


def _another_person(case: Case) -> bool:
    pairs, static = distances(case.trial), case.trial.static
    if pairs is None or static is None:
        return False
    long = (pairs.usual > LONG) & (pairs.standing > LONG)
    ratio = pairs.standing[long] / pairs.usual[long]
    if ratio.size < FEWEST:
        return False
    size = float(np.median(ratio))
    # A marker or two that moved do not make another person: most distances must agree on the ratio.
    agreeing = np.mean((ratio - 1.0) * np.sign(size - 1.0) > 0.5 * abs(size - 1.0))
    if abs(size - 1.0) < SIZE or agreeing < 0.8:
        return False
    case.tell(
        "static_of_another",
        "error",
        f"in the standing trial the segments are {100 * abs(size - 1.0):.0f} % {'longer' if size > 1 else 'shorter'} "
        f"than in the motion, {ratio.size} distances between markers of one segment agree on it: it is of another "
        "person, or calibrated differently",
        "name the standing trial of this person, recorded with the same calibration",
        file=static.path,
    )
    case.mend(static=replace(static, position=static.position / size))
    return True
