"""The surfaces of the human body, and a person who falls."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

from musclesolve.dynamics import (
    ContactPairs,
    HertzContact,
    JointResistance,
    Start,
    Surface,
    body_laws,
    body_surfaces,
    forward_human_model,
    human_model,
    simulate_contact,
)
from musclesolve.dynamics.contact.contact_pairs import BodyStates
from musclesolve.dynamics.forward.simulate import Integration

FLOOR = Surface.plane("floor", (0, 0, 0), (0, 0, 1))


def test_the_table_has_twenty_six_surfaces_on_both_sides():
    model = forward_human_model()
    surfaces = {one.name: one for one in body_surfaces(model)}
    assert len(surfaces) == 26
    for name, one in surfaces.items():
        if name.endswith("_r"):
            other = surfaces[f"{name[:-1]}l"]
            np.testing.assert_allclose(other.center, one.center * (1, -1, 1), atol=1e-12)
            assert other.extent == pytest.approx(one.extent)


def test_surfaces_are_scaled_with_the_subject():
    """Every size and place of a person who is a tenth taller is a tenth larger (3.1)."""
    small, tall = (body_surfaces(forward_human_model(human_model(stature=s))) for s in (1.6, 1.76))
    for one, other in zip(small, tall, strict=True):
        assert other.extent == pytest.approx(1.1 * one.extent, rel=1e-9)
        np.testing.assert_allclose(other.center, 1.1 * one.center, atol=1e-9)


def test_two_persons_carry_surfaces_of_their_own():
    surfaces = body_surfaces(forward_human_model(), "left wing")
    assert surfaces[0].name == "left wing lower_torso" and surfaces[0].model == "left wing"
    laws = body_laws(surfaces, friction=0.8)
    assert laws["left wing head"].stiffness > laws["left wing neck"].stiffness
    pairs = FLOOR.pairs_with(surfaces, laws)
    assert len(pairs) == 26 and pairs["floor", "left wing head"].friction == 0.8


def test_strangers_are_refused():
    with refused("unknown_name", "tail"):
        FLOOR.pairs_with([Surface.sphere("tail", (0, 0, 0), 0.1)], {"head": HertzContact(1e5)})
    with refused("bad_model", "hand_r"):
        body_surfaces(human_model())
    with refused("unknown_name", "tail"):
        body_laws([Surface.sphere("tail", (0, 0, 0), 0.1)])


def standing_person():
    """Knees slightly bent, leaning forward, the feet just above the floor."""
    model = forward_human_model()
    angles = np.zeros((1, model.tree.joint_count))
    for side in "rl":
        angles[0, model.joint(f"knee_flexion_{side}")] = np.radians(20.0)
        angles[0, model.joint(f"hip_flexion_{side}")] = np.radians(15.0)
    lean = np.radians(5.0)
    turned = np.array([[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]])
    q = model.tree.pose(angles, np.zeros((1, 3)), turned[None])[0]
    surfaces = body_surfaces(model)
    pairs = ContactPairs.build(
        {"person": model}, [FLOOR, *surfaces], FLOOR.pairs_with(surfaces, body_laws(surfaces))
    )
    q[: model.topology.point_count, 2] += 0.002 - pairs.gaps(BodyStates.from_models([model], [(q, q)])).min()
    return Start(model, q, 0.0 * q, [JointResistance.build(model)]), pairs


@pytest.mark.thorough
def test_a_person_falls_and_the_energy_is_accounted_for():
    """The loss of kinetic, potential and elastic energy is the energy that the laws and the joints took, to a
    thousandth.
    """
    start, pairs = standing_person()
    run = simulate_contact({"person": start}, pairs, 1.0, Integration(tolerance=1e-5, stepper="rk45"))
    fall = run.motions["person"]
    assert run.energy[-1] < 0.5 * run.energy[0]
    assert run.lost[-1] > 10.0 and (np.diff(run.lost) >= -1e-6).all()
    assert np.abs(run.imbalance).max() < 1e-3 * run.lost[-1]
    assert fall.violation.max() < 1e-9 and fall.drift < 1e-6
    assert run.depth.max() < 0.08
    assert {event.pair for event in run.events} >= {"floor and foot_r", "floor and foot_l"}
    weight = 9.80665 * start.model.mass.total
    push = run.force_on("floor")[:, 2].mean()
    assert -2.0 * weight < push < -0.3 * weight
    with refused("unknown_name", "persn"):
        run.motions["persn"]


def test_a_person_who_stands_in_the_floor_is_refused():
    start, pairs = standing_person()
    with refused("conflict", "floor and foot"):
        start.q[: start.model.topology.point_count, 2] -= 0.3
        simulate_contact({"person": start}, pairs, 0.1)
