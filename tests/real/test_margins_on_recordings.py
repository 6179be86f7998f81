"""Margins of every muscle on three recordings: possible a little above, impossible a little below."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_data import recorded

from musclesolve import Status, solve
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare, share
from musclesolve.sharing import strength_margin
from musclesolve.sharing.analysis.strength_margin import with_strength

RECORDINGS = {
    "treadmill": Path("treadmill_walk") / "p1" / "walk.toml",
    "implant": Path("instrumented_knee") / "walk_ss1.toml",
}
ASIDE = 0.01


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", ["overground", *RECORDINGS])
def test_one_percent_above_is_solved_and_one_below_is_infeasible(
    name: str, default_walk_trial: Trial
) -> None:
    """Test each muscle at the frame that needs most of it; the solver decides, with its certificate and its proof."""
    trial: Trial | Path = default_walk_trial
    if name in RECORDINGS:
        trial = recorded(RECORDINGS[name])
    needed = 0
    for part in share(prepare(trial)).parts:
        exact = part.problem.with_arrays(reserve_weight=None)
        possible = np.flatnonzero(part.solution.status == Status.SOLVED)
        names, groups = np.array(part.state.parameters.names), np.array(part.state.muscles.groups)
        of = [names == name for name in names] + [groups == name for name in dict.fromkeys(groups)]
        for own in of:
            margin = strength_margin(part.problem, names[own].tolist())
            if not np.nanmax(margin.strength) > 0.0:
                without = with_strength(exact.frames(possible), np.where(own, 0.0, 1.0))
                assert (solve(without, "force_squared").status == Status.SOLVED).all(), names[own]
                continue
            frame, least = exact.frames(np.array([margin.tightest])), margin.strength[margin.tightest]
            status = [
                solve(with_strength(frame, np.where(own, factor * least, 1.0)), "force_squared").status[0]
                for factor in (1.0 + ASIDE, 1.0 - ASIDE)
            ]
            assert status == [Status.SOLVED, Status.INFEASIBLE], (names[own], least, status)
            needed += 1
    assert needed > 5
