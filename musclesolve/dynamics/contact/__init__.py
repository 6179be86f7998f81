"""Surfaces on bodies, the distance between them, and the forces of contact."""
