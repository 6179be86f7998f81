"""Names of the figure files of a result, for those who replace or remove such files without drawing any."""

RESULT_FIGURES = (
    *("activations.png", "muscle_forces.png", "function_groups.png", "joint_angles_and_moments.png"),
    *("joint_powers.png", "contact_forces.png", "contact_force_components.png", "ground_reaction.png"),
    *("reserves_and_residual.png", "consistency_shift.png", "cutoff_and_noise.png"),
)
MODEL_FIGURES = (
    *("activations.png", "muscle_forces.png", "function_groups.png"),
    *("coordinates_and_moments.png", "joint_powers.png", "reserves.png"),
)
"""Of a result on an OpenSim model."""
UNCERTAINTY_FIGURES = (
    *("uncertainty_muscle_forces.png", "uncertainty_contact_forces.png"),
    *("error_sources_muscle_forces.png", "error_sources_contact_forces.png"),
)
UNCERTAINTY = "uncertainty.nc"
