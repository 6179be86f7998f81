"""Limits on the rate of activation."""
