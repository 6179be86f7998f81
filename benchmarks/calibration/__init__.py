"""Calibrated muscles: how often intervals cover the truth, and a force inside a knee that no fit has seen."""
