"""Pedestrian and bus: the stated shape and scene, the laws of the blow, and what is read off a run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from thorough import THOROUGH

from benchmarks.chapter_4 import imbalance, momentum_imbalance
from benchmarks.pedestrian import (
    CLEARANCE,
    IN_THE_WAY,
    OTHERS,
    POSITIONS,
    REAR_AXLE,
    ROUGH_BUS,
    SILL,
    SPEEDS,
    TIRE_WIDTH,
    WIDTH,
    Scene,
    beside_tire,
    blown,
    bus_surfaces,
    feet_from_tire,
    figures,
    run_over,
)
from benchmarks.recorded_figures import recorded
from musclesolve.dynamics import Surface
from musclesolve.dynamics.contact.contact_pairs import separation
from musclesolve.dynamics.forward.simulate import momentum

SPEED = 30.0
"""Of the bus [km/h]."""


@pytest.mark.parametrize(
    "place, gap",
    [
        ((0.2, 0.0, 1.5), 0.2),
        ((-6.0, -0.5 * WIDTH - 0.2, 1.5), 0.2),
        ((-6.0, 0.0, 0.1), SILL - 0.1),
        ((0.0, -0.5 * WIDTH, 1.5), 0.35 * (2.0**0.5 - 1.0)),
    ],
)
def test_the_bus_has_the_stated_size(place, gap):
    """In front, beside, below and off the corner; to two centimeters, since flat faces bulge."""
    found = separation(bus_surfaces()[0], Surface.sphere("probe", place, 1e-6))
    assert found.gap == pytest.approx(gap, abs=0.02)


@pytest.fixture(scope="module")
def blow():
    """A tenth of a second of IP8."""
    return Scene.build(8 * IN_THE_WAY).run(SPEED, np.arange(0.0, 0.1005, 0.001))


def test_the_man_stands_as_stated(blow):
    """His shoulder line at 80 degrees to the bus, his left hip in its way, feet on the ground, nothing pressed yet."""
    motion = blow.motions["man"]
    across = motion.q[0, motion.model.slot("shoulder_l")] - motion.q[0, motion.model.slot("shoulder_r")]
    assert np.degrees(np.arctan2(across[1], across[0])) == pytest.approx(100.0)
    hip = motion.q[0, motion.model.slot("hip_l"), 1]
    radius = next(skin.radius for skin in blow.pairs.surfaces if skin.name == "man hip_l")
    assert hip + radius == pytest.approx(-0.5 * WIDTH + 8 * IN_THE_WAY)
    on_ground = np.array([name.startswith("floor") for name in blow.pairs.names])
    for pairs in (on_ground, ~on_ground):
        assert blow.depth[0, pairs].max() == pytest.approx(-CLEARANCE, abs=1e-6)


@pytest.mark.parametrize("position", [2, 8])
def test_the_bus_meets_hip_or_thigh_first(position):
    scene = Scene.build(position * IN_THE_WAY)
    gaps = {name: gap for name, gap in zip(scene.pairs.names, scene.gaps(), strict=True) if "bus" in name}
    assert min(gaps, key=gaps.__getitem__).rpartition(" ")[2] in ("hip_l", "thigh_l")


def test_the_blow_pushes_him_on_and_turns_him_to_the_right(blow):
    motion = blow.motions["man"]
    linear, angular = momentum(motion.model, motion.q, motion.qd)
    assert linear[-1, 0] > 0.3 * motion.model.mass.total * SPEED / 3.6
    assert angular[-1, 2] < 0.0
    assert linear[-1, 1] < 0.0  # away from the side of the bus


def test_energy_momentum_and_force(blow):
    """Energy balances, the momentum gained is the impulse, and force is mass times acceleration in every frame."""
    assert imbalance(blow) < 1e-4
    assert momentum_imbalance(blow, ["man"]) < 1e-3
    motion = blow.motions["man"]
    mine = [name for name in {skin.name for skin in blow.pairs.surfaces} if name.startswith("man ")]
    force = sum(blow.force_on(name) for name in mine) + motion.model.mass.total * motion.model.gravity
    moved = momentum(motion.model, motion.q, motion.qdd)[0]
    np.testing.assert_allclose(moved, force, atol=1e-9 * np.abs(force).max())


@pytest.mark.thorough
def test_the_momentum_that_is_missing_is_due_to_the_sampling_of_the_forces(blow):
    finer = Scene.build(8 * IN_THE_WAY).run(SPEED, np.arange(0.0, 0.1, 0.00025))
    assert momentum_imbalance(finer, ["man"]) < 0.25 * momentum_imbalance(blow, ["man"])


def test_the_blow_is_the_recorded_one(blow):
    assert blown(blow) == pytest.approx(recorded()["pedestrian"][f"IP8 at {SPEED:.0f}"]["blown"], rel=1e-2)


def test_the_numbers_of_all_runs_are_those_of_the_single_ones():
    kept = recorded()["pedestrian"]
    runs = {(p, v): kept[f"IP{p} at {v}"] for p in POSITIONS for v in SPEEDS}
    criteria = [run["criterion"] for run in runs.values()]
    beside = np.array([run.get("beside", np.inf) for run in runs.values()])
    every = kept["all"]
    assert every["runs"] == len(runs)
    assert every["passed"] == np.isfinite(beside).sum()
    assert every["run_over"] == (beside < 0.0).sum()
    assert every["nearest"] == beside[beside >= 0.0].min()
    assert every["median"] == pytest.approx(np.median(criteria), rel=1e-3)
    assert every["largest"] == max(criteria)
    assert every["over_1000"] == sum(value > 1000.0 for value in criteria)
    for name, chosen in (("sideswipes", (1, 2, 3)), ("others", (4, 5, 6, 7, 8))):
        turns = [abs(run["turn"]) for (position, _), run in runs.items() if position in chosen]
        assert kept[name]["least_turn"] == min(turns)
        assert kept[name]["most_turn"] == max(turns)
        assert kept[name]["median_turn"] == pytest.approx(np.median(turns), rel=1e-3)


def test_the_bus_keeps_its_speed_and_its_tire_comes(blow):
    bus, feet = blow.motions["bus"], feet_from_tire(blow)
    np.testing.assert_allclose(bus.qd[-1, 0], [SPEED / 3.6, 0.0, 0.0], atol=1e-6)
    foot = blow.motions["man"].q[:, blow.motions["man"].model.slot("foot_l")]
    came = (feet["l"][0] - feet["l"][-1])[0]
    assert came == pytest.approx(SPEED / 3.6 * blow.time[-1] - (foot[-1] - foot[0])[0], abs=1e-6)
    assert feet["l"][0, 0] > REAR_AXLE - 1.0
    assert beside_tire(blow) == np.inf  # it has not passed


def test_a_tire_beside_or_over_a_foot(blow):
    """One run with the tire moved on to the feet: the distance from its nearer edge, or how far it covers one."""
    feet = feet_from_tire(blow)
    radius = next(skin.radius for skin in blow.pairs.surfaces if skin.name == "man foot_l")
    expected = min(abs(place[-1, 1]) - 0.5 * TIRE_WIDTH - radius for place in feet.values())
    moved = blow.motions["bus"].q.copy()
    moved[-1, 0, 0] += 20.0
    passed = replace(blow, motions=blow.motions | {"bus": replace(blow.motions["bus"], q=moved)})
    assert beside_tire(passed) == pytest.approx(expected)


@pytest.mark.skipif(not THOROUGH, reason="runs of a second and more: make test-thorough")
@pytest.mark.parametrize("position, speed", [(2, 40), (8, 40), (8, 20)])
def test_a_run_gives_the_recorded_numbers(position, speed):
    found, kept = figures(run_over(position, speed)), recorded()["pedestrian"]
    for name in ("criterion", "peak", "turn", "rate", "beside"):
        assert found[name] == pytest.approx(kept[f"IP{position} at {speed}"][name], rel=1e-2), name


@pytest.mark.skipif(not THOROUGH, reason="a minute")
def test_other_choices_give_the_recorded_feet():
    kept = recorded()["pedestrian"]
    for name, how in OTHERS.items():
        wanted = kept[f"IP2 at 20, {name}"]["beside"]
        assert beside_tire(run_over(2, 20, how=how)) == pytest.approx(wanted, abs=5e-3), name


@pytest.mark.skipif(not THOROUGH, reason="a minute")
def test_a_bus_of_more_friction_runs_over_as_many_feet_as_recorded():
    beside = [beside_tire(run_over(p, v, how=ROUGH_BUS)) for p in (1, 2, 3) for v in (20, 25, 30)]
    kept = recorded()["pedestrian"]["rough bus"]
    assert kept == {"runs": len(beside), "run_over": sum(each < 0.0 for each in beside)}
