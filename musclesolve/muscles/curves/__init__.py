"""Families of normalised Hill curves, by name."""
