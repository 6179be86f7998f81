"""The recorded walk, files to muscle forces, against an independent computation and against the laws."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.tables import read_mot


@pytest.fixture(scope="module")
def trial(recorded_walk_trial):
    return recorded_walk_trial


@pytest.fixture(scope="module")
def result(trial):
    return ms.run(trial)


@pytest.fixture(scope="module")
def reference(recorded_walk: Path):
    return read_mot(recorded_walk / "reference" / "opensim_id.sto")


@pytest.mark.parametrize(
    ("dof", "column", "largest_rms", "least_correlation"),
    [
        ("hip_flexion_r", "hip_flexion_r_moment", 12.0, 0.95),
        ("knee_flexion_r", "knee_angle_r_moment", 10.0, 0.90),
        ("ankle_dorsiflexion_r", "ankle_angle_r_moment", 8.0, 0.97),
    ],
)
def test_moments_are_those_of_an_independent_model(
    result, reference, dof, column, largest_rms, least_correlation
):
    ours, theirs = result.joint_moment.sel(dof=dof).values, reference[column]
    np.testing.assert_allclose(result.time.values, reference.time, atol=1e-6)
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < largest_rms
    assert np.corrcoef(ours, theirs)[0, 1] > least_correlation


def test_every_frame_of_both_legs_has_a_certified_answer(result):
    assert set(np.unique(result.status)) <= {ms.Status.SOLVED, ms.Status.SOLVED_WITH_RESERVE}
    assert float(result.gap.max()) <= 1e-9
    assert np.isfinite(result.muscle_force.values).all()


def test_muscles_and_reserves_produce_the_joint_moments(result):
    produced = np.einsum("tdm,tm->td", result.moment_arm.values, result.muscle_force.values)
    legs = [name for name in result.dof.values if name.startswith(("hip", "knee", "ankle"))]
    total = produced + result.reserve_moment.values + result.unassigned_moment.values
    rows = [list(result.dof.values).index(name) for name in legs]
    np.testing.assert_allclose(total[:, rows], result.joint_moment.sel(dof=legs).values, atol=1e-6)


def test_a_frame_with_a_reserve_says_so_and_one_without_has_none(result):
    shared = result.attrs["shared_dofs"]
    for side in "rl":
        dofs = [
            name
            for name in result.dof.values
            if name.startswith(("hip", "knee", "ankle")) and name.endswith(side)
        ]
        others = [dof for dof in dofs if dof not in shared]
        assert (result.reserve_moment.sel(dof=others) == 0.0).all() and len(others) == 2
        assert (result.unassigned_moment.sel(dof=[dof for dof in dofs if dof in shared]) == 0.0).all()
        largest = np.abs(result.reserve_moment.sel(dof=dofs).values).max(axis=1)
        exact = result.status.sel(side=side).values == ms.Status.SOLVED
        assert largest[exact].max() < 1e-3
        assert largest[~exact].min() > 1e-6


def test_constraints_hold_on_every_frame(result):
    assert float(result.constraint_violation.max()) < 1e-9


def test_fibers_work_within_their_range(result):
    normalized = result.fiber_length / result.optimal_fiber_length
    assert float(normalized.min()) > 0.2 and float(normalized.max()) < 1.7


def test_muscles_act_when_walking_people_use_them(result):
    """Silent and busy parts of the gait cycle that electromyography agrees on (Perry 1992; Winter 1991)."""
    strike, stride = 0.268, 1.412 - 0.268
    phase = ((result.time.values - strike) / stride) % 1.0

    def mean(muscle: str, start: float, end: float) -> float:
        return float(
            result.activation.sel(muscle=f"{muscle}_r").values[(phase >= start) & (phase < end)].mean()
        )

    assert mean("soleus", 0.40, 0.55) > 5.0 * mean("soleus", 0.70, 0.95)
    assert mean("gluteus_medius_middle", 0.15, 0.40) > 5.0 * mean("gluteus_medius_middle", 0.70, 0.90)
    assert mean("vastus_lateralis", 0.16, 0.25) > 5.0 * mean("vastus_lateralis", 0.40, 0.50)
    assert mean("tibialis_anterior", 0.85, 1.00) > 5.0 * mean("tibialis_anterior", 0.30, 0.45)
    assert mean("semitendinosus", 0.92, 1.00) > mean("semitendinosus", 0.30, 0.45)
    assert mean("gluteus_maximus_middle", 0.15, 0.20) > mean("gluteus_maximus_middle", 0.40, 0.55)


@pytest.mark.parametrize("cost", ["force_squared", "stress_cubed", "soft_saturation"])
def test_both_solvers_give_the_same_activations(trial, result, cost):
    few = result.isel(time=slice(0, None, 12))
    dofs = [dof for dof in result.attrs["shared_dofs"] if dof.endswith("_r")]
    muscles = [name for name in result.muscle.values if name.endswith("_r")]
    few = few.sel(muscle=muscles)
    arm = few.moment_arm.sel(dof=dofs).values
    needed = few.joint_moment.sel(dof=dofs).values - np.einsum("tkm,tm->tk", arm, few.passive_force.values)
    problem = ms.Problem(arm, needed, few.force_capacity.values, few.max_isometric_force.values)
    one, other = ms.solve(problem, cost, "batch"), ms.solve(problem, cost, "ipopt")
    np.testing.assert_array_equal(one.status, other.status)
    assert one.solved.sum() > 5
    np.testing.assert_allclose(one.activation, other.activation, atol=1e-4)


def test_body_weight_is_carried(result, trial):
    """The ground carries the weight of the body, and the model agrees: small vertical residual at the pelvis."""
    weight = trial.subject.mass * 9.80665
    vertical = result.pelvis_residual.sel(component="force_z").values
    assert np.abs(vertical.mean()) < 0.05 * weight


def test_one_leg_alone_is_the_same(trial, result):
    alone = ms.run(trial, side="l")
    np.testing.assert_array_equal(
        alone.muscle_force.values, result.muscle_force.sel(muscle=alone.muscle.values).values
    )
