"""Why a solver did not solve a frame: its final message and what its result misses; and a callback ends a frame."""

import contextlib
import signal

import numpy as np
import pytest

import musclesolve as ms
from musclesolve.sharing.cost.cost_base import Cost
from musclesolve.sharing.solver.ipopt import run_casadi
from musclesolve.sharing.solver.scipy_solvers import Slsqp, TrustConstr


def test_a_ctrl_c_between_two_evaluations_is_one():
    def interrupted(**numbers):
        raise RuntimeError("Error in Function::call for 'sharing' [IpoptInterface]:\nKeyboardInterrupt")

    with pytest.raises(KeyboardInterrupt):
        run_casadi(interrupted, {}, ())


class Dropping:
    """A solver and its result, which drop a Ctrl-C as CasADi does while it makes an array."""

    def __call__(self):
        return {"x": self}

    def full(self):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    def stats(self):
        return {}


def test_a_ctrl_c_that_casadi_drops_is_raised():
    with pytest.raises(KeyboardInterrupt):
        run_casadi(Dropping(), {}, ("x",))


def test_a_handler_that_only_remembers_ctrl_c_goes_on():
    before, heeded = signal.getsignal(signal.SIGINT), []
    signal.signal(signal.SIGINT, lambda *_: heeded.append(True))
    try:
        with pytest.raises(TypeError):
            run_casadi(Dropping(), {}, ("x",))
    finally:
        signal.signal(signal.SIGINT, before)
    assert heeded == [True]


KINDS = [ms.sharing.Ipopt, *([ms.sharing.Cyipopt] if ms.solvers()["cyipopt"].installed else [])]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("on_infeasible", ["report", "reserve"])
def test_a_callback_that_returns_true_ends_the_frame(make_leg, kind, on_infeasible):
    begun = []

    def stop(iteration, objective):
        begun.extend([iteration] if iteration == 0 else [])
        return iteration >= 1

    problem = make_leg(3)
    found = ms.solve(problem, "stress_cubed", kind(callback=stop), on_infeasible)
    assert len(begun) == 3 and (found.status == ms.Status.MAX_ITERATIONS).all()
    assert "the callback ended it" in found.summary()


def reason(found: ms.Solution) -> str:
    """The notes on what the solver reports."""
    assert not found.solved.any() and np.isin(found.status, (3, 5)).all()
    return "\n".join(note for note in found.notes if note.startswith("The solver"))


@pytest.mark.parametrize(
    ("solver", "word"),
    [
        (Slsqp(max_iterations=1), "Iteration limit"),
        (TrustConstr(max_iterations=1), "maximum number"),
        (ms.sharing.Ipopt(max_iterations=1), "ran out of iterations"),
        *((kind(options={"max_wall_time": 1e-6}), "ran out of time") for kind in KINDS),
    ],
    ids=str,
)
def test_every_solver_says_why_it_ended(make_leg, solver, word):
    assert word in reason(ms.solve(make_leg(2), "stress_cubed", solver))


def test_a_slope_that_is_no_number_is_the_reason():
    """A class whose slope at the optimum overflows: SLSQP ends without a word on it."""

    class Steep(Cost):
        name = "steep"
        needs = frozenset({"separable", "nonconvex"})

        def term_value(self, problem, activation):
            return np.square(activation).sum(axis=1)

        def term_gradient(self, problem, activation):
            inside = np.abs(activation - 0.2).max(axis=1, keepdims=True) < 0.05
            return np.where(inside, np.nan, 2.0 * activation)

    alike = ms.Problem([[0.05, 0.05]], [20.0], [1000.0, 1000.0], [1000.0, 1000.0])
    note = reason(ms.solve(alike, Steep(), "slsqp"))
    assert "slope of the cost is not a finite number" in note
