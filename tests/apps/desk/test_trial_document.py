"""The trial file on the desk: comments stay, suggestions are taken, and what is on disk counts."""

from __future__ import annotations

from pathlib import Path

import pytest
from refusals import refused

from musclesolve.apps.desk.trial_document import TrialDocument, change_title, change_words, now_words

DRAFT = """\
# Drafted.

[subject]
name = "s1"                     # the folder
# TODO: enter the body mass: no file states it, and there is one way
# only to measure it
# mass_kg = 82.8                        # a guess
# TODO: enter the sex
# sex =
# TODO: check the name
shoe_mass_kg = 0.3

# TODO: check the side
[emg]
file = "emg.sto"

[[force]]
side = "r"                      # by its contacts
"""


@pytest.fixture
def document(tmp_path):
    path = tmp_path / "trial.toml"
    path.write_text(DRAFT, encoding="utf-8")
    return TrialDocument(path)


def test_what_a_draft_leaves_open_is_listed(document):
    opens = [(each.table, each.key, each.value) for each in document.opens]
    assert opens == [
        ("subject", "mass_kg", 82.8),
        ("subject", "sex", None),
        ("subject", "shoe_mass_kg", None),
        ("emg", None, None),
    ]
    assert document.opens[0].why.endswith("only to measure it")


def test_a_stated_value_replaces_the_suggestion_and_all_else_stays(document):
    document.state(("subject", "mass_kg"), 80.0)
    expected = DRAFT.replace(
        "# TODO: enter the body mass: no file states it, and there is one way\n# only to measure it\n"
        "# mass_kg = 82.8                        # a guess\n",
        "mass_kg = 80.0\n",
    )
    assert document.text == expected == document.path.read_text(encoding="utf-8")
    assert document.value("subject", "mass_kg") == 80.0
    document.state(("subject", "sex"), "male")
    assert "# sex" not in document.text and document.value("subject", "sex") == "male"
    document.state(("subject", "mass_kg"), None)
    assert document.value("subject", "mass_kg") is None
    assert "# by its contacts" in document.text and "# the folder" in document.text


def test_a_value_that_is_stated_anew_is_no_longer_to_be_confirmed(document):
    asks = "# TODO: confirm the body mass: no file states it,\n# the plates carry it\n"
    document.write(f"[subject]\n{asks}mass_kg = 84.8 # 84.8 +- 1.0\n")
    asked = document.asked(("subject", "mass_kg"))
    assert asked is not None and asked.why.endswith("the plates carry it")
    document.state(("subject", "mass_kg"), 80.0)
    assert document.opens == [] and document.value("subject", "mass_kg") == 80.0
    gone = document.text
    document.decided(asked)
    assert document.text == gone
    document.undo()
    document.write(f"# its lines have moved\n{document.text}")
    document.decided(asked)
    assert document.opens == [] and document.value("subject", "mass_kg") == 84.8


def test_values_of_lists_of_tables_and_new_tables(document):
    document.state(("force", 0, "side"), "l")
    document.state(("force", 1, "side"), "r")
    document.state(("filter", "cutoff_hz"), 6.0)
    assert [table["side"] for table in document.content["force"]] == ["l", "r"]
    assert document.value("filter", "cutoff_hz") == 6.0 and document.value("filter", "order") is None
    assert document.value("force", 7, "side") is None
    document.state(("force",), None)
    assert "force" not in document.content
    document.state(("nothing", "there"), None)
    assert "nothing" not in document.content


def test_a_todo_is_done_and_changes_are_taken_back(document):
    last = document.opens[-1]
    document.decided(last)
    assert "check the side" not in document.text and "[emg]" in document.text
    assert document.to_undo is not None
    document.undo()
    assert document.text == DRAFT == document.path.read_text(encoding="utf-8")
    assert document.to_undo is None


def test_what_is_stated_replaces_a_table_that_a_draft_left_open(document):
    left_open = """\
# TODO: enter the side of every channel: the names state none, and
# no muscle of the stance shows it
# [emg]
# file = "emg.csv"                      # 2 channels
# processed = false

# [emg.channels]
# SOL = "soleus_r"
# TA = "tibialis_anterior_r"

# What follows stays.
[filter]
cutoff_hz = 6.0
"""
    document.write(left_open)
    document.state_all({("emg", "file"): "emg.csv", ("emg", "channels", "SOL"): "soleus_l"})
    assert document.content == {
        "filter": {"cutoff_hz": 6.0},
        "emg": {"file": "emg.csv", "channels": {"SOL": "soleus_l"}},
    }
    assert (
        "# What follows stays." in document.text and "TODO" not in document.text and "_r" not in document.text
    )
    document.undo()
    assert document.text == left_open


def test_what_is_no_toml_is_refused_and_nothing_changes(document):
    with refused("bad_format", "trial.toml"):
        document.write("[subject\n")
    assert document.path.read_text(encoding="utf-8") == document.text == DRAFT


def test_a_change_by_another_program_is_read_and_not_overwritten(document):
    other = DRAFT.replace('"s1"', '"s2"')
    document.path.write_text(other, encoding="utf-8")
    with refused("conflict"):
        document.state(("subject", "mass_kg"), 80.0)
    assert document.path.read_text(encoding="utf-8") == document.text == other
    document.state(("subject", "mass_kg"), 80.0)
    assert document.value("subject", "name") == "s2"


def test_a_file_that_is_no_toml_is_shown_and_can_be_mended(tmp_path):
    path = tmp_path / "trial.toml"
    path.write_text("[subject\n", encoding="utf-8")
    document = TrialDocument(path)
    assert document.fault and document.content == {}
    with refused("bad_format"):
        document.state(("subject", "mass_kg"), 80.0)
    document.write("[subject]\n")
    assert not document.fault


def test_a_missing_file_is_refused(tmp_path):
    with refused("unreadable_file", "none.toml"):
        TrialDocument(tmp_path / "none.toml")


def test_a_new_table_does_not_stand_below_the_comment_of_the_next(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    head, tail = (
        '[[exchanged]]\nmarkers = { A = "B" }\n',
        '\n# how forces are shared\n[sharing]\ncost = "cubic"\n',
    )
    path.write_text(head + tail)
    document = TrialDocument(path)
    change = ((("exchanged", 0, "markers"), {"C": "D"}), (("exchanged", 0, "times_s"), [[0.5, 0.7]]))
    document.state_all(document.after_check(change))
    added = '\n[[exchanged]]\nmarkers = { C = "D" }\ntimes_s = [[0.5, 0.7]]\n'
    assert path.read_text() == head + added + tail


def test_a_table_that_stands_is_changed_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    path.write_text('[[exchanged]]\nmarkers = { A = "B" }\n')
    document = TrialDocument(path)
    document.state(("exchanged", 0, "markers"), {"A": "C"})
    assert path.read_text() == '[[exchanged]]\nmarkers = { A = "C" }\n'


def test_changes_are_in_the_words_of_their_fields():
    place = ("subject", "mass_kg")
    assert change_words(place, 70, 57.6) == "“Subject: Mass [kg]” from 70 to 57.6"
    assert now_words(place, None) == "“Subject: Mass [kg]” is not stated now"
    assert change_title([(place, 57.6)]) == "Take “Subject: Mass [kg]” as 57.6"
    assert now_words(("trials", "S01", "condition"), "fast") == '“Condition” of S01 is "fast" now'
