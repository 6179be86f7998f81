"""Muscles as a force of a simulation: tension from activation, length and rate of the path, and its generalized force.

The generalized force of tensions F is -F dL_MT/dq (paths.py). It is computed from the wrenches of the path nodes on the
bodies, not from the rows dL_MT/dq: wrenches are summed on each body and converted to generalized coordinates once.
Where L_MT depends on a joint angle explicitly, as over a patella, F dL_MT/dtheta is a moment about that joint. On every
motion that the constraints allow, both together do the work of the rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices
from musclesolve.dynamics.inverse.lagrange_multipliers import Couples
from musclesolve.dynamics.kinematics.motion_derivatives import joint_angles, revolute_angles, single_joints
from musclesolve.dynamics.model.model import Model
from musclesolve.dynamics.model.rigid_body import RigidBodies
from musclesolve.errors import input_error
from musclesolve.muscles.driving.activation_dynamics import (
    ActivationDynamics,
    Course,
    Given,
    Sampling,
    driving_course,
)
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.paths.engine import PathLines
from musclesolve.muscles.paths.paths import Paths, PathState
from musclesolve.muscles.scaling.scale_muscles import ScaledMuscles, joined


@dataclass(frozen=True, eq=False)
class MuscleForces:
    """Muscles (n) of a model as a force of `simulate`.

    course: activation, or tendon force [N] where `prescribed`, (T, n) at times (T,) [s].
    """

    model: Model
    parameters: MuscleParameters
    paths: Paths
    course: Course
    prescribed: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return self.parameters.names

    def __call__(self, time: Array, q: Array, qd: Array) -> Array:
        """Generalized force (T, N, 3)."""
        path = self.path(q)
        return self.generalized(path, self._tension(time, path, qd))

    def tension(self, time: Array, q: Array, qd: Array) -> Array:
        """Tendon forces (T, n) [N] at times (T,), positions q and velocities qd (T, N, 3)."""
        return self._tension(time, self.path(q), qd)

    def path(self, q: Array) -> PathState:
        """The paths in poses (T, N, 3)."""
        return self.paths.evaluate(q, self._coordinates(q))

    def lines(self, q: Array) -> PathLines:
        """The paths in poses (T, N, 3) as lines through points, for drawing."""
        return self.paths.lines(q, self._coordinates(q))

    def rate(self, path: PathState, qd: Array) -> Array:
        """dL_MT/dt (T, n) [m/s] of paths for velocities (T, N, 3)."""
        rates, dofs = np.zeros((len(qd), len(self.model.topology.dof_names))), path.paths.moving_dofs
        if dofs.size:
            distal, proximal = self._couples.distal[dofs], self._couples.proximal[dofs]
            spin = self._bodies[1].twists(path.q, qd)[..., :3]
            places = np.searchsorted(self._bodies[0], [distal, proximal])
            relative = spin[:, places[0]] - spin[:, places[1]]
            rates[:, dofs] = np.einsum("tdx,tdx->td", self._axes(path.q, dofs), relative)
        return path.rate(qd, rates)

    def generalized(self, path: PathState, tension: Array) -> Array:
        """Generalized force (T, N, 3) of tendon forces (T, n) [N]."""
        (bodies, rigid_bodies), dofs = self._bodies, path.paths.moving_dofs
        of_groups = -tension[:, path.paths.groups.muscle, None] * path.wrench
        wrench = self._gather @ of_groups
        if dofs.size:
            moment = -np.einsum("tnd,tn->td", path.explicit, tension)
            couple = self._axes(path.q, dofs) * moment[..., None]
            wrench[..., :3] += self._couples.spread[np.ix_(bodies, dofs)] @ couple
        return rigid_bodies.generalized(
            path.q, rigid_bodies.wrench_forces(path.q, wrench[..., 3:], wrench[..., :3])
        )

    def _tension(self, time: Array, path: PathState, qd: Array) -> Array:
        if self.prescribed:
            return self.course(time)
        # Behind a rigid tendon path and rate determine the fiber; behind an elastic one fiber length would be a state.
        fibers = self.parameters.fibers(path.length, self.rate(path, qd))
        capacity, passive = self.parameters.forces(fibers)
        return self.course(time) * capacity + passive

    def _axes(self, q: Array, dofs: Indices) -> Array:
        """Directions (T, D, 3) of the couples of some joints: the axes, except across a massless cross."""
        return (self._couples.axes(q) if self._crossed else self.model.tree.axes(q))[:, dofs]

    @cached_property
    def _crossed(self) -> bool:
        """Whether L_MT depends on an angle of a joint with a massless cross."""
        return any(np.isin(self.paths.frames.dof, group).any() for group in self._couples.groups)

    @cached_property
    def _couples(self) -> Couples:
        return Couples.build(self.model)

    @cached_property
    def _bodies(self) -> tuple[Indices, RigidBodies]:
        """The bodies with path nodes, and the bodies of joints on whose angles L_MT depends."""
        dofs, couples = self.paths.frames.dof, self._couples
        numbers = [self.paths.groups.body, couples.distal[dofs], couples.proximal[dofs]]
        bodies = np.unique(np.concatenate(numbers))
        return bodies, self.model.rigid_bodies.subset(bodies)

    @cached_property
    def _gather(self) -> Array:
        """Matrix (b, G): one where a group of nodes is on a body."""
        return (self._bodies[0][:, None] == self.paths.groups.body).astype(float)

    @cached_property
    def _angles(self) -> tuple[Indices, bool]:
        """The joints on whose angles paths depend, and whether all of them are single joints between two bodies."""
        needed = np.unique(np.concatenate([self.paths.frames.dof, self.paths.switch_dof])).astype(np.intp)
        return needed, bool(np.isin(needed, single_joints(self.model)).all())

    def _coordinates(self, q: Array) -> Array:
        """Joint coordinates (T, K+6), zero where no path depends on them."""
        coordinates = np.zeros((len(q), len(self.model.topology.dof_names)))
        needed, single = self._angles
        if needed.size:
            rotation = self.model.rigid_bodies.rotation(q)
            if single:
                coordinates[:, needed] = revolute_angles(self.model, rotation, needed)
            else:
                coordinates[:, needed] = joint_angles(self.model, rotation)[:, needed]
        return coordinates


def muscle_forces(
    model: Model,
    muscles: ScaledMuscles | Sequence[ScaledMuscles],
    activation: Given | None = None,
    time: Array | None = None,
    *,
    excitation: Given | None = None,
    force: Given | None = None,
    between: str = "linear",
    dynamics: ActivationDynamics | None = None,
) -> MuscleForces:
    """Muscles on a model as a force of `musclesolve.dynamics.simulate`.

    One of activation, excitation and force is given: a number for all muscles, (n,), samples (T, n) at `time`, a
    function of times (T,) that returns (T, n), or a mapping from names to such for one muscle (others: zero).

    Args:
        model: the subject.
        muscles: of one side or of both, from `scale_muscles` (model, set, side).
        activation: 0 to 1.
        time: (T,) [s] of the samples; for an excitation without samples, the first and the last time of the simulation.
        excitation: 0 to 1; the activation follows from it by first-order activation dynamics.
        force: prescribed tendon forces [N], independent of length and velocity.
        between: "linear" or "spline": interpolation between samples. A spline is clipped to the range.
        dynamics: of activation, for an excitation (10 and 40 ms by Thelen (2003) unless given).

    Raises:
        InputError: none or more than one of the three; dynamics without an excitation; muscles that do not come from
            `scale_muscles`, or of joints that the model lacks; none, some twice, or different families of Hill curves;
            any fault that `muscle_course` refuses.
    """
    parts = [muscles] if isinstance(muscles, ScaledMuscles) else muscles
    if not isinstance(parts, Sequence) or not all(isinstance(part, ScaledMuscles) for part in parts):
        raise input_error(
            "bad_type",
            where="muscles",
            problem=f"muscles = {muscles!r:.60}",
            expected="the muscles of a side from scale_muscles (model, set, side), or a list of these",
        )
    for name in [name for part in parts for name in part.dof_names]:
        model.dof(name)  # the model has the joints of the muscles
    known = [name for part in parts for name in part.names]
    if not parts or len(set(known)) < len(known):
        sides = [side for part in parts for side in part.sides]
        raise input_error(
            "duplicate_name" if parts else "missing_argument",
            problem=f"muscles of {len(sides)} sides ({', '.join(map(str, sides))})",
            expected="the muscles of one side, or of the right and the left one",
        )
    if len(curves := {family.name for part in parts for family, _ in part.parameters.families}) > 1:
        raise input_error(
            "conflict",
            problem=f"muscles with different Hill curves: {', '.join(map(str, sorted(curves)))}",
            expected="muscles of one set",
        )
    placed = joined(parts)
    parameters, paths = placed.parameters, placed.paths
    sampling, names = Sampling(time, between), parameters.names
    driving = {"activation": activation, "excitation": excitation, "force": force}
    course = driving_course(names, sampling, dynamics, driving)
    return MuscleForces(model, parameters, paths, course, prescribed=force is not None)
