"""The pieces of forward dynamics: routes to the accelerations, joint coordinates, the forward subject, refusals."""

from dataclasses import replace

import numpy as np
import pytest
from poses import motion_through
from refusals import refused

from musclesolve.dynamics import (
    ExternalForces,
    JointMoments,
    MassProperties,
    Model,
    Wrench,
    forward_human_model,
    human_model,
    mass_matrix,
    simulate,
)
from musclesolve.dynamics.forward.accelerations import (
    DAMPING,
    FREQUENCY,
    CompiledEquations,
    direct,
    massless_motion,
)
from musclesolve.dynamics.forward.simulate import Integration, kinetic_energy
from musclesolve.dynamics.kinematics.motion_derivatives import motion_of
from musclesolve.errors import MuscleSolveError


@pytest.fixture(scope="module")
def body(model):
    return forward_human_model(model)


@pytest.fixture(scope="module", params=["inverse model", "forward model"])
def either(request, model, body):
    return model if request.param == "inverse model" else body


def random_motion(model, frames=4, seed=51):
    rng = np.random.default_rng(seed)
    size = (frames, len(model.topology.dof_names))
    coordinates, rates, second = rng.normal(size=(3, *size)) * np.array([0.4, 1.5, 8.0])[:, None, None]
    return motion_through(model, coordinates, rates, second)


def standing_start(model):
    return motion_through(model, np.zeros((1, len(model.topology.dof_names))))


def system_of(model, rows=None, seed=52):
    """Mass matrix, Jacobian, random force and the stabilized right-hand side of one state."""
    moving, rows = random_motion(model, 1), model.constraints if rows is None else rows
    mass = mass_matrix(model.rigid_bodies, model.basic_mass, moving.q)[0]
    jacobian = rows.jacobian(moving.q)[0].reshape(-1, len(mass))
    force = 100.0 * np.random.default_rng(seed).normal(size=len(mass))
    right = rows.gamma(moving.qd)[0] - FREQUENCY**2 * rows.value(moving.q)[0]
    return mass, jacobian, force, right - 2.0 * DAMPING * FREQUENCY * jacobian @ moving.qd.ravel()


def iterated(model, rows=None, penalty=1e6):
    """The augmented Lagrangian iteration for the same state."""
    moving, rows = random_motion(model, 1), model.constraints if rows is None else rows
    mass, _, force, _ = system_of(model, rows)
    equations = CompiledEquations.build(rows, model.rigid_bodies.slots)
    given = moving.q[0], moving.qd[0], force.reshape(-1, 3)
    return equations.accelerations(*given, equations.elements(mass, penalty))


@pytest.mark.parametrize("penalty", [1e4, 1e6, 1e7])
def test_augmented_lagrangian_is_the_direct_route(either, penalty):
    mass, jacobian, force, right = system_of(either)
    found, solved = iterated(either, penalty=penalty), direct(mass, jacobian, force, right)
    assert np.abs(found.qdd - solved.qdd).max() < 1e-9 * np.abs(solved.qdd).max()
    assert np.abs(found.multipliers - solved.multipliers).max() < 1e-9 * np.abs(solved.multipliers).max()
    assert (
        np.abs(mass @ solved.qdd + jacobian.T @ solved.multipliers - force).max() < 1e-9 * np.abs(force).max()
    )
    assert np.abs(jacobian @ solved.qdd - right).max() < 1e-9 * np.abs(right).max()


def test_a_few_iterations_are_enough(either):
    """The thesis finds two to four (2.37); down to round-off it takes a few more."""
    assert iterated(either, penalty=1e7).iterations <= 6


