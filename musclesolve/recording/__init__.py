"""Checked trials from files: readers and writers, the trial file, marker mapping, checks on incoming data."""

from musclesolve._util.old_names import with_old_names

__getattr__ = with_old_names(__name__)
