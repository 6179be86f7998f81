"""The somersault obeys the laws of flight and support, and its reactions are the same by every route of the source."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from planar_closed_forms import joint_reactions_classical, lower_limb_reactions

from benchmarks.somersault import SUPPORT, balances, measured, somersault
from musclesolve.dynamics.planar import inverse_dynamics
from musclesolve.dynamics.planar.planar_dynamics import load_force, torque_matrix
from musclesolve.dynamics.planar.planar_tree import place


@pytest.fixture(scope="module")
def run():
    return somersault()


def test_it_is_the_somersault_of_the_text(run):
    """Feet on the bed from 0 to 0.4 s, then one turn backward, and a landing in the pose and place of the start."""
    assert run.take_off == pytest.approx(SUPPORT, abs=1e-6)
    turn = run.motion.q[-1, 2] - run.motion.q[0, 2]
    assert turn == pytest.approx(2.0 * np.pi, abs=0.01)
    np.testing.assert_allclose(run.motion.q[-1, 3:] - run.motion.q[0, 3:], turn, atol=1e-9)
    assert not run.bed.force[run.time > run.take_off].any()
    ankle, knee, hip = run.largest(on_bed=True, axis=1)
    assert hip < 0.75 * ankle and hip < knee < ankle
    assert max(run.largest(on_bed=False, axis=1)) < 0.5 * ankle


def test_the_page_quotes_the_run(run):
    page = (Path(__file__).parents[2] / "docs" / "source_rows.md").read_text(encoding="utf-8")
    for on_bed, words in (
        (True, "support {:.2f}, {:.2f} and {:.2f} body weights"),
        (False, "flight {:.2f}, {:.2f} and {:.2f};"),
    ):
        assert words.format(*run.largest(on_bed, axis=1)) in page


def test_its_laws(run):
    laws = balances(run)
    assert laws.turning < 1e-5 * laws.angular_momentum
    assert laws.path < 1e-5
    assert laws.energy < 1e-5 * laws.work
    assert laws.residual < 1e-7
    assert laws.above < 1e-8


def test_reactions_by_three_routes(run):
    """Resolved (2.10), classical (2.11) from the forces alone, and written out (3.3)."""
    tree, motion = run.jumper.tree, run.motion
    resolved = run.reactions().reshape(len(run.time), -1)
    written = lower_limb_reactions(tree, motion, run.bed.force)
    torque = inverse_dynamics(tree, motion, [run.bed]).torque
    force = load_force(tree, place(tree, motion.q), [run.bed]) + torque @ torque_matrix(tree).T
    classical = joint_reactions_classical(tree, motion.q, motion.qd, force)
    scale = np.abs(resolved).max()
    assert np.abs(written - resolved[:, :6]).max() < 1e-10 * scale
    assert np.abs(classical - resolved).max() < 1e-9 * scale


def test_a_sampled_motion_gives_nearly_the_same(run):
    exact, off = run.reactions()[::10], measured(run) - run.reactions()[::10]
    assert np.sqrt((off**2).mean()) < 0.02 * np.abs(exact).max()
