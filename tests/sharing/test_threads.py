"""Threads that solve at the same time: in a fresh process the first of them loads the kernel for all."""

from __future__ import annotations

import json
import subprocess
import sys
from threading import Barrier, Thread

import numpy as np
import pytest
from packages import need_solver

from musclesolve import solve
from musclesolve.sharing import compile_kernel, expression_cost
from musclesolve.sharing.kernel import entry

STORM = """
import json, threading
import numpy as np
import musclesolve as ms
random = np.random.default_rng(0)
arm, strongest = random.uniform(-0.06, 0.06, (40, 5, 20)), random.uniform(100.0, 2500.0, 20)
moment = np.einsum("tmn,n->tm", arm * strongest, 0.4 * random.random(20))
problem = ms.Problem(arm, moment, strongest, strongest)
together, found = threading.Barrier(16), []
def one(solver):
    together.wait()
    try:
        found.append(int((ms.solve(problem, "stress_cubed", solver).status == 0).sum()))
    except BaseException as error:
        found.append(repr(error))
solvers = ["batch"] * 12 + ["ipopt"] * 4
threads = [threading.Thread(target=one, args=(solver,)) for solver in solvers]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(json.dumps(found))
"""


def test_a_fresh_process():
    compile_kernel()
    done = subprocess.run([sys.executable, "-c", STORM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [40] * 16
    assert not done.stderr and entry.is_kept()


def cubes(activation, force, data):
    return (activation**3).T @ np.ones(activation.shape[0])


@pytest.mark.in_part(2)
@pytest.mark.parametrize("solver", ["ipopt", "cyipopt", "batch"])
def test_threads_with_a_cost_of_the_user(make_leg, solver):
    need_solver(solver)
    problem = make_leg(6)
    cost = expression_cost("cubes", cubes, convex=True)
    alone = solve(problem, cost, solver)
    together, answers = Barrier(4), []

    def one() -> None:
        together.wait()
        answers.append(solve(problem, cost, solver))

    threads = [Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    for answer in answers:
        np.testing.assert_array_equal(answer.activation, alone.activation)
