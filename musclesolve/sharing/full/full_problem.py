"""The full formulation: every Lagrange multiplier and activation unknown, all equations of motion as constraints.

Per frame (Silva 2003, 6.22, with the transposes of correction A17 and the muscle rows of correction A1),

    minimise  sum_i f_i(a_i) + 1/2 sum_k w_k s_k^2
    such that Phi_q^T lambda + R^T C a - U^T s + (M qdd - g) = 0      lower <= a <= upper

R = dL_MT/dq are the muscle rows, C the force capacities, U the generalized forces of unit moments of the degrees of
freedom that the muscles serve; Phi_q holds the rigid bodies, the joints, and the drivers of all other degrees of
freedom. Joint reactions follow from the multipliers; no moment arm and no joint moment is ever formed.

The multipliers y of the equations of motion are a virtual displacement that keeps all constraints, Phi_q y = 0, and
U y are the multipliers of the moments. With the directions D of Phi_q D = 0, U D = 1 the equations turn into those of
the reduced formulation, A = -D^T R^T C and b = D^T (M qdd - g): `reduced`, on which a solution is certified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve._util.checks import check_real_array
from musclesolve._util.names import unknown_name
from musclesolve.errors import InputError
from musclesolve.sharing.kernel.constants import HUGE
from musclesolve.sharing.problem import OPTIONAL, Problem, misshapen

_RANK = 1e-9  # singular values below this share of the largest one count as zero
_ERROR = 1e-6


@dataclass(frozen=True, eq=False)
class FullProblem:
    """Which activations and which forces of constraint satisfy the equations of motion of each frame?

    Every array has the frame axis, except those marked as shared by all frames. A frame with a number that is not
    finite is marked in `valid` and ends as INVALID_INPUT.

    Args:
        jacobian: Phi_q, (T, c, N), constraint rows that no muscle moment works on; redundant rows are allowed.
        muscle_rows: R = dL_MT/dq, (T, n, N), the generalized force of a tension F is -R^T F.
        moment_rows: U, (T, m, N), generalized force of a unit moment of each degree of freedom that is shared.
        needed: M qdd - g, (T, N), with the passive muscle forces in g.
        force_capacity: (T, n) [N], tendon force of the contractile element at activation 1.
        max_isometric_force: (n,) [N].
        lower: smallest activation, broadcast to (T, n).
        upper: largest activation, broadcast to (T, n).
        reserve_weight: cost of a reserve, broadcast to (T, m) [cost per (N m)^2]; None: there are no reserves.
        muscle: n names.
        dof: m names.
        data: further fields of Problem that some costs need.

    Raises:
        InputError: a shape is wrong, or the name of a further field; constraints and shared moments leave a motion free
            or meet in one.
    """

    jacobian: Array
    muscle_rows: Array
    moment_rows: Array
    needed: Array
    force_capacity: Array
    max_isometric_force: Array
    lower: Array | float = 0.0
    upper: Array | float = 1.0
    reserve_weight: Array | float | None = None
    muscle: tuple[str, ...] | None = None
    dof: tuple[str, ...] | None = None
    data: Mapping[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("jacobian", "muscle_rows", "moment_rows", "needed", "force_capacity"):
            object.__setattr__(
                self, name, check_real_array(getattr(self, name), name, "an array with frames first")
            )
        for name in self.data if isinstance(self.data, Mapping) else [repr(self.data)]:
            if name not in (*OPTIONAL, "reaction"):
                raise unknown_name(name, "further field", (*OPTIONAL, "reaction"), where="FullProblem.data")
        if self.needed.ndim != 2:
            raise misshapen("needed", self.needed.shape, "FullProblem.needed", "(frames, coordinates)")
        frames, size = self.needed.shape
        for name in ("jacobian", "muscle_rows", "moment_rows"):
            array = getattr(self, name)
            if array.ndim != 3 or (array.shape[0], array.shape[2]) != (frames, size):
                expected = f"({frames}, any number, {size}), to go with `needed`"
                raise misshapen(name, array.shape, f"FullProblem.{name}", expected)
        shape = self.force_capacity.shape
        if shape != (frames, self.muscle_rows.shape[1]):
            expected = f"({frames}, {self.muscle_rows.shape[1]})"
            raise misshapen("force_capacity", shape, "FullProblem.force_capacity", expected)

    @cached_property
    def valid(self) -> Mask:
        """(T,) which frames consist of finite numbers."""
        usable = np.ones(len(self.needed), dtype=bool)
        for array in (self.jacobian, self.muscle_rows, self.moment_rows, self.needed, self.force_capacity):
            usable &= (np.abs(array) < HUGE).reshape(len(usable), -1).all(axis=1)
        return usable

    @cached_property
    def directions(self) -> Array:
        """D, (T, N, m): unit motion of each shared degree of freedom, Phi_q D = 0 and U D = 1; NaN where not valid.

        Raises:
            InputError: there is no such motion, or more than one; says in which frame and why.
        """
        frames, size = self.needed.shape
        dofs = self.moment_rows.shape[1]
        found = np.full((frames, size, dofs), np.nan)
        for t in np.flatnonzero(self.valid):
            found[t] = _directions(_unit(self.jacobian[t]), self.moment_rows[t], int(t))
        return found

    @cached_property
    def reduced(self) -> Problem:
        """The same without multipliers: moment arms -D^T R^T and moments D^T (M qdd - g) of the shared degrees."""
        across = np.swapaxes(self.directions, 1, 2)
        return Problem(
            moment_arm=-across @ np.swapaxes(self.muscle_rows, 1, 2),
            moment=(across @ self.needed[..., None])[..., 0],
            force_capacity=self.force_capacity,
            max_isometric_force=self.max_isometric_force,
            lower=self.lower,  # type: ignore[arg-type]
            upper=self.upper,  # type: ignore[arg-type]
            reserve_weight=self.reserve_weight,  # type: ignore[arg-type]
            muscle=self.muscle,
            dof=self.dof,
            **self.data,  # type: ignore[arg-type]
        )

    @cached_property
    def redundant(self) -> Mask:
        """(T, c) rows of the Jacobian that follow from others: their multipliers add nothing and are held at zero."""
        from scipy.linalg import qr

        found = np.zeros(self.jacobian.shape[:2], dtype=bool)
        for t in np.flatnonzero(self.valid):
            triangle, order = qr(_unit(self.jacobian[t]).T, mode="r", pivoting=True)
            pivots = np.abs(np.diagonal(triangle))
            rank = int((pivots > _RANK * pivots[:1]).sum())
            found[t, order[rank:]] = True
        return found

    def equation_error(self, multiplier: Array, force: Array, reserve: Array) -> Array:
        """Left-hand side of the equations of motion for lambda (T, c), C a (T, n) [N] and s (T, m) [N m], (T, N)."""
        terms = ((self.jacobian, multiplier), (self.muscle_rows, force), (self.moment_rows, -reserve))
        return self.needed + sum(np.matmul(factor[:, None, :], rows)[:, 0, :] for rows, factor in terms)


def _directions(constraint: Array, moment: Array, frame: int) -> Array:
    stacked = np.vstack([constraint, _unit(moment)])
    sizes = np.linalg.svd(stacked, compute_uv=False)
    if len(sizes) < stacked.shape[1] or sizes[-1] <= _RANK * sizes[0]:
        fault = "some motion is neither held by a constraint row nor moved by a shared moment"
        remedy = "add the driver row of every degree of freedom that is not shared"
        raise InputError(fault, code="bad_model", where=f"FullProblem, frame {frame}", remedy=remedy)
    right = np.zeros((len(stacked), len(moment)))
    right[len(constraint) :] = np.diag(1.0 / np.linalg.norm(moment, axis=1))
    found = np.linalg.lstsq(stacked, right, rcond=_RANK)[0]
    if np.abs(stacked @ found - right).max() > _ERROR * np.abs(right).max():
        fault = "constraint rows hold a motion whose moment is shared"
        remedy = "leave out the driver rows of the shared degrees of freedom"
        raise InputError(fault, code="bad_model", where=f"FullProblem, frame {frame}", remedy=remedy)
    return np.asarray(found, dtype=np.float64)


def _unit(rows: Array) -> Array:
    size = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.where(size > 0, size, 1.0), dtype=np.float64)
