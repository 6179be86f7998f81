"""Force sharing on an OpenSim model, from its coordinates and joint moments."""
