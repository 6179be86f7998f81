"""Closing a mechanism: its positions, velocities and accelerations, and the forces of its drivers and joints.

Positions follow by Newton-Raphson in the sense of least squares. Rows may be redundant. Coordinates that nothing drives
stay as near the start as possible, unless everything is to be driven. A driven angle is followed in small steps by the
angle itself, because the mirrored angle satisfies its row, too. Each frame is closed from the one before, so that a
loop stays on its branch.

The rows of an assembled mechanism are solved for their multipliers, Phi_q^T lambda = g - M qdd (Silva 2003, 2.83), of
least norm where rows are redundant (2.88). A driver's multiplier gives its moment (correction B3) or tension; all rows
of one joint together give the force and moment that it transmits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_array, check_real_array, check_type
from musclesolve._util.messages import shortened, unknown_name
from musclesolve.dynamics.inverse.inverse_dynamics import required_force
from musclesolve.dynamics.inverse.lagrange_multipliers import (
    least_squares,
    minimum_norm,
    rigid_wrench,
    undriven,
)
from musclesolve.dynamics.kinematics.joint_drivers import ConstraintRows
from musclesolve.dynamics.mechanism.constraint_rows import (
    AngleDriver,
    ClosureErrors,
    Constraint,
    TensionDriver,
    all_closure_errors,
    all_rows,
    mirrored,
)
from musclesolve.dynamics.model.model import Model, check_model
from musclesolve.dynamics.model.rigid_body import Wrench
from musclesolve.errors import MuscleSolveError, input_error

_LONGEST_STEP = 0.3  # Longest move of a coordinate in one step [m or 1]; keeps a distant start on track
# Iteration ends with a step that moves no coordinate by more than this [m or 1], or after this number of steps
_SHORTEST_STEP, _STEPS = (1e-10, 100)
_OPEN = 1e-9  # A row that is farther from being met after the last step is open [m or 1]
_MET = 1e-6  # How far a row may be from being met for rates to be computed [m or 1]
_SHOWN = 4  # How many rows a message names


def assemble(
    constraints: Iterable[Constraint],
    time: Array,
    start: Array,
    coordinate_names: tuple[str, ...] = (),
    driven: bool = False,
) -> Array:
    """Pose (T, N, 3) of every frame that satisfies all rows (Silva 2003, 2.6, 5.7).

    Args:
        constraints: all constraints of the mechanism.
        time: (T,) [s], for the drivers.
        start: (N, 3) first guess of the first frame, each other frame being closed from the one before; or (T, N, 3),
            a guess for every frame. Guesses that are all alike count as one.
        coordinate_names: names of the N points and vectors, for messages.
        driven: refuse a mechanism that can still move.

    Raises:
        InputError: a start or a value of a driver that is not finite.
        MuscleSolveError: a loop that cannot close, an angle that cannot be reached, a body that closes as its mirror
            image, or a coordinate that nothing drives; names it with the amounts.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> kinds = [ms.dynamics.Rigid(model.constraints)]
        >>> q = ms.dynamics.assemble(kinds, np.array([0.0]), model.standing, model.topology.coordinate_names)
        >>> np.allclose(q[0], model.standing)
        True
    """
    constraints, time = _listed(constraints), check_array(time, "time", ("T",), real=True)
    guess = check_real_array(start, "start", expected := f"positions (N, 3) or ({len(time)}, N, 3) [m]")
    if guess.ndim == 2:
        guess = np.broadcast_to(guess, (*time.shape, *guess.shape))
    if not len(time) or len(guess) != len(time):
        raise input_error("bad_shape", name="start", shape=np.shape(start), expected=expected)
    check_finite(guess, coordinate_names)
    if (guess == guess[:1]).all():
        # Each frame starts from the frame before: only this tells on which branch a loop is.
        q, pose = np.empty(guess.shape), guess[:1]
        for frame in range(len(time)):
            frame_slice = slice(frame, frame + 1)
            pose = q[frame_slice] = _closed(constraints, time[frame_slice], pose, frame)
    else:
        q = _closed(constraints, time, guess)
    if inverted := mirrored(constraints, q):
        body, frame = next(iter(inverted.items()))
        raise MuscleSolveError(
            f"body {body!r} closes as its own mirror image in frame {frame}, which is impossible. Start nearer to the "
            "intended pose, with every body complete."
        )
    if driven:
        _check_driven(all_rows(constraints, time, q), coordinate_names)
    return q


def _listed(constraints: Iterable[Constraint]) -> list[Constraint]:
    expected = "constraints that have rows, at least one, as [Rigid(constraints)]"
    listed = list(check_type(constraints, Iterable, "constraints", expected))
    if not listed:
        raise input_error("missing_argument", problem="an empty mechanism", expected=expected)
    return [check_type(one, Constraint, "constraints", expected) for one in listed]


def _closed(constraints: list[Constraint], time: Array, start: Array, number: int | None = None) -> Array:
    """Newton-Raphson steps from a start (T, N, 3) until none moves a coordinate; refuses rows that stay open.

    number: number of the frame where only one is closed.
    """
    q = np.array(start)
    for _ in range(_STEPS):
        errors = all_closure_errors(constraints, time, q)
        step = -least_squares(errors.jacobian.reshape(len(q), -1, 3 * q.shape[1]), errors.part).reshape(
            q.shape
        )
        largest = np.abs(step).max(axis=(1, 2), keepdims=True)
        q = q + step * np.minimum(1.0, _LONGEST_STEP / np.maximum(largest, 1e-12))
        if largest.max() < _SHORTEST_STEP:
            break

    errors = all_closure_errors(constraints, time, q)
    apart = violation(errors)
    frame = int(np.argmax(apart.max(axis=1)))
    if apart[frame].max() <= _OPEN:
        return q
    worst = np.argsort(-apart[frame])
    open_rows = [k for k in worst if apart[frame, k] > max(_OPEN, 0.1 * apart[frame, worst[0]])]
    listed = shortened([f"{errors.names[k]} by {apart[frame, k]:.3g}" for k in open_rows], _SHOWN, "; ")
    failing = int((apart.max(axis=1) > _OPEN).sum())
    where = f"in {failing} of {len(apart)} frames" if number is None else f"in frame {number}"
    raise MuscleSolveError(
        f"the mechanism cannot be assembled {where}: a loop does not close or a driver does not reach its value. "
        f"Nearest approach in frame {frame if number is None else number}: {listed} (m for points and lengths, 1 "
        "for directions). Check the lengths and the driven values, or start nearer to a possible pose."
    )


def violation(rows: ConstraintRows | ClosureErrors) -> Array:
    """Return the violation of each row: its value over the length of its gradient, (T, c) [m or 1]."""
    slope = np.linalg.norm(rows.jacobian.reshape(*rows.value.shape, -1), axis=2)
    return np.abs(rows.value) / np.maximum(slope, 1e-12)


def consistent_rates(
    constraints: Iterable[Constraint],
    time: Array,
    q: Array,
    coordinate_names: tuple[str, ...] = (),
    driven: bool = True,
) -> tuple[Array, Array]:
    """Velocities and accelerations of a pose that satisfies the rows (Silva 2003, 5.8, 5.9).

    Args:
        constraints: constraints of the mechanism.
        time: (T,) [s], for the drivers.
        q: (T, N, 3) [m] poses, from `assemble`.
        coordinate_names: names of the N points and vectors, for messages.
        driven: refuse a mechanism that can still move; else free coordinates take the smallest possible rates.

    Returns:
        Velocities (T, N, 3) [m/s] and accelerations (T, N, 3) [m/s^2].

    Raises:
        MuscleSolveError: the pose violates its rows, rows contradict, or nothing drives a coordinate; names them.

    Examples:
        >>> model = ms.dynamics.human_model()
        >>> kinds, time = [ms.dynamics.Rigid(model.constraints)], np.array([0.0])
        >>> q = ms.dynamics.assemble(kinds, time, model.standing, model.topology.coordinate_names)
        >>> velocity, acceleration = ms.dynamics.consistent_rates(kinds, time, q, driven=False)
        >>> float(np.abs(velocity).max())                                           # nothing moves a standing body
        0.0
    """
    constraints = _listed(constraints)
    check_finite(q, coordinate_names)
    time = check_real_array(time, "time", f"times ({len(q)},) [s]", shapes=((len(q),),))
    rows = all_rows(constraints, time, q)
    apart = violation(rows)
    frame, row = np.unravel_index(int(np.argmax(apart)), apart.shape)
    if apart[frame, row] > _MET:
        raise MuscleSolveError(
            f"the pose of frame {frame} violates its rows: {rows.names[row]} by {apart[frame, row]:.3g} (m for points "
            "and lengths, 1 for directions). Close it with `assemble` first."
        )
    jacobian = rows.jacobian.reshape(*rows.value.shape, -1)

    def solved(what: str, right: Array) -> Array:
        rate = least_squares(jacobian, right)
        left = np.abs(np.einsum("tcn,tn->tc", jacobian, rate) - right)
        limit = 1e-7 * np.maximum(1.0, np.abs(right).max(axis=1))
        if (left.max(axis=1) > limit).any():
            frame = int(np.argmax(left.max(axis=1) / limit))
            order, most = np.argsort(-left[frame])[:_SHOWN], left[frame].max()
            worst = [rows.names[k] for k in order if left[frame, k] > 0.1 * most]
            raise MuscleSolveError(
                f"no {what} satisfy all rows in frame {frame}: {'; '.join(worst)} contradict each other "
                f"(by {most:.3g}). The pose may be one where the mechanism is stretched out, or two drivers "
                "lead the same degree of freedom."
            )
        return rate.reshape(q.shape)

    qd = solved("velocities", rows.nu)
    if driven:
        _check_driven(rows, coordinate_names)
    return qd, solved("accelerations", all_rows(constraints, time, q, qd).gamma)


def check_finite(q: Array, names: tuple[str, ...]) -> None:
    """Refuse coordinates (T, N, 3) that are not finite, by name and frame."""
    check_array(q, "the pose", ("T", "N", 3), _names(names, np.shape(q)[1]) if np.ndim(q) > 1 else ())


def _names(names: tuple[str, ...], count: int) -> tuple[str, ...]:
    return tuple(names) + tuple(f"coordinate {slot}" for slot in range(len(names), count))


def _check_driven(rows: ConstraintRows, names: tuple[str, ...]) -> None:
    """Refuse rows that leave points or vectors free to move; name these."""
    frames, _, count, _ = rows.jacobian.shape
    unit_rates = np.broadcast_to(np.eye(3 * count).reshape(count, 3, -1), (frames, count, 3, 3 * count))
    owners = tuple(name for name in _names(names, count) for _ in range(3))
    free = tuple(dict.fromkeys(undriven(rows.jacobian, unit_rates, owners)))
    if free:
        raise MuscleSolveError(
            f"nothing drives {shortened(free, 2 * _SHOWN)}: constraints and drivers leave them free to move in "
            "some frame. Add a driver, or fix them; or the pose is one where the mechanism is stretched out."
        )


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
                problem=f"standing positions {np.shape(self.standing)} and masses of {len(self.mass.mass)} bodies",
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
        >>> stride, time = ms.studies.synthetic.reference_stride(), np.linspace(0.0, 0.1, 11)
        >>> model, motion = stride.model, stride.motion(time)
        >>> kinds = [ms.dynamics.Rigid(model.constraints), ms.dynamics.MotionDriver(model, motion)]
        >>> q = ms.dynamics.assemble(kinds, time, motion.q, driven=True)
        >>> forces = ms.dynamics.mechanism_forces(model, kinds, time, q, stride.wrenches(time))
        >>> forces.multipliers.shape
        (11, 141)
    """
    constraints = _listed(constraints)
    qd, qdd = consistent_rates(constraints, time, q, check_model(model).topology.coordinate_names)
    needed = -required_force(model, q, qd, qdd, list(wrenches))
    rows = all_rows(constraints, time, q, qd)
    jacobian = rows.jacobian.reshape(*rows.value.shape, -1)
    multipliers = minimum_norm(jacobian, needed.reshape(len(q), -1))
    return MechanismForces(model, np.asarray(time, dtype=float), q, qd, qdd, rows, multipliers)
