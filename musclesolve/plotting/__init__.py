"""Figures of a result; nothing is computed here beyond the place on the axis and the unit."""

from musclesolve.plotting.save import FIGURES, figure_files, save_figures

__all__ = ["FIGURES", "figure_files", "save_figures"]
