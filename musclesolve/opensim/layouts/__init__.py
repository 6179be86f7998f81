"""Layouts of model files before version 4, rewritten in that of version 4."""
