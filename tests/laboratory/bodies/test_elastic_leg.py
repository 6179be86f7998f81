"""A leg with elastic tendons: the laws that hold in its result, runs of frames, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from elastic_stride import elastic_result, elastic_trial, prepared, weak_result
from refusals import refused
from scipy.interpolate import CubicSpline

import musclesolve as ms
from musclesolve import Status
from musclesolve.laboratory.forces import find_options
from musclesolve.models.body_sharing import share_part
from musclesolve.sharing import RateLimits
from musclesolve.sharing.certificate import needs_reserve
from musclesolve.trajectory.motion_problem import TimeBasis


def values(name: str) -> np.ndarray:
    found = elastic_result()[name]
    return np.asarray(found.transpose("time", *(dim for dim in found.dims if dim != "time")).values)


def cos_pennation() -> np.ndarray:
    """Return the cosine of the pennation of a fiber of constant thickness."""
    data = elastic_result()
    thickness = (data["optimal_fiber_length"] * np.sin(data["pennation_angle"])).values
    return np.sqrt(1.0 - np.square(thickness / values("fiber_length")))


def tendon_rate() -> np.ndarray:
    """Return the rate of the tendon length, a cubic spline through the frames."""
    basis = TimeBasis.from_times(elastic_result()["time"].values)
    return basis.rates(basis.coefficients(values("tendon_length")))


def test_every_frame_is_solved():
    data = elastic_result()
    assert data["status"].values.tolist() == [[Status.SOLVED]] * 16
    assert float(data["gap"].max()) <= 1e-7
    assert (data.attrs["tendon"], data.attrs["solver"]) == ("elastic", "structured")


def test_active_and_passive_force_are_the_tendon_force():
    total = values("activation") * values("force_capacity") + values("passive_force")
    np.testing.assert_allclose(values("muscle_force"), total, rtol=1e-12)
    assert values("passive_force").max() > 1.0


def test_tendon_forces_give_the_joint_moments():
    produced = np.einsum("tkm,tm->tk", values("moment_arm"), values("muscle_force"))
    total = produced + values("reserve_moment") + values("unassigned_moment")
    right = np.isfinite(total).all(axis=0)
    assert right.sum() == 7
    np.testing.assert_allclose(total[:, right], values("joint_moment")[:, right], atol=1e-9)
    shared = [
        list(elastic_result()["dof"].values).index(dof) for dof in elastic_result().attrs["shared_dofs"]
    ]
    needed = values("joint_moment")[:, shared]
    assert not needs_reserve(needed - produced[:, shared], needed).any()


def test_tendon_and_fiber_are_as_long_as_the_path():
    along = values("fiber_length") * cos_pennation()
    # where a path is shorter than its tendon lengths stay above zero, which costs less than a micrometre elsewhere
    np.testing.assert_allclose(values("tendon_length") + along, values("musculotendon_length"), atol=1e-6)
    slack = elastic_result()["tendon_slack_length"].values
    np.testing.assert_allclose(values("tendon_strain"), values("tendon_length") / slack - 1.0, atol=1e-12)
    assert values("tendon_strain").max() > 0.01


def test_the_fiber_velocity_is_the_derivative_of_the_fiber_length():
    expected = (values("musculotendon_velocity") - tendon_rate()) * cos_pennation()
    np.testing.assert_allclose(values("fiber_velocity"), expected, atol=1e-9)
    spline = CubicSpline(elastic_result()["time"].values, values("fiber_length"))
    inside = slice(3, -3)  # the ends of a spline are not as good
    error = (spline(elastic_result()["time"].values, 1) - values("fiber_velocity"))[inside]
    assert np.sqrt(np.mean(error**2)) < 0.03 * np.sqrt(np.mean(values("fiber_velocity")[inside] ** 2))


def test_fiber_power_is_that_of_the_muscle_and_of_what_the_tendon_stores():
    outside = -values("muscle_force") * values("musculotendon_velocity")
    stored = values("muscle_force") * tendon_rate()
    np.testing.assert_allclose(values("fiber_power"), outside + stored, atol=1e-6)
    time = elastic_result()["time"].values
    gained = CubicSpline(time, stored).integrate(time[0], time[-1])
    energy = values("tendon_energy")
    np.testing.assert_allclose(energy[-1] - energy[0], gained, atol=0.02 * energy.max())
    assert energy.max() > 1.0


def test_activation_changes_no_faster_than_it_can():
    assert RateLimits().excess(values("activation"), elastic_result()["time"].values).max() < 1e-7
    assert values("activation").min() >= 0.0 and values("activation").max() <= 1.0


def test_rigid_tendons_have_none_of_it():
    rigid = ms.run(elastic_trial(tendon="rigid"), side="r")
    assert not {"tendon_length", "tendon_strain", "fiber_power", "tendon_balance_error"} & set(
        rigid.variables
    )
    assert rigid.attrs["tendon"] == "rigid" and "motion_iterations" not in rigid.attrs
    assert float(np.abs(rigid["activation"] - elastic_result()["activation"]).max()) > 0.05


def test_runs_of_usable_frames_are_motions_by_themselves():
    """Five frames, one that is not usable, three that are too few, one that is not measured, six."""
    ready = prepared()
    usable, moment = np.ones(16, dtype=bool), ready.parts[0].moment.copy()
    usable[5], moment[9] = False, np.nan
    found = share_part(replace(ready.parts[0], usable=usable, moment=moment), ready.sharing)
    lone, missing = Status.TOO_FEW_FRAMES, Status.NOT_MEASURED
    expected = [Status.SOLVED] * 5 + [Status.INVALID_MOTION, lone, lone, lone, missing] + [Status.SOLVED] * 6
    assert found.solution.status.tolist() == expected
    solved = np.isin(found.solution.status, [Status.SOLVED])
    for array in (found.solution.activation, found.state.fiber_length, found.tendons.tendon_strain):
        assert (np.isfinite(array).all(axis=1) == solved).all()
    assert np.isnan(found.tendons.defect[[4, 15]]).all() and np.isfinite(found.tendons.defect[10:15]).all()

    alone = np.arange(16) < 5
    first = share_part(replace(ready.parts[0], usable=alone), ready.sharing)
    np.testing.assert_array_equal(first.solution.activation[:5], found.solution.activation[:5])


def test_the_problem_of_the_result_is_the_static_one_in_its_state():
    problem = ms.leg_problem(elastic_result(), "r")
    np.testing.assert_allclose(
        np.einsum("tkm,tm->tk", problem.moment_matrix, values("activation")), problem.moment, atol=1e-4
    )
    assert ms.solve(problem).solved.all()


def test_what_muscles_lack_is_a_reserve():
    data = weak_result()
    helped = data["status"].values[:, 0] == Status.SOLVED_WITH_RESERVE
    assert 0 < helped.sum() < 16
    reserve = data["reserve_moment"].sel(dof="ankle_dorsiflexion_r").values
    assert reserve.min() < -5.0
    produced = (data["moment_arm"] * data["muscle_force"]).sum("muscle")
    total = produced + data["reserve_moment"] + data["unassigned_moment"]
    ends = [dof for dof in data["dof"].values if np.isfinite(data["unassigned_moment"].sel(dof=dof)).all()]
    assert len(ends) == 7
    np.testing.assert_allclose(
        total.sel(dof=ends).transpose("time", "dof"), data["joint_moment"].sel(dof=ends), atol=1e-9
    )


@pytest.mark.parametrize("cost", ["muscle_power", "joint_reaction_squared", "min_max"])
def test_costs_that_elastic_tendons_cannot_have_are_refused(cost):
    with refused("bad_cost", cost, "elastic tendons"):
        ms.run(elastic_trial(), cost=cost)


def test_a_solver_of_single_frames_is_refused():
    with refused("unfit_solver", "slsqp", "rigid"):
        ms.run(elastic_trial(), solver="slsqp")


@pytest.mark.parametrize(
    ("key", "word"), [("cost", "min_max"), ("cost", "muscle_power"), ("solver", "slsqp")]
)
def test_choices_of_the_trial_file_are_refused_at_their_key_before_the_motion(key, word):
    trial = elastic_trial()
    faulty = trial.with_settings(sharing=dict(**{key: word}))
    with refused("bad_cost" if key == "cost" else "unfit_solver", word, 'tendon = "rigid"') as caught:
        find_options(faulty)
    assert caught.value.where == f"[sharing] {key}"
    assert caught.value.file == trial.path
