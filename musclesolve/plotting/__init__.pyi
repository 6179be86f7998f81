from .figure_sets import save_figures as save_figures
from .page.page_style import PageStyle as PageStyle
from .page.page_style import page_style as page_style
from .result.certificate_figure import certificates as certificates
from .result.cutoff_figures import cutoff_and_noise as cutoff_and_noise
from .result.ground_figure import ground_reaction as ground_reaction

# Of a result.
from .result.joint_figures import contact_force_components as contact_force_components
from .result.joint_figures import contact_forces as contact_forces
from .result.joint_figures import coordinates_and_moments as coordinates_and_moments
from .result.joint_figures import joint_angles_and_moments as joint_angles_and_moments
from .result.joint_figures import joint_moments as joint_moments
from .result.joint_figures import knee_contact_forces as knee_contact_forces
from .result.muscle_figures import activations as activations
from .result.muscle_figures import emg_and_activation as emg_and_activation
from .result.muscle_figures import fibers_and_tendons as fibers_and_tendons
from .result.muscle_figures import function_groups as function_groups
from .result.muscle_figures import measured_fascicles as measured_fascicles
from .result.muscle_figures import muscle_forces as muscle_forces
from .result.muscle_figures import one_muscle as one_muscle
from .result.passive_moment_figure import passive_moment_figure as passive_moment_figure
from .result.pose_figure import pose_activations as pose_activations
from .result.power_figure import joint_powers as joint_powers
from .result.residual_figures import consistency_shift as consistency_shift
from .result.residual_figures import reserves as reserves
from .result.residual_figures import reserves_and_residual as reserves_and_residual
from .result.sheet_figure import clinical_sheet as clinical_sheet

# Of an average, a comparison, an uncertainty, of sensitivities.
from .study.average_figures import average_activations as average_activations
from .study.average_figures import average_angles_and_moments as average_angles_and_moments
from .study.average_figures import average_muscle_forces as average_muscle_forces
from .study.benchmark_figure import solver_times as solver_times
from .study.comparison_figures import compare_activations as compare_activations
from .study.comparison_figures import compare_co_contraction as compare_co_contraction
from .study.comparison_figures import compare_contact_forces as compare_contact_forces
from .study.comparison_figures import compare_group_forces as compare_group_forces
from .study.comparison_figures import compare_muscle_forces as compare_muscle_forces
from .study.cost_figure import cost_shapes as cost_shapes
from .study.emg_figures import emg_trade_off as emg_trade_off
from .study.group_figures import group_curves as group_curves
from .study.sensitivity_maps import force_sensitivity_map as force_sensitivity_map
from .study.sensitivity_maps import sensitivity_map as sensitivity_map
from .study.uncertainty_figures import error_sources_contact_forces as error_sources_contact_forces
from .study.uncertainty_figures import error_sources_muscle_forces as error_sources_muscle_forces
from .study.uncertainty_figures import uncertainty_contact_forces as uncertainty_contact_forces
from .study.uncertainty_figures import uncertainty_muscle_forces as uncertainty_muscle_forces
