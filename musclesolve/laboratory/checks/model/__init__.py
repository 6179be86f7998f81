"""Checks of the trials of OpenSim models: external loads, joint moments, coordinates."""
