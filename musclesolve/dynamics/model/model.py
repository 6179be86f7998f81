"""A model: a topology laid out with the lengths of a subject or mechanism and given its masses."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from musclesolve.constants import STANDARD_GRAVITY
from musclesolve.dynamics.model.joint_tree import Tree
from musclesolve.dynamics.model.mass_matrix import MassProperties, basic_mass_matrix
from musclesolve.dynamics.model.model_checks import check_joints, check_layout
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.dynamics.model.rigid_body_constraints import Constraints
from musclesolve.dynamics.model.topology import Topology


@dataclass(frozen=True)
class Model:
    """A topology, its standing layout (N, 3), the mass properties of its bodies, the stature of a subject [m].

    Raises:
        InputError: joints, bodies, constraints and masses that do not agree; says which.
    """

    topology: Topology
    standing: np.ndarray
    mass: MassProperties
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -STANDARD_GRAVITY]))
    stature: float | None = None

    def __post_init__(self) -> None:
        """Refuse a model that is not in itself consistent."""
        check_layout(self.topology, self.standing, self.gravity, self.mass)
        check_joints(self.topology, self.tree, self.constraints)

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
        """M_e of every body (B, 4, 4)."""
        return basic_mass_matrix(self.rigid_bodies, self.mass)

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
        """Index of a degree of freedom of a joint; those of the base are refused."""
        return self.topology.joint_index[name]
