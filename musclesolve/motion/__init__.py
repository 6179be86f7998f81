"""From a checked trial to the measured anatomy: filter, rigid clusters, joint centers, ground reactions."""

from musclesolve.motion.clusters import Poses, register
from musclesolve.motion.filtering import low_pass
from musclesolve.motion.ground_reaction import GroundReaction, center_of_pressure, ground_reactions
from musclesolve.motion.joint_centres import hip_center, hip_regressions
from musclesolve.motion.targets import Anatomy, anatomy

__all__ = [
    "Anatomy",
    "GroundReaction",
    "Poses",
    "anatomy",
    "center_of_pressure",
    "ground_reactions",
    "hip_center",
    "hip_regressions",
    "low_pass",
    "register",
]
