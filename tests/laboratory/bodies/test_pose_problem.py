"""A problem of poses: equal to the problem of a run, to arrays put together by hand, and refused where it is wrong."""

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import musclesolve as ms
from musclesolve.laboratory.forces import prepare
from musclesolve.models.body_sharing import sharing_problem

ANGLES = {"hip_flexion_r": np.radians([-10.0, 20.0, 60.0]), "knee_flexion_r": np.radians([5.0, 40.0, 90.0])}
RATES = {"knee_flexion_r": [0.0, 2.0, -3.0]}
MOMENTS = {"hip_flexion_r": [15.0, -10.0, -30.0], "knee_flexion_r": -20.0, "ankle_dorsiflexion_r": -5.0}


@pytest.fixture(scope="module")
def body():
    return prepare(ms.data.reference_stride())


def test_poses_of_a_run_have_the_problem_of_the_run(body):
    part, motion = body.parts[0], body.mechanics.motion
    model = body.mechanics.model
    joints = model.topology.dof_names[: model.tree.joint_count]
    angles = {name: motion.coordinates[:, model.dof(name)] for name in joints}
    rates = {name: motion.rates[:, model.dof(name)] for name in joints}
    moments = dict(zip(part.shared, part.shared_moment.T, strict=True))
    database, muscles = body.options.database, body.trial.settings.muscles
    options = {"strength": muscles.strength, "passive": muscles.passive}
    problem = ms.pose_problem(angles, rates, moments, database, model, time=part.time, **options)
    expected = sharing_problem(part, body.sharing)
    for field in fields(ms.Problem):
        ours, theirs = getattr(problem, field.name), getattr(expected, field.name)
        if field.name.startswith("reaction"):
            assert ours is None
        elif isinstance(theirs, np.ndarray):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9, err_msg=field.name)
        else:
            assert ours == theirs, field.name


def test_equals_the_geometry_put_together_by_hand():
    problem = ms.pose_problem(
        ANGLES, RATES, MOMENTS, passive="table", least_activation=0.02, reserve_weight=3.0
    )
    geometry = ms.muscle_geometry(ANGLES, RATES)
    of = geometry.sel(muscle=list(problem.muscle), dof=list(MOMENTS)).transpose("pose", "dof", "muscle")
    assert problem.dof == tuple(MOMENTS)
    per_muscle = ("max_isometric_force", "optimal_fiber_length", "joints_crossed")
    same = ("moment_arm", "force_capacity", "fiber_force_capacity", "passive_force")
    for name in (*same, "fiber_length", "fiber_velocity", *per_muscle):
        if (ours := getattr(problem, name)) is not None:
            np.testing.assert_allclose(ours, of[name].values, rtol=1e-12, err_msg=name)
    passive = np.einsum("tmn,tn->tm", of["moment_arm"].values, of["passive_force"].values)
    net = np.stack([np.broadcast_to(values, 3) for values in MOMENTS.values()], axis=1)
    np.testing.assert_allclose(problem.moment, net - passive, atol=1e-12)
    assert np.abs(passive).max() > 0.1
    np.testing.assert_array_equal(problem.joint_angle[:, 1], ANGLES["knee_flexion_r"])
    np.testing.assert_array_equal(problem.joint_rate[:, 1], RATES["knee_flexion_r"])
    assert (problem.lower == 0.02).all() and (problem.reserve_weight == 3.0).all() and problem.time is None


def test_muscles_are_all_that_have_an_arm_about_a_shared_degree_of_freedom():
    one = ms.pose_problem(ANGLES, None, {"knee_flexion_l": 10.0})
    geometry = ms.muscle_geometry(ANGLES)
    arms = np.abs(geometry["moment_arm"].sel(dof="knee_flexion_l")).max("pose")
    assert set(geometry["muscle"].values[arms.values > 1e-9]) <= set(one.muscle)
    assert all(name.endswith("_l") for name in one.muscle)
    both = ms.pose_problem(ANGLES, None, {"knee_flexion_l": 10.0, "knee_flexion_r": 10.0})
    assert both.n_muscles == 2 * one.n_muscles


@pytest.mark.parametrize("cost", ["joint_weighted_activation", "muscle_power", "stress_cubed"])
def test_solution_is_certified_and_produces_the_moments(cost):
    problem = ms.pose_problem(ANGLES, RATES, MOMENTS)
    solution = ms.solve(problem, cost)
    assert (solution.status == ms.Status.SOLVED).all() and (solution.gap <= 1e-9).all()
    np.testing.assert_allclose(problem.produced(solution.activation), problem.moment, atol=1e-4)


