"""Forces of drivers and joints in a closed loop, from the multipliers of its rows.

The rows of an assembled mechanism are solved for their multipliers, Phi_q^T lambda = g - M qdd (Silva 2003, 2.83), of
least norm where rows are redundant (2.88). A driver's multiplier gives its moment (correction B3) or tension; all rows
of one joint together give the force and moment that it transmits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.names import unknown_name
from musclesolve.dynamics.inverse.inverse_dynamics import Wrench, required_force
from musclesolve.dynamics.inverse.lagrange_multipliers import minimum_norm, rigid_wrench
from musclesolve.dynamics.mechanism.assembly import consistent_rates
from musclesolve.dynamics.mechanism.constraint_rows import (
    AngleDriver,
    Constraint,
    ConstraintRows,
    TensionDriver,
    all_rows,
)
from musclesolve.dynamics.model.model import Model
from musclesolve.errors import input_error

_NONE = 1e-9  # Ratio to the largest singular value below which one counts as zero


@dataclass(frozen=True)
class Mechanism(Model):
    """Bodies with standing layout and masses whose joints are all constraint rows; it has no tree of joints."""

    def __post_init__(self) -> None:
        """Refuse a layout or masses that do not fit the topology."""
        sizes = len(self.topology.coordinate_names), len(self.topology.bodies)
        if (len(self.standing), len(self.mass.mass)) != sizes:
            raise input_error(
                "bad_shape",
                problem=f"standing positions {np.shape(self.standing)} and masses of {len(self.mass.mass)} "
                "bodies",
                expected=f"positions ({sizes[0]}, 3) and {sizes[1]} bodies, as in the topology",
            )


@dataclass(frozen=True)
class Reaction:
    """Reaction of constraint rows on a body: force (T, 3) [N] and moment (T, 3) [N m] about a point.

    unique (6,): which of the six components the mechanism determines. The others, as the moments across the plane in
    a planar loop, depend on how redundant rows are scaled (correction B10).
    """

    force: Array
    moment: Array
    unique: Mask


@dataclass(frozen=True)
class MechanismForces:
    """A mechanism in motion: q, qd, qdd (T, N, 3), its rows, and their multipliers (T, c)."""

    model: Model
    time: Array
    q: Array
    qd: Array
    qdd: Array
    rows: ConstraintRows
    multipliers: Array

    def of(self, driver: AngleDriver | TensionDriver) -> Array:
        """Moment of an angle driver about its axis [N m], or tension of a length driver or muscle [N], (T,)."""
        rows = self._rows(driver.name)
        if len(rows) > 1:
            raise input_error(
                "duplicate_name",
                problem=f"{len(rows)} rows are called {driver.name!r}",
                expected="a different name for every driver",
            )
        multiplier = self.multipliers[:, rows[0]]
        if isinstance(driver, AngleDriver):
            return driver.moment(self.time, self.q, multiplier)
        return driver.tension(self.time, multiplier)

    def reaction(self, names: Iterable[str], body: str, about: str) -> Reaction:
        """Return the reaction on a body of the rows of one joint together, with moments about the point `about`.

        names: rows, as "a = b" of `coincident` or "a fixed" of `fixed`. The body's points and vectors receive the force
        of every row that holds them. Give each body of the joint its own points and vectors: a shared one belongs to
        neither body alone.

        Raises:
            InputError: no row, body or point of that name.
        """
        chosen = [k for name in names for k in self._rows(name)]
        model, part = self.model, self.model.topology.bodies[self.model.body(body)]
        slots = [model.slot(name) for name in part.members]
        points = np.array(slots) < model.topology.point_count
        forces = -self.rows.jacobian[:, chosen][:, :, slots]
        frames, count = forces.shape[:2]
        q, center = (np.repeat(x, count, axis=0) for x in (self.q[:, slots], self.q[:, model.slot(about)]))
        unit = np.hstack(rigid_wrench(q, forces.reshape(-1, *forces.shape[2:]), points, center))
        unit = unit.reshape(frames, count, 6)
        both = np.einsum("trw,tr->tw", unit, self.multipliers[:, chosen])
        # Multipliers (T, c, k) of redundant rows whose forces sum to zero; padded with zeros.
        basis, sizes, _ = np.linalg.svd(self.rows.jacobian.reshape(*self.rows.value.shape, -1))
        padded = np.zeros(basis.shape[::2])
        padded[:, : sizes.shape[1]] = sizes
        idle = np.where((padded > _NONE * sizes[:, :1])[:, None], 0.0, basis)
        loose = np.abs(np.einsum("trw,trk->twk", unit, idle[:, chosen])).max(axis=(0, 2), initial=0.0)
        return Reaction(both[:, :3], both[:, 3:], loose <= 1e-7 * np.abs(unit).max())

    def _rows(self, name: str) -> list[int]:
        chosen = [
            k
            for k, row in enumerate(self.rows.names)
            if row == name or (row[:-4] == name and row[-4:-2] == " [")
        ]
        if not chosen:
            raise unknown_name(name, "constraint row", dict.fromkeys(self.rows.names))
        return chosen


def mechanism_forces(
    model: Model, constraints: Iterable[Constraint], time: Array, q: Array, wrenches: Iterable[Wrench] = ()
) -> MechanismForces:
    """Inverse dynamics of a mechanism with closed loops (Silva 2003, 2.83, 2.88).

    Args:
        model: a `Model`, whose joints form a tree and whose loops are closed by rows, or a `Mechanism`, whose joints
            are all rows.
        constraints: the constraints that `assemble` closed, drivers included.
        time: (T,) [s].
        q: (T, N, 3) [m] poses, from `assemble`.
        wrenches: external forces on the bodies.

    Returns:
        The motion, the rows and their multipliers (T, c).

    Raises:
        MuscleSolveError: nothing drives a coordinate, or drivers contradict each other; names the coordinates or
            drivers.

    Examples:
        >>> stride, time = ms.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> model, motion = stride.model, stride.motion(time)
        >>> kinds = [ms.dynamics.Rigid(model.constraints), ms.dynamics.MotionDriver(model, motion)]
        >>> q = ms.dynamics.assemble(kinds, time, motion.q, driven=True)
        >>> forces = ms.dynamics.mechanism_forces(model, kinds, time, q, stride.wrenches(time))
        >>> forces.multipliers.shape
        (11, 141)
    """
    constraints, time = list(constraints), np.asarray(time, dtype=float)
    qd, qdd = consistent_rates(constraints, time, q, model.topology.coordinate_names)
    needed = -required_force(model, q, qd, qdd, list(wrenches))
    rows = all_rows(constraints, time, q, qd)
    jacobian = rows.jacobian.reshape(*rows.value.shape, -1)
    multipliers = minimum_norm(jacobian, needed.reshape(len(q), -1))
    return MechanismForces(model, time, q, qd, qdd, rows, multipliers)
