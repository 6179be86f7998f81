"""Force-length curves of tendons by name, as functions of one coordinate z that is affine in the strain.

    strain = e_0 + z (e_1 - e_0),    F / F0 = f(z),    f(1) = 1,

with e_1 the strain at one maximum isometric force F0 and e_0 that at z = 0. So a curve is the same for every tendon,
whatever its stiffness.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve.muscles.curves.bezier import CurvePoint, Tabulated


@dataclass(frozen=True)
class TendonCurve:
    """force(z): over F0; strain_at_start: e_0, at z = 0; start: the z where the force is zero."""

    name: str
    force: Callable[[Array], Array]
    strain_at_start: float = 0.0
    start: float = 0.0


_C1, _C2, _C3 = 0.2, 0.995, 0.25


def _de_groote(z: Array) -> Array:
    """F / F0 = c1 exp(k (1 + strain - c2)) - c3 with f(1) = 1, c = 0.2, 0.995, 0.25 (De Groote et al. 2016, eq. S1).

    In z, whose e_0 is c2 - 1: c1 ((1 + c3) / c1)^z - c3.
    """
    return np.asarray(_C1 * ((1.0 + _C3) / _C1) ** np.asarray(z, dtype=float) - _C3)


_TOE_FORCE, _TOE_SHAPE = 0.33, 3.0


def _thelen(z: Array) -> Array:
    """Exponential toe up to F / F0 = 0.33, straight beyond (Thelen 2003, eq. 6), as in OpenSim's Thelen2003Muscle.

    The toe ends at the share 99 e^3 / (166 e^3 - 67) of the strain at one norm force.
    """
    z = np.asarray(z, dtype=float)
    end = 99.0 * np.exp(3.0) / (166.0 * np.exp(3.0) - 67.0)
    toe = _TOE_FORCE / np.expm1(_TOE_SHAPE) * np.expm1(_TOE_SHAPE * np.minimum(z, end) / end)
    return toe + (1.0 - _TOE_FORCE) / (1.0 - end) * np.maximum(z - end, 0.0)


_STIFFNESS, _TOE_END, _CURVINESS = 1.375, 2.0 / 3.0, 0.5


def _millard() -> Callable[[Array], Array]:
    """Two Bezier corners up to 2/3 F0, straight beyond with the slope 1.375 per strain at F0 (Millard et al. 2013).

    The defaults of OpenSim's TendonForceLengthCurve.
    """
    end = 1.0 - (1.0 - _TOE_END) / _STIFFNESS
    foot = end / 10.0
    middle = 1.0 - (1.0 - 0.5 * _TOE_END) / _STIFFNESS
    slope = 0.5 * _TOE_END / (middle - foot)
    bend = foot + 0.5 * (middle - foot)
    corner = CurvePoint(bend, slope * (bend - foot), slope)
    points = (CurvePoint(0.0, 0.0, 0.0), corner, CurvePoint(end, _TOE_END, _STIFFNESS))
    curve = Tabulated.of(points, [_CURVINESS, _CURVINESS])

    def force(z: Array) -> Array:
        z = np.asarray(z, dtype=float)
        return curve.value(z) + _STIFFNESS * np.maximum(z - end, 0.0)

    return force


def _straight(z: Array) -> Array:
    """The coordinate of a rigid tendon is its force."""
    return np.asarray(z, dtype=float)


RIGID = TendonCurve("rigid", _straight)
"""The curve of a tendon without stretch: z is the force over F0."""


@cache
def tendon_curves() -> dict[str, TendonCurve]:
    """All tendon curves by name."""
    start = float(np.log(_C3 / _C1) / np.log((1.0 + _C3) / _C1))
    curves = (
        TendonCurve("de_groote_2016", _de_groote, _C2 - 1.0, start),
        TendonCurve("thelen_2003", _thelen),
        TendonCurve("millard_2013", _millard()),
    )
    return {curve.name: curve for curve in curves}


_OF_FAMILY = {
    "silva_2003": "de_groote_2016",
    "de_groote_2016": "de_groote_2016",
    "thelen_2003": "thelen_2003",
}


def tendon_of_family(family: str) -> TendonCurve:
    """The tendon curve that goes with a family of Hill curves; silva_2003, which has none, takes de_groote_2016."""
    return tendon_curves()[_OF_FAMILY.get(family, "millard_2013")]
