"""Mechanisms with closed loops and drivers: constraint rows, assembly, forces."""
