"""Serial chains of any length with random shapes and masses: to check routes against each other and to see growth."""

from __future__ import annotations

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.dynamics import MassProperties, Model
from musclesolve.dynamics.model.topology import Dof, Point, RigidBody, Topology
from musclesolve.errors import InputError

_CLOUD = 8
"""Point masses that make up the inertia of a link: any such body is possible."""


def random_chain(links: int, seed: int = 0) -> Model:
    """A chain of rigid links joined by revolute joints, the first of which floats.

    Link k lies between points p_k and p_k+1 and turns about vector a_k, which is perpendicular to it and to the link
    before; neighbors share both. The first link carries a forward vector that says how it is turned.

    Args:
        links: how many, at least two.
        seed: of the random shapes and masses.

    Raises:
        InputError: fewer than two links.
    """
    if links < 2:
        raise InputError(f"a chain of {links} links", code="bad_number", expected="two links at least")
    rng = np.random.default_rng(seed)
    lines, axes = _shape(links, rng)
    points = tuple(
        Point(k, f"p{k}", f"p{k - 1}" if k else "start", tuple(lines[k - 1] if k else np.zeros(3)), "link")
        for k in range(links + 1)
    )
    vectors = {"forward": (1.0, 0.0, 0.0)} | {f"a{k}": tuple(axes[k]) for k in range(1, links)}
    bodies = tuple(
        RigidBody(k, f"link{k}", (f"p{k}", f"p{k + 1}"), _vectors(k, links), "", 1.0) for k in range(links)
    )
    dofs = tuple(
        Dof(f"turn{k}", f"link{k - 1}", f"link{k}", (None, f"a{k}"), 1, f"p{k}", *_driver(k))
        for k in range(1, links)
    )
    topology = Topology(f"chain of {links}", "link0", "start", points, vectors, bodies, (), dofs)
    standing = np.vstack([np.zeros(3), np.cumsum(lines, axis=0), np.array(list(vectors.values()))])
    return Model(topology, standing, _masses(standing, links, rng))


def _shape(links: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Lines (links, 3) [m] and joint axes (links, 3), each axis perpendicular to the lines on both sides."""
    lines, axes = np.zeros((links, 3)), np.zeros((links, 3))
    lines[0] = [0.0, 0.3, 0.0]
    for k in range(1, links):
        axes[k] = _across(lines[k - 1], rng)
        lines[k] = rng.uniform(0.2, 0.4) * _across(axes[k], rng)
    return lines, axes


def _across(direction: Array, rng: np.random.Generator) -> Array:
    """A random unit vector perpendicular to a direction."""
    across = np.cross(direction, rng.normal(size=3))
    return np.asarray(across / np.linalg.norm(across))


def _vectors(k: int, links: int) -> tuple[str, ...]:
    near = f"a{k}" if k else "forward"
    return (near, f"a{k + 1}") if k + 1 < links else (near,)


def _driver(k: int) -> tuple[tuple[str, str], tuple[str, str]]:
    return (f"p{k - 1}", f"p{k}"), (f"p{k}", f"p{k + 1}")


def _masses(standing: Array, links: int, rng: np.random.Generator) -> MassProperties:
    middle = 0.5 * (standing[:links] + standing[1 : links + 1])
    masses = rng.uniform(0.1, 1.0, size=(links, _CLOUD))
    places = middle[:, None] + 0.1 * rng.normal(size=(links, _CLOUD, 3))
    mass = masses.sum(axis=1)
    center = np.einsum("bp,bpx->bx", masses, places) / mass[:, None]
    arm = places - center[:, None]
    square = np.einsum("bp,bpx,bpx->b", masses, arm, arm)
    inertia = square[:, None, None] * np.eye(3) - np.einsum("bp,bpx,bpy->bxy", masses, arm, arm)
    return MassProperties(mass, center, inertia)
