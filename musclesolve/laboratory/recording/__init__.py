"""Records of a recording, and every key of trial files and commands."""
