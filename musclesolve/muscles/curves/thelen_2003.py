"""Hill curves of Thelen (2003), J Biomech Eng 125:70-77, as OpenSim's Thelen2003Muscle has them at activation 1."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array


@dataclass(frozen=True)
class Thelen2003:
    """The curves of Thelen (2003); fields are the parameters of OpenSim's Thelen2003Muscle.

    active_width: KshapeActive; passive_shape: KshapePassive; concentric_shape: Af; max_eccentric_force: Flen.
    """

    active_width: float = 0.45
    passive_shape: float = 5.0
    concentric_shape: float = 0.25
    max_eccentric_force: float = 1.4
    name: ClassVar[str] = "thelen_2003"
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.6)

    def active(self, l_norm: ArrayLike) -> Array:
        """Force exp(-(l - 1)^2 / KshapeActive)."""
        return np.asarray(np.exp(-((np.asarray(l_norm, dtype=float) - 1.0) ** 2) / self.active_width))

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        stretch = np.asarray(l_norm, dtype=float) - 1.0
        return np.asarray(-2.0 * stretch / self.active_width * self.active(l_norm))

    def velocity(self, v_norm: ArrayLike) -> Array:
        """Force (1 + v) / (1 - v / Af) for -1 <= v <= 0, (1 + c Flen v) / (1 + c v) up to v = 1; constant beyond.

        c = (2 + 2 / Af) / (Flen - 1).
        """
        v = np.clip(np.asarray(v_norm, dtype=float), -1.0, 1.0)
        steep, most = self._eccentric, self.max_eccentric_force
        shortening, lengthening = np.minimum(v, 0.0), np.maximum(v, 0.0)
        force = (1.0 + shortening) / (1.0 - shortening / self.concentric_shape)
        return np.where(v < 0.0, force, (1.0 + steep * most * lengthening) / (1.0 + steep * lengthening))

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        v = np.asarray(v_norm, dtype=float)
        shape, steep = self.concentric_shape, self._eccentric
        shortening, lengthening = np.minimum(v, 0.0), np.maximum(v, 0.0)
        slope = np.where(
            v < 0.0,
            (1.0 + 1.0 / shape) / (1.0 - shortening / shape) ** 2,
            steep * (self.max_eccentric_force - 1.0) / (1.0 + steep * lengthening) ** 2,
        )
        return np.where((v > -1.0) & (v < 1.0), slope, 0.0)

    @property
    def _eccentric(self) -> float:
        return (2.0 + 2.0 / self.concentric_shape) / (self.max_eccentric_force - 1.0)

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6) -> Array:
        """Force (exp(k s) - 1) / (exp(k) - 1) for 0 <= s <= 1, s = (l - 1 - e0) / (e1 - e0).

        Straight beyond s = 1, where OpenSim continues the exponential: no fiber gets there.
        """
        s, _ = passive_share(l_norm, at_zero, at_one)
        k, within = self.passive_shape, np.minimum(np.maximum(s, 0.0), 1.0)
        return np.asarray(np.expm1(k * within) / np.expm1(k) + self._end * np.maximum(s - 1.0, 0.0))

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.6) -> Array:
        """Derivative of `passive` by the length."""
        s, span = passive_share(l_norm, at_zero, at_one)
        k = self.passive_shape
        inside = k * np.exp(k * np.clip(s, 0.0, 1.0)) / np.expm1(k)
        return np.where(s > 1.0, self._end, np.where(s > 0.0, inside, 0.0)) / span

    @property
    def _end(self) -> float:
        """Slope by s at the passive force of one maximum isometric force."""
        return float(self.passive_shape * np.exp(self.passive_shape) / np.expm1(self.passive_shape))


def passive_share(l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> tuple[Array, Array]:
    """Share s = (l / L0 - 1 - e0) / (e1 - e0) of the passive strain at l / L0 for strains e0 and e1, and e1 - e0."""
    zero = np.asarray(at_zero, dtype=float)
    span = np.asarray(at_one, dtype=float) - zero
    return (np.asarray(l_norm, dtype=float) - 1.0 - zero) / span, span
