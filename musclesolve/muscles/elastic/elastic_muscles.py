"""Muscles with a tendon that stretches: parameters, and the lengths of fiber and tendon.

With the coordinate z of the tendon (smooth_curves.py), affine in its strain and z = 1 at one maximum isometric force,

    l_T = L_s (1 + e_0) + L_s (e_1 - e_0) z,     F_T = F0 f_T(z),
    l cos(alpha) = L_MT - l_T,   l sin(alpha) = L0 sin(alpha_0)     (constant thickness),
    dl/dt = (dL_MT/dt - dl_T/dt) cos(alpha).

A rigid tendon is the special case without stretch, z being the force over F0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from musclesolve._util.arrays import Array, Indices, Mask
from musclesolve.muscles.elastic.smooth_curves import (
    SampledCurves,
    SmoothCurves,
    positive_part,
    smooth_curves,
    tendons_of,
)
from musclesolve.muscles.muscle_parameters import MuscleParameters
from musclesolve.muscles.strength import check_tendon_strains

LEAST_ALONG = 2e-3
"""Lower bound of the fiber length along the tendon, about this share of L0, where the path is shorter than the
tendon.
"""


@dataclass(frozen=True, eq=False)
class ElasticMuscles:
    """Muscles (n) whose tendons stretch.

    parameters: of the muscles; curves: their Hill and tendon curves, smooth; start (n,): the z without force;
    strain_at_start, strain_by_coordinate (n,): strain = strain_at_start + z strain_by_coordinate, which is zero where
    the tendon is rigid.
    """

    parameters: MuscleParameters
    curves: SmoothCurves
    start: Array
    strain_at_start: Array
    strain_by_coordinate: Array

    @classmethod
    def from_parameters(cls, parameters: MuscleParameters, elastic: bool = True) -> ElasticMuscles:
        """Make the muscles with tendons that have `tendon_strain` at one maximum isometric force.

        Args:
            parameters: of n muscles.
            elastic: False: all tendons are rigid; a tendon of no length is rigid in any case.

        Raises:
            InputError: numbers that no muscle, or no tendon that stretches, can have.
        """
        parameters.check()
        stretches = (parameters.tendon_slack_length > 0.0) & elastic
        strained = [name for name, stretch in zip(parameters.names, stretches, strict=True) if stretch]
        check_tendon_strains(parameters.tendon_strain[stretches], strained, "these muscles")
        tendons = tendons_of(parameters.families, stretches)
        at_start = np.array([curve.strain_at_start for curve in tendons])
        return cls(
            parameters,
            smooth_curves(parameters.families, parameters.passive, stretches),
            start=np.array([curve.start for curve in tendons]),
            strain_at_start=at_start,
            strain_by_coordinate=np.where(stretches, parameters.tendon_strain - at_start, 0.0),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the n muscles."""
        return self.parameters.names

    @property
    def elastic(self) -> Mask:
        """Muscles (n,) whose tendon stretches."""
        return np.asarray(self.strain_by_coordinate > 0.0)

    @cached_property
    def rest(self) -> Array:
        """Tendon lengths (n,) at z = 0 [m]."""
        return self.parameters.tendon_slack_length * (1.0 + self.strain_at_start)

    @cached_property
    def stretch(self) -> Array:
        """Changes of tendon length (n,) by z [m], zero where the tendon is rigid."""
        return self.parameters.tendon_slack_length * self.strain_by_coordinate

    @cached_property
    def thickness(self) -> Array:
        """Thickness L0 sin(alpha_0) (n,) of the muscles [m]."""
        return self.parameters.optimal_fiber_length * np.sin(self.parameters.pennation_angle)

    def along(self, musculotendon_length: Array, z: Array) -> Array:
        """Length of the fiber along the tendon (T, n) [m], kept above zero."""
        free = musculotendon_length - self.rest - self.stretch * z
        return positive_part(free, LEAST_ALONG * self.parameters.optimal_fiber_length)

    def strain(self, z: Array) -> Array:
        """Tendon strain (T, n) at tendon coordinates z (T, n)."""
        return self.strain_at_start + self.strain_by_coordinate * z

    def rigid(self) -> ElasticMuscles:
        """Return the same muscles with rigid tendons of slack length."""
        none = np.zeros_like(self.start)
        return replace(self, strain_at_start=none, strain_by_coordinate=none)

    def muscles(self, which: Indices) -> ElasticMuscles:
        """Some of the muscles, by number."""
        return ElasticMuscles(
            self.parameters.muscles(which),
            self.curves.muscles(which),
            self.start[which],
            self.strain_at_start[which],
            self.strain_by_coordinate[which],
        )


def tendon_energy(muscles: ElasticMuscles, z: Array) -> Array:
    """F0 stretch int f_T dz [J] from the start of the curve, at zero force, to coordinates z (T, n).

    Zero where the tendon is slack or rigid. The spline is integrated exactly.
    """
    curve, start = muscles.curves.tendon, muscles.start
    stored = _integral(curve, np.maximum(z, start)) - _integral(curve, start)
    return np.asarray(muscles.parameters.max_isometric_force * muscles.stretch * stored)


def _integral(curve: SampledCurves, x: Array) -> Array:
    """Integral of curves from the first sample to x (..., n), straight beyond the ends."""
    grid, step = curve.grid, curve.grid.step
    powers = np.arange(1.0, 5.0)
    pieces = np.einsum("psk,p->sk", curve.coefficient, step**powers / powers)
    sums = np.concatenate([np.zeros((1, pieces.shape[1])), np.cumsum(pieces, axis=0)])
    inside = np.clip(x, grid.first, grid.last)
    place, u = curve.place(inside)
    c0, c1, c2, c3 = curve.coefficient[:, place, curve.column]
    within = u * (c0 + u * (c1 / 2.0 + u * (c2 / 3.0 + u * c3 / 4.0)))
    end, beyond = curve(inside), x - inside
    return np.asarray(sums[place, curve.column] + within + beyond * (end.value + 0.5 * end.slope * beyond))
