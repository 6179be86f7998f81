"""Bouncing, sliding, rolling and colliding bodies against the laws of mechanics."""

from __future__ import annotations

import numpy as np
import pytest
from free_bodies import free_body, starting
from refusals import refused
from scipy.integrate import solve_ivp

from musclesolve.dynamics import ContactPairs, HertzContact, Start, Surface, simulate_contact
from musclesolve.dynamics.contact.contact_pairs import CushionContact
from musclesolve.dynamics.forward.simulate import Integration, momentum
from musclesolve.errors import InputError, MuscleSolveError

FLOOR = Surface.plane("floor", (0, 0, 0), (0, 0, 1))
G = 9.80665
FINE = Integration(tolerance=1e-9, stepper="rk45")


def on_floor(skin, law, start, duration, integration=FINE):
    """A body alone on the floor."""
    pairs = ContactPairs.build({"ball": start.model}, [FLOOR, skin], {("floor", skin.name): law})
    return simulate_contact({"ball": start}, pairs, duration, integration)


def test_a_bouncing_ball_returns_with_its_energy():
    """Without loss: the same height after every bounce, and no energy gained."""
    skin, law = (
        Surface.sphere("skin", (0, 0, 0), 0.1, body="ball"),
        HertzContact(1e5, restitution=1.0, friction=0.0),
    )
    run = on_floor(skin, law, starting(free_body(), (0, 0, 0.6)), 2.0)
    assert np.ptp(run.energy) < 1e-6 * G
    height = run.motions["ball"].q[:, 0, 2]
    assert height[60:].max() == pytest.approx(0.6, abs=2e-3)
    assert sum(event.begins for event in run.events) == 3


class Linear(list):
    """A law of one's own, equal to another of the same stiffness, that cannot be a key."""

    friction, slip_speed = 0.0, 0.01

    def normal_force(self, depth, rate, approach):
        return self[0] * np.maximum(depth, 0.0)

    def stored_energy(self, depth):
        return 0.5 * self[0] * np.maximum(depth, 0.0) ** 2


def test_equal_laws_are_one_law_and_those_without_hash_hold_too():
    skins = [
        Surface.sphere(name, (x, 0, 0), 0.1, body="ball") for name, x in (("left", -0.2), ("right", 0.2))
    ]
    start = starting(free_body(), (0, 0, 0.095))
    for make, force in (
        (lambda: HertzContact(1e5, friction=0.0), 1e5 * 0.005**1.5),
        (lambda: Linear([1e4]), 50.0),
    ):
        laws = {("floor", skin.name): make() for skin in skins}
        pairs = ContactPairs.build({"ball": start.model}, [FLOOR, *skins], laws)
        run = simulate_contact({"ball": start}, pairs, np.array([0.0, 1e-4]), FINE)
        np.testing.assert_allclose(run.force[0, :, 2], force)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "restitution, returned", [(0.9, 0.9132), (0.7, 0.7960), (0.5, 0.7252), (0.0, 0.6630)]
)
def test_restitution_is_that_of_the_law(restitution, returned):
    """Two equal balls without weight: the closed form of one degree of freedom (correction C13)."""
    law = HertzContact(1e6, restitution=restitution, friction=0.0, least_approach=1e-6)
    one, two = free_body(name="one"), free_body(name="two")
    one, two = (
        Start(*weightless(start))
        for start in (starting(one, (0, 0, 0), (1.0, 0, 0)), starting(two, (0.21, 0, 0)))
    )
    skins = [Surface.sphere(f"of {name}", (0, 0, 0), 0.1, name, name) for name in ("one", "two")]
    pairs = ContactPairs.build({"one": one.model, "two": two.model}, skins, {("of one", "of two"): law})
    run = simulate_contact({"one": one, "two": two}, pairs, 0.04, FINE)
    speeds = [run.motions[name].qd[-1, 0, 0] for name in ("one", "two")]
    assert speeds[1] - speeds[0] == pytest.approx(returned, abs=1e-4)
    assert sum(speeds) == pytest.approx(1.0, abs=1e-9)


def weightless(start):
    """A start without gravity."""
    model = type(start.model)(start.model.topology, start.model.standing, start.model.mass, np.zeros(3))
    return model, start.q, start.qd


