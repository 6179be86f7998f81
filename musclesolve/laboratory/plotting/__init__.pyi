import collections.abc

import matplotlib.figure

from .figure_sets import save_figures as save_figures
from .page.page_style import page_style as page_style

# Of a result.
from .result.joint_figures import joint_moments as joint_moments
from .result.muscle_figures import one_muscle as one_muscle
from .result.residual_figures import certificates as certificates

# Of an average, a comparison, an uncertainty, of sensitivities.
from .study.comparison_figures import compare_muscle_forces as compare_muscle_forces
from .study.comparison_figures import pose_activations as pose_activations
from .study.group_figures import group_curves as group_curves
from .study.listed_figures import cost_shapes as cost_shapes
from .study.listed_figures import passive_moment_figure as passive_moment_figure
from .study.uncertainty_figures import force_sensitivity_map as force_sensitivity_map
from .study.uncertainty_figures import sensitivity_map as sensitivity_map

def __getattr__(name: str) -> collections.abc.Callable[..., matplotlib.figure.Figure]: ...
