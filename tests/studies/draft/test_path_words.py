"""Subjects, groups, sessions and conditions by the words of paths."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from musclesolve.laboratory.draft.study_trials import Role, in_order, roles, words_of


def found(*lines: str, sources: list[str] | None = None) -> None:
    """Each line: a path, and what it should mean as subject/group/session/condition."""
    pairs = [line.split(" -> ") for line in lines]
    named = roles([tuple(path.split("/")) for path, _ in pairs], sources or [])
    for role, (path, meaning) in zip(named, pairs, strict=True):
        assert replace(role, doubt="") == Role(*meaning.split("/")), path


def test_folders_of_subjects_and_conditions() -> None:
    found(
        "S01/slow/walk1 -> S01///slow",
        "S01/slow/walk2 -> S01///slow",
        "S01/fast/walk1 -> S01///fast",
        "S02/slow/walk1 -> S02///slow",
    )
    found("slow/S01/w1 -> S01///slow", "slow/S02/w1 -> S02///slow", "fast/S01/w1 -> S01///fast")


def test_footwear_and_devices_are_no_persons() -> None:
    for one, other in (("barefoot", "shod"), ("unassisted", "assisted"), ("slow", "fast")):
        found(f"{one}/trial1/walk -> S1///{one}", f"{other}/trial2/walk -> S1///{other}")
        found(f"{one}/walk -> S1///{one}", f"{other}/walk -> S1///{other}")
        found(f"anna/{one}/walk -> anna///{one}", f"anna/{other}/walk -> anna///{other}")
        found(f"anna/{one}/walk -> anna///{one}", f"bob/{other}/walk -> bob///{other}")
    assert in_order({"shod", "barefoot"}) == ["barefoot", "shod"]


def test_no_belongs_to_the_word_behind_it() -> None:
    for one in ("no_exo", "NoExo", "no exo"):
        condition = one if "_" in one else one.replace(" ", "_").replace("NoE", "No_E")
        found(f"S1/{one}/w1 -> S1///{condition}", "S1/exo/w1 -> S1///exo", f"S2/{one}/w1 -> S2///{condition}")
    found("no_exo/w1 -> S1///no_exo", "exo/w1 -> S1///exo")
    assert in_order({"exo", "no_exo"}) == ["no_exo", "exo"]


def test_groups_part_the_subjects() -> None:
    found(
        "control/P03/walk_01 -> control_P03/control//",
        "control/P04/walk_01 -> P04/control//",
        "patient/P03/walk_01 -> patient_P03/patient//",
        "patient/P05/walk_02 -> P05/patient//",
    )
    found(
        "healthy/anna/w1 -> anna/healthy//",
        "healthy/bob/w1 -> bob/healthy//",
        "stroke/carl/w1 -> carl/stroke//",
    )
    found(
        "controls/slow/S1_1 -> S1/controls//slow",
        "controls/fast/S1_1 -> S1/controls//fast",
        "patients/slow/S2_1 -> S2/patients//slow",
        "patients/fast/S2_1 -> S2/patients//fast",
    )


def test_each_of_several_sources_names_its_subjects_in_its_own_way() -> None:
    """Beside many models in folders of one person each, the persons p1 and p3 of recordings stay two."""
    paths = [("models", "IK", f"walk{k}") for k in range(8)]
    paths += [("walks", "p1", "walk"), ("walks", "p3", "walk")]
    named = [role.subject for role in roles(paths, several=True)]
    assert named[-2:] == ["p1", "p3"] and len(set(named)) == 3


def subjects_of(persons: dict[str, str]) -> list[str]:
    """The subjects of trials below several sources; persons: path -> the name that its file states."""
    paths = [tuple(path.split("/")) for path in persons]
    return [role.subject for role in roles(paths, several=True, persons=list(persons.values()))]


def test_one_folder_name_in_two_sources_is_of_two_people_unless_files_name_the_same_person() -> None:
    assert subjects_of({"L1/S01/walk": "", "L2/S01/walk": "", "L2/S02/walk": ""}) == [
        "L1_S01",
        "L2_S01",
        "S02",
    ]
    assert subjects_of({"L1/S01/walk": "p1", "L2/S01/walk": "p3"}) == ["p1", "p3"]
    assert subjects_of({"L1/S01/walk": "p1", "L2/S01/walk": "p1"}) == ["S01", "S01"]
    assert subjects_of({"L1/S01/walk": "p1", "L2/S07/walk": "p1", "L2/S08/walk": ""}) == ["p1", "p1", "S08"]
    (first, second) = roles([("X", "S01", "walk"), ("Y", "p1", "walk")], several=True, persons=["p1", ""])
    assert (first.subject, second.subject) == ("S01", "Y_p1") and second.doubt.startswith(
        "p1 stands in X and Y"
    )
    # a recording beside the trial file is of its person; that of another source is not
    stated = {"X/S01/walk1": "", "Y/S01/walk": "p3", "Y/S01/walk2": ""}
    assert subjects_of(stated) == ["X_S01", "p3", "p3"]
    # a name that was taken from a folder of a condition is no person
    assert subjects_of({"X/S01/slow/walk": "slow", "Y/S02/slow/walk": "slow"}) == ["S01", "S02"]


def test_two_people_in_one_folder_are_told_apart_by_their_names() -> None:
    named = roles([("S01", "a"), ("S01", "b"), ("S02", "a")], persons=["p1", "p3", ""])
    assert [role.subject for role in named] == ["p1", "p3", "S02"]


def test_one_name_in_two_groups_is_doubted() -> None:
    paths = [("control", "P1", "w"), ("patient", "P1", "w"), ("patient", "P2", "w")]
    assert [role.doubt.partition(":")[0] for role in roles(paths)] == [
        "P1 stands in control and patient"
    ] * 2 + [""]


def test_everything_in_the_name() -> None:
    found(
        "subject01_walk_fast_02 -> subject01///fast",
        "subject01_walk_slow_01 -> subject01///slow",
        "subject02_walk_fast_01 -> subject02///fast",
    )
    found("S01_pre_walk1 -> S01///pre", "S01_post_walk1 -> S01///post", "S02_pre_walk1 -> S02///pre")
    found("S01/walk -> S01///walk", "S01/walk_fast -> S01///fast", "S02/walk -> S02///walk")


def test_names_beside_the_code_of_a_subject_are_no_conditions() -> None:
    found(
        "control/S01 Grün/slow/walk Grün 1 -> S01/control//slow",
        "control/S01 Grün/fast/walk Grün 1 -> S01/control//fast",
        "control/S02 de Wit/slow/walk 1 -> S02/control//slow",
        "patients/S03 Grün/slow/walk 1 -> S03/patients//slow",
        "patients/S04 Öz/fast/walk 1 -> S04/patients//fast",
    )
    found("S01_slow/w1 -> S01///slow", "S02_fast/w1 -> S02///fast")  # words for conditions are no names
    found("S01_a/w1 -> S01///a", "S01_b/w1 -> S01///b", "S02_a/w1 -> S02///a", "S02_b/w1 -> S02///b")
    found(*(f"S0{k}_{'ab'[k > 2]}/w1 -> S0{k}///{'ab'[k > 2]}" for k in (1, 2, 3, 4)))


def test_a_date_beside_a_name_is_a_session_of_the_person() -> None:
    found(
        "2024-03-05 Müller, Änne/barefoot/walk1 -> Müller, Änne//2024-03-05/barefoot",
        "2024-04-07 Müller, Änne/shod/walk1 -> Müller, Änne//2024-04-07/shod",
        "2024-03-06 Weiß, Eva/barefoot/walk1 -> Weiß, Eva//2024-03-06/barefoot",
    )
    found("Anna_20240305/slow/walk1 -> Anna///slow", "Bob_20240306/fast/walk1 -> Bob///fast")
    found("2024-03-05/slow/walk1 -> 2024-03-05///slow", "2024-03-06/fast/walk1 -> 2024-03-06///fast")


def test_folders_of_days_below_a_person_are_sessions() -> None:
    found("anna/2023-01-10/w1 -> anna//2023-01-10/", "anna/2023-06-20/w1 -> anna//2023-06-20/")
    found("anna/day1/walk -> anna//day1/", "anna/day2/walk -> anna//day2/")


def test_sessions_have_a_number() -> None:
    found(
        "sub-01/ses-1/walk_run-1 -> sub-01//ses1/",
        "sub-01/ses-2/walk_run-1 -> sub-01//ses2/",
        "sub-02/ses-1/walk_run-1 -> sub-02//ses1/",
    )


def test_numbers_that_do_not_count_are_conditions() -> None:
    found(
        "subject01/run200 -> subject01///run200",
        "subject01/run300 -> subject01///run300",
        "subject02/run200 -> subject02///run200",
    )
    found("S1/walk_1.25_1 -> S1///walk1.25", "S1/walk_0.75_1 -> S1///walk0.75")


def test_names_of_people_and_of_services() -> None:
    found("anna/slow1 -> anna///slow", "anna/fast1 -> anna///fast", "bob/slow1 -> bob///slow")
    found(
        "a/opencap/DJ1 -> a///DJ",
        "a/opencap/walking2 -> a///walking",
        "b/opencap/walking1_segment_0 -> b///walking",
        sources=["a/opencap", "a/opencap", "b/opencap"],
    )
    found("anna/T1/slow -> anna///slow", "anna/T2/fast -> anna///fast", "bob/T1/slow -> bob///slow")
    found("AB1/walk -> AB1///", "AB2/walk -> AB2///", "AB3/walk2 -> AB3///")
    found("walk1 -> S1///walk", "walk2 -> S1///walk", "run1 -> S1///run")


def test_one_trial_and_none() -> None:
    assert roles([]) == []
    found("walk -> S1///")


def test_order_begins_with_what_others_are_compared_with() -> None:
    assert in_order({"patients", "controls"}) == ["controls", "patients"]
    assert in_order({"fast", "slow", "normal"}) == ["slow", "normal", "fast"]
    assert in_order({"run400", "run50", "run200"}) == ["run50", "run200", "run400"]
    assert in_order({"post", "pre"}) == ["pre", "post"]


@pytest.mark.parametrize(
    ("level", "words"),
    [
        ("walk_02", ["walk02"]), ("slowWalk3", ["slow", "Walk3"]), ("P03", ["P03"]), ("02", ["02"]), ("__", []),
        ("sub-01_ses-2", ["sub01", "ses2"]), ("walk 1.25 m", ["walk1.25", "m"]),
    ],
)  # fmt: skip
def test_words(level: str, words: list[str]) -> None:
    assert [word.text for word in words_of(level)] == words


LEVELS = st.lists(st.text("abS01_- .Ä/", min_size=1, max_size=8), min_size=1, max_size=4).map(tuple)


@given(st.lists(LEVELS, max_size=6))
def test_any_names_have_a_subject(paths: list[tuple[str, ...]]) -> None:
    assert all(role.subject for role in roles(paths))
