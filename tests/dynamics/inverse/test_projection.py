"""Projection matrices of Blajer & Czaplicki (2005): what D, E and C must satisfy, and both formulas for reactions."""

from dataclasses import replace

import numpy as np
import pytest
from link_projection import absolute_system, reactions_by_projection
from natural_projection import (
    natural_multipliers,
    natural_multipliers_classical,
    natural_partner,
    reactions_classical,
)
from refusals import refused
from small_models import random_chain, random_motion

from musclesolve.dynamics import Model, Wrench, expand, projected_moments
from musclesolve.dynamics.inverse.lagrange_multipliers import actuated_moments
from musclesolve.errors import MuscleSolveError


def relative(one, other):
    return np.abs(one - other).max() / np.abs(other).max()


@pytest.fixture(scope="module")
def system(model, motion, wrenches):
    return absolute_system(model, motion, wrenches)


def chain_system(seed):
    chain = random_chain(6, seed)
    moving = random_motion(chain, seed)
    rng = np.random.default_rng(seed)
    push = [Wrench("hand", *(30.0 * rng.normal(size=(2, len(moving.time), 3))))]
    return chain, moving, push, absolute_system(chain, moving, push)


def check(system, motion):
    """C D = 0 (2.6), C E = 1 (2.7), v = D s and vd = D sd + gamma (2.4, 2.5), C gamma = xi (2.1)."""
    product = np.einsum("tclx,tlxk->tck", system.constraint, system.allowed)
    assert np.abs(product).max() < 1e-12 * np.abs(system.constraint).max() * np.abs(system.allowed).max()
    product = np.einsum("tclx,tlxd->tcd", system.constraint, system.prohibited)
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(product.shape[1]), product.shape), atol=1e-12)
    rates = np.einsum("tlxk,tk->tlx", system.allowed, motion.speed_rates)
    np.testing.assert_allclose(rates + system.gamma, system.acceleration, atol=1e-10)


def test_directions_of_the_human(system, motion):
    assert len(system.links.bodies) == 27 and len(system.links.joints) == 26
    assert system.constraint.shape[1] == 6 * 27 - 44
    check(system, motion)


@pytest.mark.parametrize("seed", range(4))
def test_directions_of_random_chains(seed):
    _, moving, _, system = chain_system(seed)
    check(system, moving)


def test_directions_span_all_motions(system):
    links = system.allowed.shape[1]
    both = np.concatenate([system.allowed[::8], system.prohibited[::8]], axis=3).reshape(6, 6 * links, -1)
    assert both.shape[1] == both.shape[2] == 162
    assert (np.linalg.matrix_rank(both) == 162).all()


def test_the_projected_equations_hold(system, model, motion, wrenches):
    """D^T (M vd - h) = 0 with the actuators in h (2.9)."""
    left = np.einsum("tlxy,tly->tlx", system.mass, system.acceleration) - system.applied
    power = np.einsum("tlxk,tlx->tk", system.allowed, left)
    assert np.abs(power).max() < 1e-11 * np.abs(projected_moments(model, motion, wrenches)).max()


def test_both_formulas_agree_on_the_human(system):
    assert relative(reactions_by_projection(system), reactions_classical(system)) < 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_both_formulas_agree_on_random_chains(seed):
    system = chain_system(seed)[3]
    assert relative(reactions_by_projection(system), reactions_classical(system)) < 1e-9


def test_reactions_close_the_equations_of_motion(system):
    """M vd = h - C^T lambda, body by body (2.2)."""
    multipliers = reactions_by_projection(system)
    left = np.einsum("tlxy,tly->tlx", system.mass, system.acceleration)
    right = system.applied - np.einsum("tclx,tc->tlx", system.constraint, multipliers)
    np.testing.assert_allclose(left, right, atol=1e-10 * np.abs(system.applied).max())


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
    chain, moving, push, _ = chain_system(seed)
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
    system = absolute_system(chain, moving, push)
    assert np.isfinite(reactions_by_projection(system)).all()
    with refused(None, "hand", error=MuscleSolveError):
        reactions_classical(system)
    assert np.isfinite(natural_multipliers(chain, moving, push)).all()
    with refused(None, "end", "last", error=MuscleSolveError):
        natural_multipliers_classical(chain, moving, push)


def test_redundant_rows_have_no_partner(model, motion):
    expanded = expand(model)
    constraint = expanded.constraints.jacobian(expanded.motion(motion.frames(slice(0, 1))).q)
    with refused(None, "C E = 1", error=MuscleSolveError):
        natural_partner(constraint.reshape(1, constraint.shape[1], -1))
