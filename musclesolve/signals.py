"""Signals through time: low-pass filters, smoothing splines, the choice of cut-off frequencies, injury criteria."""

from musclesolve.laboratory.motion.signals.filter_choice import residual_analysis
from musclesolve.laboratory.motion.signals.injury_criteria import (
    HeadInjury,
    head_injury_criterion,
    severity_index,
)
from musclesolve.laboratory.motion.signals.low_pass import low_pass, smoothing_spline

__all__ = [
    "HeadInjury",
    "head_injury_criterion",
    "low_pass",
    "residual_analysis",
    "severity_index",
    "smoothing_spline",
]
