from .closed_forms import (
    lower_limb_reactions as lower_limb_reactions,
)
from .ground_support import (
    Support as Support,
)
from .ground_support import (
    Supported as Supported,
)
from .ground_support import (
    constraint_force as constraint_force,
)
from .ground_support import (
    foot_support as foot_support,
)
from .ground_support import (
    supported_inverse as supported_inverse,
)
from .ground_support import (
    total_reaction as total_reaction,
)
from .planar_body_file import (
    planar_body as planar_body,
)
from .planar_dynamics import (
    Load as Load,
)
from .planar_dynamics import (
    PlanarMoments as PlanarMoments,
)
from .planar_dynamics import (
    inverse_dynamics as inverse_dynamics,
)
from .planar_dynamics import (
    joint_reactions as joint_reactions,
)
from .planar_dynamics import (
    joint_reactions_classical as joint_reactions_classical,
)
from .planar_muscles import (
    PlanarMuscles as PlanarMuscles,
)
from .planar_muscles import (
    Switches as Switches,
)
from .planar_muscles import (
    into_plane as into_plane,
)
from .planar_trajectory import (
    PlanarMotion as PlanarMotion,
)
from .planar_trajectory import (
    angles_between as angles_between,
)
from .planar_trajectory import (
    planar_motion as planar_motion,
)
from .planar_tree import (
    PlanarTree as PlanarTree,
)
