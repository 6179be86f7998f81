"""Cost functions: each a small class in its own file; sums and positive multiples of costs are costs."""

from musclesolve.sharing.costs.base import Cost
from musclesolve.sharing.costs.force_squared import ForceSquared
from musclesolve.sharing.costs.registry import costs
from musclesolve.sharing.costs.soft_saturation import SoftSaturation
from musclesolve.sharing.costs.stress_cubed import StressCubed

__all__ = ["Cost", "ForceSquared", "SoftSaturation", "StressCubed", "costs"]
