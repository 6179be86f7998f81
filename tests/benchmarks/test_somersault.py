"""The somersault obeys the laws of flight and support, and its reactions are the same by every route of the source.

Checked are balances that its motion was not made from: angular momentum and path of the center of mass in flight,
energy against the work of bed and joints, and the hips' reaction against the motion of what is above.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from planar_closed_forms import joint_reactions_classical, lower_limb_reactions
from scipy.integrate import cumulative_simpson

from benchmarks.somersault import FRAMES_HZ, SUPPORT, Somersault, somersault
from musclesolve.dynamics.planar import Load, inverse_dynamics, planar_motion
from musclesolve.dynamics.planar.planar_dynamics import load_force, mass_diagonal, torque_matrix
from musclesolve.dynamics.planar.planar_tree import place

pytestmark = pytest.mark.thorough  # the run takes nine seconds

MEASURED_HZ = 100.0


@dataclass(frozen=True)
class Balances:
    """Numbers that should be zero: drift of angular momentum in flight [kg m2/s] beside its size, of the center of mass
    from a parabola [m], of energy [J] beside the work of the joints, force and moment that the base would need [N, N
    m], and the hips' reaction less what moves all above them [N].
    """

    turning: float
    angular_momentum: float
    path: float
    energy: float
    work: float
    residual: float
    above: float


def balances(run: Somersault) -> Balances:
    """The laws that a somersault must obey."""
    tree, motion, time = run.jumper.tree, run.motion, run.time
    (p, pd, pdd), diagonal = motion.absolute(tree), mass_diagonal(tree)
    points, speed, pull = (x.reshape(len(time), -1, 3) for x in (p, pd, pdd))
    center, moving = (
        np.einsum("b,tbx->tx", tree.mass, x[..., :2]) / tree.mass.sum() for x in (points, speed)
    )
    away, by = points[..., :2] - center[:, None], speed[..., :2] - moving[:, None]
    spin = (away[..., 0] * by[..., 1] - away[..., 1] * by[..., 0]) @ tree.mass + speed[..., 2] @ tree.inertia
    free = time > run.take_off
    since = (time - time[free][0])[free, None]
    parabola = center[free][0] + since * moving[free][0] - 0.5 * tree.gravity * since**2 * [0.0, 1.0]
    moments = inverse_dynamics(tree, motion, [run.bed])
    joints = tree.joints
    bending = motion.qd[:, 2 + joints] - motion.qd[:, 2 + tree.parent[joints]]
    worked = cumulative_simpson((moments.torque * bending).sum(axis=1), x=time, initial=0.0)
    pushed = cumulative_simpson((load_force(tree, p, [run.bed]) * pd).sum(axis=1), x=time, initial=0.0)
    energy = 0.5 * (pd**2) @ diagonal + tree.gravity * tree.mass.sum() * center[:, 1]
    upper = tree.distal_segments[:, tree.segment("thigh")] == 0.0
    needed = np.einsum("b,tbx->tx", tree.mass[upper], pull[:, upper, :2] + [0.0, tree.gravity])
    return Balances(
        turning=float(np.ptp(spin[free])),
        angular_momentum=float(spin[free].mean()),
        path=float(np.abs(center[free] - parabola).max()),
        energy=float(np.abs(energy - energy[0] - worked - pushed).max()),
        work=float(np.abs(worked).max()),
        residual=float(np.abs(moments.residual).max()),
        above=float(np.abs(run.reactions()[:, 0] - needed).max()),
    )


def measured(run: Somersault):
    """Reactions (T', J, 2) [N] from coordinates sampled as by a camera, differentiated by splines."""
    every = round(FRAMES_HZ / MEASURED_HZ)
    chosen = slice(None, None, every)
    tree, bed = run.jumper.tree, Load("foot", run.bed.force[chosen], run.bed.moment[chosen])
    motion = planar_motion(tree, run.time[chosen], run.motion.q[chosen])
    return Somersault(run.jumper, run.time[chosen], motion, bed, run.take_off).reactions()


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