def test_scalars_make_a_single_frame_equal_to_the_first_of_arrays():
    first = ms.pose_problem({"knee_flexion_r": 1.0}, {"knee_flexion_r": 2.0}, {"knee_flexion_r": -40.0})
    arrays = ms.pose_problem(
        {"knee_flexion_r": [1.0, 0.5]}, {"knee_flexion_r": 2.0}, {"knee_flexion_r": -40.0}
    )
    assert first.single_frame and not arrays.single_frame
    np.testing.assert_allclose(ms.solve(first).force, ms.solve(arrays).force[0], rtol=1e-6)


def test_subject_and_strength_scale_the_muscles():
    size = {"mass_kg": 55.0, "stature_m": 1.58, "sex": "female"}
    small = ms.pose_problem(ANGLES, None, MOMENTS, subject=size)
    same = ms.dynamics.human_model(mass=55.0, stature=1.58, sex="female")
    alike = ms.pose_problem(ANGLES, None, MOMENTS, subject=same, strength=0.5)
    np.testing.assert_array_equal(small.moment_arm, alike.moment_arm)
    np.testing.assert_allclose(0.5 * small.force_capacity, alike.force_capacity)
    usual = ms.pose_problem(ANGLES, None, MOMENTS)
    assert (small.optimal_fiber_length < usual.optimal_fiber_length).all()


@pytest.mark.parametrize(
    ("changes", "code", "place"),
    [
        ({"angles": {"knee_r": 0.1}}, "unknown_name", None),
        ({"rates": {"knee_flexion": 0.1}}, "unknown_name", None),
        ({"moments": {"elbow_flexion_r": 1.0}}, "unknown_name", None),
        ({"moments": {}}, "missing_argument", "moments"),
        ({"moments": [1.0]}, "bad_type", None),
        ({"moments": {"knee_flexion_r": [1.0, 2.0]}}, "bad_shape", None),
        ({"rates": {"knee_flexion_r": [1.0, 2.0]}}, "bad_shape", None),
        ({"moments": {"knee_flexion_r": np.nan}}, "bad_number", "knee_flexion_r"),
        ({"angles": {"knee_flexion_r": 45.0}}, "bad_number", None),
        ({"rates": {"knee_flexion_r": -60.0}}, "bad_number", "knee_flexion_r"),
        ({"muscles": "silva"}, "bad_muscle_set", None),
        ({"muscles": 3}, "bad_type", "muscles"),
        ({"subject": {"mass": 70.0}}, "unknown_name", None),
        ({"time": [0.0, 0.1]}, "bad_shape", "time"),
        ({"time": [0.0, 0.2, 0.1]}, "time_not_increasing", "time"),
        ({"passive": "some"}, "unknown_name", None),
        ({"least_activation": 0.9}, "bad_number", "least_activation"),
        ({"tendon": "elastic"}, None, "tendon"),
    ],
)
def test_wrong_arguments_are_refused(changes, code, place):
    given = {"angles": ANGLES, "rates": RATES, "moments": MOMENTS} | changes
    with pytest.raises(ms.InputError) as caught:
        ms.pose_problem(**given)
    assert code is None or caught.value.code == code
    assert place is None or caught.value.where == place


def test_tables_of_pandas_are_poses():
    """Columns by name, as angles and moments often come."""
    table = pd.DataFrame({"knee_flexion_r": [0.1, 0.9]})
    problem = ms.pose_problem(table, table, -30.0 * table)
    arrays = ms.pose_problem(
        *({"knee_flexion_r": each.to_numpy()[:, 0]} for each in (table, table, -30.0 * table))
    )
    assert np.array_equal(problem.moment_arm, arrays.moment_arm) and problem.moment.shape == (2, 1)


def test_rates_of_the_fastest_throws_and_kicks_are_taken():
    rates = {"knee_flexion_r": -35.0, "elbow_flexion_r": -42.0, "shoulder_internal_rotation_r": 130.0}
    assert ms.pose_problem(ANGLES, rates, MOMENTS).fiber_velocity.any()


def test_a_unit_is_warned_of_once():
    with pytest.warns(UserWarning) as warned:
        ms.pose_problem({"knee_flexion_r": 0.3}, None, {"knee_flexion_r": -1e6})
    assert ["N mm" in str(each.message) for each in warned] == [True]
