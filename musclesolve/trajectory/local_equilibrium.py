"""Tendon force and fiber force as functions of the tendon coordinate z and its rate y, with derivatives.

Over the maximum isometric force F0, a muscle in one frame has (muscles/elastic/elastic_muscles.py)

    tendon     f(z)
    capacity   g(z, y) = f_l(l / L0) f_v(v / v_max) cos(alpha)
    passive    p(z)    = F_p / F0 f_p(s) cos(alpha),      s = (l / L0 - 1 - e_0) / (e_1 - e_0)

and is in balance where f(z) = a g(z, y) + p(z) at the activation a.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.elastic_muscles import LEAST_ALONG, Curved, ElasticMuscles


class Capacity(NamedTuple):
    """The capacity g and its derivatives by z and y, (T, n) each."""

    value: Array
    z: Array
    y: Array
    zz: Array
    zy: Array
    yy: Array


@dataclass(frozen=True, eq=False)
class FiberBalance:
    """Muscles (T, n) in some states, all forces over F0.

    active: the force that the contractile element must bear along the tendon, f - p.
    """

    tendon: Curved
    passive: Curved
    capacity: Capacity

    @property
    def active(self) -> Curved:
        """The force f - p by z."""
        return Curved(*(whole - part for whole, part in zip(self.tendon, self.passive, strict=True)))

    def imbalance(self, activation: Array) -> Array:
        """The imbalance f(z) - a g(z, y) - p(z) of tendon and fiber at activations (T, n), (T, n)."""
        return self.tendon.value - activation * self.capacity.value - self.passive.value


@dataclass(frozen=True, eq=False)
class Equilibrium(FiberBalance):
    """Muscles in some states with the fibers, (T, n) each.

    fiber_length l [m], fiber_length_z dl/dz [m], fiber_velocity [m/s]; cosine of the pennation by z.
    """

    fiber_length: Array
    fiber_length_z: Array
    fiber_velocity: Array
    cosine: Curved

    @property
    def along_fibers(self) -> Curved:
        """The force (f - p) / cos(alpha) of the contractile element along the fibers, by z."""
        cosine, slope, curvature = self.cosine
        ratio = slope / cosine
        return _product(
            self.active, Curved(1.0 / cosine, -ratio / cosine, (2.0 * ratio**2 - curvature / cosine) / cosine)
        )


def equilibrium(muscles: ElasticMuscles, length: Array, velocity: Array, z: Array, y: Array) -> Equilibrium:
    """The muscles in states z, y [1/s] (T, n), for musculotendon lengths [m] and their rates [m/s], (T, n)."""
    parameters, curves, stretch = muscles.parameters, muscles.curves, muscles.stretch
    optimal = parameters.optimal_fiber_length
    # along the tendon, kept above zero: x = (u + root) / 2 of u = L_MT - l_T
    width = LEAST_ALONG * optimal
    free = length - muscles.rest - stretch * z
    root = np.hypot(free, width)
    along = muscles.along(length, z)
    along_z = -stretch * along / root
    along_zz = 0.5 * np.square(stretch * width) / root**3
    fiber = np.hypot(along, muscles.thickness)
    cosine = along / fiber
    bend = np.square(muscles.thickness) / fiber**3  # d cos / d along
    fiber_z = cosine * along_z
    fiber_zz = bend * np.square(along_z) + cosine * along_zz
    cosine_z = bend * along_z
    cosine_zz = bend * along_zz - 3.0 * bend * cosine / fiber * np.square(along_z)
    along_tendon = Curved(cosine, cosine_z, cosine_zz)

    # the force-velocity factor by z and y
    fastest = parameters.max_shortening_velocity * optimal
    speed, by_y = (velocity - stretch * y) / fastest, -stretch / fastest
    v, v_z, v_zz = (speed * part for part in along_tendon)
    v_y, v_zy = by_y * cosine, by_y * cosine_z
    factor, slope, curvature = curves.velocity(v)
    f_z, f_y = slope * v_z, slope * v_y
    f_zz = curvature * np.square(v_z) + slope * v_zz
    f_zy = curvature * v_z * v_y + slope * v_zy
    f_yy = curvature * np.square(v_y)

    # the capacity: this factor times the factor of z
    g, g_z, g_zz = _product(
        _of_z(curves.active(fiber / optimal), fiber_z / optimal, fiber_zz / optimal), along_tendon
    )
    capacity = Capacity(
        value=g * factor,
        z=g_z * factor + g * f_z,
        y=g * f_y,
        zz=g_zz * factor + 2.0 * g_z * f_z + g * f_zz,
        zy=g_z * f_y + g * f_zy,
        yy=g * f_yy,
    )
    element = parameters.passive
    span = (element.at_one - element.at_zero) * optimal
    share = (fiber - (1.0 + element.at_zero) * optimal) / span
    force = _product(_of_z(curves.passive(share), fiber_z / span, fiber_zz / span), along_tendon)
    strength = element.force / parameters.max_isometric_force
    return Equilibrium(
        tendon=curves.tendon(z),
        passive=Curved(*(strength * part for part in force)),
        capacity=capacity,
        fiber_length=fiber,
        fiber_length_z=fiber_z,
        fiber_velocity=v * fastest,
        cosine=along_tendon,
    )


def _of_z(curve: Curved, first: Array, second: Array) -> Curved:
    """A curve of x(z) by z, with dx/dz and its derivative, (T, n)."""
    return Curved(curve.value, curve.slope * first, curve.curvature * np.square(first) + curve.slope * second)


def _product(one: Curved, other: Curved) -> Curved:
    return Curved(
        one.value * other.value,
        one.slope * other.value + one.value * other.slope,
        one.curvature * other.value + 2.0 * one.slope * other.slope + one.value * other.curvature,
    )
