"""Solvers behind one contract; nothing here is imported before it is asked for."""
