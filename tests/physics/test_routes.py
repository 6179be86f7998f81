"""Four routes of inverse dynamics, one result."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused

import musclesolve as ms
from benchmarks.serial_chains import random_chain
from musclesolve.data import reference_stride
from musclesolve.dynamics import Wrench, differentiate, forward_human_model, joint_moments_by_route
from musclesolve.dynamics.inverse.explicit_moment import MomentsByRoute
from musclesolve.errors import MuscleSolveError
from musclesolve.laboratory.forces import mechanics


def worst(model, motion, wrenches):
    return max(joint_moments_by_route(model, motion, wrenches).disagreement().values())


def test_on_a_random_motion_of_the_human(model, motion, wrenches):
    assert worst(model, motion, wrenches) < 1e-9


def test_on_the_reference_stride():
    recorded = mechanics(ms.read_trial(reference_stride()))
    assert worst(recorded.model, recorded.motion, recorded.wrenches) < 1e-9


def test_on_the_recorded_walk(recorded_walk_trial):
    recorded = mechanics(recorded_walk_trial)
    assert worst(recorded.model, recorded.motion, recorded.wrenches) < 1e-9


@pytest.mark.parametrize("links", [2, 5, 12])
def test_on_random_chains(links):
    chain = random_chain(links, seed=links)
    rng = np.random.default_rng(links)
    time = np.linspace(0.0, 1.0, 25)
    phase = rng.uniform(0.0, 6.0, size=len(chain.topology.dof_names))
    motion = differentiate(chain, time, 0.5 * np.sin(4.0 * time[:, None] + phase))
    assert np.abs(chain.constraints.violation(motion.q)).max() < 1e-13
    wave = np.sin(6.0 * time)[:, None]
    pull = Wrench(f"link{links - 1}", wave * [30.0, -10.0, 200.0], wave * [5.0, 20.0, -8.0])
    assert worst(chain, motion, [pull]) < 1e-9


def test_on_the_human_with_spherical_joints():
    human = forward_human_model()
    time = np.linspace(0.0, 1.0, 25)
    phase = np.arange(len(human.topology.dof_names))
    motion = differentiate(human, time, 0.4 * np.sin(4.0 * time[:, None] + phase))
    pull = Wrench("head", np.full((25, 3), 40.0), np.full((25, 3), -7.0))
    assert worst(human, motion, [pull]) < 1e-9


def test_disagreement_sees_a_wrong_route():
    right = np.ones((3, 2))
    pairs = MomentsByRoute({"one": right, "other": right + 0.5}).disagreement()
    assert pairs[("one", "other")] == pytest.approx(0.5 / 1.5)


def test_routes_without_moments_agree_and_broken_ones_are_named():
    still = np.zeros((3, 2))
    assert set(MomentsByRoute({"one": still, "other": still}).disagreement().values()) == {0.0}
    with refused(None, "other", error=MuscleSolveError):
        MomentsByRoute({"one": still, "other": np.full((3, 2), np.nan)}).disagreement()
