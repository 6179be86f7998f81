"""Planar bodies in absolute and independent coordinates, after Blajer & Czaplicki and Blajer, Dziewiecki & Mazur.

`planar_body` reads a body, `planar_motion` differentiates a motion; then `inverse_dynamics` (known loads, or flight),
`supported_inverse` (a foot held by the ground), `joint_reactions`, and `PlanarMuscles` with the matrix B.
"""

from musclesolve.dynamics.planar.body import planar_body
from musclesolve.dynamics.planar.closed_forms import lower_limb_reactions
from musclesolve.dynamics.planar.dynamics import (
    Load,
    PlanarMoments,
    inverse_dynamics,
    joint_reactions,
    joint_reactions_classical,
)
from musclesolve.dynamics.planar.motion import PlanarMotion, angles_between, planar_motion
from musclesolve.dynamics.planar.muscles import PlanarMuscles, Switches, into_plane
from musclesolve.dynamics.planar.support import (
    Support,
    Supported,
    constraint_force,
    foot_support,
    supported_inverse,
    total_reaction,
)
from musclesolve.dynamics.planar.tree import PlanarTree

__all__ = [
    "Load",
    "PlanarMoments",
    "PlanarMotion",
    "PlanarMuscles",
    "PlanarTree",
    "Support",
    "Supported",
    "Switches",
    "angles_between",
    "constraint_force",
    "foot_support",
    "into_plane",
    "inverse_dynamics",
    "joint_reactions",
    "joint_reactions_classical",
    "lower_limb_reactions",
    "planar_body",
    "planar_motion",
    "supported_inverse",
    "total_reaction",
]