def test_accelerations_agree_with_the_tree(either):
    """A third route, along the allowed directions: D^T M D ds/dt = D^T (g - M Ddot s)."""
    moving = random_motion(either, 1)
    mass, _, force, _ = system_of(either)
    joints = either.tree.joint_count
    origin = moving.coordinates[:, joints : joints + 3]
    directions = either.tree.allowed(moving.q, origin)[0].reshape(len(mass), -1)
    still = np.zeros_like(moving.speeds)
    bias = either.tree.acceleration(
        moving.q, moving.qd, moving.speeds, still, origin, moving.speeds[:, joints : joints + 3]
    ).ravel()
    rates = np.linalg.solve(directions.T @ mass @ directions, directions.T @ (force - mass @ bias))
    expected = directions @ rates + bias
    found = iterated(either).qdd
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_redundant_rows_change_nothing(body):
    mass, jacobian, force, right = system_of(body)
    doubled, both = np.vstack([jacobian, 10.0 * jacobian[:20]]), np.concatenate([right, 10.0 * right[:20]])
    rows, twice = body.constraints, np.arange(len(body.constraints.constant)).repeat(2)
    names = (*(rows.names[k] for k in twice), *rows.names[len(rows.constant) :])
    repeated = replace(
        rows, names=names, first=rows.first[twice], second=rows.second[twice], constant=rows.constant[twice]
    )
    plain = direct(mass, jacobian, force, right)
    for more, again in (
        (doubled, direct(mass, doubled, force, both)),
        (system_of(body, repeated)[1], iterated(body, repeated)),
    ):
        assert np.abs(again.qdd - plain.qdd).max() < 1e-9 * np.abs(plain.qdd).max()
        reaction = more.T @ again.multipliers - jacobian.T @ plain.multipliers
        assert np.abs(reaction).max() < 1e-9 * np.abs(force).max()


def test_joint_coordinates_return_from_natural_coordinates(either):
    moving = random_motion(either, 6)
    back = motion_of(either, moving.time, moving.q, moving.qd, moving.qdd)
    turn = 2.0 * np.pi
    off = back.coordinates - moving.coordinates
    np.testing.assert_allclose(off - turn * np.round(off / turn), 0.0, atol=1e-12)
    np.testing.assert_allclose(back.speeds, moving.speeds, atol=1e-12)
    np.testing.assert_allclose(back.speed_rates, moving.speed_rates, atol=1e-10)
    np.testing.assert_allclose(back.rates, moving.rates, atol=1e-11)
    np.testing.assert_allclose(back.second, moving.second, atol=1e-9)


def test_kinetic_energy_is_that_of_the_mass_matrix(either):
    moving = random_motion(either, 3)
    flat = moving.qd.reshape(3, -1)
    matrix = mass_matrix(either.rigid_bodies, either.basic_mass, moving.q)
    expected = 0.5 * np.einsum("ti,tij,tj->t", flat, matrix, flat)
    np.testing.assert_allclose(kinetic_energy(either, moving.q, moving.qd), expected, rtol=1e-12)


def test_the_forward_model_is_the_same_body():
    person = human_model(61.0, 1.66, "female", offsets={"knee_r": np.array([0.01, 0.0, -0.45])})
    forward = forward_human_model(person)
    assert forward.mass.total == pytest.approx(person.mass.total, rel=1e-12)
    for name in ("knee_r", "elbow_l", "neck_base", "head_base", "shoulder_r"):
        np.testing.assert_allclose(
            forward.standing[forward.slot(name)], person.standing[person.slot(name)], atol=1e-14
        )
    for mine in (forward, person):
        mine_center = mine.mass.mass @ mine.mass.center / mine.mass.total
        np.testing.assert_allclose(
            mine_center, person.mass.mass @ person.mass.center / person.mass.total, atol=1e-12
        )
    leg = person.standing[person.slot("knee_r")] - person.standing[person.slot("ankle_r")]
    lower = forward.standing[forward.slot("knee_r")] - forward.standing[forward.slot("foot_r")]
    np.testing.assert_allclose(np.linalg.norm(lower), 0.467 / 0.439 * np.linalg.norm(leg), rtol=1e-12)


