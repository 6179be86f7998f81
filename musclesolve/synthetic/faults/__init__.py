"""Faults of measurement, planted into the files of a copy of a trial."""
