"""Kinematics and every route of inverse dynamics on a recording: microseconds a frame."""

from __future__ import annotations

from rich.table import Table

from benchmarks.timing import console, measure
from musclesolve.dynamics import (
    Targets,
    differentiate,
    fit_pose,
    joint_loads,
    lagrange_multipliers,
    projected_moments,
)
from musclesolve.dynamics.inverse.explicit_moment import IntersegmentalMoment, intersegmental_moment
from musclesolve.dynamics.inverse.newton_euler import segment_motion
from musclesolve.dynamics.kernel.arrays import SegmentArrays
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import mechanics


def report(trial: Trial) -> None:
    """Print the time of each step as such and against the time of projection."""
    recorded = mechanics(trial)
    model, measured, motion, feet = recorded.model, recorded.measured, recorded.motion, recorded.wrenches
    targets = Targets.build(model, measured.points, measured.directions)
    dofs = model.topology.dof_names[: model.tree.joint_count]

    def hof(segments: SegmentArrays) -> list[IntersegmentalMoment]:
        return [intersegmental_moment(model, motion, segments, feet, dof) for dof in dofs]

    calls = {
        "nearest consistent pose": lambda: fit_pose(model, targets),
        "velocities, accelerations": lambda: differentiate(model, measured.time, recorded.fit.coordinates),
        "moments by projection": lambda: projected_moments(model, motion, feet),
        "by Newton-Euler, all joints": lambda: joint_loads(
            model, motion, segment_motion(model, motion), feet
        ),
        "by Hof's explicit moment, all joints": lambda: hof(segment_motion(model, motion)),
        "by Lagrange multipliers": lambda: lagrange_multipliers(model, motion, feet),
    }
    best = {name: measure(call)[0] for name, call in calls.items()}
    frames, unit = len(motion.time), best["moments by projection"]
    table = Table("step", "microseconds a frame", "times projection", title=f"dynamics, {frames} frames")
    for name, seconds in best.items():
        table.add_row(name, f"{1e6 * seconds / frames:.0f}", f"{seconds / unit:.1f}")
    console.print(table)
