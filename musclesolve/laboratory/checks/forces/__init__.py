"""Checks of force plates: zero, axes, place, time, and Newton's second law."""
