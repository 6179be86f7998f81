"""Seat, belt and driven sled: closed forms, and balances of energy and momentum."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from free_bodies import free_body, starting
from refusals import refused

from musclesolve.dynamics import (
    ContactPairs,
    RigidSeat,
    Start,
    Strap,
    Surface,
    body_surfaces,
    forward_human_model,
    half_sine,
    simulate_contact,
    three_point_belt,
)
from musclesolve.dynamics.contact.belt import Attachment, Webbing
from musclesolve.dynamics.forward.simulate import Integration, momentum, no_pulse
from musclesolve.errors import InputError, MuscleSolveError

G = 9.80665
FINE = Integration(tolerance=1e-9, stepper="rk45")
NOTHING = ContactPairs.build({"ball": free_body()}, [], {})


@pytest.fixture(scope="module")
def person():
    return forward_human_model()


def hanging(webbing, velocity=(0.0, 0.0, 0.0), slack=0.0, duration=1.0, mass=1.0, count=401):
    """A ball on a vertical strap of one meter from the ground; the whole run."""
    start = starting(free_body(mass), (0.0, 0.0, 0.0), velocity)
    strap = Strap("rope", ((Attachment((0, 0, 1.0)), Attachment((0, 0, 0), "ball")),), webbing, slack=slack)
    return simulate_contact({"ball": start}, NOTHING, np.linspace(0.0, duration, count), FINE, straps=[strap])


@pytest.mark.thorough
def test_a_person_sinks_into_the_cushion_to_the_closed_form():
    """60 kg on one sphere, on a level pan: A (exp(B d) - 1) = m g (4.8)."""
    seat = RigidSeat((0.0, 0.0, 0.0), 0.0, 20.0, 0.07, 0.07, -0.4, RigidSeat.printed().cushion)
    ball, skin = (
        free_body(60.0, (1.0, 1.0, 1.0), "occupant"),
        Surface.sphere("hip_r", (0, 0, 0), 0.1, "occupant", "occupant"),
    )
    base = RigidSeat.sled()
    pairs = ContactPairs.build({"sled": base, "occupant": ball}, [*seat.surfaces(), skin], seat.pairs([skin]))
    assert pairs.names == ("sled seat_pan and hip_r",)
    starts = {
        "sled": Start(base, base.standing, 0.0 * base.standing, pulse=no_pulse),
        "occupant": starting(ball, (0.3, 0.0, 0.165)),
    }
    run = simulate_contact(starts, pairs, 3.0, FINE)
    assert run.depth[-1, 0] == pytest.approx(np.log1p(60.0 * G / 3380.0) / 19.7, rel=1e-4)
    assert abs(run.imbalance).max() < 1e-6 * run.lost[-1]


def test_a_strap_swings_a_weight_as_a_spring_does():
    """Always taut: m z'' = -m g - EA (strain), the closed form of the oscillator."""
    run = hanging(Webbing((0.0, 1.0), (0.0, 400.0)))
    way = G / 400.0
    expected = -way * (1.0 - np.cos(20.0 * run.time))
    np.testing.assert_allclose(run.motions["ball"].q[:, 0, 2], expected, atol=1e-7)
    np.testing.assert_allclose(run.tension[:, 0], 400.0 * -expected, atol=1e-4)
    assert abs(run.imbalance).max() < 1e-7


def test_a_slack_strap_is_not_there():
    """Thrown up, then it falls freely until the strap is as long as at the start, slack included."""
    run = hanging(Webbing((0.0, 0.1, 0.2), (0.0, 500.0, 5000.0)), (0.0, 0.0, 2.0), slack=0.05)
    height = run.motions["ball"].q[:, 0, 2]
    slack = height > -0.05
    assert slack[:150].all() and not slack.all()
    assert not run.tension[slack].any() and (run.tension[height < -0.051] > 0.0).all()
    free = run.time < 0.4
    np.testing.assert_allclose(height[free], (2.0 * run.time - 0.5 * G * run.time**2)[free], atol=1e-8)
    assert abs(run.imbalance).max() < 1e-5


@pytest.mark.thorough
def test_a_damped_strap_loses_energy_and_never_pushes():
    run = hanging(Webbing((0.0, 0.1), (0.0, 2000.0), damping=100.0), (0.0, 0.0, -1.5), duration=1.2)
    assert (run.tension >= 0.0).all()
    assert (np.diff(run.lost) > -1e-9).all() and run.lost[-1] > 1.0
    assert run.tension[-1, 0] == pytest.approx(G, rel=1e-2)
    assert abs(run.imbalance).max() < 1e-5 * run.lost[-1]


def test_energy_of_webbing_is_the_integral_of_its_tension():
    cloth = Webbing((0.0, 0.02, 0.05, 0.1), (0.0, 100.0, 900.0, 900.0))
    strain = np.linspace(-0.05, 0.2, 100_001)
    force, energy = cloth.elastic(strain)
    steps = 0.5 * (force[1:] + force[:-1]) * np.diff(strain)
    np.testing.assert_allclose(energy[1:], np.cumsum(steps), atol=1e-4)
    assert not force[strain < 0.0].any()


def test_straps_between_two_bodies_keep_both_momenta():
    """Two free bodies, tied at the sides of their centers, without weight."""
    starts = {
        "one": starting(free_body(2.0, (0.01, 0.02, 0.015), "one"), (0, 0, 0), (1.0, 0.2, 0), (0, 3, 1)),
        "two": starting(free_body(1.0, (0.004, 0.005, 0.006), "two"), (0.5, 0.1, 0.2), (3.0, 0, 0.4)),
    }
    starts = {
        name: Start(type(s.model)(s.model.topology, s.model.standing, s.model.mass, np.zeros(3)), s.q, s.qd)
        for name, s in starts.items()
    }
    ends = Attachment((0.05, 0, 0.02), "one", "one"), Attachment((0, 0.04, 0), "two", "two")
    other = Attachment((0, -0.05, 0), "two", "two"), Attachment((0, 0, 0.1), "one", "one")
    strap = Strap("rope", (ends, other), Webbing((0.0, 0.1), (0.0, 300.0)), arc=0.1)
    pairs = ContactPairs.build({name: start.model for name, start in starts.items()}, [], {})
    run = simulate_contact(starts, pairs, 0.5, FINE, straps=[strap])
    assert run.tension.max() > 50.0
    total = []
    for k in (0, -1):
        linear, angular = np.zeros((2, 3))
        for motion in run.motions.values():
            now = slice(k, None) if k else slice(0, 1)
            push, spin = (part[0] for part in momentum(motion.model, motion.q[now], motion.qd[now]))
            linear, angular = linear + push, angular + spin + np.cross(motion.q[k, 0], push)
        total.append([linear, angular])
    np.testing.assert_allclose(*total, atol=1e-7)
    assert abs(run.imbalance).max() < 1e-6


@pytest.mark.thorough
def test_a_driven_sled_moves_as_prescribed_and_carries_the_balance():
    """The occupant falls on the sled and brakes it not at all; the drive does the work."""
    base, ball = RigidSeat.sled(50.0), free_body(40.0, (1.0, 1.0, 1.0), "occupant")
    seat = RigidSeat.printed()
    skin = Surface.sphere("hip_r", (0, 0, 0), 0.1, "occupant", "occupant")
    pairs = ContactPairs.build({"sled": base, "occupant": ball}, [*seat.surfaces(), skin], seat.pairs([skin]))
    moving = 0.0 * base.standing
    moving[:2, 0] = 5.0
    rope = Strap(
        "rope",
        ((Attachment((-0.8, 0.4, 0.1), "sled", "sled"), Attachment((0, 0, 0), "occupant", "occupant")),),
    )
    starts = {
        "sled": Start(base, base.standing, moving, pulse=half_sine((-5.0, 0, 0), 0.1, 0.05)),
        "occupant": starting(ball, (-0.1, 0.419, 0.35), (5.0, 0.0, 0.0)),
    }
    run = simulate_contact(starts, pairs, np.linspace(0.0, 0.4, 401), FINE, straps=[rope])
    speed = run.motions["sled"].qd[:, 0, 0]
    phase = np.clip((run.time - 0.05) / 0.1, 0.0, 1.0)
    np.testing.assert_allclose(speed, 5.0 - 2.5 * (1.0 - np.cos(np.pi * phase)), atol=1e-7)
    assert run.tension.max() > 500.0 and run.work[-1] < 0.0
    assert abs(run.imbalance).max() < 1e-6 * abs(run.work).max()
    taken = momentum(ball, run.motions["occupant"].q, run.motions["occupant"].qd)[0]
    line = run.motions["sled"].q[:, 0] + [-0.8, 0.4, 0.1] - run.motions["occupant"].q[:, 0]
    pull = run.tension * line / np.linalg.norm(line, axis=1)[:, None]
    force = run.force_on("hip_r") + pull + 40.0 * np.array([0.0, 0.0, -G])
    steps = 0.5 * (force[1:] + force[:-1]) * np.diff(run.time)[:, None]
    np.testing.assert_allclose(taken[-1] - taken[0], steps.sum(axis=0), atol=0.3)


def test_the_belt_lies_where_the_source_says(person):
    """Lap over both hips; the shoulder strap over the shoulder of its anchor, to the other hip (Table 4.2)."""
    lap, shoulder = three_point_belt(person, "driver")
    skin = {one.name: one for one in body_surfaces(person)}
    hip = skin["hip_r"].center - [0, skin["hip_r"].radius, 0]
    np.testing.assert_allclose(lap.spans[0][1].position, hip)
    np.testing.assert_allclose(lap.spans[0][0].position, [-0.477, 0.113, -0.124])
    np.testing.assert_allclose(shoulder.spans[0][0].position, [-0.663, 0.092, 0.580])
    assert shoulder.spans[0][1].position[1] < 0.0 < shoulder.spans[1][1].position[1]
    assert {end.model for span in (*lap.spans, *shoulder.spans) for end in span} == {"sled", "driver"}
    assert [strap.name for strap in three_point_belt(person, "driver", anchors={"lap": np.eye(3)[:2]})] == [
        "lap"
    ]


def test_the_printed_seat_leans_and_is_raised_in_front():
    pan, back, floor = RigidSeat.printed().surfaces()
    assert pan.axes[0, 2] == pytest.approx(-np.sin(np.radians(10.0)))
    assert back.axes[:, 2] == pytest.approx([np.cos(np.radians(20.0)), 0.0, np.sin(np.radians(20.0))])
    assert floor.center[2] == -0.124


def test_bad_straps_and_pulses_are_refused(person):
    start = starting(free_body())
    span = ((Attachment((0, 0, 0)), Attachment((0, 0, 0), "ball")),)
    with refused("bad_model", "curve"):
        Webbing((0.0, 0.1), (10.0, 20.0))
    with refused("bad_model", "no span"):
        Strap("rope", ())
    with refused("bad_model", "no length"):
        simulate_contact(
            {"ball": starting(free_body(), (0, 0, 0))}, NOTHING, 0.1, straps=[Strap("rope", span)]
        )
    with refused("duplicate_name", "rope"):
        simulate_contact({"ball": start}, NOTHING, 0.1, straps=[Strap("rope", span), Strap("rope", span)])
    lost = ((Attachment((0, 0, 0)), Attachment((0, 0, 0), "bal")),)
    with refused("unknown_name", "bal"):
        simulate_contact({"ball": start}, NOTHING, 0.1, straps=[Strap("rope", lost)])
    with refused("unknown_name", "chest"):
        three_point_belt(person, "driver", anchors={"lap": np.eye(3)[:2], "chest": np.zeros(3)})
    with refused("conflict", "held"):
        Start(start.model, start.q, start.qd, held=["a"], pulse=no_pulse)
    spinning = starting(free_body(), spin=(0, 1, 0))
    with refused("conflict", "turns"):
        simulate_contact({"ball": Start(*run_parts(spinning), pulse=no_pulse)}, NOTHING, 0.1)
    with refused("bad_shape", "pulse"):
        simulate_contact({"ball": Start(*run_parts(start), pulse=lambda t: np.zeros(3))}, NOTHING, 0.1)
    with pytest.raises(MuscleSolveError) as caught:
        simulate_contact(
            {"ball": Start(*run_parts(start), pulse=lambda t: np.full((1, 3), np.nan))}, NOTHING, 0.1
        )
    assert not isinstance(caught.value, InputError)


def test_what_stops_a_simulation_is_named():
    """A force that fails while a strap is taut, without any pair."""

    def failing(time, q, qd):
        return np.full(q.shape, np.nan if time[0] > 0.2 else 0.0)

    start = starting(free_body(), (0.0, 0.0, 0.0))
    strap = Strap(
        "rope", ((Attachment((0, 0, 1.0)), Attachment((0, 0, 0), "ball")),), Webbing((0.0, 1.0), (0.0, 400.0))
    )
    with pytest.raises(MuscleSolveError) as caught:
        simulate_contact({"ball": Start(*run_parts(start), [failing])}, NOTHING, 1.0, straps=[strap])
    assert "failing" in str(caught.value) and "strap rope carries" in str(caught.value)


def test_a_seat_that_is_none_is_refused():
    good = RigidSeat.printed()
    for change in ({"pan_deg": 95.0}, {"back_thickness": -0.1}, {"floor": np.nan}):
        with refused("bad_number", next(iter(change))):
            replace(good, **change)


def run_parts(start):
    return start.model, start.q, start.qd