def test_stiff_postures_have_the_inertia_of_the_inverse_model(model, body):
    """Turning as one piece, both models of a subject carry the same energy."""
    energies = []
    for one in (model, body):
        rates = np.zeros((1, len(one.topology.dof_names)))
        rates[0, -6:] = [0.5, -0.3, 0.2, 1.0, -2.0, 0.7]
        zero = np.zeros_like(rates)
        moving = motion_through(one, zero, rates)
        energies.append(kinetic_energy(one, moving.q, moving.qd)[0])
    assert energies[0] == pytest.approx(energies[1], rel=1e-12)


def test_held_points_stay(body):
    start = standing_start(body)
    sim = simulate(body, start.q[0], start.qd[0], 0.1, held=("hip_r", "hip_l", "back", "pelvis_forward"))
    slot = body.slot("back")
    assert np.abs(sim.q[:, slot] - start.q[0, slot]).max() < 1e-12
    assert sim.violation.max() < 1e-12


def test_a_closed_loop_stays_closed(body):
    """Both hands on one bar: rows that the tree of joints does not have."""
    bent = np.zeros((1, 29))
    for side in "rl":
        bent[0, body.dof(f"elbow_flexion_{side}")] = 1.5
        bent[0, body.dof(f"shoulder_internal_rotation_{side}")] = 0.3
    start = motion_through(body, bent)
    weights = np.zeros((1, 33))
    weights[0, [body.slot("hand_r"), body.slot("hand_l")]] = [1.0, -1.0]
    bar = (weights @ start.q[0]).reshape(1, 3)
    closed = body.constraints.with_linear(["hands on the bar"], weights, bar)
    sim = simulate(body, start.q[0], start.qd[0], 0.3, constraints=closed)
    np.testing.assert_allclose(weights @ sim.q, np.broadcast_to(bar, (101, 1, 3)), atol=1e-12)
    assert np.ptp(sim.energy) < 1e-6 * np.ptp(kinetic_energy(body, sim.q, sim.qd))


def test_a_loop_that_is_open_is_named(body):
    start = standing_start(body)
    weights = np.zeros((1, 33))
    weights[0, [body.slot("hand_r"), body.slot("hand_l")]] = [1.0, -1.0]
    open_loop = body.constraints.with_linear(["hands together"], weights, np.zeros((1, 3)))
    with refused("conflict", "-0.3"):
        simulate(body, start.q[0], start.qd[0], 0.1, constraints=open_loop)


def test_a_start_off_the_constraints_is_named(body):
    start = standing_start(body)
    bad = start.q[0].copy()
    bad[body.slot("hand_r"), 2] += 0.01
    with refused("conflict", "elbow_r->hand_r", "-0.01"):
        simulate(body, bad, start.qd[0], 0.1)
    fast = start.qd[0].copy()
    fast[body.slot("head_top"), 2] = 1.0
    with refused("conflict", "head_top"):
        simulate(body, start.q[0], fast, 0.1)


def test_a_body_without_inertia_is_named(body):
    mass = body.mass
    light = body.body("forearm_r")
    without = MassProperties(
        np.where(np.arange(12) == light, 0.0, mass.mass),
        mass.center,
        np.where((np.arange(12) == light)[:, None, None], 0.0, mass.inertia),
    )
    start = standing_start(body)
    with refused("bad_model", "hand_r", "forearm_r"):
        simulate(replace(body, mass=without), start.q[0], start.qd[0], 0.1)


def test_accelerations_of_what_has_no_mass_are_refused(body):
    equations = CompiledEquations.build(body.constraints, body.rigid_bodies.slots)
    still, (q,) = np.zeros(body.standing.shape), random_motion(body, 1).q
    with refused(None, "singular", error=MuscleSolveError):
        equations.accelerations(q, still, still, equations.elements(np.zeros((q.size, q.size))))


def test_massless_motion_is_found_where_it_is():
    mass, jacobian = np.diag([1.0, 0.0, 2.0]), np.array([[0.0, 0.0, 1.0]])
    np.testing.assert_allclose(np.abs(massless_motion(mass, jacobian)), [0.0, 1.0, 0.0], atol=1e-12)
    assert massless_motion(np.eye(3), jacobian) is None


