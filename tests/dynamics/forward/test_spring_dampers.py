"""Springs with dampers: closed forms of the oscillator, and action equal to reaction between two bodies."""

from __future__ import annotations

import numpy as np
from free_bodies import free_body, starting
from refusals import refused
from small_models import random_chain

from musclesolve.dynamics import (
    BrokenLine,
    ContactPairs,
    SpringDamper,
    SpringDampers,
    Start,
    fixed,
    simulate,
    simulate_contact,
)
from musclesolve.dynamics.forward.simulate import Integration, momentum

G = 9.80665
FINE = Integration(tolerance=1e-10)


def test_a_mass_on_a_damped_spring_swings_as_the_closed_form():
    """m z'' = -m g - k z - c z' with k = 400 N/m, c = 8 N s/m on 2 kg, from rest where the spring is without force."""
    ball, k, c, mass = free_body(2.0), 400.0, 8.0, 2.0
    ends = ("", (0.3, 0.0, 1.5)), ("ball", (0.0, 0.0, 0.0))
    line = BrokenLine((0.0,), (0.0,), k, k)
    spring = SpringDampers.build(
        ball, [SpringDamper("coil", ends, 0.5, line, BrokenLine((0.0,), (0.0,), c, c))]
    )
    start = starting(ball, (0.3, 0.0, 1.0))
    run = simulate(ball, start.q, start.qd, np.linspace(0.0, 2.0, 81), [spring], integration=FINE)
    decay, sag = c / (2.0 * mass), mass * G / k
    turn = np.sqrt(k / mass - decay**2)
    swing = np.cos(turn * run.time) + decay / turn * np.sin(turn * run.time)
    expected = 1.0 - sag * (1.0 - np.exp(-decay * run.time) * swing)
    np.testing.assert_allclose(run.q[:, 0, 2], expected, atol=1e-8)
    length, rate, _ = spring.lengths(run.q, run.qd)
    np.testing.assert_allclose(
        spring.tension(run.q, run.qd), k * (length - 0.5) + c * rate, rtol=1e-12, atol=1e-12
    )


def test_a_broken_line_runs_through_its_corners():
    line = BrokenLine((-2.0, 1.0, 3.0), (-10.0, 5.0, 6.0), 100.0, -1.0)
    at = np.array([-3.0, -2.0, -0.5, 1.0, 2.0, 3.0, 5.0])
    np.testing.assert_allclose(line(at), [-110.0, -10.0, -2.5, 5.0, 5.5, 6.0, 4.0])


def test_a_spring_between_two_bodies_keeps_both_momenta_and_energy():
    """A chain falls; beside the weight, its momenta stay, and its energy with that of the spring without damper."""
    chain = random_chain(3, seed=4)
    first, last = (chain.topology.bodies[k] for k in (0, -1))
    ends = tuple(
        (body.name, chain.standing[chain.slot(body.points[1])] + np.array([0.05, 0.02, -0.03]))
        for body in (first, last)
    )
    rest = 0.5 * float(np.linalg.norm(ends[1][1] - ends[0][1]))
    coil, none = BrokenLine((0.0,), (0.0,), 80.0, 80.0), BrokenLine((0.0,), (0.0,), 0.0, 0.0)
    spring = SpringDampers.build(chain, [SpringDamper("coil", ends, rest, coil, none)])
    still = 0.0 * chain.standing
    run = simulate(chain, chain.standing, still, np.linspace(0.0, 0.4, 21), [spring], integration=FINE)
    stretched = spring.lengths(run.q, run.qd)[0][:, 0] - rest
    assert np.ptp(stretched) > 0.05
    energy = run.energy + 40.0 * stretched**2
    np.testing.assert_allclose(energy, energy[0], atol=1e-7)
    linear, angular = momentum(chain, run.q, run.qd)
    np.testing.assert_allclose(linear, chain.mass.total * np.outer(run.time, chain.gravity), atol=1e-9)
    np.testing.assert_allclose(angular, 0.0, atol=1e-9)


def test_loops_of_a_start_are_kept_and_weigh_on_the_ground():
    """A body whose further rows hold it above a point of the ground stays there, with contact as without."""
    ball = free_body(2.0)
    rows = ball.constraints.with_linear(*fixed(ball.topology, ball.standing, ["a", "u", "v"]))
    start = Start(ball, ball.standing, 0.0 * ball.standing, constraints=rows)
    run = simulate_contact({"ball": start}, ContactPairs.build({"ball": ball}, [], {}), 0.1, FINE)
    np.testing.assert_allclose(run.motions["ball"].q[-1], ball.standing, atol=1e-12)


def test_bad_springs_are_refused():
    ball = free_body()
    soft = BrokenLine((0.0,), (0.0,), 1.0, 1.0)

    def built(rest=0.1, ends=(("", (0, 0, 0)), ("ball", (0, 0, 1)))):
        return SpringDampers.build(ball, [SpringDamper("coil", ends, rest, soft, soft)])

    assert built().weights.shape == (1, 4)
    with refused("bad_number", "coil"):
        built(rest=-1.0)
    with refused("unknown_name", "bell"):
        built(ends=(("", (0, 0, 0)), ("bell", (0, 0, 1))))
    with refused("bad_shape", "coil"):
        built(ends=(("", (0, 0)), ("ball", (0, 0, 1))))
    with refused("bad_model"):
        BrokenLine((1.0, 1.0), (0.0, 1.0), 0.0, 0.0)
