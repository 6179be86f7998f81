"""Exact derivatives of the solution of a force-sharing problem."""
