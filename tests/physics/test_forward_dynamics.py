"""Laws that forward dynamics must obey, on the 29-degree-of-freedom model, the 44 and a pendulum."""

import numpy as np
import pytest
from poses import motion_through
from scipy.interpolate import make_interp_spline
from scipy.special import ellipk

from musclesolve.dynamics import (
    ExternalForces,
    JointMoments,
    Wrench,
    differentiate,
    forward_human_model,
    projected_moments,
    simulate,
)
from musclesolve.dynamics.forward.simulate import Integration, kinetic_energy, momentum
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples
from musclesolve.dynamics.model.model import mass_center

JOINTS = 23
PELVIS = ("hip_r", "hip_l", "back", "pelvis_forward")


@pytest.fixture(scope="module")
def body(model):
    return forward_human_model(model)


def tumbling(model, seed=41, spread=0.4, speed=2.0):
    """A start with every joint bent and everything turning."""
    rng = np.random.default_rng(seed)
    size = (1, len(model.topology.dof_names))
    coordinates, rates = spread * rng.normal(size=size), speed * rng.normal(size=size)
    return motion_through(model, coordinates, rates)


@pytest.fixture(scope="module")
def fall(body):
    start = tumbling(body)
    return simulate(body, start.q[0], start.qd[0], 0.5)


def waves(model):
    """Moments of its own on every joint, small enough to keep it within a turn."""
    rng = np.random.default_rng(42)
    names = model.topology.dof_names[: model.tree.joint_count]
    sizes, beats, phases = rng.uniform(0.2, 1.0, (3, len(names)))
    sizes *= [0.2 if name.startswith(("neck", "head")) else 3.0 for name in names]
    return {
        name: lambda t, a=a, w=w, p=p: a * np.sin(2 * np.pi * (3 * w * t + p))
        for name, a, w, p in zip(names, sizes, beats, phases, strict=True)
    }


def test_energy_of_a_fall_is_kept(body, fall):
    swing = np.ptp(kinetic_energy(body, fall.q, fall.qd))
    assert np.ptp(fall.energy) < 1e-6 * swing
    assert np.ptp(fall.energy) < 1e-9 * swing  # what it really does


def test_constraints_hold_throughout(fall):
    assert fall.violation.max() < 1e-12
    assert fall.velocity_violation.max() < 1e-12
    assert fall.drift < 1e-8


def test_a_fall_in_vacuum_keeps_momentum(body, fall):
    linear, angular = momentum(body, fall.q, fall.qd)
    expected = linear[0] + body.mass.total * body.gravity * fall.time[:, None]
    np.testing.assert_allclose(linear, expected, atol=1e-9 * body.mass.total)
    np.testing.assert_allclose(angular, np.broadcast_to(angular[0], angular.shape), atol=1e-7)
    center, speed = mass_center(body, fall.q), linear[0] / body.mass.total
    ballistic = center[0] + speed * fall.time[:, None] + 0.5 * body.gravity * fall.time[:, None] ** 2
    np.testing.assert_allclose(center, ballistic, atol=1e-9)


def test_both_routes_fall_alike(body, fall):
    start = tumbling(body)
    direct = simulate(body, start.q[0], start.qd[0], [0.0, 0.05], integration=Integration(method="direct"))
    same = simulate(body, start.q[0], start.qd[0], [0.0, 0.05])
    assert np.abs(direct.q - same.q).max() < 1e-11
    assert np.abs(direct.qdd - same.qdd).max() < 1e-9 * np.abs(direct.qdd).max()
    assert np.abs(direct.multipliers - same.multipliers).max() < 1e-9 * np.abs(direct.multipliers).max()


def splined(sim):
    """Velocities and accelerations from the simulated positions alone."""
    spline = make_interp_spline(sim.time, sim.q, k=7)
    return spline(sim.time, 1), spline(sim.time, 2)


def test_a_fall_needs_no_moments(body, fall):
    assert np.abs(projected_moments(body, fall.motion, [])).max() < 1e-9


def test_forward_then_inverse_dynamics_returns_the_moments(body):
    start = tumbling(body, speed=1.0)
    moments = JointMoments.build(body, waves(body))
    sim = simulate(
        body,
        start.q[0],
        start.qd[0],
        np.linspace(0.0, 0.1, 161),
        [moments],
        integration=Integration(largest_step=2e-3),
    )
    applied, scale = moments.values(sim.time), 3.0
    at_once = projected_moments(body, sim.motion, [])
    assert np.abs(at_once[:, :JOINTS] - applied).max() < 1e-11 * scale
    assert np.abs(at_once[:, JOINTS:]).max() < 1e-9
    again = differentiate(body, sim.time, sim.motion.coordinates)
    inner = slice(32, -32)  # a spline knows the second derivative badly at its ends
    through_splines = projected_moments(body, again, [])[inner]
    assert np.abs(through_splines[:, :JOINTS] - applied[inner]).max() < 1e-6 * scale
    qd, qdd = splined(sim)
    assert np.abs(qd - sim.qd)[inner].max() < 1e-9
    assert np.abs(qdd - sim.qdd)[inner].max() < 1e-6 * np.abs(sim.qdd).max()


