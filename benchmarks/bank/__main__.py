"""Make the bank of force-sharing problems, each optimum certified and checked by a second solver.

    python -m benchmarks.bank -o bank.npz              with recordings and models of others, where their folder is there
    python -m benchmarks.bank -o bank.npz --bundled    from what the package itself brings: the file of this folder

The file is an .npz of numpy, which read_bank.py of this folder reads; docs/speed.md shows how.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linprog

import musclesolve as ms
from benchmarks.arguments import command_line
from benchmarks.bank import problems, read_bank
from musclesolve._util.arrays import Array
from musclesolve.sharing.certificate import relative_load
from musclesolve.sharing.cost.cost_registry import find_cost
from musclesolve.sharing.solver.batch import Batch
from musclesolve.version import __version__

VERSION = 1
BUNDLED = Path(__file__).with_name("force_sharing_bank.npz")
LARGEST_MISS = 1e-9
"""Of a moment, relative, in a reference solution; of the gap between its cost and the proved bound; and certificate."""
AGREEMENT = 1e-6
"""Largest relative difference of the costs that the two solvers reach."""
COSTS: Mapping[str, dict[str, Any]] = {
    "force_squared": {"form": "power", "exponent": 2, "coefficient": "force_capacity"},
    "stress_cubed": {"form": "power", "exponent": 3, "coefficient": "31.39 N/cm^2 force_capacity / F0"},
    "activation_power": {"form": "power", "exponent": 2, "coefficient": "1"},
    "activation_power(exponent=10)": {"form": "power", "exponent": 10, "coefficient": "1"},
    "joint_weighted_activation": {
        "form": "power",
        "exponent": 2,
        "coefficient": "3^(1/2) or 1, two joints or one",
    },
    "soft_saturation": {"form": "saturation", "exponent": 2, "coefficient": "force_capacity / F0"},
    "min_max": {"form": "largest", "exponent": 1, "coefficient": "force_capacity / F0"},
}
"""The costs by the names of musclesolve; F0 is max_isometric_force."""
ARRAYS = {
    "moment_arm": "(T, m, n) [m]",
    "moment": "(T, m) [N m], to be met exactly",
    "force_capacity": "(T, n) [N], tendon force at activation 1",
    "max_isometric_force": "(n,) [N]",
    "lower": "(T, n) smallest activations",
    "upper": "(T, n) largest activations",
    "joints_crossed": "(n,) number of joints",
    "muscle": "(n,) names",
    "dof": "(m,) names of the moments",
}
SOLUTIONS = {
    "coefficient": "(T, n) or (n,) c of x = c a, in the unit of the cost's root",
    "activation": "(T, n) the optimum, NaN where the moments are out of reach",
    "cost": "(T,) the least cost",
    "multiplier": "(T, m) [cost per N m]; of min_max the combination of moments that proves its largest load",
    "certificate": "(T,) duality gap by musclesolve, relative",
    "second_difference": "(T,) relative difference of the cost of a second solver; 0 at rest: no cost is less",
    "proof": "(T, m) Farkas direction of a frame out of reach, NaN elsewhere; absent where all are within reach",
}


def main() -> None:
    """Make the bank, print what it holds, write the file."""
    parser = command_line(__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--bundled", action="store_true", help="only from what the package itself brings")
    given = parser.parse_args()
    found = problems.bundled()
    if not given.bundled:
        found = chain(found, problems.recorded(problems.data_folder()))
    write(given.output, found)
    read_bank.main(given.output)
    print(f"{given.output.stat().st_size / 1e6:.2f} MB")


def write(path: Path, named: Iterable[tuple[str, str, ms.Problem]]) -> None:
    """Solve all problems and write the file; a solution that is not as good as promised is left out, and said so."""
    index: dict[str, Any] = {
        **{"name": "force-sharing bank", "version": VERSION, "about": (read_bank.__doc__ or "").strip()},
        **{"arrays": ARRAYS, "solutions": SOLUTIONS, "costs": COSTS, "problems": {}},
        "made_by": {"musclesolve": __version__, "python": platform.python_version()}
        | {package: version(package) for package in ("numpy", "scipy", "casadi")},
    }
    stored: dict[str, Array] = {}
    for name, source, problem in named:
        arrays = {array: np.asarray(getattr(problem, array)) for array in ARRAYS if array != "joints_crossed"}
        arrays["joints_crossed"] = problem.crossed
        left_out: dict[str, str] = {}
        index["problems"][name] = {"source": source, "sha256": digest(arrays), "left_out": left_out}
        stored |= {f"{name}/{array}": value for array, value in arrays.items()}
        for cost in COSTS:
            solution = reference(problem, cost)
            if fault := unproved(problem, COSTS[cost], solution):
                left_out[cost] = fault
                print(f"left out: {name}, {cost}: {fault}")
                continue
            stored |= {f"{name}/{cost}/{array}": value for array, value in solution.items()}
    np.savez_compressed(path, index=np.array(json.dumps(index)), **stored)  # type: ignore[arg-type]


def digest(arrays: Mapping[str, Array]) -> str:
    """SHA-256 of the bytes of the arrays of a problem in the order of their names."""
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(arrays[name]).tobytes() for name in sorted(arrays))
    ).hexdigest()


def reference(problem: ms.Problem, cost: str) -> dict[str, Array]:
    """The optimum of a problem under a cost by two solvers, and what shows it."""
    linear = cost == "min_max"
    chosen: Any = find_cost(cost)
    coefficient = relative_load(problem, chosen) if linear else chosen.coefficient(problem)
    solution = ms.solve(problem, chosen, "linprog" if linear else Batch(tolerance=1e-12))
    second = _largest_load(problem, coefficient) if linear else ms.solve(problem, chosen, "ipopt").cost
    multiplier = solution.multiplier
    if linear:  # no level where all muscles rest
        levels = np.nan_to_num(np.asarray(solution.level_multiplier))
        multiplier = levels[:, 0] if levels.size else np.zeros_like(problem.moment)
    at_rest = solution.cost <= 1e-12 * read_bank.value(COSTS[cost], coefficient, 0.1 * problem.upper)
    found = {
        "coefficient": coefficient,
        "activation": solution.activation,
        "cost": solution.cost,
        "multiplier": multiplier,
        "certificate": solution.gap,
        "second_difference": np.where(
            at_rest, 0.0, np.abs(second / np.where(at_rest, 1.0, solution.cost) - 1.0)
        ),
    }
    if not solution.solved.all():
        found["proof"] = solution.infeasibility_proof
    return found


def unproved(problem: ms.Problem, form: dict[str, Any], found: dict[str, Array]) -> str:
    """The promises of the bank that a solution does not keep, in words; empty where it keeps them all."""
    solved = np.isfinite(found["cost"])
    arrays = {array: getattr(problem, array) for array in ARRAYS}
    miss, gap, proof = read_bank.check(form, arrays, found)
    both = np.array_equal(np.isfinite(found["second_difference"]), solved)
    certificate, second = (
        found[key][solved].max(initial=0.0) for key in ("certificate", "second_difference")
    )
    good = max(miss, gap) <= LARGEST_MISS and certificate <= LARGEST_MISS and both and second <= AGREEMENT
    if good and (solved.all() or proof > 1e-6):
        return ""
    words = f"miss {miss:.0e}, gap {gap:.0e}, certificate {certificate:.0e}"
    return f"{words}, second solver {second:.0e}, proof {proof:.0e}"


def _largest_load(problem: ms.Problem, load: Array) -> Array:
    """The least largest load of every frame by the interior-point method of HiGHS, (T,), NaN where out of reach."""
    count, found = problem.n_muscles, np.full(problem.n_frames, np.nan)
    for t in range(problem.n_frames):
        answer = linprog(
            np.append(np.zeros(count), 1.0),
            np.hstack([np.diag(load[t]), -np.ones((count, 1))]),
            np.zeros(count),
            np.hstack([problem.moment_matrix[t], np.zeros((problem.n_dof, 1))]),
            problem.moment[t],
            [*zip(problem.lower[t], problem.upper[t], strict=True), (0, None)],
            method="highs-ipm",
        )
        found[t] = answer.fun if answer.status == 0 else np.nan
    return found


if __name__ == "__main__":
    main()
