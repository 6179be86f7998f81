"""Muscles that drive a simulation: activation through time, activation dynamics, the forces on the skeleton."""
