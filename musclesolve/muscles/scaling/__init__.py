"""Muscles of a set on the skeleton of a subject."""
