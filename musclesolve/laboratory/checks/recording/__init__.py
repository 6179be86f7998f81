"""Checks of recordings, a file for each kind of fault."""
