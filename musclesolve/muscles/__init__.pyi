from .leg_muscles import (
    LEG_DOFS as LEG_DOFS,
)
from .leg_muscles import (
    LegMuscles as LegMuscles,
)
from .leg_muscles import (
    place_muscles as place_muscles,
)
from .leg_state import (
    MuscleState as MuscleState,
)
from .leg_state import (
    muscle_state as muscle_state,
)
from .parameter_derivatives import (
    MuscleChange as MuscleChange,
)
from .parameter_derivatives import (
    muscle_change as muscle_change,
)
from .point_derivatives import (
    PointDerivatives as PointDerivatives,
)
from .point_derivatives import (
    point_derivatives as point_derivatives,
)
from .pose_geometry import (
    muscle_geometry as muscle_geometry,
)
