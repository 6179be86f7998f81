"""Questions that the analysis itself asks: its own refusals and warnings, on the repaired recording."""
