"""A model: a topology laid out with the lengths of a subject or mechanism and given its masses, and checked once."""

from copy import copy
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Self

import numpy as np

from musclesolve._util.arrays import Array, contiguous, unit_or_zero
from musclesolve._util.checks import check_array, check_type
from musclesolve._util.messages import with_sizes
from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.kernel.arrays import MassArrays
from musclesolve.dynamics.model.joint_and_body_constraints import Constraints
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.rigid_body import MassProperties, RigidBodies, basic_mass_matrix
from musclesolve.dynamics.model.topology import Topology
from musclesolve.errors import input_error


@dataclass(frozen=True)
class Model:
    """A topology, its standing layout (N, 3), the mass properties of its bodies and, where known, the stature of the
    subject and the depth of the pelvis [m] from mid-ASIS to mid-PSIS.

    Raises:
        InputError: joints, bodies, constraints and masses that do not agree; with their names.
    """

    topology: Topology
    standing: np.ndarray
    mass: MassProperties
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -STANDARD_GRAVITY]))
    stature: float | None = None
    pelvis_depth: float | None = None

    __repr__ = with_sizes

    def __post_init__(self) -> None:
        """Refuse a model whose parts contradict each other."""
        topology, mass = self.topology, self.mass
        check_type(topology, Topology, "topology", "points, bodies and joints, from load_topology()")
        check_type(mass, MassProperties, "mass", "a MassProperties of the bodies")
        assert topology.fits
        names, bodies = topology.coordinate_names, tuple(body.name for body in topology.bodies)
        standing = check_array(self.standing, "the standing position", (len(names), 3), names, axis=0)
        check_array(self.gravity, "gravity", (3,), axis=0)
        length = np.linalg.norm(standing[topology.point_count :], axis=1)
        if (off := np.abs(length - 1.0) > _UNIT).any():
            worst = int(np.argmax(off))
            raise input_error(
                "bad_model",
                problem=f"the direction {names[topology.point_count + worst]!r} has the length {length[worst]:g}",
                expected="unit vectors",
            )
        if len(mass.mass) != len(bodies) or mass.names not in ((), bodies):
            raise input_error(
                "bad_model",
                problem=f"mass properties of {len(mass.mass)} bodies {', '.join(map(str, mass.names))}",
                expected=f"the {len(bodies)} bodies of {topology.name!r}, in order: {', '.join(map(str, bodies))}",
            )
        check_joints(topology, self.tree, self.constraints)

    def weighing(self, mass: MassProperties) -> Self:
        """The model with other masses of its bodies; arrays already computed for joints and bodies stay valid."""
        kept = ("constraints", "rigid_bodies", "tree")
        computed = {name: value for name, value in vars(self).items() if name in kept}
        return self._with(mass=mass, **computed)

    def resized(self, standing: Array, mass: MassProperties, pelvis_depth: float | None) -> Self:
        """The model with other lengths and masses, near enough that its joints need no second check."""
        return self._with(standing=standing, mass=mass, pelvis_depth=pelvis_depth)

    def _with(self, **changed: object) -> Self:
        """An unchecked copy with other fields; of what was computed it has only what is given."""
        other = copy(self)
        vars(other).clear()
        vars(other).update({field.name: getattr(self, field.name) for field in fields(self)} | changed)
        return other

    @property
    def weight(self) -> float:
        """Body weight on earth [N], by which forces are divided: the mass times 9.80665 m/s2, whatever `gravity` is."""
        return self.mass.total * STANDARD_GRAVITY

    @cached_property
    def constraints(self) -> Constraints:
        """Rigid-body and universal-joint constraints."""
        return Constraints.build(self.topology, self.standing)

    @cached_property
    def rigid_bodies(self) -> RigidBodies:
        """Transformations between natural coordinates and material points."""
        return RigidBodies.build(self.topology, self.standing)

    @cached_property
    def tree(self) -> Tree:
        """Kinematics along the joints."""
        return Tree.build(self.topology, self.standing)

    @cached_property
    def basic_mass(self) -> np.ndarray:
        """Mass matrix M_e of every basic body (B, 4, 4)."""
        return basic_mass_matrix(self.rigid_bodies, self.mass)

    @cached_property
    def masses(self) -> MassArrays:
        """Masses, centers, inertias and gravity for compiled code."""
        mass = self.mass
        return MassArrays(*map(contiguous, (mass.mass, mass.center, mass.inertia, self.gravity)))

    def body(self, name: str) -> int:
        """Index of a body; an unknown name is an InputError here and below."""
        return self.topology.body_index[name]

    def slot(self, name: str) -> int:
        """Index of a point or vector among the generalized coordinates."""
        return self.topology.slot[name]

    def distal_bodies(self, dof: str) -> np.ndarray:
        """Indices of the bodies distal to a joint degree of freedom."""
        return np.flatnonzero(self.tree.distal_frames[: len(self.topology.bodies), self.joint(dof)])

    def dof(self, name: str) -> int:
        """Index of a degree of freedom."""
        return self.topology.dof_index[name]

    def joint(self, name: str) -> int:
        """Index of a degree of freedom of a joint; degrees of freedom of the base are refused."""
        return self.topology.joint_index[name]


