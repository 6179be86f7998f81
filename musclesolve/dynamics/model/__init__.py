"""Models: topology, rigid bodies, constraints, masses; the human models."""
