"""Gait cycles of a result, and their averages."""
