"""Figures of Blajer, Dziewiecki & Mazur (2006): a body of nine segments, and the muscles of its leg."""

from __future__ import annotations

import numpy as np

from benchmarks.planar import PlanarMotion, PlanarTree, Support, foot_support, planar_body, supported_inverse
from benchmarks.planar.planar_dynamics import support_position
from benchmarks.planar.planar_tree import material_points, place
from benchmarks.sagittal_muscles import sagittal_muscles
from benchmarks.thesis_figures.drawing import COLORS, Finding, panels
from benchmarks.thesis_figures.study import Study
from musclesolve._util.arrays import Array
from musclesolve.laboratory.plotting.page.page_style import TEXT
from musclesolve.laboratory.plotting.page.sheet import heading

SQUAT = {
    "thigh": 25.0,
    "shank": -20.0,
    "pelvis": -12.0,
    "trunk": -12.0,
    "head": -10.0,
    "upper_arm": 10.0,
    "forearm": 30.0,
}
"""How far the segments are turned from standing [deg]: chosen."""
RAISED = 30.0
"""How far the heel is raised in the second mode [deg]."""


def planar_leg(_: Study) -> Finding:
    """Figures 1, 2 and 5 of 2006: nine segments, fifteen muscles, foot flat and on the toes, at rest."""
    tree = planar_body("nine_segment")
    muscles = sagittal_muscles(tree)
    figure, axes = panels(
        None, "Nine segments and fifteen muscles (Blajer et al. 2006)", 1, 2, 0.5, sharey=True
    )
    sentences = []
    for panel, mode, heel in zip(axes[0], ("flat", "toes"), (0.0, RAISED), strict=True):
        support = foot_support(tree, mode)
        q = np.concatenate([np.zeros(2), tree.rest])[None]
        for name, degrees in (SQUAT | {"foot": -heel}).items():
            q[0, 2 + tree.segment(name)] += np.radians(degrees)
        q[:, :2] -= support_position(tree, q, support)[:, :2]
        held = supported_inverse(tree, PlanarMotion(q, 0.0 * q, 0.0 * q), support)
        p = place(tree, q)
        points = material_points(p, muscles.segment, muscles.local - tree.center[muscles.segment])[0]
        passed = np.isin(np.arange(len(points)), muscles.switches.point[~muscles.switches.on(tree, p)[0]])
        for line in range(muscles.share.shape[1]):
            panel.plot(*points[(muscles.line == line) & ~passed].T, color=COLORS[1], linewidth=0.7)
        for segment in _segments(tree, q):
            panel.plot(*segment.T, "o-", color="black", linewidth=1.3, markersize=2.0)
        panel.set(aspect="equal", xlim=(-0.7, 0.7), ylim=(-0.1, 1.8))
        panel.set_xlabel("[m]", fontsize=TEXT)
        heading(panel, f"support: {mode}")
        toes, force = held.torque[0, tree.joint("toes")], held.force[0, 1]
        sentences.append(f"{mode} {force:.1f} N and {abs(toes):.1f} N m between foot and toes")
    axes[0, 0].set_ylabel("[m]", fontsize=TEXT)
    weight = tree.mass.sum() * tree.gravity
    return Finding(
        figure,
        f"{len(muscles.names)} muscles on {muscles.share.shape[1]} lines, the seventh "
        f"{muscles.names[6].replace('_', ' ')}. Standing bent: {', '.join(sentences)}; the weight is {weight:.1f} N.",
    )


def _segments(tree: PlanarTree, q: Array) -> list[Array]:
    """Lines (P, 2) from the joint of each segment to those that it carries, or to its end."""

    def at(segment: int, local: Array) -> Array:
        return support_position(tree, q, Support(tree.names[segment], local, tree.names[segment]))[0, :2]

    lines = []
    for segment in range(len(tree.names)):
        ends = [tree.mount[child] for child in np.flatnonzero(tree.parent == segment)]
        lines += [
            np.array([at(segment, np.zeros(2)), at(segment, end)])
            for end in ends or [2.0 * tree.center[segment]]
        ]
    return lines