@pytest.mark.thorough
def test_an_oblique_collision_keeps_both_momenta():
    """Friction and normal force act at one point of both bodies, so that linear and angular momentum stay."""
    law = HertzContact(1e5, restitution=0.6, friction=0.4)
    starts = {
        "one": starting(free_body(2.0, (0.01, 0.02, 0.015), "one"), (0, 0, 0), (2.0, 0.3, 0), (0, 5, 1)),
        "two": starting(free_body(1.0, (0.004, 0.005, 0.006), "two"), (0.36, 0.05, 0.02), (-1.0, 0, 0.2)),
    }
    starts = {name: Start(*weightless(start)) for name, start in starts.items()}
    skins = [
        Surface.ellipsoid("egg", (0.01, 0, 0), (0.15, 0.1, 0.08), body="one", model="one"),
        Surface.cylinder("rod", (0, 0, -0.2), (0, 0, 0.2), 0.06, "two", "two"),
    ]
    models = {name: start.model for name, start in starts.items()}
    run = simulate_contact(starts, ContactPairs.build(models, skins, {("egg", "rod"): law}), 0.2, FINE)
    assert [event.begins for event in run.events][:2] == [True, False]
    linear, angular = zip(*(total_momentum(run, k) for k in (0, -1)), strict=True)
    np.testing.assert_allclose(*linear, atol=1e-8)
    np.testing.assert_allclose(*angular, atol=1e-8)
    assert np.diff(run.energy)[run.depth[:-1, 0] <= 0.0].max() < 1e-8
    assert run.energy[-1] < 0.95 * run.energy[0]


def total_momentum(run, k):
    """Linear momentum and angular momentum about the global origin of all models in one frame."""
    linear, angular = np.zeros((2, 3))
    for motion in run.motions.values():
        push, turn = momentum(motion.model, motion.q[[k]], motion.qd[[k]])
        linear = linear + push[0]
        angular = angular + turn[0] + np.cross(motion.q[k, 0], push[0])
    return linear, angular


@pytest.mark.thorough
def test_a_sliding_block_stops_where_coulomb_says():
    """A block with the speed v on a level floor slides v^2 / (2 mu g), but for the last creep of the regularized
    friction.
    """
    model = free_body(2.0, (0.5, 0.5, 0.5))
    skin, law = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball"), HertzContact(1e5, 1.5, 0.3, 0.4, 0.001)
    deep = (2.0 * G / 1e5) ** (1 / 1.5)
    heavy = free_body(2.0, (20.0, 20.0, 20.0))  # too heavy to roll
    run = on_floor(
        skin,
        law,
        starting(heavy, (0, 0, 0.1 - deep), (1.5, 0, 0)),
        0.6,
        Integration(tolerance=1e-7, stepper="rk45"),
    )
    assert run.motions["ball"].q[-1, 0, 0] == pytest.approx(1.5**2 / (2 * 0.4 * G), rel=5e-3)
    assert run.motions["ball"].qd[-1, 0, 0] == pytest.approx(0.0, abs=2e-3)
    assert model.mass.total == 2.0


@pytest.mark.thorough
def test_a_thrown_ball_ends_up_rolling_at_five_sevenths():
    """A sphere that slides without spin rolls at 5/7 of its speed in the end, whatever the friction."""
    skin, law = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball"), HertzContact(1e6, 1.5, 0.3, 0.3, 0.001)
    deep = (G / 1e6) ** (1 / 1.5)
    start = starting(free_body(1.0, (0.004,) * 3), (0, 0, 0.1 - deep), (1.4, 0, 0))
    run = on_floor(skin, law, start, 0.3, Integration(tolerance=1e-7, stepper="rk45"))
    assert run.motions["ball"].qd[-1, 0, 0] == pytest.approx(1.0, rel=3e-3)


