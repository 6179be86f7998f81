"""Hill-type muscle: the fiber behind a rigid tendon, and the two forces at the tendon.

All functions are elementwise on arrays that broadcast, (T, n) against (n,). No result depends on the activation: the
force of a muscle is `activation * capacity + passive`.
"""

from typing import NamedTuple

import numpy as np

from musclesolve._util.arrays import Array, Mask
from musclesolve.muscles.curves.curve_family import CurveFamily


class PassiveElement(NamedTuple):
    """Passive elements of muscles, (n,) each.

    force: passive force at the strain `at_one` [N], from the table for any strength of the subject; 0: no element.
    at_zero, at_one: fiber strains l / L0 - 1 where the passive force begins, and where it is `force`.
    """

    force: Array
    at_zero: Array
    at_one: Array


class FiberState(NamedTuple):
    """Fibers behind a rigid tendon, (T, n) each; unpacks as `length, velocity, cos_pennation`.

    length [m] is the thickness of the muscle where the tendon is slack; velocity [m/s], positive when the fiber
    lengthens, and the cosine of the pennation angle are 0 there.
    """

    length: Array
    velocity: Array
    cos_pennation: Array

    @property
    def slack(self) -> Mask:
        """Mask (T, n) of slack tendons, without force: musculotendon length up to the tendon slack length."""
        return np.asarray(self.cos_pennation == 0.0)


def fiber_state(mt_length: Array, mt_velocity: Array, tendon: Array, thickness: Array) -> FiberState:
    """Fiber length, velocity and pennation behind a rigid tendon, at constant thickness of the muscle.

    l cos(a) = L_MT - L_T and l sin(a) = L0 sin(a0), hence l = sqrt((L_MT - L_T)^2 + (L0 sin a0)^2) and
    dl/dt = dL_MT/dt cos(a). Silva (2003) tabulates L_T and a0 but evaluates the curves at the musculotendon length, at
    which most muscles would have no force in quiet standing.

    mt_length (T, n) L_MT [m], mt_velocity (T, n) its rate [m/s]; tendon slack length L_T and thickness L0 sin(a0), (n,)
    [m].
    """
    along = np.maximum(mt_length - tendon, 0.0)
    length = np.hypot(along, thickness)
    cosine = along / np.maximum(length, _NO_LENGTH)
    return FiberState(length, mt_velocity * cosine, cosine)


def along_fibers(tendon_force: Array, fiber_length: Array, thickness: Array) -> Array:
    """The force along the fibers that makes a force at the tendon, F / cos(a), in fibers of some thickness [N].

    cos(a) = sqrt(l^2 - h^2) / l for the fiber length l (T, n) [m] and the thickness h = L0 sin(a0) (n,) [m]. Fibers
    behind a slack tendon bear no force.
    """
    along = np.sqrt(np.maximum((fiber_length - thickness) * (fiber_length + thickness), 0.0))
    cosine = along / np.maximum(fiber_length, _NO_LENGTH)
    return np.divide(tendon_force, cosine, out=np.zeros_like(cosine), where=cosine != 0.0)


_NO_LENGTH = 1e-300  # [m] instead of zero, so that 0 / 0 is zero


class TendonForce(NamedTuple):
    """Forces of a muscle at its tendon; unpacks as `capacity, passive`."""

    capacity: Array  # (T, n) of the contractile element at activation 1 [N]
    passive: Array  # (T, n) of the passive element [N]


def capacity_and_passive(
    fiber: FiberState,
    force: Array,
    optimal: Array,
    fastest: Array,
    curves: CurveFamily,
    element: PassiveElement,
) -> TendonForce:
    """Tendon forces of the contractile element at activation 1 and of the passive element (Silva 2003, eq. 6.9) [N].

    capacity = F0 f_l(l) f_v(v) cos(a), passive = F_p f_p(l) cos(a); both 0 where the tendon is slack. Maximum isometric
    force F0 [N], optimal fiber length [m] and maximum shortening velocity [m/s], (n,) each.
    """
    l_norm, v_norm = fiber.length / optimal, fiber.velocity / fastest
    active = curves.active(l_norm) * curves.velocity(v_norm)  # eq. 6.9 at activation 1
    stretched = curves.passive(l_norm, element.at_zero, element.at_one) if element.force.any() else 0.0
    return TendonForce(force * fiber.cos_pennation * active, element.force * fiber.cos_pennation * stretched)
