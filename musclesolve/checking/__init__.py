"""Checks that report all faults of a recording at once, before anything is computed from it."""
