"""Values that the desk states stand in the table they belong to, in one line each, and are taken back as one change."""

from pathlib import Path

import pytest

from musclesolve.apps.desk.trial_document import TrialDocument

TEXT = """\
[mapping]
asis_r = "RASI"  # by its name

# What is below follows the clusters.
[carried]
"""


@pytest.fixture
def document(tmp_path: Path) -> TrialDocument:
    path = tmp_path / "trial.toml"
    path.write_text(TEXT)
    return TrialDocument(path)


def test_a_new_key_stands_before_the_comments_of_the_next_table(document: TrialDocument) -> None:
    document.state(("mapping", "asis_l"), "LASI")
    assert document.text == TEXT.replace("name\n", 'name\nasis_l = "LASI"\n')


def test_a_midpoint_stands_in_one_line(document: TrialDocument) -> None:
    document.state(("mapping", "neck_base"), {"midpoint": ["C7", "CL AV"]})
    assert 'name\nneck_base = { midpoint = ["C7", "CL AV"] }\n' in document.text
    assert document.value("mapping", "neck_base", "midpoint") == ["C7", "CL AV"]


def test_several_values_are_one_change(document: TrialDocument) -> None:
    document.state_all(
        {("mapping", "asis_l"): "LASI", ("mapping", "asis_r"): None, ("markers", "person"): "Ann"}
    )
    assert document.content == {"mapping": {"asis_l": "LASI"}, "carried": {}, "markers": {"person": "Ann"}}
    document.undo()
    assert document.text == document.path.read_text() == TEXT
    assert document.to_undo is None
