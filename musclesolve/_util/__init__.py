"""Shared by all rooms: array types, argument checks, names, processes, interrupts, file locks."""
