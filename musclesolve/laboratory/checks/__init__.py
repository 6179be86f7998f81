"""Checks that report all faults of a recording or model at once."""
