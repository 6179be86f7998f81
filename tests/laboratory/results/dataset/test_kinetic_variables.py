"""Joint powers, contact force components and free moments of a result obey the laws of mechanics."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.interpolate import make_interp_spline

import musclesolve as ms
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics import segment_motion
from musclesolve.laboratory.forces import prepare, share
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.laboratory.results.dataset.labels import DIRECTIONS, SEGMENT_OF
from musclesolve.laboratory.results.dataset.result_quantities import joint_power

BODY_AXES = {"axial": [0.0, 0.0, -1.0], "anterior": [1.0, 0.0, 0.0]}


@pytest.fixture(scope="module")
def analysis(tmp_path_factory: pytest.TempPathFactory):
    """One stride of the synthetic walk, both legs."""
    trial = ms.studies.synthetic_recording(tmp_path_factory.mktemp("walk") / "walk", marker_rate_hz=100)
    return share(prepare(trial))


@pytest.fixture(scope="module")
def result(analysis) -> xr.Dataset:
    return assemble(analysis)


def test_powers_of_joints_ground_and_residual_change_the_energy(analysis, result):
    mechanics, moments = analysis.body.mechanics, analysis.body.moments
    model, motion = mechanics.model, mechanics.motion
    joints, segments = model.tree.joint_count, segment_motion(model, motion)
    residual = np.einsum("tk,tk->t", moments[:, joints:], motion.speeds[:, joints:])
    ground = np.zeros(motion.time.size)
    center = segments.center
    velocity = make_interp_spline(motion.time, center, k=5)(motion.time, 1)
    for wrench in mechanics.reactions:
        foot = model.body(f"foot_{wrench.side}")
        spin = segments.velocity[:, foot]
        at_origin = velocity[:, foot] - np.cross(spin, center[:, foot])
        ground += np.einsum("tx,tx->t", wrench.force, at_origin)
        ground += np.einsum("tx,tx->t", wrench.moment, spin)
    inertia = segments.rotation @ model.mass.inertia @ np.swapaxes(segments.rotation, -1, -2)
    energy = 0.5 * np.einsum("b,tbx,tbx->t", model.mass.mass, velocity, velocity)
    energy += 0.5 * np.einsum("tbx,tbxy,tby->t", segments.velocity, inertia, segments.velocity)
    energy += STANDARD_GRAVITY * center[..., 2] @ model.mass.mass
    rate = make_interp_spline(motion.time, energy, k=5)(motion.time, 1)
    supplied = result["joint_power"].sum("dof").values + residual + ground
    inner = slice(5, -5)
    assert np.ptp(rate[inner]) > 200.0
    np.testing.assert_allclose(supplied[inner], rate[inner], atol=2e-3 * np.ptp(rate))


def test_the_sum_over_the_degrees_of_freedom_of_a_joint_is_its_power(result):
    """Against moment times a rate found from the angles alone; the knee has a single degree of freedom."""
    time, angle = result["time"].values, result["joint_angle"]
    rate = make_interp_spline(time, angle.values, k=5)(time, 1)
    power = result["joint_moment"].values * rate
    expected = xr.DataArray(power, result["joint_moment"].coords, ("time", "dof"))
    knee = expected.sel(dof="knee_flexion_r").values
    scale = np.abs(knee).max()
    np.testing.assert_allclose(joint_power(result, "knee", "r")[4:-4], knee[4:-4], atol=0.01 * scale)


def test_components_have_the_magnitude_of_the_contact_force(result):
    size = (result["contact_force_component"] ** 2).sum("direction") ** 0.5
    expected = (result["joint_reaction"] ** 2).sum("axis", skipna=False) ** 0.5
    np.testing.assert_allclose(size, expected.transpose(*size.dims), rtol=1e-9)


@pytest.mark.parametrize("joint", SEGMENT_OF)
@pytest.mark.parametrize("side", ["r", "l"])
def test_components_are_along_the_axes_of_the_segment(analysis, result, joint, side):
    mechanics = analysis.body.mechanics
    body = mechanics.model.body(f"{SEGMENT_OF[joint]}_{side}")
    rotation = segment_motion(mechanics.model, mechanics.motion).rotation[:, body]
    axes = BODY_AXES | {"medial": [0.0, 1.0 if side == "r" else -1.0, 0.0]}
    force = result["joint_reaction"].sel(joint=f"{joint}_{side}").values
    for direction in DIRECTIONS:
        expected = np.einsum("tx,tx->t", force, rotation @ np.array(axes[direction]))
        found = result["contact_force_component"].sel(joint=f"{joint}_{side}", direction=direction)
        np.testing.assert_allclose(found, expected, atol=1e-9 * np.abs(force).max())


def test_the_joints_are_in_compression_where_the_foot_is_on_the_ground(result):
    weight = result.attrs["subject_mass_kg"] * STANDARD_GRAVITY
    loaded = result["ground_reaction_force"].sel(side="r", axis="z").values > 0.8 * weight
    axial = result["contact_force_component"].sel(direction="axial")
    for joint in ("hip_r", "knee_r", "ankle_r"):
        assert (axial.sel(joint=joint).values[loaded] > 0.5 * weight).all()


def test_a_mirrored_step_has_the_same_components_powers_and_free_moment(result):
    """The synthetic walk is its own mirror image half a stride later."""
    time = result["time"].values
    half = 0.5 * float(np.median(np.diff(result.attrs["heel_strike_times_r"])))
    inside = (time + half < time[-1] - 0.05) & (time > time[0] + 0.05)

    def later(values):
        return make_interp_spline(time, values, k=3)(time[inside] + half)

    force = result["contact_force_component"]
    for joint in SEGMENT_OF:
        right, left = (force.sel(joint=f"{joint}_{side}").values for side in "rl")
        np.testing.assert_allclose(later(left), right[inside], atol=0.03 * np.abs(right).max())
        right, left = (joint_power(result, joint, side) for side in "rl")
        np.testing.assert_allclose(later(left), right[inside], atol=0.06 * np.abs(right).max())
    right, left = (np.nan_to_num(result["ground_free_moment"].sel(side=side).values) for side in "rl")
    loaded = result["ground_reaction_force"].sel(side="r", axis="z").values[inside] > 300.0
    assert np.ptp(right[inside][loaded]) > 1.0
    np.testing.assert_allclose(later(left)[loaded], right[inside][loaded], atol=0.3)


def test_moments_of_the_legs_are_mirror_images_in_cycles_without_a_side(result):
    """Of a mirror image a force is opposite across the median plane, a moment about the other two directions."""
    right, left = (
        ms.laboratory.cycles(result, side, without_side=True, partial=True)["joint_reaction_moment"].mean(
            "cycle"
        )
        for side in "rl"
    )
    for joint in SEGMENT_OF:
        both = [each.sel(joint=joint).transpose("percent", "axis").values for each in (right, left)]
        np.testing.assert_allclose(both[1], both[0], atol=0.1 * np.nanmax(np.abs(both[0])))


def test_a_model_result_has_the_power_of_its_coordinates(tmp_path: Path):
    from small_model import save_model
    from small_model_motion import DOFS, feasible_moments, small_motion

    from musclesolve import read_osim
    from musclesolve.laboratory.run_trial import share_model

    small = read_osim(save_model(tmp_path))
    motion = small_motion(small)
    found = share_model(small, motion, feasible_moments(small), "activation_power", dofs=DOFS, cutoff_hz=None)
    time = found["time"].values
    rate = make_interp_spline(time, found["joint_angle"].values, k=5)(time, 1)
    expected = found["joint_moment"].values * rate
    difference = np.abs(found["joint_power"].values - expected)[2:-2]
    assert difference.max() < 1e-3 * np.abs(expected).max()


@pytest.mark.parametrize(("side", "other"), ["rl", "lr"])
def test_the_pelvis_of_a_leg_is_raised_and_forward_where_its_hip_is(result, side, other):
    """By the hip centers: their heights, and their places along the walking direction."""
    cycles = ms.laboratory.cycles(result, side, without_side=True, partial=True).isel(cycle=0)
    seen = cycles["pelvis_angle"].transpose("percent", "pelvis_rotation").values
    start, end = float(cycles["cycle_start"]), float(cycles["cycle_end"])
    time = start + 0.01 * cycles["percent"].values * (end - start)
    hips = [result["skeleton_position"].sel(skeleton_point=f"hip_{each}").values for each in (side, other)]
    apart, heading = hips[0] - hips[1], result["heading"].values
    width = np.linalg.norm(apart, axis=1)
    raised = np.arcsin(apart[:, 2] / width)
    ahead = np.arcsin((apart[:, 0] * np.cos(heading) + apart[:, 1] * np.sin(heading)) / width)
    for column, expected in ((1, raised), (2, ahead)):
        there = np.isfinite(seen[:, column]) & (time >= result["time"].values[0])
        wanted = np.interp(time[there], result["time"].values, expected)
        np.testing.assert_allclose(seen[there, column], wanted, atol=np.radians(1.5))


@pytest.mark.parametrize("side", ["r", "l"])
def test_the_knee_adduction_moment_is_that_of_the_ground_force_about_the_knee(analysis, result, side):
    """In stance shank and foot, 6 % of the body, add little to it; the ground turns the shank inward."""
    mechanics = analysis.body.mechanics
    motion = segment_motion(mechanics.model, mechanics.motion)
    forward = motion.rotation[:, mechanics.model.body(f"shank_{side}")] @ np.array(BODY_AXES["anterior"])
    knee = result["skeleton_position"].sel(skeleton_point=f"knee_{side}").values
    force = result["ground_reaction_force"].sel(side=side).values
    lever = result["center_of_pressure"].sel(side=side).values - knee
    inward = forward * (1.0 if side == "r" else -1.0)
    expected = np.einsum("tx,tx->t", np.cross(lever, force), inward)
    found = result["knee_adduction_moment"].sel(side=side).values
    weight = result.attrs["subject_mass_kg"] * STANDARD_GRAVITY
    loaded = np.nan_to_num(force[:, 2]) > 0.8 * weight
    assert loaded.sum() > 10
    assert np.abs(found - expected)[loaded].max() < 0.15 * np.nanmax(expected)
    assert 0.15 < np.nanmax(found) / result.attrs["subject_mass_kg"] < 0.9
