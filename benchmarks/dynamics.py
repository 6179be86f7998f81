"""Kinematics and inverse dynamics of the 44-degree-of-freedom human: microseconds a frame, and agreement."""

from __future__ import annotations

import numpy as np
from rich.table import Table

from benchmarks.timing import console, measure
from musclesolve.dynamics import differentiate, fit_pose, lagrange_multipliers, projected_moments
from musclesolve.dynamics.targets import Targets
from musclesolve.pipeline import mechanics
from musclesolve.recording import Trial


def report(trial: Trial) -> None:
    """Print times a frame and the largest disagreement between the routes."""
    recorded = mechanics(trial)
    model, measured, motion, feet = recorded.model, recorded.measured, recorded.motion, recorded.wrenches
    targets = Targets.build(model, measured.points, measured.directions)
    calls = {
        "nearest consistent pose": lambda: fit_pose(model, targets),
        "velocities, accelerations": lambda: differentiate(model, measured.time, recorded.fit.coordinates),
        "moments by projection": lambda: projected_moments(model, motion, feet),
        "moments by Lagrange multipliers": lambda: lagrange_multipliers(model, motion, feet).moments,
    }
    frames = len(motion.time)
    table = Table("step", "microseconds a frame", title=f"dynamics, {frames} frames")
    results = {}
    for name, call in calls.items():
        timing = measure(call)
        results[name] = timing.value
        table.add_row(name, f"{1e6 * timing.best / frames:.0f}")
    console.print(table)
    one, other = (np.asarray(results[name]) for name in list(calls)[2:])
    print(
        f"projection and multipliers differ by {np.abs(one - other).max() / np.abs(one).max():.1e} relative"
    )
