"""Contact of a point with the ground as a smooth function, for programs that find a motion.

With the depth d of the point below the ground, its rate d' and its velocity v along the ground,

    N = k P(d, s) P(1 + c d', 0.2),      T = -mu N v / sqrt(|v|^2 + v_s^2),      P(x, s) = s log(1 + exp(x / s)).

P is x where x is some s above zero, and zero some s below it: a spring of stiffness k with damping in proportion to the
depth (Hunt and Crossley 1975) and without a pull, all of whose derivatives are continuous. `HertzContact` and its
kin have a law with events, and with the speed of the first touch: programs cannot use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from musclesolve._util.casadi_module import casadi as ca
from musclesolve._util.checks import check_array, check_choice, check_number, check_real_array, check_type
from musclesolve.errors import input_error

DAMPING_SPAN = 0.2
"""Span over which the damping factor ends at zero: at rest it is 1.0013."""


@dataclass(frozen=True)
class SmoothContact:
    """A point of a body that touches the ground, a plane at height zero.

    body, place (3,): as in `Skeleton.markers` [m]. stiffness k [N/m]; damping c [s/m]; friction mu; slip_speed v_s
    [m/s], where friction has 71 % of its full size; softness s [m]; up: the axis of the laboratory that points upward.

    Examples:
        >>> heel = ms.symbolic.SmoothContact("foot_r", (-0.05, -0.06, 0.0), up="y")
        >>> round(float(heel.force([0.0, -0.01, 0.0], [0.0, 0.0, 0.0])[1]), 2)          # 10 mm deep, at rest [N]
        601.61
    """

    body: str
    place: Sequence[float]
    stiffness: float = 6e4
    damping: float = 0.75
    friction: float = 0.8
    slip_speed: float = 0.1
    softness: float = 0.002
    up: str = "z"

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        check_choice(self.up, "up", ("x", "y", "z"))
        check_type(self.body, str, "SmoothContact", "the name of a body first")
        check_array(self.place, "place", (3,), tuple("xyz"), axis=0, where="SmoothContact")
        for name in ("stiffness", "slip_speed", "softness"):
            check_number(getattr(self, name), name, "a positive number", above=0.0)
        for name in ("damping", "friction"):
            check_number(getattr(self, name), name, "a number from 0", least=0.0)

    def force(self, position: Any, velocity: Any) -> Any:
        """The force (3,) [N] of the ground on the point, of its position [m] and velocity [m/s], (3,) each.

        Raises:
            InputError: not three numbers, or three symbols as one matrix of CasADi.
        """
        up = "xyz".index(self.up)
        position, velocity = _vector(position, "position"), _vector(velocity, "velocity")
        along = ca.vertcat(*(0.0 if k == up else velocity[k] for k in range(3)))
        normal = self.stiffness * _above(-position[up], self.softness)
        normal = normal * _above(1.0 - self.damping * velocity[up], DAMPING_SPAN)
        slip = ca.sqrt(ca.sumsqr(along) + self.slip_speed**2)
        return normal * (ca.DM(np.eye(3)[up]) - self.friction * along / slip)


def _vector(value: Any, name: str) -> Any:
    """Three numbers or symbols as a column."""
    where, expected = (
        "SmoothContact.force",
        "three numbers, or a column of three symbols: casadi.vertcat(x, y, z)",
    )
    if not isinstance(value, ca.SX | ca.MX | ca.DM):
        return ca.DM(check_real_array(value, name, expected, where=where, shapes=((3,),)))
    if value.numel() != 3:
        raise input_error("bad_shape", where=where, expected=expected, name=name, shape=value.shape)
    return ca.vec(value)


def _above(x: Any, span: float) -> Any:
    """The smooth positive part: span log(1 + exp(x / span)), of any size of x."""
    return ca.fmax(x, 0.0) + span * ca.log1p(ca.exp(-ca.fabs(x) / span))
