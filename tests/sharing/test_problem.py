from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from refusals import refused

from musclesolve import Problem, Status, solve

ARM = np.full((4, 2, 3), 0.05)
MOMENT = np.full((4, 2), 10.0)
CAPACITY = np.full((4, 3), 1000.0)
STRONGEST = np.full(3, 1000.0)


def problem(**changes):
    fields = {
        "moment_arm": ARM,
        "moment": MOMENT,
        "force_capacity": CAPACITY,
        "max_isometric_force": STRONGEST,
    }
    return Problem(**(fields | changes))


def test_bounds_and_weights_are_broadcast():
    made = problem(lower=0.01, upper=[1.0, 0.9, 0.8], reserve_weight=[1.0, 2.0])
    assert made.lower.shape == made.upper.shape == (4, 3)
    assert made.reserve_weight.shape == (4, 2)
    np.testing.assert_array_equal(made.upper[2], [1.0, 0.9, 0.8])
    assert (made.n_frames, made.n_dof, made.n_muscles) == (4, 2, 3)
    assert made.muscle == ("muscle_0", "muscle_1", "muscle_2") and made.dof == ("dof_0", "dof_1")


def test_what_lacks_the_frame_axis_holds_for_every_frame():
    short = problem(moment_arm=ARM[0], force_capacity=CAPACITY[0])
    np.testing.assert_array_equal(short.moment_matrix, problem().moment_matrix)
    assert (
        not short.single_frame
        and problem(moment_arm=ARM[0], moment=MOMENT[0], force_capacity=CAPACITY[0]).single_frame
    )


def test_labeled_arrays_and_lists_are_accepted():
    labeled = xr.DataArray(ARM, dims=("time", "dof", "muscle"))
    made = problem(moment_arm=labeled, moment=MOMENT.tolist())
    np.testing.assert_array_equal(made.moment_arm, ARM)


def test_masked_numbers_are_missing():
    moment = np.ma.masked_array(MOMENT, mask=False)
    moment[1, 0] = np.ma.masked
    made = problem(moment=moment)
    np.testing.assert_array_equal(made.valid, [True, False, True, True])
    assert np.isnan(made.moment[1, 0]) and (made.moment[0] == 10.0).all()
    whole = problem(force_capacity=np.ma.masked_array(CAPACITY.astype(int), mask=CAPACITY > 0))
    assert not whole.valid.any()
    with refused("bad_number", "max_isometric_force", "muscle_2"):
        problem(max_isometric_force=np.ma.masked_array(STRONGEST, mask=[False, False, True]))


def test_a_replaced_array_leaves_a_single_frame_single():
    elbow = Problem([[0.05, 0.03]], [20.0], [1000.0, 400.0], [1000.0, 400.0])
    changes = ({"moment": [10.0]}, {"moment": elbow.moment / 2.0}, {"upper": 0.9}, {"muscle": ("a", "b")}, {})
    for change in changes:
        made = replace(elbow, **change)
        assert made.single_frame and solve(made).activation.shape == (2,)
    arrays = {
        name: getattr(elbow, name) for name in ("moment_arm", "moment", "force_capacity", "lower", "upper")
    }
    several = {name: np.repeat(array, 3, axis=0) for name, array in arrays.items()}
    assert solve(replace(elbow, **several)).activation.shape == (3, 2)
    assert not replace(problem()).single_frame


def test_whole_arrays_alone_are_replaced_without_further_checks():
    whole = problem()
    assert (whole.with_arrays(upper=np.full((4, 3), 0.5)).upper == 0.5).all()
    for code, part, arrays in (
        (
            "bad_number",
            "max_isometric_force is 0 for muscle_1",
            {"max_isometric_force": STRONGEST * [1, 0, 1]},
        ),
        ("bad_number", "max_isometric_force is nan", {"max_isometric_force": STRONGEST * np.nan}),
        ("unknown_name", "uper", {"uper": whole.upper}),
        ("bad_shape", "dataclasses.replace(problem, upper=...)", {"upper": 0.5}),
        ("bad_shape", "(4, 2)", {"moment": MOMENT[0]}),
    ):
        with refused(code, part):
            whole.with_arrays(**arrays)


