"""The strain of tendons in a set: of one muscle, of all, or the usual one; written only where it is not usual."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused

import muscle_db
from muscle_db import MuscleDatabaseError, to_toml

GOOD = """\
name = "mine"
source = "measured"
[reference]
thigh_length = 0.4
shank_length = 0.4
hip_width = 0.16
hip_center = [-0.07, -0.08, -0.06]
[reference.position_scale]
pelvis = 1
femur = 1
tibia = 1
foot = 1

[[muscle]]
name = "soleus"
short_name = "sol"
group = "calf"
max_isometric_force = 3000.0
pennation_deg = 25
optimal_fiber_length = 0.03
tendon_slack_length = 0.27
path = [
  { frame = "tibia", position = [0.0, 0.0, -0.15] },
  { frame = "foot", position = [-0.04, 0.0, -0.01] },
]

[[muscle]]
name = "vastus"
short_name = "vas"
group = "thigh"
max_isometric_force = 1871
pennation_deg = 5
optimal_fiber_length = 0.084
tendon_slack_length = 0.25
max_shortening_velocity = 12
path = [
  { frame = "femur", position = [0.01, -0.04, -0.20] },
  { frame = "tibia", position = [0.04, 0.00, -0.08] },
]
"""
OF_SET = ('source = "measured"\n', 'source = "measured"\ntendon_strain = 0.033\n')
OF_MUSCLE = ("optimal_fiber_length = 0.03\n", "optimal_fiber_length = 0.03\ntendon_strain = 0.08\n")


def save(folder: Path, *edits: tuple[str, str], text: str = GOOD) -> Path:
    for old, new in edits:
        assert text.count(old) == 1
        text = text.replace(old, new)
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((), [0.049, 0.049]),
        ((OF_MUSCLE,), [0.08, 0.049]),
        ((OF_SET,), [0.033, 0.033]),
        ((OF_SET, OF_MUSCLE), [0.08, 0.033]),
    ],
)
def test_a_muscle_before_the_set_before_the_usual_strain(tmp_path: Path, edits, expected) -> None:
    database = muscle_db.load(save(tmp_path, *edits))
    assert [muscle.tendon_strain for muscle in database] == expected
    again = muscle_db.load(save(tmp_path, text=to_toml(database)))
    assert [muscle.tendon_strain for muscle in again] == expected


def test_it_is_written_only_where_it_is_not_the_usual_one(tmp_path: Path) -> None:
    assert "tendon_strain" not in to_toml(muscle_db.load("rajagopal_2023"))
    assert to_toml(muscle_db.load("gait2392")).count("tendon_strain = 0.033\n") == 1
    own = ("optimal_fiber_length = 0.084\n", "optimal_fiber_length = 0.084\ntendon_strain = 0.08\n")
    text = to_toml(muscle_db.load(save(tmp_path, own)))
    assert text.count("tendon_strain") == 1 and text.index("tendon_strain") > text.index('name = "vastus"')


@pytest.mark.parametrize("value", ["0", "-0.05", "0.51", "nan", '"0.05"', "true"])
def test_refusals(tmp_path: Path, value: str) -> None:
    line = f"max_shortening_velocity = 12\ntendon_strain = {value}\n"
    with refused("bad_muscle_set", "muscle 2 (vastus), tendon_strain", "line 36", error=MuscleDatabaseError):
        muscle_db.load(save(tmp_path, ("max_shortening_velocity = 12\n", line)))
    with refused("bad_muscle_set", "line 3, tendon_strain", error=MuscleDatabaseError):
        muscle_db.load(save(tmp_path, (OF_SET[0], f"{OF_SET[0]}tendon_strain = {value}\n")))


def test_the_largest_strain_is_taken_and_a_deviation_of_it(tmp_path: Path) -> None:
    line = "max_shortening_velocity = 12\ntendon_strain = 0.5\n"
    record = '[[muscle.deviation]]\nfield = "tendon_strain"\nprinted = 0.033\nreason = "stretched"\n'
    path = save(tmp_path, ("max_shortening_velocity = 12\n", line))
    path.write_text(path.read_text(encoding="utf-8") + record, encoding="utf-8")
    vastus = muscle_db.load(path)["vastus"]
    assert vastus.tendon_strain == 0.5 and vastus.printed().tendon_strain == 0.033
