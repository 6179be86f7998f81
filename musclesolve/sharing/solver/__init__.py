"""Solvers behind one contract; a backend is imported at its first use."""
