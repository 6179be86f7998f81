from .activation_power import (
    ActivationPower as ActivationPower,
)
from .activation_volume import (
    ActivationVolume as ActivationVolume,
)
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
from .emg_tracking import (
    EmgTracking as EmgTracking,
)
from .force_moment_squared import (
    ForceMomentSquared as ForceMomentSquared,
)
from .force_squared import (
    ForceSquared as ForceSquared,
)
from .joint_reaction_squared import (
    JointReactionSquared as JointReactionSquared,
)
from .min_max import (
    MinMax as MinMax,
)
from .muscle_power import (
    MusclePower as MusclePower,
)
from .normalized_force_squared import (
    NormalizedForceSquared as NormalizedForceSquared,
)
from .soft_rows import (
    SoftRows as SoftRows,
)
from .soft_saturation import (
    SoftSaturation as SoftSaturation,
)
from .stress_cubed import (
    StressCubed as StressCubed,
)
