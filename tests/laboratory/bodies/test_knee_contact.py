"""Medial and lateral force of the knee: equilibrium, sides, lift-off, and where the spacing comes from."""

from __future__ import annotations

import numpy as np
import pytest

from musclesolve.models.knee import OF_STATURE, OF_WIDTH, ContactSpacing, compartments

RIGHT = np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])  # down, forward, medial
LEFT = RIGHT * [1.0, -1.0, 1.0]
SPACING = 0.05


def turned(axes: np.ndarray) -> np.ndarray:
    """The axes of a shank that leans, (1, 3, 3)."""
    rotation = np.linalg.qr(np.random.default_rng(3).normal(size=(3, 3)))[0]
    return (axes @ (rotation * np.linalg.det(rotation)).T)[None]


@pytest.mark.parametrize("axes", [RIGHT, LEFT], ids=["right", "left"])
@pytest.mark.parametrize(("medial", "lateral"), [(900.0, 300.0), (200.0, 700.0), (30.0, 500.0)])
def test_two_contacts_and_what_they_press_with_are_found(axes, medial, lateral):
    """Newton: forces down the shank at half the spacing to either side, and any moments about the other axes."""
    (down, forward, inward) = (axes := turned(axes))[0]
    force = (medial + lateral) * down + 40.0 * forward - 30.0 * inward
    moment = np.cross(0.5 * SPACING * inward, medial * down) + np.cross(
        -0.5 * SPACING * inward, lateral * down
    )
    moment = moment + 7.0 * inward - 4.0 * down
    *found, lifted = compartments(force[None], moment[None], axes, SPACING)
    np.testing.assert_allclose(found, [[medial], [lateral]], atol=1e-9)
    assert not lifted.any()


@pytest.mark.parametrize("axes", [RIGHT, LEFT], ids=["right", "left"])
def test_a_contact_that_would_have_to_pull_bears_nothing(axes):
    """Adduction: the medial contact bears all of the axial force, the ligaments the rest of the moment."""
    axes = turned(axes)
    down, _, inward = axes[0]
    moment = np.cross(0.5 * SPACING * inward, 900.0 * down) - np.cross(-0.5 * SPACING * inward, 100.0 * down)
    medial, lateral, lifted = compartments(800.0 * down[None], moment[None], axes, SPACING)
    assert (medial[0], lateral[0], lifted[0]) == (pytest.approx(800.0), 0.0, True)
    medial, lateral, lifted = compartments(800.0 * down[None], -moment[None], axes, SPACING)
    assert (medial[0], lateral[0], lifted[0]) == (0.0, pytest.approx(800.0), True)


def test_a_knee_that_is_pulled_apart_has_no_contact_and_an_unknown_one_is_unknown():
    force = np.array([[0.0, 0.0, 60.0], [np.nan, np.nan, np.nan]])
    medial, lateral, lifted = compartments(force, 0.0 * force, np.stack([RIGHT, RIGHT]), SPACING)
    assert medial[0] == lateral[0] == 0.0 and np.isnan([medial[1], lateral[1]]).all() and not lifted.any()


def test_the_spacing_is_a_share_of_the_breadth_as_far_as_that_is_bone():
    usual = OF_STATURE * 1.80
    assert usual == pytest.approx(0.046)
    for width, distance, origin in (
        (None, usual, "by stature"),
        (0.09, OF_WIDTH * 0.09, "by the breadth of the knee"),
        (0.15, 1.2 * usual, "by stature"),
        (0.03, 0.8 * usual, "by stature"),
    ):
        found = ContactSpacing.from_size(width=width, stature=1.80)
        assert (found.distance, found.origin) == (pytest.approx(distance), origin)
    assert ContactSpacing.from_size(0.04, width=0.09, stature=1.80) == ContactSpacing(0.04, "as stated")
    assert ContactSpacing.from_size(shank_length=0.246 * 1.80).distance == pytest.approx(usual)
    assert ContactSpacing.from_size() is None
