"""One set of joint angles through time: three-axis joints reach every pose in two ways.

For rotations a, b, c about three axes that are perpendicular in the standing pose, (a + pi, pi - b, c + pi) brings the
outer body to the same pose; only the vector between the joints is reversed. Frames that were found independently
may have taken either.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.model import Model


def one_branch(model: Model, angles: Array) -> Array:
    """The same poses by angles (T, K) that go on from frame to frame without jumps."""
    angles = angles.copy()
    for triple in _triples(model.tree):
        signs = model.tree.sign[triple]
        same = angles[:, triple]
        other = np.stack([same[:, 0] + np.pi, signs[1] * np.pi - same[:, 1], same[:, 2] + np.pi], axis=1)
        goes_on = np.abs(_wrapped(np.diff(same, axis=0))).sum(axis=1)
        jumps = np.abs(_wrapped(other[1:] - same[:-1])).sum(axis=1) < goes_on
        first = abs(_wrapped(same[0, 1])) > 0.5 * np.pi
        switched = np.concatenate([[first], first ^ (np.cumsum(jumps) % 2 == 1)])
        angles[:, triple] = np.where(switched[:, None], other, same)
    angles = model.tree.unwrapped(angles)
    return angles - 2.0 * np.pi * np.round(angles[:1] / (2.0 * np.pi))


def _wrapped(angle: Array) -> Array:
    """Angles between -pi and pi."""
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def _triples(tree: Tree) -> list[list[int]]:
    """Joints about three axes through one pivot, each distal to the one before."""
    triples = []
    for last in range(tree.joint_count):
        chain = [last]
        while len(chain) < 4:
            before = np.flatnonzero(tree.child == tree.parent[chain[0]])
            if not before.size or tree.pivot[before[0]] != tree.pivot[last]:
                break
            chain.insert(0, int(before[0]))
        beyond = np.flatnonzero(tree.parent == tree.child[last])
        if len(chain) == 3 and not (tree.pivot[beyond] == tree.pivot[last]).any():
            triples.append(chain)
    return triples
