"""Inverse dynamics of an OpenSim model: coordinates and external loads to joint moments and contact forces."""