def test_it_does_not_change_with_the_arrays_it_was_made_from():
    arm = ARM.copy()
    made = problem(moment_arm=arm)
    arm[:] = 0.0
    assert (made.moment_arm == 0.05).all()
    with pytest.raises(ValueError, match="read-only"):
        made.moment_arm[0] = 1.0


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("moment_arm", np.ones((4, 2, 5)), "shape (4, 3)"),
        ("moment_arm", np.ones(3), "shape (3,)"),
        ("moment_arm", np.ones((4, 0, 3)), "shape (4, 0, 3)"),
        ("moment_arm", np.ones((4, 3, 2)), "moment_arm has the shape (4, 3, 2)"),
        ("moment", np.ones((4, 3)), "shape (4, 3)"),
        ("moment", np.ones((5, 2)), "shape (4,"),
        ("force_capacity", np.ones((4, 1)), "shape (4, 1)"),
        ("max_isometric_force", np.ones((4, 3)), "shape (4, 3)"),
        ("lower", np.zeros(2), "shape (2,)"),
        ("reserve_weight", np.ones(3), "shape (3,)"),
    ],
)
def test_a_wrong_shape_names_the_array(name, value, shown):
    with refused("bad_shape", "Problem.", shown):
        problem(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"), [("moment", [["a", "b"]] * 4), ("moment", MOMENT + 1j), ("upper", 1.0 + 0j)]
)
def test_what_is_no_real_number_is_refused(name, value):
    with refused("not_numbers", f"Problem.{name}"):
        problem(**{name: value})


@pytest.mark.parametrize(
    "name", ["moment_arm", "moment", "force_capacity", "max_isometric_force", "lower", "upper"]
)
def test_none_in_the_place_of_an_array_is_refused(name):
    with refused("not_numbers", f"Problem.{name}", "it holds None"):
        problem(**{name: None})


def test_none_among_the_numbers_is_a_missing_number():
    moment = MOMENT.tolist()
    moment[1][0] = None
    np.testing.assert_array_equal(problem(moment=moment).valid, [True, False, True, True])
    for name, value, owner in (
        ("max_isometric_force", [1.0, None, 1.0], "muscle_1"),
        ("reserve_weight", [1.0, None], "dof_1"),
    ):
        with refused("bad_number", f"Problem.{name}", owner):
            problem(**{name: value})


@pytest.mark.parametrize(
    ("name", "value", "owner", "code"),
    [
        ("lower", [0.0, 1.5, 0.0], "soleus in frame 0", "bad_number"),
        ("lower", -0.1, "iliacus in frame 0", "bad_number"),
        ("fiber_force_capacity", 1.0, "iliacus in frame 0", "bad_number"),
        ("upper", np.inf, "iliacus in frame 0", "bad_number"),
        (
            "force_capacity",
            np.where(np.arange(12).reshape(4, 3) == 7, -1.0, 100.0),
            "soleus in frame 2",
            "bad_number",
        ),
        ("max_isometric_force", [1.0, 0.0, 1.0], "soleus", "bad_number"),
        ("max_isometric_force", [1.0, np.nan, 1.0], "soleus", "bad_number"),
        ("reserve_weight", [1.0, 0.0], "knee in frame 0", "bad_number"),
        ("reserve_weight", [-np.inf, 1.0], "hip in frame 0", "bad_number"),
        ("muscle", ["a", "b"], "2", "bad_shape"),
        ("muscle", ["a", "b", "a"], "'a'", "duplicate_name"),
    ],
)
def test_a_wrong_value_names_its_owner(name, value, owner, code):
    names = {"muscle": ["iliacus", "soleus", "gracilis"], "dof": ["hip", "knee"]}
    with refused(code, f"Problem.{name}", *owner.split(" in ")):
        problem(**(names | {name: value}))


