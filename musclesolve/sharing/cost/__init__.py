"""Cost functions: each a small class in its own file; sums and positive multiples of costs are costs."""

from musclesolve.sharing.cost.activation_power import ActivationPower
from musclesolve.sharing.cost.activation_volume import ActivationVolume
from musclesolve.sharing.cost.base import NEEDS, Cost
from musclesolve.sharing.cost.emg_tracking import EmgTracking
from musclesolve.sharing.cost.expression_cost import ExpressionCost, expression_cost
from musclesolve.sharing.cost.force_moment_squared import ForceMomentSquared
from musclesolve.sharing.cost.force_squared import ForceSquared
from musclesolve.sharing.cost.joint_reaction_squared import JointReactionSquared
from musclesolve.sharing.cost.min_max import MinMax
from musclesolve.sharing.cost.muscle_power import MusclePower
from musclesolve.sharing.cost.normalized_force_squared import NormalizedForceSquared
from musclesolve.sharing.cost.registry import costs
from musclesolve.sharing.cost.soft_rows import SoftRows
from musclesolve.sharing.cost.soft_saturation import SoftSaturation
from musclesolve.sharing.cost.stress_cubed import StressCubed

__all__ = [
    "NEEDS",
    "ActivationPower",
    "ActivationVolume",
    "Cost",
    "EmgTracking",
    "ExpressionCost",
    "ForceMomentSquared",
    "ForceSquared",
    "JointReactionSquared",
    "MinMax",
    "MusclePower",
    "NormalizedForceSquared",
    "SoftRows",
    "SoftSaturation",
    "StressCubed",
    "costs",
    "expression_cost",
]
