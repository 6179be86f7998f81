"""Head and neck: the printed rows where they are asked for, else de Leva's head divided without changing the whole."""

import numpy as np
import pytest
from package_tables import package_table

from benchmarks.printed_inertia import printed_human, printed_table
from musclesolve.dynamics import forward_human_model, human_model, load_topology
from musclesolve.dynamics.model.segment_inertia import compose

ROWS = {row["name"]: row for row in printed_table("table_3_2")["segment"]}
BODIES = {
    "neck": "neck",
    "head": "head",
    "thorax": "upper_torso",
    "upper_arm_l": "upper_arm",
    "shank_r": "shank_foot",
}
HEIGHT = float(np.ptp(load_topology().standing_layout()[:25, 2]))


@pytest.fixture(scope="module")
def printed():
    mass = printed_table("table_3_2")["reference_mass"]
    return forward_human_model(printed_human(mass, HEIGHT))


def part(model, name):
    k = model.body(name)
    return model.mass.mass[k], model.mass.center[k], model.mass.inertia[k]


@pytest.mark.parametrize(("body", "row"), BODIES.items())
def test_the_forward_model_has_the_rows_of_table_3_2(printed, body, row):
    mass, _, inertia = part(printed, body)
    assert mass == pytest.approx(ROWS[row]["mass"], abs=2e-3)
    np.testing.assert_allclose(np.diag(inertia), ROWS[row]["principal_inertia"], rtol=6e-3)


@pytest.mark.parametrize(
    ("body", "point", "offset"),
    [("head", "head_base", [0.051, 0.0, 0.020]), ("neck", "neck_base", [0.0, 0.0, 0.061])],
)
def test_centers_of_head_and_neck_are_where_table_3_5_puts_them(printed, body, point, offset):
    place = part(printed, body)[1] - printed.standing[printed.slot(point)]
    np.testing.assert_allclose(place, offset, atol=6e-4)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_each_center_lies_in_its_own_part(sex):
    model = forward_human_model(human_model(66.0, 1.68, sex))
    low, middle, top = (
        model.standing[model.slot(name)][2] for name in ("neck_base", "head_base", "head_top")
    )
    neck, head = (part(model, name)[1][2] for name in ("neck", "head"))
    assert low < neck < middle < head < top
    assert (neck - low) / (middle - low) == pytest.approx({"female": 0.88, "male": 0.64}[sex], abs=0.01)


@pytest.mark.parametrize("sex", ["female", "male"])
def test_together_they_are_the_head_of_the_table(sex):
    row = package_table("dynamics/model/anthropometry/de_leva_1996.toml")[sex]["segment"]["head"]
    subject = human_model(66.0, 1.68, sex)
    whole = compose([part(subject, name) for name in ("neck_proximal", "neck", "head")])
    both = compose([part(forward_human_model(subject), name) for name in ("neck", "head")])
    for one, other in zip(whole, both, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert whole[0] == pytest.approx(66.0 * row["mass_fraction"], rel=1e-3)
    length = (
        row["length"] * 1.68 / package_table("dynamics/model/anthropometry/de_leva_1996.toml")[sex]["stature"]
    )
    radii = np.sqrt(np.linalg.eigvalsh(whole[2]) / whole[0]) / length
    np.testing.assert_allclose(radii, sorted(row["gyration_fraction"]), rtol=1e-9)


def test_the_forward_model_weighs_what_the_subject_weighs():
    subject = human_model(66.0, 1.68, "female")
    assert forward_human_model(subject).mass.total == pytest.approx(66.0, rel=1e-12)
    assert part(forward_human_model(subject), "neck")[0] == pytest.approx(
        0.2 * compose([part(subject, name) for name in ("neck_proximal", "neck", "head")])[0]
    )


def test_a_head_far_from_its_neck_keeps_a_possible_inertia():
    """Two parts half a meter apart would need more inertia than the table's head has."""
    offsets = {"head_base": np.array([0.1, 0.1, 0.45])}
    subject = human_model(66.0, 1.68, "female", offsets)
    plain = human_model(66.0, 1.68, "female")
    names = ("neck_proximal", "neck", "head")
    whole = compose([part(plain, name) for name in names])
    both = compose([part(forward_human_model(subject), name) for name in ("neck", "head")])
    np.testing.assert_allclose(np.linalg.eigvalsh(both[2]), np.linalg.eigvalsh(whole[2]), rtol=1e-9)
