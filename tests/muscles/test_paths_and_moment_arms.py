"""Muscle rows: moment arms are -dL/dtheta, tension is constant along the path, power is force times rate."""

import numpy as np
import pytest
from poses import motion_through
from whole_legs import WHOLE_LEGS

import muscle_db
from musclesolve.dynamics import human_model
from musclesolve.muscles import muscle_rows, muscle_state, scale_muscles
from musclesolve.muscles.scaling.fiber_lengths import RANGE_OF_MOTION_DEG

WIDE_HIPS = {"hip_r": np.array([0.0, -0.1075, 0.0]), "hip_l": np.array([0.0, 0.1075, 0.0])}


@pytest.fixture(scope="module", params=WHOLE_LEGS)
def database(request):
    return muscle_db.load(request.param)


@pytest.fixture(scope="module")
def posed(model):
    """Thirty random poses with random rates, kept away from where a via point switches."""
    rng = np.random.default_rng(30)
    coordinates = rng.uniform(-0.3, 0.6, size=(30, 44))
    rates = rng.normal(size=(30, 44))
    return motion_through(model, coordinates, rates)


def length(model, muscles, posed, coordinates):
    """Lengths (T, n) in other poses, with the conditional points of `posed` on the path."""
    q = motion_through(model, coordinates, time=posed.time).q
    return muscles.paths.nodes(q, coordinates, muscles.paths.on_path(posed.coordinates)).length


@pytest.mark.parametrize("side", ["r", "l"])
def test_moment_arms_are_the_derivative_of_length(model, posed, database, side):
    muscles = scale_muscles(model, database, side)
    arms = muscle_state(model, muscles, posed).moment_arm
    for row, dof in enumerate(muscles.dof_names):
        step = np.zeros(44)
        step[model.dof(dof)] = 1e-6
        longer, shorter = (length(model, muscles, posed, posed.coordinates + h * step) for h in (1, -1))
        np.testing.assert_allclose(arms[:, row], -(longer - shorter) / 2e-6, atol=2e-9)


def test_rows_of_the_jacobian_are_the_derivative_by_natural_coordinates(model, posed, database):
    """Any direction in the 141 coordinates, allowed or not."""
    paths = scale_muscles(model, database, "r").paths
    rng = np.random.default_rng(31)
    direction, step = rng.normal(size=posed.q.shape), 1e-7
    rows = paths.evaluate(posed.q, posed.coordinates).rows
    ahead = paths.evaluate(posed.q + step * direction, posed.coordinates).length
    behind = paths.evaluate(posed.q - step * direction, posed.coordinates).length
    np.testing.assert_allclose(
        np.einsum("tmnx,tnx->tm", rows, direction), (ahead - behind) / (2 * step), atol=2e-6
    )


def test_rates_are_the_derivative_of_length(model, posed, database):
    muscles = scale_muscles(model, database, "l")
    step = 1e-6
    ahead, behind = (
        length(model, muscles, posed, posed.coordinates + s * step * posed.rates) for s in (1, -1)
    )
    rates = muscle_state(model, muscles, posed).musculotendon_velocity
    np.testing.assert_allclose(rates, (ahead - behind) / (2 * step), atol=1e-8)


@pytest.mark.in_part(3)
@pytest.mark.parametrize("width", [0.165, 0.24])
def test_lengths_do_not_jump(database, width):
    """Straight through the range of motion, lengths follow their rates, from person to person.

    But for up to 3 mm where a path leaves a cylinder over its end. Via points that join at one angle of the hip,
    whatever its other angles, are left out: in adduction some jump by 6 mm.
    """
    half = np.array([0.0, 0.5 * width, 0.0])
    person = human_model(70.0, 1.6, offsets={"hip_r": -half, "hip_l": half})
    muscles, rng = scale_muscles(person, database, "r"), np.random.default_rng(33)
    dofs = [person.dof(f"{dof}_r") for dof in RANGE_OF_MOTION_DEG]
    low, high = np.radians(list(RANGE_OF_MOTION_DEG.values())).T
    time = np.linspace(0.0, 1.0, 1000)
    for _ in range(4):
        start, end = rng.uniform(low, high, size=(2, len(dofs)))
        coordinates, rates = np.zeros((2, len(time), 44))
        coordinates[:, dofs] = start + time[:, None] * (end - start)
        rates[:, dofs] = end - start
        state = muscle_state(person, muscles, motion_through(person, coordinates, rates, time=time))
        rate = state.musculotendon_velocity
        steps = 0.5 * (rate[1:] + rate[:-1]) * time[1]
        jump = np.abs(np.diff(state.musculotendon_length, axis=0) - steps).max(axis=0)
        layout = muscles.paths.layout
        switched = np.unique(layout.point_muscle[muscles.paths.switched])
        assert np.delete(jump, np.concatenate([switched, layout.wrap_muscle])).max() < 1e-6
        assert jump[layout.wrap_muscle].max(initial=0.0) < 3.5e-3


