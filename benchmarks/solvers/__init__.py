"""Rivals of the solvers called directly."""
