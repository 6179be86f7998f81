"""What muscles with elastic tendons did over time."""

from __future__ import annotations

from dataclasses import dataclass

from musclesolve._util.arrays import Array
from musclesolve.muscles.elastic.elastic_muscles import ElasticMuscles
from musclesolve.muscles.elastic.tendon_energy import tendon_energy


@dataclass(frozen=True, eq=False)
class MuscleMotion:
    """Muscles (n) at times (T,) [s]; arrays (T, n).

    Attributes:
        muscles: their parameters.
        time: (T,) [s].
        activation: that with which the forces were computed.
        coordinate: z of the tendon (elastic_muscles.py).
        musculotendon_length, musculotendon_velocity: of the path [m], [m/s].
        fiber_length, fiber_velocity: [m], [m/s], positive when lengthening.
        cos_pennation: cosine of the pennation angle.
        force: of the tendon [N], passive part included.
        passive_force: that of the passive element along the tendon [N].
        fiber_work: done by the fibers since the first time, contractile and passive [J].
        skeleton_work: done by the muscles on the skeleton since the first time [J].
    """

    muscles: ElasticMuscles
    time: Array
    activation: Array
    coordinate: Array
    musculotendon_length: Array
    musculotendon_velocity: Array
    fiber_length: Array
    fiber_velocity: Array
    cos_pennation: Array
    force: Array
    passive_force: Array
    fiber_work: Array
    skeleton_work: Array

    @property
    def tendon_length(self) -> Array:
        """[m]; where the tendon is slack, the room for it."""
        return self.muscles.rest + self.muscles.stretch * self.coordinate

    @property
    def tendon_strain(self) -> Array:
        """Change of length over the slack length; less than at the start of the curve where the tendon is slack."""
        return self.muscles.strain(self.coordinate)

    @property
    def tendon_energy(self) -> Array:
        """Stored in the tendon [J]; fiber_work - skeleton_work is its change."""
        return tendon_energy(self.muscles, self.coordinate)

    @property
    def fiber_power(self) -> Array:
        """What the fibers do per second [W], contractile and passive: -F v / cos(alpha)."""
        return -self.force * self.fiber_velocity / self.cos_pennation
