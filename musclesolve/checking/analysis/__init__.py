"""Checks of the analysis itself: its refusals and warnings, on the repaired recording."""
