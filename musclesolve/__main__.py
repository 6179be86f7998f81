"""`python -m musclesolve` is the command `musclesolve`."""

from musclesolve.cli.app import main

main()
