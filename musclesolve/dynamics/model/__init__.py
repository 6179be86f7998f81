"""What a model is made of: topology, rigid bodies, constraints, masses; the human models."""
