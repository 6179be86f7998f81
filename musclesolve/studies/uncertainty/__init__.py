"""Uncertainty of the results of a trial: Monte Carlo over the sources of error."""
