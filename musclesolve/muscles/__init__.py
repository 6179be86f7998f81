"""Muscles on a skeleton: lengths, rates, moment arms, Hill capacity and passive force."""

from musclesolve.muscles.geometry import muscle_geometry
from musclesolve.muscles.legs import LEG_DOFS, LegMuscles, place_muscles
from musclesolve.muscles.parameter_derivatives import MuscleChange, muscle_change
from musclesolve.muscles.point_derivatives import PointDerivatives, point_derivatives
from musclesolve.muscles.state import MuscleState, muscle_state

__all__ = [
    "LEG_DOFS",
    "LegMuscles",
    "MuscleChange",
    "MuscleState",
    "PointDerivatives",
    "muscle_change",
    "muscle_geometry",
    "muscle_state",
    "place_muscles",
    "point_derivatives",
]
