"""Shared by all parts of the package: array types, argument checks, names, processes, interrupts, file locks."""
