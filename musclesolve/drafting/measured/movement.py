"""What kind of motion it is, as far as the filter has to know: walking or running."""

from __future__ import annotations

import numpy as np

from musclesolve.checking.case import Case
from musclesolve.drafting.measured.shown_points import both, middle_path
from musclesolve.drafting.writing.draft_text import DraftTable, Line
from musclesolve.motion.events.flight import flights
from musclesolve.motion.events.force_events import FootLoads
from musclesolve.recording.data import sampling_rate

WALK_HZ, RUN_HZ = 6.0, 15.0
"""Usual cut-off frequencies: walking has little above 6 Hz, the first peak of the ground force in running has."""


def filter_table(case: Case | None, rate_hz: float) -> DraftTable:
    """The table [filter]."""
    cutoff = min(RUN_HZ if runs(case) else WALK_HZ, 0.2 * rate_hz)
    why = (
        "running: there is flight between the steps" if runs(case) else "walking: no flight between the steps"
    )
    if case is None:
        why = "usual for walking; running needs 10 to 20 Hz"
    return DraftTable(
        "filter", (Line("cutoff_hz", cutoff, f'{why}; or "residual_analysis": chosen from the data'),)
    )


def runs(case: Case | None) -> bool:
    """Whether there is flight between the steps."""
    return case is not None and len(flights(case.trial, FootLoads.of(case.trial))) > 0


def description(case: Case | None) -> str:
    """The motion in a few words: its speed, where the pelvis is seen."""
    if case is None:
        return ""
    markers = case.trial.markers
    names = [*both("asis", "psis", "hip_center"), "sacrum"]
    pelvis = middle_path(markers, case.trial.mapping, names)
    known = np.zeros(0, int) if pelvis is None else np.flatnonzero(np.isfinite(pelvis).all(axis=1))
    if pelvis is None or known.size < 2:
        return ""
    first, last = int(known[0]), int(known[-1])
    way = float(np.linalg.norm((pelvis[last] - pelvis[first])[:2]))
    duration = (last - first) / sampling_rate(markers.time)
    kind = "running" if runs(case) else "no flight: walking or the like"
    return f"{kind}, {way / duration:.2f} m/s over {way:.1f} m"
