"""Figures of a result; nothing is computed here beyond the place on the axis and the unit."""

from musclesolve.plotting.save import FIGURES, save_figures

__all__ = ["FIGURES", "save_figures"]
