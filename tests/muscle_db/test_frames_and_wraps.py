"""Moving frames, moving points, wrap objects and passive strains of a set: what is read and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from refusals import refused

import muscle_db
from muscle_db import MuscleDatabaseError, standing_length

GOOD = """\
name = "mine"
source = "measured"
license = "CC BY 4.0"
curves = "millard_2013"
[reference]
stature = 1.8
thigh_length = 0.4
shank_length = 0.41
hip_width = 0.16
hip_center = [-0.07, -0.08, -0.06]
knee_center = [0.01, 0.0, -0.399875]
ankle_center = [0.0, 0.0, -0.41]
[reference.position_scale]
pelvis = 1
femur = 1
tibia = 1
foot = 1

[[frame]]
name = "patella"
body = "tibia"
dof = "knee_flexion"
poses = [ # angle; place; turn
  [-10, 0.001, 0, 0, 0, 1, 0],
  [0, 0, 0, 0, 0, 0, 0], [20, -0.003, 0, -0.001, 0, -3, 0],
  [60, -0.01, 0, -0.002, 0, -9, 0],
]

[[wrap]]
name = "condyles"
kind = "cylinder"
frame = "femur"
radius = 0.025
length = 0.1
side = "-y"
center = [0.0, 0.0, -0.41]
axes = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]

[[wrap]]
name = "egg"
kind = "ellipsoid"
frame = "patella"
radii = [0.02, 0.03, 0.04]
center = [0.04, 0.0, 0.0]
axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]

