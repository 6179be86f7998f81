"""Checked trials from files: readers and writers, the trial file, marker mapping, checks on incoming data."""
