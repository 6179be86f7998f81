"""The Hill curves of muscles as smooth splines, with which a muscle can be solved for.

Four small changes make a family of curves smooth, and every muscle solvable in every state; where muscles work they
are far below what a curve is known to:

- the force-velocity curve goes on below -1, where it is zero, and force-length and force-velocity factors stay above
  zero: x becomes (x + sqrt(x^2 + w^2)) / 2 with w = 2e-3 (half a per mille at zero, 1e-6 at one);
- where the force-velocity curve runs into a plateau with a corner (silva_2003 at 0.2), its last slope times
  (x + sqrt(x^2 + 0.01^2)) / 2 - max(x, 0) is taken off, x being the distance from the corner: 0.9 per cent there;
- the passive force begins with a bend instead of a corner: its strain s above the strain at zero force, as a share of
  that at one norm force, becomes (s + sqrt(s^2 + 0.02^2)) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.muscles.curves.curve_family import CurveFamily
from musclesolve.muscles.elastic.sampled_curves import Grid, SampledCurves, positive_part
from musclesolve.muscles.elastic.tendon_curves import RIGID, TendonCurve, tendon_of_family
from musclesolve.muscles.muscle_parameters import Families
from musclesolve.muscles.passive.passive_element import PassiveElement

LEAST_FACTOR = 2e-3
PASSIVE_BEND = 0.02
PLATEAU_BEND, CORNER = 0.01, 0.1

_LENGTH = Grid(0.0, 4.0, 4000)
_VELOCITY = Grid(-1.5, 1.5, 3000)
_STRETCH = Grid(-1.5, 2.5, 2000)
_TENDON = Grid(-0.5, 3.0, 3500)


@dataclass(frozen=True, eq=False)
class SmoothCurves:
    """Of n muscles: active force by l / L0, factor by v / v_max, passive force by the share s of the passive strain,
    tendon force by z; all over their norm force.
    """

    active: SampledCurves
    velocity: SampledCurves
    passive: SampledCurves
    tendon: SampledCurves

    def muscles(self, which: Indices) -> SmoothCurves:
        """The curves of some of the muscles."""
        return SmoothCurves(*(getattr(self, name).muscles(which) for name in self.__dataclass_fields__))


def smooth_curves(families: Families, passive: PassiveElement, elastic: Mask) -> SmoothCurves:
    """The curves of n muscles; elastic (n,): whether the tendon of each stretches."""
    count = len(passive.force)
    column = np.zeros(count, dtype=np.intp)
    for number, (_, own) in enumerate(families):
        column[own] = number
    tendons = [tendon_of_family(family.name) for family, _ in families]
    of_tendon = np.where(elastic, column, len(tendons))
    return SmoothCurves(
        SampledCurves.of(_LENGTH, [_active(family) for family, _ in families], column),
        SampledCurves.of(_VELOCITY, [_velocity(family) for family, _ in families], column),
        SampledCurves.through(_STRETCH, _passive(families, passive), np.arange(count)),
        SampledCurves.of(_TENDON, [curve.force for curve in (*tendons, RIGID)], of_tendon),
    )


def tendons_of(families: Families, elastic: Mask) -> list[TendonCurve]:
    """The tendon curve of each muscle (n)."""
    found = [RIGID] * len(elastic)
    for family, own in families:
        for k in own:
            found[k] = tendon_of_family(family.name) if elastic[k] else RIGID
    return found


def _active(family: CurveFamily) -> Callable[[Array], Array]:
    return lambda length: positive_part(family.active(length), LEAST_FACTOR)


def _velocity(family: CurveFamily) -> Callable[[Array], Array]:
    """Straight below -1 and above 1 with the slope next to it."""
    low, high = (float(family.velocity_slope(np.array(end))) for end in (-1.0 + 1e-9, 1.0 - 1e-9))

    def factor(velocity: Array) -> Array:
        beyond = low * np.minimum(velocity + 1.0, 0.0) + high * np.maximum(velocity - 1.0, 0.0)
        bent = family.velocity(np.clip(velocity, -1.0, 1.0)) + _plateau_bend(family, velocity)
        return positive_part(bent + beyond, LEAST_FACTOR)

    return factor


def _plateau_bend(family: CurveFamily, velocity: Array) -> Array:
    """What rounds the corner where a force-velocity curve becomes flat while the fiber lengthens, if it has one."""
    inner = _VELOCITY.points[(_VELOCITY.points > 0.0) & (_VELOCITY.points < 1.0)]
    slope = family.velocity_slope(inner)
    corner = np.flatnonzero((slope[1:] == 0.0) & (slope[:-1] > CORNER))
    if not corner.size:
        return np.zeros_like(velocity)
    rising, flat = inner[int(corner[0])], inner[int(corner[0]) + 1]
    for _ in range(40):  # bisection
        middle = 0.5 * (rising + flat)
        rising, flat = (rising, middle) if family.velocity_slope(middle) == 0.0 else (middle, flat)
    last, x = float(family.velocity_slope(rising)), velocity - flat
    return np.asarray(-last * (positive_part(x, PLATEAU_BEND) - np.maximum(x, 0.0)))


def _passive(families: Families, passive: PassiveElement) -> Array:
    """Samples (steps + 1, n) of the passive force over the share of the strain."""
    share = positive_part(_STRETCH.points, PASSIVE_BEND)[:, None]
    samples = np.empty((len(share), len(passive.force)))
    for family, own in families:
        zero, one = passive.at_zero[own], passive.at_one[own]
        samples[:, own] = family.passive(1.0 + zero + share * (one - zero), zero, one)
    return samples
