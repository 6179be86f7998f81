"""Every setting once: its kind, unit, range, default and sentence; files, options, the desk and docs come from it."""
