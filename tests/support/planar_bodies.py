"""Planar bodies and motions that several test folders share."""

from __future__ import annotations

import numpy as np

from benchmarks.planar import PlanarMotion, PlanarTree, into_plane
from musclesolve._util.splines import spline_through
from musclesolve.dynamics import Model

STEP = 1e-30
"""Complex step: derivatives to round-off."""


def random_motion(tree: PlanarTree, frames: int = 12, seed: int = 5) -> PlanarMotion:
    """Unrelated positions, velocities and accelerations: every frame is a case of its own."""
    q, qd, qdd = np.random.default_rng(seed).normal(size=(3, frames, len(tree.names) + 2))
    return PlanarMotion(q, 3.0 * qd, 20.0 * qdd)


def planar_motion(tree: PlanarTree, time: np.ndarray, q: np.ndarray) -> PlanarMotion:
    """Velocities and accelerations of coordinates (T, B+2) over time (T,), by quintic splines."""
    spline = spline_through(time, q, 5)
    return PlanarMotion(q, spline(time, 1), spline(time, 2))


def angles_between(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Segment angle (T,) [rad] from the vertical, with xi along start -> end (T, 2); continuous in time."""
    along = end - start
    return np.unwrap(np.arctan2(along[:, 0], -along[:, 1]))


def complex_step(function, x: np.ndarray) -> np.ndarray:
    """Derivative (T, m, n) of function (T, m) by x (T, n)."""
    columns = []
    for k in range(x.shape[1]):
        moved = x.astype(complex)
        moved[:, k] += 1j * STEP
        columns.append(function(moved).imag / STEP)
    return np.stack(columns, axis=-1)


def sagittal_tree(model: Model, groups: dict[str, tuple[str, str, list[str]]]) -> PlanarTree:
    """The standing 3D model seen from the side: name -> (parent, point in the joint, prefixes of its bodies)."""
    names, bodies = tuple(groups), [body.name for body in model.topology.bodies]
    rest = np.array([0.5 * np.pi if name.startswith("foot") else 0.0 for name in names])
    side = [0, 2]
    where = {point: model.standing[model.slot(point)][side] for _, point, _ in groups.values() if point}
    mount, center, mass, inertia = [], [], [], []
    for k, (parent, point, prefixes) in enumerate(groups.values()):
        own = [i for i, body in enumerate(bodies) if any(body.startswith(word) for word in prefixes)]
        m = model.mass.mass[own]
        middle = m @ model.mass.center[own] / m.sum()
        arm = (model.mass.center[own] - middle)[:, side]
        mass.append(m.sum())
        inertia.append(model.mass.inertia[own][:, 1, 1].sum() + m @ (arm**2).sum(axis=1))
        joint = where.get(point, np.zeros(2))
        center.append(_local(middle[side] - joint, rest[k]))
        base = where.get(groups[parent][1], np.zeros(2)) if parent else joint
        mount.append(_local(joint - base, rest[names.index(parent)] if parent else 0.0))
    return PlanarTree(
        names=names,
        parent=np.array([names.index(parent) if parent else -1 for parent, _, _ in groups.values()]),
        mount=np.array(mount), center=np.array(center), mass=np.array(mass),
        inertia=np.array(inertia), rest=rest,
    )  # fmt: skip


def _local(offset: np.ndarray, rest: float) -> np.ndarray:
    forward, up = offset
    return into_plane(np.array([[forward, 0.0, up]]), np.array([rest]))[0][0]
