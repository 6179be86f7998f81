"""CasADi, imported from here wherever it is used: beside OpenSim's package it cannot be loaded, and the error says so.

Both bring a library of one name and different content (`libcasadi.so.3.7`), and a process loads it once. `import
opensim` also puts its folder into LD_LIBRARY_PATH, so that a process started later loads the wrong one, too.
"""

import os
import sys
from pathlib import Path

from musclesolve.errors import input_error

SEARCHED = "DYLD_LIBRARY_PATH" if sys.platform == "darwin" else "LD_LIBRARY_PATH"
"""The environment variable that `import opensim` changes, by which libraries are found."""


def _opensim_before() -> str | None:
    """How OpenSim's package comes before CasADi in this process; None if it does not."""
    if "opensim" in sys.modules:
        return "this process has imported the package opensim"
    if any(Path(folder).name == "opensim" for folder in os.environ.get(SEARCHED, "").split(os.pathsep)):
        return (
            f"{SEARCHED} names the folder of the package opensim, which the process before this one imported"
        )
    return None


try:
    import casadi as casadi  # imported from here
except ImportError as error:
    before = _opensim_before()
    if before is None or error.name == "casadi":
        raise
    raise input_error(
        "bad_environment",
        problem=f"the package casadi cannot be loaded: {before}, and both bring a library libcasadi of their own",
        expected="opensim and casadi in different processes",
        remedy=f'after `import opensim` write os.environ.pop("{SEARCHED}", None), and compute this in a new process '
        '(subprocess, or multiprocessing.get_context("spawn")) that does not import opensim; or take the solver '
        '"batch" with a named cost, which needs no casadi',
    ) from error
