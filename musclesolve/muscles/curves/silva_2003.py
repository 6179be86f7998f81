"""Hill curves of Silva (2003), eq. 6.10-6.12."""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.checks import check_choice

ForceLengthForm = Literal["quartic_plus_quadratic", "quartic_minus_quadratic"]

_END = 1.26  # the passive force is constant beyond this many times the strain at one norm force


@dataclass(frozen=True)
class Silva2003:
    """The curves of Silva (2003).

    The print of eq. 6.10 can also be read as exp(-(x^4 - x^2 / 4)), whose maximum is 1.0157: the form
    "quartic_minus_quadratic".
    """

    form: ForceLengthForm = "quartic_plus_quadratic"
    name: ClassVar[str] = "silva_2003"
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.5)

    def __post_init__(self) -> None:
        """Refuse an unknown force-length form."""
        check_choice(self.form, "force-length form", get_args(ForceLengthForm))

    def active(self, l_norm: ArrayLike) -> Array:
        """Force exp(-(x^4 + x^2 / 4)), x = (9/4) (l / L0 - 19/20), 1 at l = 0.95 L0 (eq. 6.10)."""
        # Beyond |x| = 30 the exponential is 0 in double precision; the bound keeps x^4 from overflowing.
        square = np.clip(2.25 * (np.asarray(l_norm, dtype=float) - 0.95), -30.0, 30.0) ** 2
        return np.asarray(np.exp(-(square**2 + self._sign * 0.25 * square)))  # eq. 6.10

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        x = np.clip(2.25 * (np.asarray(l_norm, dtype=float) - 0.95), -30.0, 30.0)
        return -2.25 * (4.0 * x**3 + self._sign * 0.5 * x) * self.active(l_norm)

    @property
    def _sign(self) -> float:
        return 1.0 if self.form == "quartic_plus_quadratic" else -1.0

    def velocity(self, v_norm: ArrayLike) -> Array:
        """Force 1 + atan(5 v) / atan(5) for -1 <= v <= 0.2; 0 below, 1 + pi / (4 atan(5)) = 1.5719 above (eq. 6.11)."""
        v = np.clip(np.asarray(v_norm, dtype=float), -1.0, 0.2)
        return np.asarray(1.0 + np.arctan(5.0 * v) / np.arctan(5.0))  # eq. 6.11

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        v = np.asarray(v_norm, dtype=float)
        slope = 5.0 / (np.arctan(5.0) * (1.0 + 25.0 * v**2))
        return np.where((v > -1.0) & (v < 0.2), slope, 0.0)

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.5) -> Array:
        """Force ((l / L0 - 1 - e0) / (e1 - e0))^3 from the strain e0 on, limited to 2.

        With strains 0 and 0.5 this is eq. 6.12: 8 (l / L0 - 1)^3 up to l = 1.63 L0, 2 above. At 1.63 the cubic is
        2.0004: the printed curve steps down by 4e-4 there.
        """
        l_norm, zero, span = _strains(l_norm, at_zero, at_one)
        cubic = np.clip(l_norm - 1.0 - zero, 0.0, _END * span) ** 3 / span**3
        return np.where(l_norm > 1.0 + zero + _END * span, 2.0, cubic)  # eq. 6.12

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.5) -> Array:
        """Derivative of `passive` by the length."""
        l_norm, zero, span = _strains(l_norm, at_zero, at_one)
        inside = (l_norm > 1.0 + zero) & (l_norm < 1.0 + zero + _END * span)
        return np.where(inside, 3.0 * (l_norm - 1.0 - zero) ** 2 / span**3, 0.0)


SILVA_2003 = Silva2003()


def _strains(l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> tuple[Array, Array, Array]:
    zero = np.asarray(at_zero, dtype=float)
    return np.asarray(l_norm, dtype=float), zero, np.asarray(at_one, dtype=float) - zero
