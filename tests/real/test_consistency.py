"""Both ways to a consistent motion on the recorded walk: what they move, and what that does to joint moments."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.dynamics import projected_moments
from musclesolve.laboratory.forces import mechanics

SAGITTAL = [f"{dof}_{side}" for dof in ("hip_flexion", "knee_flexion", "ankle_dorsiflexion") for side in "rl"]


@pytest.fixture(scope="module")
def found(recorded_walk_trial):
    ways = {"nearest": ("nearest", "constraints"), "angles": ("joint_angles", "constraints")}
    ways["splines"] = ("nearest", "splines")
    return {
        name: mechanics(
            recorded_walk_trial.with_settings(
                consistency=dict(zip(("method", "derivatives"), way, strict=True))
            )
        )
        for name, way in ways.items()
    }


def moments(recorded):
    return projected_moments(recorded.model, recorded.motion, recorded.wrenches)


def rms(values):
    return np.sqrt(np.mean(values**2, axis=0))


def test_the_nearest_motion_is_nearer_in_every_frame(found):
    squares = {name: np.sum(found[name].marker_residual ** 2, axis=1) for name in ("nearest", "angles")}
    assert (squares["nearest"] < squares["angles"]).all()
    assert 0.004 < np.sqrt(np.mean(found["nearest"].marker_residual ** 2)) < 0.007


@pytest.mark.parametrize("side", "rl")
def test_driven_by_angles_the_leg_drifts_outwards(found, side):
    """The motion that the knee's one angle cannot follow is not shared with the hip: the foot bears it."""
    recorded = found["angles"]
    shift = dict(zip(recorded.fit.points, rms(recorded.marker_residual), strict=True))
    ends = 0.5 * (shift[f"heel_{side}"] + shift[f"toe_{side}"])
    assert shift[f"hip_{side}"] < shift[f"knee_{side}"] < shift[f"ankle_{side}"] < ends
    assert recorded.fit.borrowed == ()


def test_both_ways_agree_in_the_sagittal_plane(found):
    model = found["nearest"].model
    rows = [model.dof(dof) for dof in SAGITTAL]
    angles = [np.degrees(found[name].motion.coordinates[:, rows]) for name in ("nearest", "angles")]
    assert (rms(angles[1] - angles[0]) < 2.0).all()
    ours, theirs = (moments(found[name])[:, rows] for name in ("nearest", "angles"))
    assert (rms(theirs - ours) < 0.12 * np.abs(ours).max(axis=0)).all()


def test_the_nearest_motion_needs_less_from_outside(found):
    """The residual at the pelvis, which a true motion under true forces would not have."""
    force, moment = (
        {
            name: np.sqrt(np.mean(np.sum(moments(found[name])[:, part] ** 2, axis=1)))
            for name in ("nearest", "angles")
        }
        for part in (slice(38, 41), slice(41, 44))
    )
    assert force["nearest"] < force["angles"] and moment["nearest"] < moment["angles"]


def test_splines_of_points_change_moments_by_next_to_nothing(found):
    """As the thesis finds (Silva 2003, 5.3.3), where positions are consistent and frames many."""
    ours, theirs = (moments(found[name])[:, :38] for name in ("nearest", "splines"))
    assert 0.0 < np.abs(theirs - ours).max() < 0.05
