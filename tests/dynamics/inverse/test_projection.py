"""Multipliers by projection and by the classical formula (Blajer & Czaplicki 2005) are the ones of the package."""

from dataclasses import replace

import numpy as np
import pytest
from natural_projection import natural_multipliers, natural_multipliers_classical, natural_partner
from refusals import refused
from small_models import random_chain, random_motion

from musclesolve.dynamics import Model, Wrench
from musclesolve.dynamics.inverse.joint_reactions import expand
from musclesolve.dynamics.inverse.lagrange_multipliers import actuated_moments
from musclesolve.errors import MuscleSolveError


def relative(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


def chain_system(seed):
    chain = random_chain(6, seed)
    moving = random_motion(chain, seed)
    rng = np.random.default_rng(seed)
    push = [Wrench("hand", *(30.0 * rng.normal(size=(2, len(moving.time), 3))))]
    return chain, moving, push


def test_natural_partner_of_the_human(model, motion):
    """C E = 1 in natural coordinates, with E free of the mass matrix."""
    few = motion.q[:3]
    constraint = model.constraints.jacobian(few).reshape(3, 97, 141)
    product = constraint @ natural_partner(constraint)
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(97), product.shape), atol=1e-12)


def test_natural_multipliers_agree_by_three_routes(model, motion, wrenches):
    """(2.10), (2.11) and [Phi_q^T Gamma^T] {lambda; f} on the 44-degree-of-freedom human."""
    projected = natural_multipliers(model, motion, wrenches)
    assert relative(natural_multipliers_classical(model, motion, wrenches), projected) < 1e-9
    assert relative(actuated_moments(model, motion, wrenches).constraint, projected) < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_natural_multipliers_of_random_chains(seed):
    chain, moving, push = chain_system(seed)
    projected = natural_multipliers(chain, moving, push)
    # The classical formula inverts M twice over; massless links of random chains leave it seven digits at worst.
    assert relative(natural_multipliers_classical(chain, moving, push), projected) < 1e-8
    assert relative(actuated_moments(chain, moving, push).constraint, projected) < 1e-10


def massless(chain, body):
    mass = chain.mass.mass.copy()
    inertia = chain.mass.inertia.copy()
    mass[chain.body(body)], inertia[chain.body(body)] = 0.0, 0.0
    return Model(chain.topology, chain.standing, replace(chain.mass, mass=mass, inertia=inertia))


def test_a_singular_mass_matrix_is_named_and_not_needed():
    chain = massless(random_chain(5, 1), "hand")
    moving = random_motion(chain, 1)
    size = (len(moving.time), 3)
    push = [Wrench("hand", np.ones(size), np.ones(size))]
    assert np.isfinite(natural_multipliers(chain, moving, push)).all()
    with refused(None, "end", "last", error=MuscleSolveError):
        natural_multipliers_classical(chain, moving, push)


def test_redundant_rows_have_no_partner(model, motion):
    expanded = expand(model)
    constraint = expanded.constraints.jacobian(expanded.motion(motion.frames(slice(0, 1))).q)
    with refused(None, "C E = 1", error=MuscleSolveError):
        natural_partner(constraint.reshape(1, constraint.shape[1], -1))
