"""Free rigid bodies and how they start."""

from __future__ import annotations

import numpy as np
from small_models import laid_out

from musclesolve.dynamics import MassProperties, Model, Start


def free_body(mass=1.0, inertia=(0.004, 0.004, 0.004), name="ball") -> Model:
    """One body of two points and two vectors, its center of mass at the origin."""
    points, vectors = {"a": (0, 0, 0), "b": (0, 0, 0.1)}, {"u": (1, 0, 0), "v": (0, 1, 0)}
    topology, standing = laid_out(name, points, vectors, {name: (("a", "b"), ("u", "v"))})
    return Model(
        topology, standing, MassProperties(np.array([mass]), np.zeros((1, 3)), np.diag(inertia)[None])
    )


def starting(model, at=(0, 0, 1.0), velocity=(0, 0, 0), spin=(0, 0, 0), rotation=None) -> Start:
    """A body placed and thrown: position of its origin, its velocity, angular velocity, rotation matrix."""
    turned = model.standing @ (np.eye(3) if rotation is None else np.asarray(rotation)).T
    points = model.topology.point_count
    q, qd = turned.copy(), np.cross(spin, turned)
    q[:points] += at
    qd[:points] += velocity
    return Start(model, q, qd)
