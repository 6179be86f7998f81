"""Build cyipopt against the Ipopt that the casadi wheel ships.

cyipopt has no binary wheels: its build calls ``pkg-config`` to find Ipopt. The casadi wheel holds both the
headers (``casadi/include/coin-or``) and the library (``libipopt``), so nothing has to be installed on the
machine but a C compiler. A script replaces ``pkg-config``, and the path of the library is written into the
extension (rpath), so that afterward ``import cyipopt`` works. Then a small problem is solved as a test.
`musclesolve install cyipopt` does all this for the environment of its Python.
"""

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from musclesolve.errors import InputError, input_error

REQUIREMENT = "cyipopt>=1.5"

# min x^2 + y^2 with x + y = 1: both are 1/2, and the multiplier of the constraint is -1.
SELF_TEST = """
import numpy as np
import cyipopt

class Problem:
    def objective(self, x): return x @ x
    def gradient(self, x): return 2 * x
    def constraints(self, x): return np.array([x.sum()])
    def jacobian(self, x): return np.ones(2)

problem = cyipopt.Problem(n=2, m=1, problem_obj=Problem(), cl=[1.0], cu=[1.0])
problem.add_option("print_level", 0)
problem.add_option("sb", "yes")
problem.add_option("hessian_approximation", "limited-memory")
x, report = problem.solve(np.array([3.0, -1.0]))
assert report["status"] == 0, report["status_msg"]
assert np.allclose(x, 0.5, atol=1e-6), x
assert np.allclose(report["mult_g"], -1.0, atol=1e-6), report["mult_g"]
print(cyipopt.__version__, ".".join(map(str, cyipopt.IPOPT_VERSION)))
"""


def install_cyipopt() -> str:
    """Build cyipopt where it does not work yet, and return its version and the version of its Ipopt in words."""
    versions = self_test() if importlib.util.find_spec("cyipopt") else None
    if versions is None:
        build(find_casadi())
        versions = self_test()
    if versions is None:
        raise _refusal("it was compiled, but its self test fails")
    return "cyipopt {} with Ipopt {}, self test passed".format(*versions)


def _refusal(reason: str) -> InputError:
    return input_error("sharing.cyipopt_not_built", reason=reason)


def find_casadi() -> Path:
    """The directory of the installed casadi wheel, after a check that Ipopt and its headers are inside."""
    spec = importlib.util.find_spec("casadi")
    if spec is None or spec.origin is None:
        raise _refusal("casadi is not installed; install musclesolve or `pip install casadi` first")
    casadi = Path(spec.origin).parent
    if not (casadi / "include/coin-or/IpStdCInterface.h").is_file():
        raise _refusal(f"the casadi in {casadi} comes without the headers of Ipopt")
    if not any(casadi.glob("libipopt.*")):
        raise _refusal(f"the casadi in {casadi} comes without the library of Ipopt")
    return casadi


def build(casadi: Path) -> None:
    """Compile and install cyipopt with pip, with a script in the place of pkg-config."""
    check_tools()
    with tempfile.TemporaryDirectory(prefix="cyipopt-") as folder:
        # Links, because cyipopt splits the flags at spaces and the path of the environment may contain one.
        include, library, bin_dir = (Path(folder, name) for name in ("include", "lib", "bin"))
        include.symlink_to(casadi / "include/coin-or")
        library.symlink_to(casadi)
        bin_dir.mkdir()
        shim = bin_dir / "pkg-config"
        shim.write_text(f"#!/bin/sh\necho '-I{include} -L{library} -lipopt'\n")
        shim.chmod(0o755)
        environment = os.environ | {
            "PATH": f"{bin_dir}{os.pathsep}{os.environ.get('PATH', '')}",
            "LDFLAGS": f"{os.environ.get('LDFLAGS', '')} {shlex.quote(rpath(casadi))}".strip(),
        }
        # Without the cache: pip would offer a wheel that was linked to another Ipopt.
        # Reinstalled without dependencies: an installed cyipopt has just failed its self test.
        options = ["--quiet", "--no-cache-dir", "--no-deps", "--force-reinstall", "--no-binary", "cyipopt"]
        command = [sys.executable, "-m", "pip", "install", *options, REQUIREMENT]
        process = subprocess.run(command, env=environment, capture_output=True, text=True)
    if process.returncode:
        raise _refusal(f"pip failed: {reason(process.stdout + process.stderr)}")


def reason(output: str) -> str:
    """The line of pip's output that names the fault: the first error apart from pip's own summary."""
    lines = [line.strip(" │╰─>×") for line in output.splitlines()]
    frame = ("subprocess", "WARNING")
    errors = [line for line in lines if "error:" in line.lower() and not any(word in line for word in frame)]
    return errors[0] if errors else "no reason given"


def check_tools() -> None:
    """Refuse a machine that cannot compile an extension of Python."""
    if sys.platform == "win32":
        raise _refusal("on Windows install it with conda: `conda install -c conda-forge cyipopt`")
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[0]
    if not shutil.which(compiler):
        raise _refusal(f"no C compiler ('{compiler}') on this machine")
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        raise _refusal("the headers of Python are missing (Debian, Ubuntu: install python3-dev)")
    if importlib.util.find_spec("pip") is None:
        raise _refusal("this environment has no pip; run `python -m ensurepip` first")


def rpath(casadi: Path) -> str:
    """The linker's option: look beside cyipopt first (the environment may move), then where casadi is now."""
    beside = "@loader_path/../casadi" if sys.platform == "darwin" else "$ORIGIN/../casadi"
    return f"-Wl,-rpath,{beside},-rpath,{casadi}"


def self_test() -> list[str] | None:
    """Versions of cyipopt and its Ipopt if a fresh interpreter solves the problem above, else None."""
    process = subprocess.run([sys.executable, "-c", SELF_TEST], capture_output=True, text=True)
    return process.stdout.split() if process.returncode == 0 else None
