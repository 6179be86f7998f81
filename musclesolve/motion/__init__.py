"""From a checked trial to the measured anatomy: filter, clusters, joint centers, ground reactions, gait events."""

from musclesolve.motion.events import GaitEvents, gait_events
from musclesolve.motion.filtering import low_pass
from musclesolve.motion.ground_reaction import GroundReaction, center_of_pressure, ground_reactions
from musclesolve.motion.joint_centres import hip_center, hip_regressions
from musclesolve.motion.residual_analysis import ResidualAnalysis, residual_analysis
from musclesolve.motion.score import RotationCenter, rotation_center
from musclesolve.motion.smoothing_spline import SmoothingSpline, smoothing_spline
from musclesolve.motion.targets import Anatomy, anatomy
from musclesolve.recording.rigid import Poses, register

__all__ = [
    "Anatomy",
    "GaitEvents",
    "GroundReaction",
    "Poses",
    "ResidualAnalysis",
    "RotationCenter",
    "SmoothingSpline",
    "anatomy",
    "center_of_pressure",
    "gait_events",
    "ground_reactions",
    "hip_center",
    "hip_regressions",
    "low_pass",
    "register",
    "residual_analysis",
    "rotation_center",
    "smoothing_spline",
]
