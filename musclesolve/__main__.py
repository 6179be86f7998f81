"""`python -m musclesolve` is the command `musclesolve`."""

from musclesolve.cli import main

main()
