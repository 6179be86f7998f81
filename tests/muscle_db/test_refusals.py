"""A wrong file is refused with file, line, field and reason; no file leads to any other error."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from thorough import examples

import muscle_db
from muscle_db import MuscleDatabaseError

GOOD = """\
# [[muscle]] in a comment is not a muscle
name = "mine"
source = "measured # by hand"
[reference]
stature = 1.8
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
  { frame = "tibia", position = [0.0, 0.0, -0.15] },  # a remark with { and =
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
  { frame = "femur", position = [0.04, -0.02, -0.43], active = { dof = "knee_flexion", from_deg = 69, to_deg = 150 } },
  { frame = "tibia", position = [0.04, 0.00, -0.08] },
]
[[muscle.deviation]]
field = "tendon_slack_length"
printed = 0.157
reason = "longer"
[[muscle.deviation]]
field = "active"
point = 2
printed = "always"
reason = "folds back"
"""

# What is replaced, by what, the line at fault, and what the message has to say.
VASTUS = "muscle 2 (vastus)"
REFUSALS = [
    ("= 0.084", "= -0.084", 35, [f"{VASTUS}, optimal_fiber_length", "-0.084 is out of range", "above 0"]),
    ("= 0.084", "= 84.0", 35, [f"{VASTUS}, optimal_fiber_length", "out of range", "below 2 m"]),
    ("= 0.084", "= nan", 35, [f"{VASTUS}, optimal_fiber_length", "nan is not finite"]),
    ("= 0.084", "= true", 35, [f"{VASTUS}, optimal_fiber_length", "true or false", "a number"]),
    ("= 0.084", '= "0.084"', 35, [f"{VASTUS}, optimal_fiber_length", "'0.084' is a text", "a number"]),
    ("slack_length = 0.25", "slack_length = -0.25", 36, [f"{VASTUS}, tendon_slack_length", "from 0"]),
    ("= 1871", "= 0", 33, [f"{VASTUS}, max_isometric_force", "above 0 N"]),
    ("= 1871", "= -inf", 33, [f"{VASTUS}, max_isometric_force", "not finite"]),
    ("= 1871", "= " + "9" * 400, 33, [f"{VASTUS}, max_isometric_force", "not finite"]),
    ("pennation_deg = 5", "pennation_deg = 90", 34, [f"{VASTUS}, pennation_deg", "below 90 deg"]),
    ("velocity = 12", "velocity = 0", 37, [f"{VASTUS}, max_shortening_velocity", "above 0"]),
    ('"femur", position = [0.04', '"thigh", position = [0.04', 40, [f"{VASTUS}, point 2, frame", '"thigh"', "femur"]),
    ('"femur", position = [0.04', '"femurr", position = [0.04', 40, ["point 2, frame", "did you mean 'femur'?"]),
    ("[0.04, -0.02, -0.43]", "[0.04, -0.02]", 40, [f"{VASTUS}, point 2, position", "a list of 2", "three numbers"]),
    ("[0.04, -0.02, -0.43]", "[40, -20, -430]", 40, [f"{VASTUS}, point 2, position", "below 2 m"]),
    ("[0.04, -0.02, -0.43]", "[0.04, -0.02, inf]", 40, [f"{VASTUS}, point 2, position", "not finite"]),
    ("[0.04, 0.00, -0.08]", "0.04", 41, [f"{VASTUS}, point 3, position", "0.04 is a number"]),
    ('"knee_flexion", from_deg = 69, to_deg = 150 } },', '"knee", from_deg = 69, to_deg = 150 } },', 40,
     [f"{VASTUS}, point 2, active, dof", 'unknown dof "knee"', "knee_flexion"]),
    ("from_deg = 69, to_deg = 150 } },", "from_deg = 150, to_deg = 69 } },", 40,
     [f"{VASTUS}, point 2, active, to_deg", "from 150 to 69 deg"]),
    ("from_deg = 69, to_deg = 150 } },", "from_deg = 69 } },", 40, ["active, to_deg", 'missing key "to_deg"']),
    ('{ frame = "tibia", position = [0.04, 0.00, -0.08] }', '{ frame = "tibia" }', 41,
     [f"{VASTUS}, point 3, position", 'missing key "position"']),
    ("[0.04, 0.00, -0.08] }", '[0.04, 0.00, -0.08], active = { dof = "knee_flexion", from_deg = 1, to_deg = 2 } }', 41,
     [f"{VASTUS}, point 3, active", "origin and insertion"]),
    ('{ frame = "foot", position = [-0.04, 0.0, -0.01] }', '{ frame = "tibia", position = [0.0, 0.0, -0.15] }', 26,
     ["muscle 1 (soleus), point 2, position", "equals the one before"]),
    ('  { frame = "foot", position = [-0.04, 0.0, -0.01] },\n', "", 24,
     ["muscle 1 (soleus), path", "has 1 point(s)", "at least two"]),
    ('name = "vastus"\n', "", 29, ["muscle 2, name", 'missing key "name"']),
    ('short_name = "vas"\n', "", 29, [f"{VASTUS}, short_name", 'missing key "short_name"']),
    ("optimal_fiber_length = 0.084", "optimal_fibre_length = 0.084", 35,
     [f"{VASTUS}, optimal_fibre_length", "unknown key", "did you mean 'optimal_fiber_length'?"]),
    ('short_name = "vas"', 'short_name = "sol"', 31, [f"{VASTUS}, short_name", '"sol" already names muscle 1']),
    ('"vastus"', '"soleus"', 30, ["muscle 2 (soleus), name", '"soleus" already names muscle 1']),
    ('"vastus"', '"Vastus lateralis"', 30, ["name", "not a name", "lower snake case"]),
    ('"vastus"', '"vastus_r"', 30, ["name", "ends in a side", "sides are added later"]),
    ('"vastus"', '""', 30, ["muscle 2, name", "the text is empty"]),
    ('group = "thigh"', "group = 3", 32, [f"{VASTUS}, group", "3 is a number", "a text in quotes"]),
    ("printed = 0.157\n", "", 43, [f"{VASTUS}, deviation 1, printed", 'missing key "printed"']),
    ("point = 2", "point = 4", 49, [f"{VASTUS}, deviation 2, point", "no point 4", "1 to 3"]),
    ("point = 2", "point = 2.5", 49, [f"{VASTUS}, deviation 2, point", "a whole number"]),
    ('field = "active"', 'field = "passive"', 48, [f"{VASTUS}, deviation 2, field", '"passive"']),
    ("hip_width = 0.16\n", "", 4, ["reference, hip_width", 'missing key "hip_width"']),
    ("stature = 1.8", "stature = 1.8\npelvis_depth = 0", 6, ["reference, pelvis_depth", "above 0"]),
    ("shank_length = 0.4", "shank_length = -1", 7, ["reference, shank_length", "above 0"]),
    ("tibia = 1", "tibia = 0", 13, ["reference.position_scale, tibia", "above 0"]),
    ("foot = 1", "feet = 1", 14, ["reference.position_scale, feet", "unknown key"]),
    ('source = "measured # by hand"', "", 1, ["source", 'missing key "source"']),
    ('name = "mine"', 'name = "mine"\nnotes = "x"', 3, ["notes", "unknown key"]),
    ('name = "mine"', 'name = "mine', 2, ["not valid TOML"]),
    ("point = 2", "point = 2\npoint = 3", 50, ["not valid TOML", "overwrite"]),
    ("path = [\n  { frame = \"tibia\"", "path = {\n  { frame = \"tibia\"", 24, ["not valid TOML"]),
]  # fmt: skip


def save(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_good_file_is_good(tmp_path: Path) -> None:
    database = muscle_db.load(save(tmp_path, GOOD))
    assert [muscle.short_name for muscle in database] == ["sol", "vas"]
    assert dict(database.groups) == {"calf": "", "thigh": ""}
    assert [muscle.max_shortening_velocity for muscle in database] == [10.0, 12.0]
    assert database["vas"].printed().tendon_slack_length == 0.157
    assert muscle_db.load(str(save(tmp_path, "\ufeff" + GOOD))) == database  # as some editors save it


@pytest.mark.parametrize(
    ("old", "new", "line", "says"), REFUSALS, ids=[f"{line}-{new[:30]}" for _, new, line, _ in REFUSALS]
)
def test_refusal(tmp_path: Path, old: str, new: str, line: int, says: list[str]) -> None:
    assert GOOD.count(old) == 1, "the fault has to be the only one"
    path = save(tmp_path, GOOD.replace(old, new))
    with pytest.raises(MuscleDatabaseError) as caught:
        muscle_db.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}")
    assert caught.value.line == line
    assert [part for part in says if part not in message] == []


def test_no_muscle(tmp_path: Path) -> None:
    for text in (GOOD[: GOOD.index("\n[[muscle]]")], "muscle = []\n" + GOOD[: GOOD.index("\n[[muscle]]")]):
        with refused("bad_muscle_set", "muscle", error=MuscleDatabaseError):
            muscle_db.load(save(tmp_path, text))


def test_group_outside_the_list(tmp_path: Path) -> None:
    text = GOOD.replace("[reference]", '[groups]\ncalf = ""\nthighs = ""\n[reference]', 1)
    with refused("bad_muscle_set", "35", "thighs", error=MuscleDatabaseError):
        muscle_db.load(save(tmp_path, text))


def test_line_of_a_point_under_its_own_header(tmp_path: Path) -> None:
    tibia = '[[muscle.path]]\nframe = "tibia"\nposition = [0, 0, -0.1]\n'
    points = tibia + '[[muscle.path]]\nframe = "shoe"\nposition = [0, 0, 0]\n'
    start, stop = GOOD.index("path = ["), GOOD.index(']\n\n[[muscle]]\nname = "vastus"') + 2
    text = GOOD[:start] + points + GOOD[stop:]
    with refused("bad_muscle_set", "28", "1", "shoe", error=MuscleDatabaseError):
        muscle_db.load(save(tmp_path, text))


def test_line_in_the_bundled_file(tmp_path: Path) -> None:
    """The 34th of 43 muscles, after many conditional points and deviations."""
    text = (Path(muscle_db.__file__).parent / "silva_2003.toml").read_text(encoding="utf-8")
    lines = text.split("\n")
    start = lines.index('name = "soleus"')
    line = next(k for k in range(start, len(lines)) if lines[k].startswith("tendon_slack_length"))
    lines[line] = "tendon_slack_length = -0.268"
    where = f"line {line + 1}, muscle 34 (soleus), tendon_slack_length"
    with refused("bad_muscle_set", where, error=MuscleDatabaseError):
        muscle_db.load(save(tmp_path, "\n".join(lines)))


PIECES = st.sampled_from(
    [
        "",
        "nan",
        "-1",
        "true",
        '"x"',
        "[]",
        "{}",
        "[[1]]",
        "1979-05-27",
        "=",
        "#",
        "\n",
        '"',
        "[muscle]",
        "9" * 5000,
    ]
)


@settings(max_examples=examples(150), derandomize=True)
@given(data=st.data())
def test_any_damage_is_refused_properly_or_harmless(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    start = data.draw(st.integers(0, len(GOOD)))
    stop = data.draw(st.integers(start, min(start + 40, len(GOOD))))
    values = [k for k in range(len(GOOD)) if GOOD.startswith("= ", k)]
    if data.draw(st.booleans()):  # a whole value, so that the file stays TOML more often
        start = data.draw(st.sampled_from(values)) + 2
        stop = GOOD.index("\n", start)
    text = GOOD[:start] + data.draw(PIECES) + GOOD[stop:]
    try:
        database = muscle_db.load(save(tmp_path_factory.getbasetemp(), text))
    except MuscleDatabaseError as fault:
        assert fault.line is not None and 1 <= fault.line <= text.count("\n") + 1
    else:
        assert all(len(muscle.path) >= 2 for muscle in database)