@pytest.mark.thorough
def test_a_driven_swing_returns_its_moments(body):
    """Held at the pelvis, driven at hips and knees: what the base needs is what holds it."""
    start = motion_through(body, np.zeros((1, 29)))
    push = {
        "hip_flexion_r": lambda t: 40.0 * np.sin(12.0 * t),
        "knee_flexion_r": lambda t: 15.0 * np.sin(20.0 * t) ** 2,
        "hip_flexion_l": lambda t: -20.0 * np.sin(8.0 * t),
    }
    moments = JointMoments.build(body, push)
    times = np.linspace(0.0, 0.12, 121)
    sim = simulate(
        body,
        start.q[0],
        start.qd[0],
        times,
        [moments],
        held=PELVIS,
        integration=Integration(largest_step=2e-3),
    )
    again = differentiate(body, sim.time, sim.motion.coordinates)
    found = projected_moments(body, again, [])[20:-20, :JOINTS]
    assert np.abs(found - moments.values(times)[20:-20]).max() < 1e-6 * 40.0
    moved = sim.motion.coordinates[-1, body.dof("hip_flexion_r")]
    assert moved > 0.03  # flexion moments flex


@pytest.mark.thorough
def test_the_inverse_model_too(model):
    """44 degrees of freedom, bodies with velocity-dependent inertia, universal joints."""
    start = tumbling(model, spread=0.2, speed=0.5)
    sized = {name: 0.1 for name in model.topology.dof_names[:38]}
    sized |= {
        "hip_flexion_r": 20.0,
        "knee_flexion_l": -10.0,
        "trunk_bending_right": 8.0,
        "trunk_flexion": 12.0,
    }
    moments = JointMoments.build(model, {n: (lambda t, a=a: a * np.sin(9.0 * t)) for n, a in sized.items()})
    sim = simulate(
        model,
        start.q[0],
        start.qd[0],
        np.linspace(0.0, 0.1, 51),
        [moments],
        integration=Integration(largest_step=4e-3),
    )
    np.testing.assert_allclose(sim.motion.coordinates[0], start.coordinates[0], atol=1e-11)
    found = projected_moments(model, sim.motion, [])
    assert np.abs(found[:, :38] - moments.values(sim.time)).max() < 1e-9 * 20.0
    assert np.abs(found[:, 38:]).max() < 1e-8
    again = projected_moments(model, differentiate(model, sim.time, sim.motion.coordinates), [])[20:-20]
    assert np.abs(again[:, :38] - moments.values(sim.time)[20:-20]).max() < 1e-6 * 20.0
    assert sim.violation.max() < 1e-12


def test_external_forces_do_their_work(body):
    start = tumbling(body, speed=0.5)
    time = np.linspace(0.0, 0.1, 51)
    pull = np.column_stack([200.0 * np.sin(30.0 * time), 50.0 * np.cos(20.0 * time), 300.0 + 0.0 * time])
    wrench = Wrench("thorax", pull, 0.1 * pull[:, ::-1])
    forces = ExternalForces.build(body, time, [wrench])
    sim = simulate(body, start.q[0], start.qd[0], time, [forces])
    power = np.einsum("tnx,tnx->t", forces(time, sim.q, sim.qd), sim.qd)
    work = make_interp_spline(time, power, k=5).antiderivative()(time)
    np.testing.assert_allclose(sim.energy - sim.energy[0], work, atol=1e-6 * np.abs(work).max())
    base = projected_moments(body, sim.motion, [wrench])
    assert np.abs(base).max() < 1e-9 * 300.0


def test_moments_do_the_power_of_their_joints(body):
    """Generalized forces of joint couples are the moments themselves along the allowed directions (B4)."""
    start = tumbling(body)
    moments = np.random.default_rng(43).normal(size=(1, JOINTS))
    couples = Couples.build(body)
    directions = body.tree.allowed(start.q, start.coordinates[:, JOINTS : JOINTS + 3])
    found = np.einsum("tnxk,tnx->tk", directions, couples.force(start.q, moments))
    np.testing.assert_allclose(found[:, :JOINTS], moments, atol=1e-13)
    np.testing.assert_allclose(found[:, JOINTS:], 0.0, atol=1e-12)
    np.testing.assert_allclose(couples.rates(start.q, start.qd), start.speeds[:, :JOINTS], atol=1e-12)


def test_moments_cross_the_massless_cross_of_a_universal_joint(model):
    start = tumbling(model)
    moments = np.random.default_rng(44).normal(size=(1, 38))
    couples = Couples.build(model)
    directions = model.tree.allowed(start.q, start.coordinates[:, 38:41])
    found = np.einsum("tnxk,tnx->tk", directions, couples.force(start.q, moments))
    np.testing.assert_allclose(found[:, :38], moments, atol=1e-12)
    np.testing.assert_allclose(couples.rates(start.q, start.qd), start.speeds[:, :38], atol=1e-12)


@pytest.mark.parametrize("amplitude", [0.01, 1.5])
def test_a_leg_swings_with_the_period_of_a_physical_pendulum(body, amplitude):
    """T = 4 K(sin^2(a/2)) sqrt(I / m g d), the shank about a fixed knee axis."""
    shank = body.body("shank_r")
    coordinates = np.zeros((1, 29))
    coordinates[0, body.dof("knee_flexion_r")] = amplitude
    start = motion_through(body, coordinates)
    arm = body.mass.center[shank] - body.standing[body.slot("knee_r")]
    mass, reach = body.mass.mass[shank], np.hypot(arm[0], arm[2])
    inertia = body.mass.inertia[shank, 1, 1] + mass * reach**2
    hanging = np.arctan2(arm[0], -arm[2])  # the mass center is not below the knee when the knee is straight
    swing = amplitude - hanging
    period = 4.0 * ellipk(np.sin(swing / 2.0) ** 2) * np.sqrt(inertia / (mass * 9.80665 * reach))
    still = [
        name for name in body.topology.coordinate_names if not name.startswith(("shank_forward_r", "foot_r"))
    ]
    sim = simulate(body, start.q[0], start.qd[0], np.array([0.0, 0.5 * period, period]), held=still)
    angle = sim.motion.coordinates[:, body.dof("knee_flexion_r")]
    np.testing.assert_allclose(angle, [amplitude, hanging - swing, amplitude], atol=1e-7)
