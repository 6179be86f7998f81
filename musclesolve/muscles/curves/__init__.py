"""Families of normalized Hill curves, by name."""