def test_tension_is_the_same_in_every_segment(model, posed, database):
    """The pull on a path point is the difference of two unit vectors, so forces sum to zero over each muscle."""
    muscles = scale_muscles(model, database, "r")
    state = muscles.paths.evaluate(posed.q, posed.coordinates)
    layout = muscles.paths.layout
    for n in range(layout.muscles):
        np.testing.assert_allclose(
            state.nodes.gradient[:, layout.node_muscle == n].sum(axis=1), 0.0, atol=1e-12
        )
        ends = np.flatnonzero(layout.point_muscle == n)[[0, -1]]
        np.testing.assert_allclose(np.linalg.norm(state.nodes.gradient[:, ends], axis=2), 1.0, atol=1e-12)
    tangent = state.nodes.gradient[:, layout.points :].any(axis=2)
    assert layout.wraps < 3 or 0 < tangent.mean() < 1


def test_muscle_power_is_moment_times_joint_rate(model, posed, database):
    muscles = scale_muscles(model, database, "r")
    state = muscle_state(model, muscles, posed)
    rates = posed.rates[:, [model.dof(dof) for dof in muscles.dof_names]]
    power = -np.einsum("tkm,tk->tm", state.moment_arm, rates)
    np.testing.assert_allclose(power, state.musculotendon_velocity, atol=1e-12)


def test_an_absent_via_point_leaves_a_straight_path(model):
    muscles = scale_muscles(model, muscle_db.load("silva_2003"), "r")
    vastus = muscles.names.index("vastus_lateralis_r")
    points = np.flatnonzero(muscles.paths.layout.point_muscle == vastus)
    coordinates = np.zeros((1, 44))
    state = muscles.paths.evaluate(model.standing[None], coordinates)
    kept = [p for p in points if p not in muscles.paths.switched]
    path = muscles.paths.standing[kept]
    assert len(kept) == len(points) - 1
    assert state.length[0, vastus] == pytest.approx(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def test_left_is_the_mirror_of_right(model, database):
    rng = np.random.default_rng(32)
    coordinates = np.zeros((5, 44))
    right, left = (scale_muscles(model, database, side) for side in "rl")
    angles = rng.uniform(-0.3, 0.6, size=(5, 7))
    for column in range(7):
        for muscles in (right, left):
            coordinates[:, model.dof(muscles.dof_names[column])] = angles[:, column]
    motion = motion_through(model, coordinates)
    one, other = muscle_state(model, right, motion), muscle_state(model, left, motion)
    np.testing.assert_allclose(one.moment_arm, other.moment_arm, atol=1e-12)
    np.testing.assert_allclose(one.musculotendon_length, other.musculotendon_length, atol=1e-12)


def test_normalized_fiber_length_does_not_depend_on_body_size(database):
    small, large = human_model(50.0, 1.5), human_model(100.0, 2.0)
    lengths = []
    for model in (small, large):
        zero = np.zeros((1, 44))
        muscles = scale_muscles(model, database, "r")
        state = muscle_state(model, muscles, motion_through(model, zero))
        lengths.append(state.fiber_length[0] / muscles.parameters.optimal_fiber_length)
    np.testing.assert_allclose(lengths[0], lengths[1], rtol=1e-12)


@pytest.mark.parametrize(
    "person", [human_model(), human_model(50.0, 1.55, "female"), human_model(85.0, 1.83, offsets=WIDE_HIPS)]
)
def test_via_points_join_and_leave_without_a_jump(person, database):
    """Where a point switches, the path through it is as long as the path past it, and has the same moment arm."""
    model = person
    muscles = scale_muscles(model, database, "r")
    paths = muscles.paths
    for c, point in enumerate(paths.switched):
        n = paths.layout.point_muscle[point]
        edges = [edge for edge in (paths.switch_lower[c], paths.switch_upper[c]) if -1.5 < edge < 1.6]
        for edge in edges:
            coordinates = np.zeros((2, 44))
            coordinates[:, paths.switch_dof[c]] = edge + np.array([-1e-9, 1e-9])
            state = muscle_state(model, muscles, motion_through(model, coordinates))
            row = [model.dof(dof) for dof in muscles.dof_names].index(paths.switch_dof[c])
            assert abs(np.diff(state.musculotendon_length[:, n])[0]) < 1e-3, muscles.names[n]
            assert abs(np.diff(state.moment_arm[:, row, n])[0]) < 4e-4, muscles.names[n]


def test_rows_projected_on_the_allowed_directions_are_the_moment_arms(model, posed, database):
    muscles = scale_muscles(model, database, "l")
    state = muscle_state(model, muscles, posed)
    directions = model.tree.allowed(posed.q, posed.coordinates[:, 38:41])
    columns = [model.dof(dof) for dof in muscles.dof_names]
    rows = muscle_rows(model, posed, state.path)
    projected = -np.einsum("tmnx,tnxk->tkm", rows, directions[..., columns])
    np.testing.assert_allclose(state.moment_arm, projected, atol=1e-14)
    np.testing.assert_allclose(
        state.musculotendon_velocity, np.einsum("tmnx,tnx->tm", rows, posed.qd), atol=1e-13
    )
