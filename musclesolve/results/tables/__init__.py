"""Summaries of a result for people."""
