"""Stages of the analysis of a trial: mechanics, muscles, and the body that shares its moments."""
