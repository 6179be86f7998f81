"""Figures of what is built on results: averages, comparisons, sensitivities, uncertainty."""
