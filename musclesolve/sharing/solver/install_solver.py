"""Install the packages of a solver into the environment of this Python."""

import subprocess
import sys
from importlib.metadata import version

from musclesolve._util.names import unknown_name
from musclesolve.errors import input_error
from musclesolve.sharing.solver.solver_registry import solvers


def install_solver(name: str) -> str:
    """Install the missing packages of a solver by pip, and return the installed ones in words.

    cyipopt is built against CasADi's Ipopt.
    """
    registered = solvers()
    if name not in registered:
        raise unknown_name(name, "solver", registered, where="install")
    if name == "cyipopt":
        from musclesolve.sharing.solver.build_cyipopt import install_cyipopt

        return install_cyipopt()
    if missing := registered[name].missing:
        command = [sys.executable, "-m", "pip", "install", "--quiet", *registered[name].packages]
        process = subprocess.run(command, capture_output=True, text=True)
        if process.returncode:
            reason = (process.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise input_error("sharing.package_not_installed", packages=missing, reason=reason)
    return "installed: " + ", ".join(f"{package} {version(package)}" for package in registered[name].packages)
