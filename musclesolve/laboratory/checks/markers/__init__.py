"""Checks of markers: labels, sides, slips, gaps, standing trial."""
