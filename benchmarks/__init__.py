"""Measured comparisons: times, certificates and failures beside each other, from one run on one machine."""
