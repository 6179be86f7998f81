"""Small mechanisms and chains that several test folders share."""

from __future__ import annotations

import numpy as np

from musclesolve.dynamics import AngleDriver, MassProperties, Model, Rigid, coincident, fixed
from musclesolve.dynamics.kinematics.motion_derivatives import Motion, motion_from
from musclesolve.dynamics.model.topology import Dof, Point, RigidBody, Topology


def laid_out(name, points, vectors, bodies, universal=(), dofs=()) -> tuple[Topology, np.ndarray]:
    """A topology from positions of points and directions of vectors, with the standing layout.

    bodies: name -> (points, vectors).
    """
    vectors = {key: tuple(np.asarray(v, float) / np.linalg.norm(v)) for key, v in vectors.items()}
    placed = tuple(Point(k, key, "origin", tuple(where), "") for k, (key, where) in enumerate(points.items()))
    made = tuple(
        RigidBody(k, key, tuple(p), tuple(v), key, 1.0) for k, (key, (p, v)) in enumerate(bodies.items())
    )
    topology = Topology(name, made[0].name, "origin", placed, vectors, made, tuple(universal), tuple(dofs))
    return topology, np.array([*points.values(), *vectors.values()], dtype=float)


def random_mass(standing: np.ndarray, topology: Topology, seed: int) -> MassProperties:
    """Random bodies near their own points, with inertias of point clouds."""
    rng = np.random.default_rng(seed)
    masses, centers, inertias = [], [], []
    for body in topology.bodies:
        middle = standing[[topology.slot[name] for name in body.points]].mean(axis=0)
        m, r = rng.uniform(0.1, 0.5, 6), middle + 0.1 * rng.normal(size=(6, 3))
        center = m @ r / m.sum()
        arm = r - center
        masses.append(m.sum())
        centers.append(center)
        inertias.append(
            np.einsum("p,pxx->", m, arm[:, :, None] * arm[:, None]) * np.eye(3) - (m * arm.T) @ arm
        )
    return MassProperties(np.array(masses), np.array(centers), np.array(inertias))


def random_motion(model: Model, seed: int, frames: int = 7) -> Motion:
    """Random coordinates, rates and second derivatives, unrelated from frame to frame."""
    rng = np.random.default_rng(seed)
    size = (frames, len(model.topology.dof_names))
    coordinates, rates, second = rng.normal(size=(3, *size)) * np.array([0.4, 1.5, 8.0])[:, None, None]
    return motion_from(model, np.arange(frames) * 0.01, coordinates, rates, second)


def random_chain(links: int, seed: int, slant: float = 0.0) -> Model:
    """A branching chain of revolute joints of all sorts and one universal joint, every axis and length random.

    Link k shares a point and a vector with its parent; link 2 two points, so that it turns about the line between
    them; the last link hangs on a universal joint, whose axes are square to each other unless slanted.
    """
    rng = np.random.default_rng(seed)
    points = {"p0": rng.normal(size=3) * 0.1, "p1": rng.normal(size=3) * 0.3}
    vectors = {"a0": rng.normal(size=3), "a1": rng.normal(size=3)}
    bodies: dict[str, tuple] = {"link0": (("p0", "p1"), ("a0", "a1"))}
    dofs, hangs = [], {"p1": ("link0", "a1")}
    for k in range(1, links):
        joint = f"p{k}" if f"p{k}" in hangs else rng.choice(sorted(hangs))
        parent, axis = hangs[joint]
        tip, turn = f"p{k + 1}", f"a{k + 1}"
        points[tip] = points[joint] + rng.normal(size=3) * 0.3
        vectors[turn] = rng.normal(size=3)
        if k == 2:
            other = bodies[parent][0][0]
            bodies[f"link{k}"] = ((other, joint, tip), (turn,))
            dofs.append(_dof(f"turn{k}", parent, f"link{k}", (other, joint), joint))
        else:
            bodies[f"link{k}"] = ((joint, tip), (axis, turn))
            dofs.append(_dof(f"turn{k}", parent, f"link{k}", (None, axis), joint))
        hangs[tip] = (f"link{k}", turn)
    parent, axis = hangs[f"p{links}"]
    line = vectors[axis] / np.linalg.norm(vectors[axis])
    across = np.cross(line, rng.normal(size=3))
    across = across / np.linalg.norm(across) + slant * line
    points["end"], vectors["cross"], vectors["last"] = (
        points[f"p{links}"] + [0.1, 0.2, -0.1],
        across,
        rng.normal(size=3),
    )
    bodies["hand"] = ((f"p{links}", "end"), ("cross", "last"))
    dofs.append(_dof("swing", parent, "spider", (None, axis), f"p{links}"))
    dofs.append(_dof("nod", "spider", "hand", (None, "cross"), f"p{links}"))
    topology, standing = laid_out("chain", points, vectors, bodies, [(axis, "cross")], dofs)
    return Model(topology, standing, random_mass(standing, topology, seed))


def _dof(name, parent, child, axis, pivot) -> Dof:
    return Dof(name, parent, child, axis, 1, pivot, axis, axis)


def four_bar(course) -> tuple[Model, list, Rigid]:
    """A four-bar in the plane of x and z, its crank led from the line of its ground by a course; and what of it stays.

    A tree of three bars, whose loop is closed where the coupler's end c and the rocker's end e are one.
    """
    top, base = np.array([0.0, 0.0, 0.3]), np.array([1.0, 0.0, 0.0])
    across = base - top
    size = np.linalg.norm(across)
    along = (0.9**2 - 0.6**2 + size**2) / (2.0 * size)
    height = np.sqrt(0.9**2 - along**2)
    joint = top + along * across / size + height * np.cross([0.0, -1.0, 0.0], across / size)
    points = {"a": np.zeros(3), "d": base, "b": top, "c": joint, "e": joint, "up": np.array([0.0, 0.0, 0.2])}
    vectors = {"axis": [0, 1, 0], "v1": [1, 0, 0], "v2": [0, 0, 1], "v3": [1, 0, 0]}
    bodies = {
        "ground": (("a", "d", "up"), ("axis",)),
        "crank": (("a", "b"), ("axis", "v1")),
        "coupler": (("b", "c"), ("axis", "v2")),
        "rocker": (("d", "e"), ("axis", "v3")),
    }
    dofs = [
        Dof("crank", "ground", "crank", (None, "axis"), 1, "a", ("a", "d"), ("a", "b")),
        Dof("coupler", "crank", "coupler", (None, "axis"), 1, "b", ("a", "b"), ("b", "c")),
        Dof("rocker", "ground", "rocker", (None, "axis"), 1, "d", ("a", "d"), ("d", "e")),
    ]
    topology, standing = laid_out("four-bar", points, vectors, bodies, (), dofs)
    model = Model(topology, standing, random_mass(standing, topology, 3))
    rows = model.constraints.with_linear(*fixed(topology, standing, ["a", "d", "up", "axis"]))
    rigid = Rigid(rows.with_linear(*coincident(topology, [("c", "e")])))
    driver = AngleDriver.build(topology, standing, (None, "axis"), ("a", "d"), ("a", "b"), course)
    return model, [rigid, driver], rigid
