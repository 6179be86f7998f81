"""OpenSim models and their mutants as OpenSim computes them and as this package does, side by side."""