@pytest.mark.thorough
def test_the_result_depends_neither_on_tolerance_nor_on_the_order_of_bodies():
    names = ("one", "two")
    law = HertzContact(5e4, restitution=0.5, friction=0.3)
    starts = {
        "one": starting(free_body(2.0, (0.01, 0.02, 0.015), "one"), (0, 0, 0.3), (0.5, 0, 0), (0, 3, 0)),
        "two": starting(free_body(1.0, (0.004, 0.005, 0.006), "two"), (0.1, 0.02, 0.7), (0, 0, -1.0)),
    }
    skins = [Surface.sphere(f"of {name}", (0, 0, 0), 0.12, name, name) for name in names]
    touching = [("of one", "of two"), ("floor", "of one"), ("floor", "of two")]
    ends = []
    for order, tolerance in ((names, 1e-5), (names[::-1], 1e-5), (names, 1e-7)):
        chosen = {name: starts[name] for name in order}
        pairs = ContactPairs.build(
            {name: start.model for name, start in chosen.items()},
            [FLOOR, *skins],
            dict.fromkeys(touching, law),
        )
        run = simulate_contact(chosen, pairs, 0.35, Integration(tolerance=tolerance, stepper="rk45"))
        assert {event.pair for event in run.events} >= {"of one and of two", "floor and of one"}
        ends.append(np.concatenate([run.motions[name].q[-1, 0] for name in names]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-3)
    np.testing.assert_allclose(ends[2], ends[0], atol=1e-3)


def test_a_cushion_pushes_back_as_its_law_says():
    """A weight dropped on a seat against one degree of freedom by scipy."""
    law = CushionContact(3380.0, 19.7, 420.0, friction=0.0)
    skin = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball")
    run = on_floor(
        skin,
        law,
        starting(free_body(20.0, (0.08,) * 3), (0, 0, 0.15)),
        0.4,
        Integration(tolerance=1e-8, stepper="rk45"),
    )

    def fall(time, state):
        depth, rate = 0.1 - state[0], -state[1]
        force = float(law.normal_force(np.array(depth), np.array(rate), np.array(np.inf)))
        return [state[1], force / 20.0 - G]

    expected = solve_ivp(fall, (0, 0.4), [0.15, 0.0], rtol=1e-9, atol=1e-11, max_step=1e-3).y[0, -1]
    assert run.motions["ball"].q[-1, 0, 2] == pytest.approx(expected, abs=1e-4)


def test_an_implicit_integrator_agrees_on_a_stiff_contact():
    skin, law = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball"), HertzContact(1e6, 1.5, 0.2, 0.0)
    ends = []
    for name in ("radau", "rk45"):
        run = on_floor(
            skin, law, starting(free_body(), (0, 0, 0.2)), 0.3, Integration(tolerance=1e-6, stepper=name)
        )
        ends.append(run.motions["ball"].q[-1, 0, 2])
    assert ends[0] == pytest.approx(ends[1], abs=1e-3)


def test_bad_starts_and_pairs_are_refused():
    model, skin = free_body(), Surface.sphere("skin", (0, 0, 0), 0.1, body="ball")
    law = HertzContact(1e6)
    with refused("conflict", "floor and skin"):
        on_floor(skin, law, starting(model, (0, 0, 0.05)), 0.1)
    with refused("unknown_name", "skn"):
        ContactPairs.build({"ball": model}, [FLOOR, skin], {("floor", "skn"): law})
    with refused("bad_model", "skin and other"):
        ContactPairs.build(
            {"ball": model},
            [skin, Surface.sphere("other", (0, 0, 1), 0.1, body="ball")],
            {("skin", "other"): law},
        )
    with refused("bad_model", "two planes"):
        ContactPairs.build(
            {"ball": model}, [FLOOR, Surface.plane("wall", (1, 0, 0), (-1, 0, 0))], {("floor", "wall"): law}
        )
    with refused("duplicate_name", "skin"):
        ContactPairs.build({"ball": model}, [FLOOR, skin, skin], {("floor", "skin"): law})
    with pytest.raises(InputError):
        HertzContact(0.0)
    with pytest.raises(InputError):
        Surface.cylinder("rod", (0, 0, 0), (0, 0, 0), 0.1)


def test_starts_may_come_in_another_order_than_the_models_of_the_pairs_but_not_be_others():
    """The bodies are numbered by the pairs: the floor must not act on another body than the surface is on."""
    starts = {
        "low": starting(free_body(name="low"), (0, 0, 0.3)),
        "high": starting(free_body(name="high"), (0, 0, 5.0)),
    }
    skin, law = Surface.sphere("skin", (0, 0, 0), 0.1, "low", "low"), HertzContact(1e5)
    models = {name: start.model for name, start in starts.items()}
    pairs = ContactPairs.build(models, [FLOOR, skin], {("floor", "skin"): law})
    runs = [
        simulate_contact({name: starts[name] for name in order}, pairs, 0.3)
        for order in (models, ("high", "low"))
    ]
    assert runs[0].events and runs[0].motions["low"].q[-1, 0, 2] == runs[1].motions["low"].q[-1, 0, 2]
    for wrong in ({"low": starts["low"]}, {"low": starts["low"], "other": starts["high"]}):
        with refused("conflict"):
            simulate_contact(wrong, pairs, 0.3)
    with refused("conflict", "low"):
        simulate_contact({"low": starts["high"], "high": starts["high"]}, pairs, 0.3)
    with refused("missing_argument", "starts"):
        simulate_contact({}, pairs, 0.3)
    with refused("bad_type"):
        simulate_contact(models, pairs, 0.3)


def test_pairs_without_a_law_or_given_twice_are_refused():
    model, skin, law = free_body(), Surface.sphere("skin", (0, 0, 0), 0.1, body="ball"), HertzContact(1e5)
    with refused("bad_type", "floor and skin"):
        ContactPairs.build({"ball": model}, [FLOOR, skin], {("floor", "skin"): 1e5})
    with refused("duplicate_name", "skin and floor"):
        ContactPairs.build({"ball": model}, [FLOOR, skin], {("floor", "skin"): law, ("skin", "floor"): law})


@pytest.mark.parametrize("stepper", ["rk45", "radau"])
def test_equations_without_a_solution_at_the_start_are_refused(stepper):
    """A first derivative that is not a number would keep the integrator halving its step for ever."""
    start = starting(free_body(), (0, 0, 0.3))
    forces = [lambda time, q, qd: np.full(q.shape, 1e305)]
    skin, how = (
        Surface.sphere("skin", (0, 0, 0), 0.1, body="ball"),
        Integration(tolerance=1e-6, stepper=stepper),
    )
    with pytest.raises(MuscleSolveError, match=r"stops at 0\.0"):
        on_floor(skin, HertzContact(1e5), Start(start.model, start.q, start.qd, forces), 0.3, how)


def test_a_force_that_is_not_finite_says_when():
    skin = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball")
    start = starting(free_body(), (0, 0, 0.3))

    def broken(time, q, qd):
        return np.where(time[0] > 0.1, np.nan, 0.0) * q

    with pytest.raises(MuscleSolveError, match=r"0\.1.*ball"):
        on_floor(skin, HertzContact(1e5), Start(start.model, start.q, start.qd, [broken]), 0.3)


def test_a_contact_too_stiff_for_the_steps_says_which_and_when():
    skin = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball")
    with pytest.raises(MuscleSolveError, match=r"0\.14.* floor and skin"):
        on_floor(skin, HertzContact(1e21), starting(free_body(), (0, 0, 0.2)), 0.3)


def test_a_body_without_mass_is_refused():
    skin = Surface.sphere("skin", (0, 0, 0), 0.1, body="ball")
    with refused("bad_model", "ball"):
        on_floor(skin, HertzContact(1e5), starting(free_body(0.0, (0.0, 0.0, 0.0)), (0, 0, 0.2)), 0.3)


def test_a_small_heavy_ball_passes_no_other_in_a_long_step():
    """Two small balls that meet far away within a few milliseconds."""
    law = HertzContact(1e6, restitution=1.0, friction=0.0)
    starts = {
        name: Start(*weightless(starting(free_body(0.05, (8e-6,) * 3, name), at, velocity)))
        for name, at, velocity in (("one", (0, 0, 0), (5.0, 0, 0)), ("two", (4.0, 0, 0), (-5.0, 0, 0)))
    }
    skins = [Surface.sphere(f"of {name}", (0, 0, 0), 0.02, name, name) for name in starts]
    models = {name: start.model for name, start in starts.items()}
    pairs = ContactPairs.build(models, skins, {("of one", "of two"): law})
    run = simulate_contact(starts, pairs, 0.8, FINE)
    assert run.motions["one"].qd[-1, 0, 0] == pytest.approx(-5.0, abs=1e-4)
    begins = [event for event in run.events if event.begins]
    assert len(begins) == 1 and begins[0].time == pytest.approx(3.96 / 10.0, abs=1e-9)
    assert begins[0].speed == pytest.approx(10.0, abs=1e-9)


def test_without_pairs_a_body_falls_freely():
    start = starting(free_body(), (0, 0, 1.0))
    run = simulate_contact({"ball": start}, ContactPairs.build({"ball": start.model}, [FLOOR], {}), 0.3)
    assert run.motions["ball"].q[-1, 0, 2] == pytest.approx(1.0 - 0.5 * G * 0.3**2, abs=1e-9)
    assert run.events == () and run.stored.shape == (101, 0)
