from .casadi_expression import (
    ExpressionCost as ExpressionCost,
)
from .casadi_expression import (
    expression_cost as expression_cost,
)
from .cost_base import (
    NEEDS as NEEDS,
)
from .cost_base import (
    Cost as Cost,
)
from .cost_registry import (
    costs as costs,
)
from .named.emg_tracking import (
    EmgTracking as EmgTracking,
)
from .named.joint_reaction_squared import (
    JointReactionSquared as JointReactionSquared,
)
from .named.min_max import (
    MinMax as MinMax,
)
from .named.power_costs import (
    ActivationPower as ActivationPower,
)
from .named.power_costs import (
    ActivationVolume as ActivationVolume,
)
from .named.power_costs import (
    ForceMomentSquared as ForceMomentSquared,
)
from .named.power_costs import (
    ForceSquared as ForceSquared,
)
from .named.power_costs import (
    MusclePower as MusclePower,
)
from .named.power_costs import (
    NormalizedForceSquared as NormalizedForceSquared,
)
from .named.power_costs import (
    StressCubed as StressCubed,
)
from .named.soft_saturation import (
    SoftSaturation as SoftSaturation,
)
from .soft_rows import (
    SoftRows as SoftRows,
)
