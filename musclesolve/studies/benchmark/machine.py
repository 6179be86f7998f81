"""What the figures were measured with: they hold there and nowhere else."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from musclesolve.version import __version__

PACKAGES = (
    *("numpy", "scipy", "numba", "casadi", "cyipopt"),
    *("daqp", "quadprog", "osqp", "piqp", "proxsuite", "clarabel", "highspy", "nlopt"),
)
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def machine() -> dict[str, str]:
    """Processor, cores, system, Python, versions of the packages that are there, threads that are asked for."""
    found = {
        "musclesolve": __version__,
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    if hasattr(os, "getloadavg"):
        found["load"] = f"{os.getloadavg()[0]:.1f} of {found['cores']} cores in the minute before"
    found |= {name: os.environ[name] for name in THREADS if name in os.environ}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
