"""Solvers behind one contract; a backend is imported when it is asked for."""