def refusals():
    nan = float("nan")
    return [
        (
            lambda m, q, v: simulate(m, np.where(np.arange(33)[:, None] == 3, nan, q), v, 0.1),
            ("not_finite", "elbow_r"),
        ),
        (lambda m, q, v: simulate(m, q, v[:5], 0.1), ("bad_shape", "0", "(5, 3)")),
        (lambda m, q, v: simulate(m, q, v, -1.0), ("bad_number", "-1.0")),
        (lambda m, q, v: simulate(m, q, v, [0.0, 0.2, 0.1]), ("time_not_increasing",)),
        (
            lambda m, q, v: simulate(m, q, v, 0.1, integration=Integration(method="magic")),
            ("unknown_name", "augmented_lagrangian"),
        ),
        (lambda m, q, v: simulate(m, q, v, 0.1, integration="radau"), ("bad_type", "Integration")),
        (lambda m, q, v: simulate(m, q, v, 0.1, held=("tail",)), ("unknown_name", "tail")),
        (lambda m, q, v: simulate(m, q, v, 0.1, [lambda t, q, qd: np.zeros(4)]), ("bad_shape", "(4,)")),
        (lambda m, q, v: simulate(m, q, v, 0.1, [lambda t, q, qd: nan * q]), (None, "0.0000")),
        (lambda m, q, v: JointMoments.build(m, {"knee_flexoin_r": 1.0}), ("unknown_name", "knee_flexoin_r")),
        (lambda m, q, v: JointMoments.build(m, {"knee_flexion_r": np.zeros(4)}), ("bad_shape", "4")),
        (
            lambda m, q, v: JointMoments.build(m, {"knee_flexion_r": np.full(2, nan)}, np.arange(2.0)),
            ("not_finite", "finite"),
        ),
        (
            lambda m, q, v: ExternalForces.build(
                m, np.zeros(1), [Wrench(("unknown_name", "wing"), q[:1], q[:1])]
            ),
            ("unknown_name", "wing"),
        ),
    ]


@pytest.mark.parametrize("case", range(len(refusals())))
def test_what_cannot_be_simulated_is_refused(body, case):
    call, words = refusals()[case]
    start = standing_start(body)
    with refused(*words, error=MuscleSolveError):
        call(body, start.q[0], start.qd[0])


def test_samples_are_not_extrapolated(body):
    time = np.linspace(0.0, 0.05, 11)
    moments = JointMoments.build(body, {"knee_flexion_r": np.sin(time)}, time)
    np.testing.assert_allclose(moments.values(time)[:, body.dof("knee_flexion_r")], np.sin(time), atol=1e-15)
    start = standing_start(body)
    with refused("bad_range", "0.05"):
        simulate(body, start.q[0], start.qd[0], 0.1, [moments])


def test_forces_that_explode_stop_the_simulation_with_the_time(body):
    start = standing_start(body)

    def blow(time, q, qd):
        return np.where(time[0] > 0.03, np.inf, 0.0) * np.ones_like(q)

    with refused(None, "0.0", error=MuscleSolveError):
        simulate(body, start.q[0], start.qd[0], 0.1, [blow], integration=Integration(largest_step=0.01))


def test_steps_that_become_too_small_stop_the_simulation(body):
    """At time zero no step is below the spacing of numbers: the integrator would go on for ever."""
    start = standing_start(body)
    with refused(None, "0.0000", error=MuscleSolveError):
        simulate(body, start.q[0], start.qd[0], 0.1, [lambda t, q, qd: np.full(q.shape, 1e60)])


def test_gravity_is_the_models(body):
    floating = Model(body.topology, body.standing, body.mass, np.zeros(3))
    start = standing_start(floating)
    sim = simulate(floating, start.q[0], start.qd[0], 0.2)
    np.testing.assert_allclose(sim.q, np.broadcast_to(start.q, sim.q.shape), atol=1e-12)
