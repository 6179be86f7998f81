"""Figures of a result."""
