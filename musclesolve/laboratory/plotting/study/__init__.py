"""Figures of averages, comparisons, sensitivities and uncertainty, which are computed from results."""
