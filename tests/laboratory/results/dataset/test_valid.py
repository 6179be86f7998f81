"""Frames that may not be used are never solved ones: `valid`, the status of invalid motions, what they hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from refusals import refused
from said import summary
from stored_results import write_result

import musclesolve as ms
from musclesolve import read_result, read_trial
from musclesolve.data import reference_stride
from musclesolve.dynamics import differentiate
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import find_options, mechanics, recorded_body, share
from musclesolve.laboratory.plotting.figure_sets import figure_files
from musclesolve.laboratory.results.dataset import frame_validity as frames
from musclesolve.laboratory.results.dataset.assemble import assemble
from musclesolve.laboratory.results.dataset.checked import checked_result
from musclesolve.laboratory.results.files import result_netcdf as netcdf
from musclesolve.laboratory.results.files.atomic_writing import write_files
from musclesolve.studies.force_sensitivity import leg_sensitivity

OF_SHARING = ("activation", "muscle_force", "joint_reaction", "reserve_moment", "unassigned_moment")
OF_MOTION = (
    "joint_angle",
    "joint_moment",
    "moment_arm",
    "passive_force",
    "force_capacity",
    "pelvis_residual",
)
SOME = slice(40, 50)


def jumping(recorded, degrees: float = 80.0):
    """The left hip jumps."""
    coordinates = recorded.motion.coordinates.copy()
    coordinates[45:, recorded.model.dof("hip_internal_rotation_l")] += np.radians(degrees)
    motion = differentiate(recorded.model, recorded.motion.time, coordinates)
    return replace(recorded, motion=motion)


def unbalanced(recorded):
    """A plate lost its force."""
    right, *others = recorded.reactions
    force = right.force.copy()
    force[SOME] += [0.0, 0.0, 500.0]
    return replace(recorded, reactions=[replace(right, force=force), *others])


def misplaced(recorded):
    """The right foot lies elsewhere than it was seen."""
    residual = recorded.fit.residual.copy()
    inside = np.flatnonzero(np.isin(recorded.measured.time, recorded.motion.time))[SOME]
    columns = [recorded.fit.points.index(f"{part}_r") for part in ("ankle", "heel", "toe")]
    residual[np.ix_(inside, columns)] = 0.15
    return replace(recorded, fit=replace(recorded.fit, residual=residual))


BROKEN = {"steady": jumping, "balanced": unbalanced, "foot_in_place": misplaced}


def shared(trial: Trial, recorded) -> xr.Dataset:
    options = find_options(trial, None, None, "both")
    return assemble(share(recorded_body(trial, options, recorded)))


@pytest.fixture(scope="module")
def recorded():
    trial = read_trial(reference_stride())
    return trial, mechanics(trial)


@pytest.fixture(scope="module", params=BROKEN)
def broken(request, recorded) -> tuple[str, xr.Dataset]:
    trial, good = recorded
    return request.param, shared(trial, BROKEN[request.param](good))


def test_whoever_filters_on_the_status_gets_the_valid_frames_alone(broken):
    mask, found = broken
    credible = xr.ones_like(found["valid"])
    for name in ("steady", "foot_in_place", "balanced"):
        credible = credible & found[name]
    assert 5 < int((~found[mask]).sum()) < 2 * found.sizes["time"]
    kept = found["status"].isin([ms.Status.SOLVED, ms.Status.SOLVED_WITH_RESERVE])
    assert found["valid"].dtype == bool and set(found["valid"].dims) == {"time", "side"}
    assert (kept == found["valid"]).all() and not (kept & ~credible).any()
    assert ((found["status"] == ms.Status.INVALID_MOTION) == ~credible).all()
    for side in "rl":
        assert (frames.valid(found, side) == found["valid"].sel(side=side)).all()


def test_what_depends_on_a_valid_solution_is_not_a_number_and_what_shows_why_is(broken):
    _, found = broken
    for side in "rl":
        lost = ~found["valid"].sel(side=side).values
        for name in OF_SHARING:
            own = next(n for n in found[name].dims if n in ("muscle", "joint", "dof"))
            names = [n for n in found[own].values if str(n).endswith(f"_{side}")]
            if own == "dof":
                names = [n for n in names if str(n).startswith(("hip", "knee", "ankle"))]
            values = found[name].sel({own: names}).transpose("time", ...).values
            assert np.isnan(values[lost]).all() and np.isfinite(values[~lost]).all(), name
        for name in ("cost", "gap"):
            assert np.isnan(found[name].sel(side=side).values[lost]).all()
    assert all(np.isfinite(found[name]).all() for name in OF_MOTION)


def test_a_jump_of_one_leg_costs_the_other_leg_nothing(recorded):
    trial, good = recorded
    sound, found = shared(trial, jumping(good, 0.0)), shared(trial, jumping(good))
    right = [name for name in found["muscle"].values if str(name).endswith("_r")]
    assert found["steady"].sel(side="r").all() and not found["steady"].sel(side="l").all()
    kept = found["valid"].sel(side="r") & sound["valid"].sel(side="r")
    assert kept.mean() > 0.5
    one, other = (each["muscle_force"].sel(muscle=right).values[kept.values] for each in (sound, found))
    np.testing.assert_allclose(one, other, atol=1e-6 * np.abs(one).max())


def test_valid_frames_are_those_of_the_sound_recording(recorded):
    """A foot misplaced for a while changes nothing elsewhere."""
    trial, good = recorded
    sound, found = shared(trial, good), shared(trial, misplaced(good))
    muscles = [name for name in found["muscle"].values if str(name).endswith("_r")]
    own = found["valid"].sel(side="r").values
    for name in ("activation", "muscle_force"):
        one, other = (each[name].sel(muscle=muscles).values[own] for each in (sound, found))
        np.testing.assert_allclose(one, other, atol=1e-6 * max(1.0, np.abs(one).max()))


def test_muscles_reserves_and_unassigned_moments_are_the_joint_moment(broken):
    _, found = broken
    legs = [name for name in found["dof"].values if str(name).startswith(("hip", "knee", "ankle"))]
    for side in "rl":
        own = found.sel(dof=[name for name in legs if str(name).endswith(side)])
        produced = (own["moment_arm"] * own["muscle_force"].fillna(0.0)).sum("muscle")
        total = produced + own["reserve_moment"] + own["unassigned_moment"]
        valid = found["valid"].sel(side=side)
        np.testing.assert_allclose(total.where(valid), own["joint_moment"].where(valid), atol=1e-6)
        not_shared = [name for name in own["dof"].values if name not in found.attrs["shared_dofs"]]
        assert float(own["unassigned_moment"].sel(dof=not_shared).std()) > 0.01
        assert not own["reserve_moment"].sel(dof=not_shared).fillna(0.0).any()


def test_a_mean_without_looking_has_no_invalid_frame_in_it(broken):
    _, found = broken
    named = found["muscle_force"].mean("time")
    for side in "rl":
        own = found["valid"].sel(side=side)
        muscles = [name for name in found["muscle"].values if str(name).endswith(f"_{side}")]
        looked = found["muscle_force"].sel(muscle=muscles).where(own, drop=True).mean("time")
        np.testing.assert_allclose(named.sel(muscle=muscles), looked)


def test_the_summary_counts_and_explains_them(broken):
    mask, found = broken
    said = {
        "steady": "a joint rotates implausibly fast, or a marker leaps",
        "foot_in_place": "the foot lies far from where it was measured",
        "balanced": "the ground forces do not balance the motion",
    }
    lost = int((~found["valid"].sel(side="r")).sum())
    assert f"{found.sizes['time'] - lost} solved, {lost} WITHOUT VALID SOLUTION" in summary(found)
    assert said[mask] in summary(found)


def test_the_problem_of_a_leg_asks_nothing_of_them(broken):
    _, found = broken
    for side in "rl":
        again = ms.solve(ms.leg_problem(found, side), "force_squared", on_infeasible="reserve")
        np.testing.assert_array_equal(again.solved, found["valid"].sel(side=side).values)


def test_a_file_keeps_them_and_one_of_an_earlier_version_gets_them(broken, tmp_path):
    _, found = broken
    write_result(found, tmp_path / "result.nc")
    kept = read_result(tmp_path / "result.nc")
    assert kept["valid"].dtype == bool
    assert (kept["status"] == found["status"]).all() and checked_result(kept) is kept


def test_sensitivities_have_none_of_them(recorded):
    trial, good = recorded

    bad, options = misplaced(good), find_options(trial, None, None, "r")
    (leg,) = share(recorded_body(trial, options, bad)).parts
    found = leg_sensitivity(leg, options.sharing.cost)
    lost = leg.solution.status == ms.Status.INVALID_MOTION
    assert lost.sum() == 10 and not found.derivatives.unique[lost].any()
    assert np.isnan(found.by("max_isometric_force")[lost]).all()


def test_the_problem_of_a_leg_of_a_stored_result(broken, tmp_path):
    """It passes over what cannot be used."""
    _, found = broken
    write_result(found, tmp_path / "result.nc")
    kept, now = (ms.leg_problem(each, "r") for each in (read_result(tmp_path / "result.nc"), found))
    np.testing.assert_array_equal(kept.moment, now.moment)
    assert np.isnan(now.moment).any()
    with refused("bad_type", "result.nc", "read_result"):
        ms.leg_problem(str(tmp_path / "result.nc"), "r")


def test_a_result_without_valid_is_refused_in_one_message(broken):
    """Nothing tells which frames may be used."""
    lacking = broken[1].drop_vars("valid")
    for function, *words in ((ms.laboratory.cycles, "r"), (ms.leg_problem, "r"), (figure_files,)):
        with refused("bad_result", "valid"):
            function(lacking, *words)


@pytest.mark.in_part(2)
def test_a_variable_is_added_to_a_file_in_its_place(broken, tmp_path):
    path = tmp_path / "result.nc"
    write_result(broken[1], path)
    read_result(path).assign(twice=2.0 * broken[1].muscle_force).to_netcdf(path)
    again = read_result(path)
    np.testing.assert_array_equal(again.twice, 2.0 * again.muscle_force)


def test_what_is_no_result_is_read_as_it_is(tmp_path):
    other = xr.Dataset({"status": ("x", [1.0, 2.0])})
    write_files(tmp_path, {"a.nc": netcdf.netcdf_bytes(other)})
    assert read_result(tmp_path / "a.nc").identical(other)


def test_the_solution_counts_reserves_apart():
    arm, strongest = np.array([[[0.05, -0.04]]] * 5), np.array([1000.0, 400.0])
    moment = np.array([[40.0], [60.0], [70.0], [np.nan], [1.0]])
    problem = ms.Problem(arm, moment, np.tile(strongest, (5, 1)), strongest)
    helped = ms.solve(problem, "force_squared", on_infeasible="reserve")
    assert repr(helped).endswith(": 2 solved, 2 with reserve, 1 not solved>")
    assert repr(ms.solve(problem, "force_squared")).endswith(": 2 solved, 3 not solved>")
