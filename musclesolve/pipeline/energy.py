"""Metabolic power of the muscles of a result, with muscle masses whose sum is the muscle mass of the limb."""

import numpy as np

from musclesolve._util.arrays import Array
from musclesolve._util.long_arrays import blocks, long_array
from musclesolve._util.sides import side_of
from musclesolve.dynamics.inverse.predicted_reactions import USUAL_STATURE
from musclesolve.muscles.metabolic_power import DENSITY, EnergyState, slow_fibers, umberger_2010_recruitment
from musclesolve.muscles.strength import leg_muscle_volume
from musclesolve.pipeline.body import BLOCK, EVERY, Analysis, SolvedGroup

TENSION = 0.35e6
"""Specific tension of muscles that do not belong to a leg [Pa]; muscle sets of legs have 0.3 to 0.6e6."""


def energy_state(analysis: Analysis, part: SolvedGroup, frames: slice = EVERY) -> EnergyState:
    """The state of the muscles of a part in some frames, for models of metabolic power.

    The mass of a muscle is its share of the muscles of the leg: their volume is 47 m h + 1285 cm3 of body mass m [kg]
    and stature h [m] (Handsfield et al. 2014, J Biomech 47:631-638), shared in proportion to maximum isometric force
    times optimal fiber length. So the masses do not depend on the specific tension of the muscle set. Muscles of other
    limbs have F0 L0 density / TENSION.
    """
    state, parameters = part.state, part.state.parameters
    names, optimal = parameters.names, parameters.optimal_fiber_length
    fiber_length, fiber_velocity = state.fiber_length[frames], state.fiber_velocity[frames]
    length = fiber_length / optimal
    isometric = np.zeros_like(length)
    for family, columns in parameters.families:
        isometric[:, columns] = family.active(length[:, columns])
    size = parameters.max_isometric_force * optimal
    mass = DENSITY * size / TENSION
    if any("knee" in dof for dof in part.part.dofs):
        sides = np.array([side_of(name) for name in names])
        for side in set(sides):
            of_side = sides == side
            mass[of_side] = DENSITY * leg_volume(analysis) * size[of_side] / size[of_side].sum()
    thickness = optimal * np.sin(parameters.pennation_angle)
    with np.errstate(divide="ignore", invalid="ignore"):
        cosine = np.sqrt(np.maximum(1.0 - (thickness / fiber_length) ** 2, 0.0))
        along = np.where(cosine > 0.0, 1.0 / cosine, 0.0)
    return EnergyState(
        activation=part.solution.activation[frames],
        length=length,
        speed=fiber_velocity / optimal,
        isometric=isometric,
        force=part.solution.force[frames] * along,
        passive=state.passive_force[frames] * along,
        fiber_speed=fiber_velocity,
        mass=mass,
        slow=slow_fibers(names),
        velocity=parameters.max_shortening_velocity,
        strength=parameters.max_isometric_force,
    )


def leg_volume(analysis: Analysis) -> float:
    """Volume of the muscles of one leg of the subject or model [m3]."""
    return 1e-6 * leg_muscle_volume(analysis.body.mass, analysis.body.stature or USUAL_STATURE)


def metabolic_power(analysis: Analysis, part: SolvedGroup) -> Array:
    """Metabolic power (T, n) [W] of the muscles of a part, NaN in frames without a solution."""
    power = long_array(part.state.fiber_length.shape)
    for block in blocks(len(power), BLOCK):
        power[block] = umberger_2010_recruitment(energy_state(analysis, part, block))
    return power
