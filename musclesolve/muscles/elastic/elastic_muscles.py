"""Muscles with a tendon that stretches: parameters, and where fiber and tendon are.

With the coordinate z of the tendon (tendon_curves.py), affine in its strain and z = 1 at one maximum isometric force,

    l_T = L_s (1 + e_0) + L_s (e_1 - e_0) z,     F_T = F0 f_T(z),
    l cos(alpha) = L_MT - l_T,   l sin(alpha) = L0 sin(alpha_0)     (constant thickness),
    dl/dt = (dL_MT/dt - dl_T/dt) cos(alpha).

A rigid tendon is the special case without stretch, z being the force over F0.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.muscles.curves.curve_registry import curve_family
from musclesolve.muscles.elastic.sampled_curves import positive_part
from musclesolve.muscles.elastic.smooth_curves import Families, SmoothCurves, smooth_curves, tendons_of
from musclesolve.muscles.passive.passive_element import PassiveElement

LEAST_ALONG = 2e-3
"""The fiber's length along the tendon stays above about this share of L0, where the path is shorter than the tendon."""


_NUMBERS = (
    *("max_isometric_force", "optimal_fiber_length", "tendon_slack_length", "pennation_angle"),
    "max_shortening_velocity",
)


@dataclass(frozen=True, eq=False)
class ElasticMuscles:
    """Parameters of n muscles, (n,) each.

    max_isometric_force F0 [N], optimal_fiber_length L0 [m], tendon_slack_length L_s [m], pennation_angle alpha_0 [rad],
    max_shortening_velocity [L0 / s]; passive: the passive elements; rest: tendon length at z = 0 [m]; stretch: change
    of tendon length by z [m], zero where the tendon is rigid; start: the z without force; strain_at_start,
    strain_by_coordinate: strain = strain_at_start + z strain_by_coordinate.
    """

    names: tuple[str, ...]
    max_isometric_force: Array
    optimal_fiber_length: Array
    tendon_slack_length: Array
    pennation_angle: Array
    max_shortening_velocity: Array
    passive: PassiveElement
    curves: SmoothCurves
    start: Array
    strain_at_start: Array
    strain_by_coordinate: Array

    @classmethod
    def of(
        cls, muscles: Any, families: Families | str, tendon_strain: ArrayLike, elastic: bool = True
    ) -> ElasticMuscles:
        """From any record of muscles that has the parameters under these names.

        Args:
            muscles: with names, max_isometric_force, optimal_fiber_length, tendon_slack_length, pennation_angle,
                max_shortening_velocity, (n,) each, and passive: the three arrays of a `PassiveElement`.
            families: the name of a family of Hill curves, or families with the muscles that have them, by number.
            tendon_strain: (n,) or a number, at one maximum isometric force.
            elastic: False: all tendons are rigid; a tendon of no length is rigid in any case.

        Raises:
            InputError: an unknown family.
        """
        if isinstance(families, str):
            families = [(curve_family(families), np.arange(len(muscles.names)))]
        slack = np.asarray(muscles.tendon_slack_length, dtype=float)
        stretches = (slack > 0.0) & elastic
        tendons = tendons_of(families, stretches)
        at_start = np.array([curve.strain_at_start for curve in tendons])
        passive = PassiveElement(*map(np.asarray, muscles.passive))
        numbers = {name: np.asarray(getattr(muscles, name), dtype=float) for name in _NUMBERS}
        return cls(
            names=tuple(muscles.names),
            passive=passive,
            curves=smooth_curves(families, passive, stretches),
            start=np.array([curve.start for curve in tendons]),
            strain_at_start=at_start,
            strain_by_coordinate=np.where(stretches, np.asarray(tendon_strain, dtype=float) - at_start, 0.0),
            **numbers,
        )

    @property
    def elastic(self) -> Mask:
        """(n,) whose tendon stretches."""
        return np.asarray(self.strain_by_coordinate > 0.0)

    @cached_property
    def rest(self) -> Array:
        """Tendon length [m] at z = 0."""
        return self.tendon_slack_length * (1.0 + self.strain_at_start)

    @cached_property
    def stretch(self) -> Array:
        """Change of tendon length by z [m]."""
        return self.tendon_slack_length * self.strain_by_coordinate

    @cached_property
    def thickness(self) -> Array:
        """L0 sin(alpha_0) [m]."""
        return self.optimal_fiber_length * np.sin(self.pennation_angle)

    def along(self, musculotendon_length: Array, z: Array) -> Array:
        """Length of the fiber along the tendon (T, n) [m], kept above zero."""
        free = musculotendon_length - self.rest - self.stretch * z
        return positive_part(free, LEAST_ALONG * self.optimal_fiber_length)

    def strain(self, z: Array) -> Array:
        """Of the tendon, (T, n)."""
        return self.strain_at_start + self.strain_by_coordinate * z

    def rigid(self) -> ElasticMuscles:
        """The same muscles behind rigid tendons of slack length."""
        none = np.zeros_like(self.start)
        return replace(self, strain_at_start=none, strain_by_coordinate=none)

    def muscles(self, which: Indices) -> ElasticMuscles:
        """Some of the muscles."""
        arrays = {
            field.name: getattr(self, field.name)[which]
            for field in fields(self)
            if field.name not in ("names", "passive", "curves")
        }
        passive = PassiveElement(*(part[which] for part in self.passive))
        names = tuple(self.names[k] for k in which)
        return replace(self, names=names, passive=passive, curves=self.curves.muscles(which), **arrays)
