"""Cost functions: each a small class in its own file; sums and positive multiples of costs are costs."""

from musclesolve.sharing.cost.base import Cost
from musclesolve.sharing.cost.force_squared import ForceSquared
from musclesolve.sharing.cost.registry import costs
from musclesolve.sharing.cost.soft_saturation import SoftSaturation
from musclesolve.sharing.cost.stress_cubed import StressCubed

__all__ = ["Cost", "ForceSquared", "SoftSaturation", "StressCubed", "costs"]
