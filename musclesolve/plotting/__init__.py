"""Figures of a result; nothing is computed here beyond the place on the axis and the unit."""
