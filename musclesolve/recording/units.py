"""Units of length, and how large a number may be to have been measured."""

from __future__ import annotations

METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0}
"""Unit of length of text files -> metres."""

LARGEST = 1e12
"""A number beyond this, in whatever unit, was not measured; squares of smaller ones overflow nowhere."""