REACTION = {"reaction_matrix": np.ones((2, 3)), "reaction_offset": np.zeros(2)}


def test_optional_fields_are_broadcast_and_go_with_their_frames():
    made = problem(
        fiber_velocity=0.1 * np.arange(12.0).reshape(4, 3),
        optimal_fiber_length=[0.1, 0.2, 0.3],
        emg=[0.1, np.nan, 0.3],
        **REACTION,
    )
    assert made.reaction_matrix.shape == (4, 2, 3) and made.reaction_offset.shape == (4, 2)
    assert made.emg.shape == (4, 3) and made.reaction == ("reaction_0", "reaction_1")
    part = made.frames(np.array([2, 0]))
    np.testing.assert_array_equal(part.fiber_velocity[:, 0], [0.1 * 6.0, 0.0])
    assert part.reaction_matrix.shape == (2, 2, 3) and part.optimal_fiber_length.shape == (3,)
    assert made.valid.all() and problem().fiber_velocity is None and problem().reaction is None


@pytest.mark.parametrize(
    ("fields", "code", "parts"),
    [
        ({"fiber_velocity": np.zeros((4, 2))}, "bad_shape", ["fiber_velocity", "(4, 2)"]),
        ({"joints_crossed": [1, 0, 2]}, "bad_number", ["joints_crossed", "muscle_1"]),
        ({"joints_crossed": [1, 2, 1.5]}, "bad_number", ["joints_crossed", "muscle_2", "whole number"]),
        ({"optimal_fiber_length": [0.1, 0.0, 0.1]}, "bad_number", ["optimal_fiber_length", "muscle_1"]),
        ({"optimal_fiber_length": [0.1, np.nan, 0.1]}, "bad_number", ["optimal_fiber_length", "muscle_1"]),
        ({"emg": [0.1, -0.2, 0.1]}, "bad_number", ["emg", "-0.2", "muscle_1", "frame 0"]),
        ({"emg": [0.1, np.inf, 0.1]}, "bad_number", ["emg", "inf", "muscle_1", "frame 0"]),
        ({"reaction_matrix": np.ones((2, 3))}, "missing_argument", ["reaction_offset"]),
        ({"reaction_offset": np.ones(2)}, "missing_argument", ["reaction_matrix"]),
        ({"reaction": ["knee"]}, "conflict", ["reaction"]),
        (REACTION | {"reaction": ["knee", "knee"]}, "duplicate_name", ["'knee'"]),
        (REACTION | {"reaction_offset": np.zeros(3)}, "bad_shape", ["reaction_offset", "(3,)"]),
        (
            {"reaction_matrix": np.ones(3), "reaction_offset": np.zeros(1)},
            "bad_shape",
            ["reaction_matrix", "(3,)"],
        ),
    ],
)
def test_a_wrong_optional_field_is_named(fields, code, parts):
    with refused(code, "Problem.", *parts):
        problem(**fields)


def test_an_optional_field_that_is_not_finite_spoils_its_frame_only():
    velocity = np.zeros((4, 3))
    velocity[2, 1] = np.nan
    np.testing.assert_array_equal(problem(fiber_velocity=velocity).valid, [True, True, False, True])
    offset = np.zeros((4, 2))
    offset[0] = np.inf
    np.testing.assert_array_equal(
        problem(**(REACTION | {"reaction_offset": offset})).valid, [False, True, True, True]
    )


def test_frames_that_are_not_finite_are_flagged_and_the_others_solved(make_leg):
    whole = make_leg(6)
    moment, capacity, upper = whole.moment.copy(), whole.force_capacity.copy(), whole.upper.copy()
    moment[1, 2], capacity[2, 5], upper[4, 0], moment[5, 0] = np.nan, np.inf, np.nan, 1e200
    broken = Problem(whole.moment_arm, moment, capacity, whole.max_isometric_force, upper=upper)
    answer, reference = solve(broken, "stress_cubed"), solve(whole, "stress_cubed")
    bad = np.isin(np.arange(6), (1, 2, 4, 5))
    np.testing.assert_array_equal(answer.status == Status.INVALID_INPUT, bad)
    assert np.isnan(answer.activation[bad]).all() and np.isnan(answer.force[bad]).all()
    np.testing.assert_allclose(answer.activation[~bad], reference.activation[~bad], atol=1e-9)


