"""Rivals of the solvers called directly, and how the solvers grow with the size of the problem."""