_MET = 1e-9  # Largest share of a joint's motion along the gradient of a constraint
_RANK = 1e-12  # Eigenvalues (squares) below this share of the largest are zero

_SHOWN = 4
_UNIT = 1e-6


def check_joints(topology: Topology, tree: Tree, constraints: Constraints) -> None:
    """Check in a general pose that the allowed directions D satisfy the constraints, and that no others do.

    Phi_q D = 0, rank D = K + 6 and rank Phi_q = 3 N - (K + 6).
    """

    def largest(size: Array, names: tuple[str, ...]) -> str:
        order = [k for k in np.argsort(-size)[:_SHOWN] if size[k] > 0.1 * size.max()]
        return ", ".join(names[k] for k in order)

    dofs = topology.dof_names
    angles = 0.3 + 0.1 * np.sin(np.arange(tree.joint_count))[None]
    q = tree.pose(angles, np.zeros((1, 3)), np.eye(3)[None])
    size = 3 * q.shape[1]
    directions = unit_or_zero(tree.allowed(q, np.zeros((1, 3))).reshape(size, -1).T)
    rows = unit_or_zero(constraints.jacobian(q).reshape(-1, size))
    product = np.abs(rows @ directions.T)
    if product.max(initial=0.0) > _MET:
        row, dof = np.unravel_index(int(np.argmax(product)), product.shape)
        raise input_error(
            "bad_model",
            where=topology.name,
            problem=f"the degree of freedom {dofs[dof]!r} does not keep the constraint {constraints.names[row]}",
            expected="joints that move each body as one piece",
            remedy="both bodies must have its axis and pivot, and the distal bodies must be "
            "connected by this joint alone",
        )
    values, vectors = np.linalg.eigh(directions @ directions.T)
    if values[0] <= _RANK * values[-1]:
        raise input_error(
            "bad_model",
            where=topology.name,
            problem=f"degrees of freedom that do the same: {largest(np.abs(vectors[:, 0]), dofs)}",
            expected="independent degrees of freedom",
        )
    values = np.linalg.eigvalsh(rows @ rows.T)
    if (missing := size - len(dofs) - int((values > _RANK * values[-1]).sum())) > 0:
        _, _, free = np.linalg.svd(np.vstack([rows, directions]))
        moved = np.linalg.norm(free[-missing:].reshape(missing, -1, 3), axis=(0, 2))
        raise input_error(
            "bad_model",
            where=topology.name,
            problem=f"{missing} motions are neither held by a constraint nor allowed by a joint: "
            f"{largest(moved, topology.coordinate_names)} can move",
            expected="as many constraints as coordinates less degrees of freedom",
            remedy="the two bodies of a revolute joint share a point and a vector, or two points; "
            "the two bodies of a universal joint share a point and are listed under "
            "`universal`",
        )


def mass_center(model: Model, q: Array) -> Array:
    """Center of mass of the whole model (T, 3) [m] in the poses q (T, N, 3) [m]."""
    return mass_weighted(model, model.rigid_bodies.basic(q)) / model.mass.total


def mass_weighted(model: Model, basic: Array) -> Array:
    """Sum over bodies of mass times the value (T, 3) of the basic coordinates at the center of mass."""
    weights = model.mass.mass[:, None] * model.rigid_bodies.coordinates(model.mass.center)
    return np.asarray(np.einsum("be,tbex->tx", weights, basic))


def check_model(model: Model) -> Model:
    """Return a model; refuse what is none."""
    return check_type(model, Model, "model", "a model, such as human_model() or forward_human_model() makes")