def test_joints_crossed_are_counted_where_the_moment_arms_alone_say_them():
    """An arm in one frame of four is enough, so that the frames of a problem have the weights of the whole."""
    arm = np.zeros((4, 2, 3))
    arm[:, 0, :2], arm[:, 1, 2], arm[2, 1, 0] = 0.04, 0.03, 0.01
    bare = problem(moment_arm=arm, moment=np.array([10.0, 5.0]))
    np.testing.assert_array_equal(bare.crossed, [2, 1, 1])
    stated = replace(bare, joints_crossed=[2, 1, 1])
    whole = solve(stated, "joint_weighted_activation")
    np.testing.assert_array_equal(solve(bare, "joint_weighted_activation").activation, whole.activation)
    assert (
        np.abs(
            whole.activation
            - solve(replace(bare, joints_crossed=[1, 1, 1]), "joint_weighted_activation").activation
        ).max()
        > 1e-3
    )
    np.testing.assert_array_equal(
        problem(moment_arm=np.zeros_like(arm), moment=np.zeros(2)).crossed, [1, 1, 1]
    )
    np.testing.assert_array_equal(bare.with_arrays(moment_arm=np.zeros_like(arm)).crossed, [1, 1, 1])


def test_no_frames_at_all():
    empty = problem(moment_arm=ARM[:0], moment=MOMENT[:0], force_capacity=CAPACITY[:0])
    answer = solve(empty)
    assert answer.activation.shape == (0, 3) and answer.summary() == ""


def test_numbers_in_another_unit_are_warned_of():
    with pytest.warns(UserWarning, match=r"moment_arm is up to 50 m \(muscle_0\)"):
        problem(moment_arm=1000.0 * ARM)
    with pytest.warns(UserWarning, match=r"moment_arm is up to 5 m \(muscle_0\), .* by 0.01 if in cm"):
        problem(moment_arm=100.0 * ARM)
    with pytest.warns(UserWarning, match="fiber_velocity is up to 300 m/s .* 0.001 if it is in mm"):
        problem(fiber_velocity=[-300.0, 20.0, 10.0])
    with pytest.warns(UserWarning, match=r"joint_angle is up to 60 rad \(dof_1\), .* degrees"):
        problem(joint_angle=[2.0, -60.0])
    with pytest.warns(UserWarning, match=r"joint_rate is up to 300 rad/s \(dof_0\), .* degrees/s"):
        problem(joint_rate=[-300.0, 2.0])
    with pytest.warns(UserWarning, match="optimal_fiber_length is up to 9 m"):
        problem(optimal_fiber_length=np.array([9.0, 5.0, 7.0]))
    with pytest.warns(UserWarning, match=r"emg is up to 80 \(muscle_1\), .* percent"):
        problem(emg=np.array([9.0, 80.0, np.nan]))
    with pytest.warns(UserWarning, match="moment_arm is up to 50 m"):  # where another frame has no number
        problem(moment_arm=np.where(np.arange(4)[:, None, None] == 1, np.nan, 1000.0 * ARM))
    with pytest.warns(UserWarning, match="if they are in kN"):
        problem(force_capacity=0.001 * CAPACITY, max_isometric_force=0.001 * STRONGEST)
    with pytest.warns(UserWarning, match="if they are in N mm"):
        problem(moment=2000.0 * MOMENT)


@pytest.mark.filterwarnings("error")
def test_a_moment_that_muscles_do_not_serve_is_no_other_unit():
    """Another moment is produced, no muscle crosses any joint, a coordinate is a translation, or muscles are weak."""
    problem(moment=np.where(np.arange(2) == 1, 1e6, MOMENT))
    problem(
        moment_arm=np.sign(ARM),
        fiber_velocity=[5.0, -5.0, 0.0],
        joint_angle=[6.2, -6.2],
        joint_rate=[131.0, 0.0],
    )
    problem(moment_arm=0.0 * ARM)
    problem(force_capacity=0.001 * CAPACITY)


