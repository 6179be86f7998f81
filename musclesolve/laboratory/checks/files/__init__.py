"""Checks of whole files: time base, units, axes, subject."""
