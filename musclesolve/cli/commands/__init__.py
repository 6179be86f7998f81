"""The commands, a function each; what a command computes stands in the rooms before."""