def test_labels_in_another_order_than_the_names_are_refused():
    """Arrays are taken by place: the capacity of one muscle would be that of another."""
    names, dofs = ["a", "b", "c"], ["x", "y"]
    labeled = {
        "force_capacity": lambda order: pd.DataFrame(CAPACITY, columns=order),
        "max_isometric_force": lambda order: pd.Series(STRONGEST, index=order),
        "moment_arm": lambda order: xr.DataArray(ARM, {"muscle": order}, ("time", "dof", "muscle")),
        "fiber_velocity": lambda order: xr.DataArray(0.001 * CAPACITY, {"muscle": order}, ("time", "muscle")),
    }
    for name, table in labeled.items():
        for order in (names, ["1", "2", "3"]):
            assert problem(muscle=names, **{name: table(order)}).muscle == tuple(names)
        with refused("conflict", f"Problem.{name}"):
            problem(muscle=names, **{name: table(names[::-1])})
    with refused("conflict", "Problem.moment", "dof"):
        problem(dof=dofs, moment=pd.DataFrame(MOMENT, columns=dofs[::-1]))


def test_labels_along_another_axis_or_unlike_those_of_another_array_are_refused():
    """In a square array the shape does not show it."""
    names, square = (
        ["a", "b", "c"],
        {"moment_arm": ARM[:3], "moment": MOMENT[:3], "force_capacity": CAPACITY[:3]},
    )
    across = pd.DataFrame(CAPACITY[:3], index=names, columns=[0.0, 0.1, 0.2])
    with refused("conflict", "Problem.force_capacity", "names of `muscle`", "along another axis"):
        problem(**square | {"force_capacity": across}, muscle=names)
    strongest = pd.Series(STRONGEST, index=names[::-1])
    with refused("conflict", "Problem.max_isometric_force", "labels of another array, in another order"):
        problem(force_capacity=pd.DataFrame(CAPACITY, columns=names), max_isometric_force=strongest)
    plain = {"force_capacity": pd.DataFrame(CAPACITY[:3]), "max_isometric_force": pd.Series(STRONGEST)}
    assert problem(**square | plain).n_frames == 3


@pytest.mark.parametrize(
    ("name", "dims"),
    [
        ("moment_arm", ("time", "muscle", "dof")),
        ("force_capacity", ("muscle", "time")),
        ("moment", ("dof", "time")),
    ],
)
def test_dimensions_of_results_in_another_order_are_refused(name, dims):
    """In a square array the shape does not show it."""
    cube, square_moment = np.full((3, 3, 3), 0.05), np.full((3, 3), 10.0)
    square = {"moment_arm": cube, "moment": square_moment, "force_capacity": CAPACITY[:3]}
    with refused("conflict", f"Problem.{name}", repr(dims), "array.transpose('time', "):
        problem(**square | {name: xr.DataArray(square[name], dims=dims)})
    other = xr.DataArray(square[name], dims=("frame", "joint", "actuator")[: len(dims)])
    assert problem(**square | {name: other}).n_frames == 3


@pytest.mark.parametrize(
    "name", ["fiber_velocity", "fiber_length", "fiber_force_capacity", "joint_angle", "joint_rate"]
)
@pytest.mark.parametrize("solver", ["batch", "slsqp"])
def test_a_frame_without_a_number_of_an_optional_array_is_invalid_for_every_solver(name, solver):
    given = np.full((2, 1 if name.startswith("joint") else 2), 2e3 if "force" in name else 0.05)
    given[0, 0] = np.nan
    problem = Problem([[0.05, 0.03]], [[20.0], [10.0]], [1e3, 400.0], [1e3, 400.0], **{name: given})
    found = solve(problem, "activation_power", solver)
    assert found.status.tolist() == [Status.INVALID_INPUT, Status.SOLVED]
