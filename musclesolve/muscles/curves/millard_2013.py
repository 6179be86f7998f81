"""Hill curves of Millard et al. (2013), J Biomech Eng 135:021005, as OpenSim builds them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array
from musclesolve._util.bundled_toml import bundled_toml
from musclesolve.muscles.curves.bezier import Corner, CurvePoint, Tabulated, corner


@dataclass(frozen=True)
class Millard2013:
    """Curves of quintic Bezier corners.

    name: the name of a table of ``millard_2013.toml`` with their parameters; given: such a table instead.
    """

    name: str = "millard_2013"
    given: Mapping[str, Mapping[str, float]] | None = field(default=None, compare=False)
    passive_strain: ClassVar[tuple[float, float]] = (0.0, 0.7)

    def active(self, l_norm: ArrayLike) -> Array:
        """1 at l = L0; a steep and a shallow ascending limb, a plateau, a descending limb."""
        return self._active.value(np.asarray(l_norm, dtype=float))

    def active_slope(self, l_norm: ArrayLike) -> Array:
        """Derivative of `active` by the length over L0."""
        return self._active.derivative(np.asarray(l_norm, dtype=float))

    def velocity(self, v_norm: ArrayLike) -> Array:
        """0 at v = -1, 1 at rest, 1.4 at v = 1; constant beyond."""
        return np.maximum(
            self._velocity.value(np.asarray(v_norm, dtype=float)), 0.0
        )  # not -1e-16 near v = -1

    def velocity_slope(self, v_norm: ArrayLike) -> Array:
        """Derivative of `velocity` by the velocity over v_max."""
        return self._velocity.derivative(np.asarray(v_norm, dtype=float))

    def passive(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.7) -> Array:
        """0 up to the strain e0, 1 at e1, with the slope 2 / (e1 - e0) there and beyond."""
        return self._passive(l_norm, at_zero, at_one)[0]

    def passive_slope(self, l_norm: ArrayLike, at_zero: ArrayLike = 0.0, at_one: ArrayLike = 0.7) -> Array:
        """Derivative of `passive` by the length."""
        return self._passive(l_norm, at_zero, at_one)[1]

    @cached_property
    def _parameters(self) -> Mapping[str, Mapping[str, float]]:
        return bundled_toml(__package__, "millard_2013.toml")[self.name] if self.given is None else self.given

    @cached_property
    def _active(self) -> Tabulated:
        shape = self._parameters["active"]
        low, transition, high = shape["min_length"], shape["transition_length"], shape["max_length"]
        least, shallow = shape["minimum"], shape["shallow_slope"]
        half = 0.05  # half of the plateau
        plateau = 1.0 - half
        limb = 1.0 - shallow * (plateau - transition)  # height of the limbs' meeting point
        steep = 1.25 * limb / (transition - low)
        points = (
            CurvePoint(low, least, 0.0),
            CurvePoint(0.5 * (low + transition), 0.5 * limb, steep),
            CurvePoint(0.5 * (transition + plateau), 0.5 * (limb + 1.0), shallow),
            CurvePoint(1.0, 1.0, 0.0),
            CurvePoint(0.5 * (1.0 + half + high), 0.5, -1.0 / (high - 1.0 - 2.0 * half)),
            CurvePoint(high, least, 0.0),
        )
        return Tabulated.from_points(points, [1.0] * 5)

    @cached_property
    def _velocity(self) -> Tabulated:
        shape = self._parameters["velocity"]
        slow, fast = shape["concentric_slope_near_vmax"], shape["eccentric_slope_near_vmax"]
        most, near = shape["max_eccentric_force"], 0.9
        points = (
            CurvePoint(-1.0, 0.0, 0.0),
            CurvePoint(-near, 0.5 * slow * (1.0 - near), slow),
            CurvePoint(0.0, 1.0, shape["isometric_slope"]),
            CurvePoint(near, most - 0.5 * fast * (1.0 - near), fast),
            CurvePoint(1.0, most, 0.0),
        )
        shortening, lengthening = shape["concentric_curviness"], shape["eccentric_curviness"]
        return Tabulated.from_points(points, [shortening, shortening, lengthening, lengthening])

    def _passive(self, l_norm: ArrayLike, at_zero: ArrayLike, at_one: ArrayLike) -> tuple[Array, Array]:
        """Passive force and its slope."""
        strain, zero, one = np.broadcast_arrays(np.asarray(l_norm, dtype=float) - 1.0, at_zero, at_one)
        shape = self._parameters["passive"]
        stated = shape.get("stiffness_at_one_norm_force")
        stiff = 2.0 / (one - zero) if stated is None else np.full(np.shape(one), stated)
        beyond = strain >= one
        force = np.where(beyond, 1.0 + stiff * (strain - one), np.where(np.isnan(strain), np.nan, 0.0))
        slope = np.where(beyond, stiff, np.where(np.isnan(strain), np.nan, 0.0))
        # corners between the two strains: one at low force, then one to norm force 1
        inside = (strain > zero) & ~beyond
        strain, zero, one, stiff = strain[inside], zero[inside], one[inside], stiff[inside]
        width, none = 0.1 * np.minimum(1.0 / stiff, one - zero), np.zeros_like(zero)
        low = shape["stiffness_at_low_force"]
        start, bend = CurvePoint(zero, none, none), CurvePoint(zero + width, 0.5 * low * width, none + low)
        end = CurvePoint(one, none + 1.0, stiff)
        first, second = (corner(*ends, shape["curviness"]) for ends in ((start, bend), (bend, end)))
        early = (strain < bend.x)[:, None]
        between = Corner(np.where(early, first.x, second.x), np.where(early, first.y, second.y))
        force[inside], slope[inside] = between.at(strain)
        return force, slope
