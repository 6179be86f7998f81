"""The symbolic program of static optimization, beside `solve`."""

import casadi as ca
import numpy as np
import pytest
from symbolic_states import random_states

import musclesolve as ms
from tests.support.refusals import refused


@pytest.mark.thorough
def test_program_has_the_optimum_of_solve_and_takes_any_cost():
    chain = ms.symbolic.muscle_chain(muscles="gait2392_hip", side="r")
    q, qd, _ = (each[0] for each in random_states(chain, 1))
    moment = np.array(chain.moment(q, 0.1 * qd, np.random.default_rng(0).uniform(0.0, 0.3, 43))).ravel()
    for cost in ("stress_cubed", "activation_power"):
        program = chain.sharing_program(cost)
        options = {"ipopt.print_level": 0, "ipopt.sb": "yes", "print_time": False, "ipopt.tol": 1e-11}
        solver = ca.nlpsol("solver", "ipopt", program.nlp, options)
        numbers = program.parameters(q, 0.1 * qd, moment)
        found = solver(x0=0.1, lbx=0.0, ubx=1.0, lbg=0.0, ubg=0.0, p=numbers)
        expected = ms.solve(program.problem(q, 0.1 * qd, moment), cost)
        # muscles without capacity have any activation
        force = chain.capacity(q, 0.1 * qd) * (found["x"] - expected.activation[0])
        np.testing.assert_allclose(force, 0.0, atol=2e-2)


def test_program_refuses_elastic_tendons_and_factors():
    for options in ({"tendon": "elastic"}, {"factors": ["size"]}):
        with refused("conflict", "chain"):
            ms.symbolic.muscle_chain(muscles="silva_2003", side="r", **options).sharing_program()
