"""Silva & Ambrosio (1998), figure 3: acceleration of the knee point and knee moment, consistent and by splines.

Positions satisfy the constraints (7) in both; what differs is how they are differentiated. By (8) and (9) velocities
and accelerations satisfy the derivatives of the constraints. The other way a cubic spline goes through the positions of
every point, and its derivatives are taken as they are, whatever the constraints ask for.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.interpolate import CubicSpline

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, over_cycle, panels
from benchmarks.thesis_figures.study import SAGITTAL, SIDE, Study
from benchmarks.timing import rms
from musclesolve._util.arrays import Array
from musclesolve.dynamics import Wrench, differentiate
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_with
from musclesolve.laboratory.bodies.mechanics import measured_moments
from musclesolve.laboratory.plotting.page.sheet import heading

DIRECTIONS = ("forward", "to the left", "upward")
STYLES = ("-", "--")
SPARSE = 4
"""Every so many frames, to see what becomes of it with fewer frames of the same motion."""


@cache
def motions(study: Study, every: int = 1) -> dict[str, Motion]:
    """Consistent poses of the digitized trial, every so many frames of them, differentiated in both ways."""
    recorded = study.by_method["nearest"]
    model, time = recorded.model, recorded.measured.time[::every]
    q, coordinates = recorded.fit.q[::every], recorded.fit.coordinates[::every]
    spline = CubicSpline(time, q)
    found = {
        "consistent": differentiate(model, time, coordinates),
        "splines": motion_with(model, time, coordinates, q, spline(time, 1), spline(time, 2)),
    }
    keep = study.trial.inside(time, *study.trial.time_range)
    return {name: motion.frames(keep) for name, motion in found.items()}


def knee_moments(study: Study, motion: Motion) -> Array:
    """Moment of the right knee in the frames of a motion, (T,) [N m], positive in flexion."""
    recorded = study.by_method["nearest"]
    rows = np.isin(recorded.motion.time, motion.time)
    wrenches = [Wrench(each.body, each.force[rows], each.moment[rows]) for each in recorded.wrenches]
    found = measured_moments(study.trial, recorded.model, motion, wrenches)
    return np.asarray(found[:, recorded.model.dof(SAGITTAL["knee"])])


def knee_acceleration(study: Study) -> Finding:
    """Figure 3: (a) acceleration of the knee point, (b) moment of the knee beside Winter's."""
    knee = study.by_method["nearest"].model.slot(f"knee_{SIDE}")
    figure, axes = panels(study, "Acceleration and moment of the right knee", 2, 2, 0.6)
    mean, spread = (study.weight * each for each in study.winter["knee"])
    ends = mean - spread, mean + spread
    axes[1, 1].fill_between(
        study.percent, *ends, color="#DDDDDD", linewidth=0.0, label="published: mean and SD"
    )
    for color, style, (name, motion) in zip(COLORS, STYLES, motions(study).items(), strict=False):
        line = {"color": color, "linestyle": style, "linewidth": 1.2, "label": name}
        for number, panel in enumerate(axes.flat[:3]):
            panel.plot(study.percent, study.of_cycle(motion.qdd[:, knee, number]), **line)
        axes[1, 1].plot(study.percent, study.of_cycle(knee_moments(study, motion)), **line)
    fewer = motions(study, SPARSE)["splines"]
    recorded = study.of_cycle(study.by_method["nearest"].motion.time)
    percent = np.interp(fewer.time, recorded, study.percent, np.nan, np.nan)
    for number, (panel, direction) in enumerate(zip(axes.flat[:3], DIRECTIONS, strict=True)):
        panel.plot(
            percent, fewer.qdd[:, knee, number], "k.", markersize=4, label=f"splines, 1 of {SPARSE} frames"
        )
        heading(panel, f"(a) acceleration of the knee point {direction}")
        over_cycle(panel, study, "[m/s2]", labeled=number == 2)
    heading(axes[1, 1], "(b) moment of the knee, flexion positive")
    over_cycle(axes[1, 1], study, "[N m]")
    key(axes[0, 0])
    key(axes[1, 1])
    return Finding(figure, f"{compared(study, 1)} {compared(study, SPARSE)}")


def compared(study: Study, every: int) -> str:
    """By how much accelerations and moments of both ways differ, with every so many frames, in a sentence."""
    model = study.by_method["nearest"].model
    one, other = motions(study, every).values()
    knee = model.slot(f"knee_{SIDE}")
    apart = np.linalg.norm(one.qdd[:, knee] - other.qdd[:, knee], axis=1)
    largest = np.linalg.norm(one.qdd[:, knee], axis=1).max()
    violated = model.constraints.rate_violation(other.q, other.qd, other.qdd)[1]
    moment = knee_moments(study, one)
    known = np.isfinite(moment)
    gap = (moment - knee_moments(study, other))[known]
    rate = 1.0 / np.median(np.diff(one.time))
    return (
        f"At {rate:.0f} Hz ({len(one.time)} frames) the accelerations of the knee differ by {rms(apart):.2f} m/s2 rms, "
        f"{apart.max():.2f} at most, of up to {largest:.0f}; the splines miss the acceleration equations by up to "
        f"{np.abs(violated).max():.2g}; the moments differ by {rms(gap):.2f} N m rms, {np.abs(gap).max():.2f} at most, "
        f"of up to {np.abs(moment[known]).max():.0f}."
    )
