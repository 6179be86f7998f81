"""What is seen of a draft's recording as far as it can be read: walking or running, and how fast."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from musclesolve.checking.case import Case
from musclesolve.checking.loading import load
from musclesolve.drafting.draft_text import DraftTable, Line, draft_text
from musclesolve.drafting.laboratory_axes import both, middle_path
from musclesolve.errors import MuscleSolveError
from musclesolve.motion.events.flight import flights
from musclesolve.motion.events.force_events import FootLoads

WALK_HZ, RUN_HZ = 6.0, 15.0
"""Usual cut-off frequencies: walking has little above 6 Hz, the first peak of the ground force in running has."""
USUAL = {"mass_kg": 70.0, "stature_m": 1.7, "sex": "male", "knee_width_m": 0.1, "ankle_width_m": 0.07}
"""What stands for the subject while the recording is looked at; nothing of it is written."""


def filter_table(case: Case | None, rate_hz: float) -> DraftTable:
    """The table [filter] of a trial file, for markers at a rate [Hz]."""
    cutoff, why = WALK_HZ, "walking: no flight between the steps"
    if case is None:
        why = "usual for walking; running needs 10 to 20 Hz"
    elif runs(case):
        cutoff, why = RUN_HZ, "running: there is flight between the steps"
    comment = f'{why}; or "residual_analysis": chosen from the data'
    return DraftTable("filter", (Line("cutoff_hz", min(cutoff, 0.2 * rate_hz), comment),))


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
    duration = (last - first) / markers.rate
    kind = "running" if runs(case) else "no flight: walking or the like"
    return f"{kind}, {way / duration:.2f} m/s over {way:.1f} m"


def working_case(tables: tuple[DraftTable, ...], files: dict[str, Path]) -> Case | None:
    """The case of a draft, None where there is none: no motion, or nothing that could be looked at."""
    subject = DraftTable("subject", tuple(Line(key, value) for key, value in USUAL.items()))
    named = DraftTable("files", tuple(Line(role, str(path.absolute())) for role, path in files.items()))
    kept = tuple(table for table in tables if table.name not in ("subject", "files") and table.written)
    try:
        with tempfile.TemporaryDirectory(prefix="musclesolve-") as folder:
            path = Path(folder) / "trial.toml"
            path.write_text(draft_text((), (subject, named, *kept)), encoding="utf-8")
            return load(path)[0]
    except (MuscleSolveError, ArithmeticError, LookupError, ValueError):
        # What is wrong with the recording is for `check` to say; the draft does without what it would show.
        return None
