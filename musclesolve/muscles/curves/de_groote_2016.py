"""Hill curves of De Groote et al. (2016), Ann Biomed Eng 44:2922-36: smooth everywhere in the working range.

Coefficients come from OpenSim's DeGrooteFregly2016Muscle, the published ones to all digits.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve.muscles.curves.thelen_2003 import Thelen2003, passive_share

# Height, center, width and growth of the width with the length, of three Gaussians.
_GAUSSIANS = np.array(
    [
        [0.8150671134243542, 1.055033428970575, 0.162384573599574, 0.063303448465465],
        [0.433004984392647, 0.716775413397760, -0.029947116970696, 0.200356847296188],
        [0.1, 1.0, 0.353553390593274, 0.0],
    ]
)
_D1, _D2, _D3, _D4 = -0.3211346127989808, -8.149, -0.374, 0.8825327733249912
_STIFFNESS = 4.0  # kpe of Thelen (2003) too
_THELEN = Thelen2003(passive_shape=_STIFFNESS)


@dataclass(frozen=True)
class DeGroote2016:
    """The curves of De Groote et al. (2016); the passive one is Thelen's (2003), J Biomech Eng 125:70-77.

    active_width: factor s on the width of the active curve, active_force_width_scale of OpenSim.
    """

    active_width: float = 1.0
    name: ClassVar[str] = "de_groote_2016"
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.6)

    def active(self, l_norm: ArrayLike) -> Array:
        """Force sum_k b1 exp(-(x - b2)^2 / (2 (b3 + b4 x)^2)) at x = 1 + (l - 1) / s."""
        height, center, width, growth = _GAUSSIANS.T
        x = 1.0 + (np.asarray(l_norm, dtype=float)[..., None] - 1.0) / self.active_width
        z = (x - center) / (width + growth * x)
        return np.asarray(np.exp(-0.5 * z * z) @ height)

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        height, rate = self._gaussians(l_norm)
        return np.asarray((height * rate).sum(axis=-1) / self.active_width)

    def _gaussians(self, l_norm: ArrayLike) -> tuple[Array, Array]:
        """Each Gaussian (..., 3) and the derivative of its exponent by x."""
        height, center, width, growth = _GAUSSIANS.T
        x = 1.0 + (np.asarray(l_norm, dtype=float)[..., None] - 1.0) / self.active_width
        spread = width + growth * x
        z = (x - center) / spread
        return height * np.exp(-0.5 * z**2), -z * (1.0 - growth * z) / spread

    def velocity(self, v_norm: ArrayLike) -> Array:
        """Force d1 asinh(d2 v + d3) + d4 for -1 <= v <= 1; constant beyond."""
        return np.asarray(_D1 * np.arcsinh(_D2 * np.minimum(np.maximum(v_norm, -1.0), 1.0) + _D3) + _D4)

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        v = np.asarray(v_norm, dtype=float)
        slope = _D1 * _D2 / np.hypot(_D2 * v + _D3, 1.0)
        return np.where((v > -1.0) & (v < 1.0), slope, 0.0)

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6) -> Array:
        """Force (exp(k (l / L0 - 1 - e0) / (e1 - e0)) - 1) / (exp(k) - 1), k = 4, from the strain e0 to e1.

        0 below, and a straight line above, as in OpenSim's Thelen2003Muscle.
        """
        return _THELEN.passive(l_norm, at_zero, at_one)

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6) -> Array:
        """Derivative of `passive` by the length."""
        return _THELEN.passive_slope(l_norm, at_zero, at_one)


@dataclass(frozen=True)
class DeGrooteFregly2016(DeGroote2016):
    """The curves of OpenSim's DeGrooteFregly2016Muscle, which has another passive curve."""

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6) -> Array:
        """Force (exp(k s) - exp(k s0)) / (exp(k) - exp(k s0)), k = 4, zero at 0.2 L0 and below.

        s = (l / L0 - 1 - e0) / (e1 - e0) for strains e0 and e1, s0 its value at 0.2 L0: a force of 1.7 % at the
        optimal length where e1 is 0.6 (De Groote et al. 2016 with the offset of OpenSim's class).
        """
        share, _ = passive_share(np.maximum(l_norm, _SHORTEST_FIBER), at_zero, at_one)
        start = np.exp(_STIFFNESS * passive_share(_SHORTEST_FIBER, at_zero, at_one)[0])
        return np.asarray((np.exp(_STIFFNESS * share) - start) / (np.exp(_STIFFNESS) - start))

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6) -> Array:
        """Derivative of `passive` by the length."""
        share, span = passive_share(l_norm, at_zero, at_one)
        start = np.exp(_STIFFNESS * passive_share(_SHORTEST_FIBER, at_zero, at_one)[0])
        rising = _STIFFNESS * np.exp(_STIFFNESS * share) / (np.exp(_STIFFNESS) - start) / span
        return np.where(np.asarray(l_norm) > _SHORTEST_FIBER, rising, 0.0)


_SHORTEST_FIBER = 0.2
"""Length of a fiber, in optimal lengths, below which it has no passive force."""
