"""The command `musclesolve`: its commands and what they print."""
