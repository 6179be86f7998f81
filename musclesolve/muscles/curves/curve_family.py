"""What a family of Hill curves offers."""

from __future__ import annotations

from typing import Protocol

from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array


class CurveFamily(Protocol):
    """Active force-length, force-velocity and passive force-length curves, with their slopes.

    Functions are elementwise. Lengths are in optimal fiber lengths, velocities in maximum shortening velocities
    (positive while the fiber lengthens), forces in maximum isometric forces. Strains are l / L0 - 1: where the passive
    force begins, and where it is one maximum isometric force; they broadcast against the lengths.
    """

    @property
    def name(self) -> str:
        """The name of the family."""
        ...

    @property
    def passive_strain(self) -> tuple[float, float]:
        """Strains at zero and at one norm force where a muscle set gives none."""
        ...

    def active(self, l_norm: ArrayLike) -> Array:
        """Isometric force at activation 1."""
        ...

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active`."""
        ...

    def velocity(self, v_norm: ArrayLike) -> Array:
        """Force over the isometric one at the same length."""
        ...

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity`."""
        ...

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> Array:
        """Force without activation."""
        ...

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> Array:
        """Derivative of `passive` by the length."""
        ...
