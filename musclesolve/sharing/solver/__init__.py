"""Solvers behind one contract; a backend is not imported before it is asked for."""

from musclesolve.sharing.solver.registry import solvers

__all__ = ["solvers"]
