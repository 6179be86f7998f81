"""Cycles in units that persons share: the numbers by hand, laws of scaling, and what is not known."""

from __future__ import annotations

import numpy as np
import pytest
from refusals import refused
from stored_results import write_result
from synthetic_result import MASS, WEIGHT, few_muscles, result

import musclesolve as ms
from musclesolve import read_result
from musclesolve.laboratory import normalized
from musclesolve.laboratory.results.cycles.cycle_averages import average_results
from musclesolve.laboratory.results.cycles.normalization import chosen_units


def data(mass: float = MASS, name: str = "S01"):
    """A person of whom forces, moments and powers grow with the mass."""
    found = few_muscles(result(251))
    for variable in (
        "joint_moment",
        "joint_power",
        "ground_reaction_force",
        "muscle_force",
        "max_isometric_force",
    ):
        found[variable] = found[variable] * (mass / MASS)
    for variable, unit in (
        ("joint_moment", "N m"),
        ("muscle_force", "N"),
        ("activation", "1"),
        ("joint_angle", "rad"),
    ):
        found[variable].attrs["units"] = unit
    found.attrs |= {"subject": name, "subject_mass_kg": mass, "cost": "stress_cubed"}
    return found


def cycles(mass: float = MASS):
    return ms.laboratory.cycles(data(mass), "r", without_side=True)


def test_each_quantity_is_divided_by_what_its_unit_says():
    plain, found = cycles(), normalized(cycles())
    for name, divisor, unit in (
        ("joint_moment", MASS, "N m/kg"),
        ("joint_power", MASS, "W/kg"),
        ("ground_reaction_force", WEIGHT, "BW"),
        ("joint_angle", 1.0, "rad"),
    ):
        np.testing.assert_allclose(found[name], plain[name] / divisor)
        assert found[name].dims == plain[name].dims and found[name].attrs.get("units", "rad") == unit
    np.testing.assert_allclose(found["muscle_force"], 100.0 * plain["activation"])  # of this result
    assert found["muscle_force"].attrs["units"] == "%"
    assert "moment: N m/kg" in found.attrs["units"] and "muscle_force: %" in found.attrs["units"]


def test_stature_degrees_and_newtons():
    tall = cycles()
    tall.attrs["subject_stature_m"] = 1.75
    units = {"moment": "N m/(kg m)", "force": "N/kg", "muscle_force": "BW", "angle": "deg", "power": "W"}
    found = normalized(tall, units)
    np.testing.assert_allclose(found["joint_moment"], tall["joint_moment"] / (MASS * 1.75))
    np.testing.assert_allclose(found["ground_reaction_force"], tall["ground_reaction_force"] / MASS)
    np.testing.assert_allclose(found["muscle_force"], tall["muscle_force"] / WEIGHT)
    np.testing.assert_allclose(found["joint_angle"], np.degrees(tall["joint_angle"]))
    np.testing.assert_allclose(found["joint_power"], tall["joint_power"])


def test_what_grows_with_the_body_is_the_same_for_all():
    child, adult = (normalized(cycles(mass)) for mass in (25.0, 80.0))
    for name in ("joint_moment", "joint_power", "ground_reaction_force", "muscle_force"):
        np.testing.assert_allclose(child[name], adult[name], rtol=1e-12, atol=1e-12)


def test_the_same_units_again_change_nothing_and_others_are_refused():
    once = normalized(cycles())
    np.testing.assert_array_equal(normalized(once)["joint_moment"], once["joint_moment"])
    with refused("not_comparable", "N m/kg"):
        normalized(once, {"moment": "N m/(kg m)"})


def test_what_is_not_known_is_named_with_a_remedy_that_works():
    with refused("missing_key", "stature"):
        normalized(cycles(), {"moment": "N m/(kg m)"})
    normalized(cycles(), {"moment": "N m/kg"})
    nobody = cycles()
    del nobody.attrs["subject_mass_kg"]
    with refused("missing_key", "mass"):
        normalized(nobody)
    normalized(nobody, {"moment": "N m", "force": "N", "power": "W", "energy": "J"})
    with refused("missing_key", "max_isometric_force"):
        normalized(cycles().drop_vars("max_isometric_force"))
    for units in ({"moments": "N m"}, {"moment": "Nm"}, {"moment": None}):
        with refused("unknown_name"):
            chosen_units(units)


@pytest.fixture
def files(tmp_path):
    paths = []
    for number, mass in enumerate((25.0, 60.0)):
        path = tmp_path / f"{number}.nc"
        write_result(data(mass, f"S{number}"), path)
        paths.append(path)
    return paths


@pytest.mark.thorough
def test_several_persons_are_averaged_in_units_that_they_share(files):
    alone = average_results(files[:1])
    together = average_results(files)
    assert alone["joint_moment"].attrs["units"] == "N m" and "units" not in alone.attrs
    assert together["joint_moment"].attrs["units"] == "N m/kg"
    np.testing.assert_allclose(together["joint_moment"], alone["joint_moment"] / 25.0, atol=1e-12)
    # the two persons are one, scaled: all cycles of a leg, whoever's, are alike
    assert float(together["joint_moment_std"].max()) < 1e-3 * float(together["joint_moment"].max())
    newton = average_results(files, units={"moment": "N m"})
    np.testing.assert_allclose(
        newton["joint_moment"], 0.5 * (25.0 + 60.0) / 25.0 * alone["joint_moment"], atol=1e-9
    )
    write_result(together, files[0].parent / "average.nc")
    assert read_result(files[0].parent / "average.nc")["muscle_force"].attrs["units"] == "%"
