"""The linear system of one step towards the nearest pose, from sums over what is distal to each joint.

A speed with the axis a and the pivot o moves a point r by a x r + c, c = o x a, and a vector v by a x v, if it is
distal to the joint. So

    gradient_j = sum_n D_nj . p_n            = a_j . sum r x p + c_j . sum p
    H_ij       = sum_n w_n D_ni . D_nj       = a_i . (a tr C - C a + h x c)_j + c_i . (a x h + m c)_j
    S_ij       = sum_n p_n . d2q_n/ds_i ds_j = a_i . sum D_nj x p_n = a_i . (P a - a tr P + c x f)_j

with p = w (target - q), C = sum w r r^T and P = sum r p^T over points and vectors, h = sum w r, m = sum w and f = sum p
over points, all of them over what j moves, i being j itself or a joint before it (what neither moves gives nothing).
This is the composite rigid body method (Featherstone 2008, 6.2) with targets for masses: D is never formed.
Of two rotations that are before each other, those of the base or of a spherical joint, S is shared evenly.
"""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.vectors import components, cross

_SYMMETRIC = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def normal_equations(
    tree: Tree,
    q: Array,
    origin: Array,
    slots: Indices,
    weights: Array,
    pull: Array,
    free: Mask,
    near: Array | Mask,
) -> tuple[Array, Array]:
    """H - near S (T, F, F) and the gradient D^T p (T, F) over the free speeds (K+6,).

    slots (n,) with weights w (n,) and pull p (T, n, 3); origin (T, 3): that of the standing layout [m]; near (T,):
    how much of the curvature S is counted, 0 (Gauss-Newton) to 1 (Newton).
    """
    axis, offset = _screws(tree, q, origin, free)
    point = slots < tree.point_count
    moved = np.column_stack([tree.distal_slots[slots], np.ones((len(slots), 6))])[:, free]
    # Lengths from the base, wherever in the laboratory that is: small numbers, small round-off.
    place = components(q[:, slots] - point[:, None] * origin[:, None])
    pull = components(pull)
    heavy = weights * place
    moments = [heavy[x] * place[y] for x, y in _SYMMETRIC]
    moments += [place[x] * pull[y] for x in range(3) for y in range(3)]
    moments += [*(point * heavy), *(point * pull)]
    sums = np.stack(moments) @ moved
    mass = (point * weights) @ moved
    second, product, first, force = sums[:6], sums[6:15], sums[15:18], sums[18:]
    torque = np.stack([product[5] - product[7], product[6] - product[2], product[1] - product[3]])
    gradient = (axis * torque + offset * force).sum(axis=0)
    cxx, cxy, cxz, cyy, cyz, czz = second
    ax, ay, az = axis
    angular = cross(first, offset)
    angular[0] += (cyy + czz) * ax - cxy * ay - cxz * az
    angular[1] += (cxx + czz) * ay - cxy * ax - cyz * az
    angular[2] += (cxx + cyy) * az - cxz * ax - cyz * ay
    linear = cross(axis, first) + mass * offset
    if near.any():
        angular -= near[:, None] * _curvature(axis, offset, product, force)
    rows = np.ascontiguousarray(np.concatenate([axis, offset]).transpose(1, 2, 0))
    columns = np.ascontiguousarray(np.concatenate([angular, linear]).transpose(1, 0, 2))
    share = tree.share[np.ix_(free, free)]
    half = share * (rows @ columns)
    return half + half.transpose(0, 2, 1), gradient


def _curvature(axis: Array, offset: Array, product: Array, force: Array) -> Array:
    """P a - a tr P + c x f (3, T, F) of S, zero for the speeds that are no rotations."""
    trace = product[0] + product[4] + product[8]
    bent = cross(offset, force) - axis * trace
    for x in range(3):
        bent[x] += product[3 * x] * axis[0] + product[3 * x + 1] * axis[1] + product[3 * x + 2] * axis[2]
    return np.abs(axis).any(axis=0) * bent


def _screws(tree: Tree, q: Array, origin: Array, free: Mask) -> tuple[Array, Array]:
    """Axis a and offset c of the free speeds, (3, T, F) each; c from the origin."""
    joints, frames = tree.joint_count, len(q)
    axis, offset = np.zeros((2, 3, frames, joints + 6))
    axis[:, :, :joints] = components(tree.axes(q))
    offset[:, :, :joints] = cross(components(q[:, tree.pivot] - origin[:, None]), axis[:, :, :joints])
    # The base: three translations, then three rotations about its origin.
    offset[:, :, joints : joints + 3] = axis[:, :, joints + 3 :] = np.eye(3)[:, None]
    return axis[:, :, free], offset[:, :, free]
