"""Stages of the analysis of a checked trial, one call each, up to a labeled result."""
