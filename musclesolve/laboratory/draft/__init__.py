"""A trial file drafted from the recordings in a folder."""
