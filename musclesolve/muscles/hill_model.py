"""Hill-type muscle: the fiber behind a rigid tendon, and the two forces at the tendon.

All functions are elementwise on arrays that broadcast, (T, n) against (n,). No result depends on the activation: the
force of a muscle is `activation * capacity + passive`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Mask
from musclesolve.errors import input_error
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.curves.silva_2003 import SILVA_2003
from musclesolve.muscles.passive.passive_element import PassiveElement


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


def fiber_state(
    mt_length: ArrayLike,
    mt_velocity: ArrayLike,
    optimal_fiber_length: ArrayLike,
    tendon_slack_length: ArrayLike,
    pennation_angle: ArrayLike,
) -> FiberState:
    """Fiber length, velocity and pennation behind a rigid tendon, at constant thickness of the muscle.

    l cos(a) = L_MT - L_T and l sin(a) = L0 sin(a0), hence l = sqrt((L_MT - L_T)^2 + (L0 sin a0)^2) and
    dl/dt = dL_MT/dt cos(a). The source tabulates L_T and a0 but evaluates the curves at the musculotendon length, at
    which most muscles would have no force in quiet standing.

    mt_length (T, n) L_MT [m], mt_velocity (T, n) its rate [m/s]; (n,) L0 [m], L_T [m] and a0 [rad].
    """
    optimal, tendon, angle = check_rigid(optimal_fiber_length, tendon_slack_length, pennation_angle)
    length, velocity = np.asarray(mt_length, dtype=float), np.asarray(mt_velocity, dtype=float)
    return fibers_behind(length, velocity, tendon, optimal * np.sin(angle))


def check_rigid(
    optimal_fiber_length: ArrayLike, tendon_slack_length: ArrayLike, pennation_angle: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the parameters of `fiber_state` as arrays; refuse impossible values."""
    tendon, angle = np.asarray(tendon_slack_length, dtype=float), np.asarray(pennation_angle, dtype=float)
    if not np.all((tendon >= 0.0) & np.isfinite(tendon)):
        raise input_error(
            "bad_number", problem=f"tendon slack length {tendon}", expected="finite numbers from 0 [m]"
        )
    if not np.all((angle >= 0.0) & (angle < np.pi / 2)):
        raise input_error(
            "bad_number", problem=f"pennation angle {angle}", expected="radians from 0, below pi / 2"
        )
    return check_positive(optimal_fiber_length, "optimal fiber length", "m"), tendon, angle


def fibers_behind(mt_length: Array, mt_velocity: Array, tendon: Array, thickness: Array) -> FiberState:
    """`fiber_state` without checks, for the thickness L0 sin(a0) (n,) [m]."""
    along = np.maximum(mt_length - tendon, 0.0)
    length = np.hypot(along, thickness)
    cosine = along / np.maximum(length, _NO_LENGTH)
    return FiberState(length, mt_velocity * cosine, cosine)


def check_positive(value: ArrayLike, what: str, unit: str) -> Array:
    """Return a parameter of muscles as an array; refuse values that are not positive and finite."""
    value = np.asarray(value, dtype=float)
    if not np.all((value > 0.0) & np.isfinite(value)):
        raise input_error(
            "bad_number", problem=f"{what} {value}", expected=f"positive finite numbers [{unit}]"
        )
    return value


def along_fibers(tendon_force: Array, fiber_length: Array, thickness: Array) -> Array:
    """The force along the fibers that makes a force at the tendon, F / cos(a), in fibers of some thickness [N].

    cos(a) = sqrt(l^2 - h^2) / l for the fiber length l (T, n) [m] and the thickness h = L0 sin(a0) (n,) [m]. Fibers
    behind a slack tendon bear no force.
    """
    along = np.sqrt(np.maximum((fiber_length - thickness) * (fiber_length + thickness), 0.0))
    cosine = along / np.maximum(fiber_length, _NO_LENGTH)
    return np.divide(tendon_force, cosine, out=np.zeros_like(cosine), where=cosine != 0.0)


_NO_LENGTH = 1e-300  # [m] instead of zero, so that 0 / 0 is zero
MAX_SHORTENING_VELOCITY = 10.0  # [optimal fiber lengths / s] not in the source


class TendonForce(NamedTuple):
    """Forces of a muscle at its tendon; unpacks as `capacity, passive`."""

    capacity: Array  # (T, n) of the contractile element at activation 1 [N]
    passive: Array  # (T, n) of the passive element [N]


def capacity_and_passive(
    fiber: FiberState,
    max_isometric_force: ArrayLike,
    optimal_fiber_length: ArrayLike,
    max_shortening_velocity: ArrayLike = MAX_SHORTENING_VELOCITY,
    curves: CurveFamily = SILVA_2003,
    passive: PassiveElement | None = None,
) -> TendonForce:
    """Tendon forces of the contractile element at activation 1 and of the passive element (Silva 2003, eq. 6.9) [N].

    capacity = F0 f_l(l) f_v(v) cos(a), passive = F_p f_p(l) cos(a); both 0 where the tendon is slack. F0 (n,) [N], L0
    (n,) [m], maximum shortening velocity (n,) [optimal fiber lengths / s]. If `passive` is None, F_p = F0 with the
    strains of the family.
    """
    force = check_positive(max_isometric_force, "maximum isometric force", "N")
    optimal = check_positive(optimal_fiber_length, "optimal fiber length", "m")
    fastest = check_positive(
        max_shortening_velocity, "maximum shortening velocity", "optimal fiber lengths per second"
    )
    element = PassiveElement(force, *map(np.asarray, curves.passive_strain)) if passive is None else passive
    return tendon_force(fiber, force, optimal, fastest * optimal, curves, element)


def tendon_force(
    fiber: FiberState,
    force: Array,
    optimal: Array,
    fastest: Array,
    curves: CurveFamily,
    element: PassiveElement,
) -> TendonForce:
    """`capacity_and_passive` without checks, for the maximum shortening velocity (n,) [m/s]."""
    l_norm, v_norm = fiber.length / optimal, fiber.velocity / fastest
    active = curves.active(l_norm) * curves.velocity(v_norm)  # eq. 6.9 at activation 1
    stretched = curves.passive(l_norm, element.at_zero, element.at_one) if element.force.any() else 0.0
    return TendonForce(force * fiber.cos_pennation * active, element.force * fiber.cos_pennation * stretched)
