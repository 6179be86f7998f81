"""Positions, velocities and accelerations: joint coordinates, pose fit, consistent motion."""
