"""Questions about files as a whole: time base, units, axes, subject."""
