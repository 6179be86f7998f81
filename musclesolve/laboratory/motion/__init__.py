"""Measured anatomy, gait events and ground reactions of a checked recording."""
