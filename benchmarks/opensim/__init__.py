"""The static optimization of OpenSim beside `musclesolve share`, on the same model and trial."""
