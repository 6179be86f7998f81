"""Forward dynamics: accelerations, simulation, applied forces, joint resistance, energy."""