[[muscle]]
name = "vastus"
short_name = "vas"
group = "thigh"
max_isometric_force = 1871
pennation_deg = 5
optimal_fiber_length = 0.084
tendon_slack_length = 0.25
passive = { at_zero_force = -0.1, at_one_norm_force = 0.6 }
path = [
  { frame = "femur", position = [0.01, -0.04, -0.20] },
  { frame = "patella", position = [0.05, 0.0, 0.04] },
  { frame = "tibia", moving = { dof = "knee_flexion", places = [
    [0, 0.04, 0.0, -0.08],
    [30, 0.045, 0.0, -0.081],
  ] } },
]
wraps = [
  { object = "condyles" },
  { object = "egg", first = 2, last = 3, method = "midpoint" },
]
"""

# What is replaced, by what; text of the line that is named, where it is not the new one; parts of the message.
REFUSALS = [
    ('frame = "patella", position', 'frame = "kneecap", position', "", ["point 2, frame", "kneecap", "patella"]),
    ('frame = "patella"\nradii', 'frame = "shin"\nradii', 'frame = "shin"', ["wrap 2 (egg), frame", "shin"]),
    ('{ object = "condyles" }', '{ object = "egg" }', 'name = "condyles"', ["wrap 1 (condyles), name", "condyles"]),
    ('{ object = "condyles" }', '{ object = "condylus" }', "", ["wrap 1, object", "condylus", "'condyles'"]),
    ("first = 2, last = 3", "first = 3, last = 2", "", ["wrap 2, last", "3", "2"]),
    ("first = 2, last = 3", "first = 2, last = 4", "", ["wrap 2, last", "no point 4", "1 to 3"]),
    ("first = 2, last = 3", "first = 0, last = 3", "", ["wrap 2, first", "from 1"]),
    ('method = "midpoint"', 'method = "halfway"', "", ["wrap 2, method", "halfway", "hybrid"]),
    ("radius = 0.025", "radius = 0", "", ["wrap 1 (condyles), radius", "above 0"]),
    ("radius = 0.025", "radii = [1, 1, 1]", "", ["wrap 1 (condyles), radii", "unknown key"]),
    ("length = 0.1\n", "", "[[wrap]]", ["wrap 1 (condyles), length", "missing key"]),
    ("radii = [0.02, 0.03, 0.04]", "radii = [0.02, -0.03, 0.04]", "", ["wrap 2 (egg), radii", "-0.03"]),
    ('kind = "ellipsoid"', 'kind = "torus"', "", ["wrap 2 (egg), kind", "torus", "cylinder"]),
    ('side = "-y"', 'side = "y"', "", ["wrap 1 (condyles), side", '"y"', "+y"]),
    ("[[1, 0, 0], [0, 0, -1], [0, 1, 0]]", "[[1, 0, 0], [0, 0, 1], [0, 1, 0]]", "", ["axes", "no rotation"]),
    ("[[1, 0, 0], [0, 0, -1], [0, 1, 0]]", "[[1, 0, 0], [0, 0, -1]]", "", ["axes", "no rotation"]),
    ("[[1, 0, 0], [0, 0, -1], [0, 1, 0]]", "[[1, 0], [0, 0, -1], [0, 1, 0]]", "", ["axes", "row 1"]),
    ('name = "egg"', 'name = "condyles"', "", ["wrap 2 (condyles), name", "already"]),
    ('name = "patella"', 'name = "femur"', "", ["frame 1 (femur), name", "already"]),
    ('name = "patella"', 'name = "patella_r"', "", ["frame 1 (patella_r), name", "side"]),
    ('body = "tibia"', 'body = "patella"', "", ["frame 1 (patella), body", '"patella"']),
    ('body = "tibia"\ndof = "knee_flexion"', 'body = "tibia"\ndof = "knee"', 'dof = "knee"', ["(patella), dof"]),
    ("[20, -0.003", "[0, -0.003", "", ["frame 1 (patella), poses", "0 deg follows 0 deg"]),
    ("[60, -0.01, 0", "[60, 0", "", ["frame 1 (patella), poses", "row 4"]),
    ("[60, -0.01, 0", "[60, -10, 0", "", ["frame 1 (patella), poses", "row 4", "out of range"]),
    ("[60, -0.01, 0", '[60, "-0.01", 0', "", ["frame 1 (patella), poses", "row 4"]),
    ("[0, 0, 0, 0, 0, 0, 0]", "[0, 0, 0, 0.001, 0, 0, 0]", "", ["frame 1 (patella), poses", "row 2", "standing"]),
    ("  [0, 0, 0, 0, 0, 0, 0], ", "  ", "poses", ["frame 1 (patella), poses", "0 deg"]),
    ("    [0, 0.04, 0.0, -0.08],\n", "", "moving", ["point 3, moving, places", "0 deg"]),
    ("[30, 0.045", "[-30, 0.045", "", ["point 3, moving, places", "-30 deg follows 0 deg"]),
    ("[30, 0.045", "[30, 45", "", ["point 3, moving, places", "row 2"]),
    ('{ frame = "tibia", moving', '{ frame = "patella", moving', "", ["point 3, moving", '"patella"']),
    ('{ frame = "tibia", moving', '{ frame = "tibia", position = [0, 0, 0], moving', "position", ["point 3, position"]),
    ("at_zero_force = -0.1", "at_zero_force = 0.7", "", ["passive, at_one_norm_force", "0.7", "0.6"]),
    ("at_zero_force = -0.1, ", "", "passive", ["passive, at_zero_force", "missing key"]),
    ("at_one_norm_force = 0.6", "at_one_norm_force = 60", "", ["passive, at_one_norm_force", "out of range"]),
    ("knee_center = [0.01, 0.0, -0.399875]", "knee_center = [0.01, 0.0, -0.3]", "", ["knee_center", "0.4 m"]),
    ("ankle_center = [0.0, 0.0, -0.41]", "ankle_center = [0.0, -0.41]", "", ["ankle_center", "three numbers"]),
    ('curves = "millard_2013"', 'curves = "Millard 2013"', "", ["curves", "did you mean"]),
    ('license = "CC BY 4.0"', "license = 4.0", "", ["license", "a text"]),
    ('license = "CC BY 4.0"', 'licence = "CC BY 4.0"', "", ["licence", "'license'"]),
]  # fmt: skip


def save(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_read(tmp_path: Path) -> None:
    database = muscle_db.load(save(tmp_path, GOOD))
    frame, (egg, vastus) = database.frames["patella"], (database.wrap_objects["egg"], database["vas"])
    assert (frame.body, len(frame.angles)) == ("tibia", 4)
    assert frame.rotations[-1] == (0.0, math.radians(-9), 0.0)
    assert (egg.radii, egg.frame, egg.side) == ((0.02, 0.03, 0.04), "patella", "all")
    assert database.wrap_objects["condyles"].radii == (0.025, 0.025, 0.0)
    assert [(wrap.object, wrap.first, wrap.last, wrap.method) for wrap in vastus.wraps] == [
        ("condyles", None, None, "hybrid"),
        ("egg", 2, 3, "midpoint"),
    ]
    assert (vastus.passive.at_zero_force, vastus.passive.at_one_norm_force) == (-0.1, 0.6)
    assert vastus.path[2].position == vastus.path[2].moving.positions[0] == (0.04, 0.0, -0.08)
    assert (database.curves, database.license) == ("millard_2013", "CC BY 4.0")


def test_standing_length_uses_the_joint_centers(tmp_path: Path) -> None:
    """Thigh point, then points about a knee that is 1 cm in front of the line below the hip."""
    database = muscle_db.load(save(tmp_path, GOOD))
    points = [(0.01, -0.04, -0.2), (0.06, 0.0, 0.04 - 0.399875), (0.05, 0.0, -0.08 - 0.399875)]
    by_hand = math.dist(points[0], points[1]) + math.dist(points[1], points[2])
    assert standing_length(database["vas"], database.reference, frames=database.frames) == pytest.approx(
        by_hand, abs=1e-12
    )


@pytest.mark.parametrize(
    ("old", "new", "at", "parts"),
    REFUSALS,
    ids=[f"{k}-{new[:30]}" for k, (_, new, _, _) in enumerate(REFUSALS)],
)
def test_refusal(tmp_path: Path, old: str, new: str, at: str, parts: list[str]) -> None:
    assert GOOD.count(old) == 1, "the fault has to be the only one"
    text = GOOD.replace(old, new)
    with refused("bad_muscle_set", "mine.toml", *parts, error=MuscleDatabaseError) as caught:
        muscle_db.load(save(tmp_path, text))
    assert (at or new) in text.split("\n")[caught.value.line - 1]


def test_a_frame_that_carries_nothing(tmp_path: Path) -> None:
    text = GOOD.replace('frame = "patella", position', 'frame = "tibia", position')
    with refused("bad_muscle_set", "line 20", "frame 1 (patella), name", error=MuscleDatabaseError):
        muscle_db.load(save(tmp_path, text.replace('frame = "patella"\nradii', 'frame = "tibia"\nradii')))


@pytest.mark.parametrize("name", ["gait2392", "rajagopal_2023"])
def test_long_names_are_those_of_silva_2003(name: str) -> None:
    """Muscles of the same name can be compared between sets; adductor magnus has four parts in one of them."""
    known = {muscle.name for muscle in muscle_db.load("silva_2003")}
    found = {muscle.name for muscle in muscle_db.load(name)}
    assert found - known <= {"adductor_magnus_distal"}
    assert len(found & known) in (39, 43)
    assert all(muscle.origin and muscle.insertion and muscle.action for muscle in muscle_db.load(name))
