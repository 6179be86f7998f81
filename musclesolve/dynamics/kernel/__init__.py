"""The compiled parts of a simulation, one state at a time: bodies, contact, joint resistance, equations of motion."""
