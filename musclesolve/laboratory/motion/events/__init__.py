"""Heel strikes and toe-offs, strides, flight."""
