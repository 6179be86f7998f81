"""What the trial file leaves open, in one note."""

from __future__ import annotations

import shutil
from pathlib import Path

from examined import examined

from musclesolve.data import reference_stride

TODOS = """\
# TODO: confirm the body mass with shoes [kg]: no file states it; by the mean of the plates over 1 stride 84.9
# kg, by Newton's second law in the motion 85.0 kg
# TODO: enter the mass of one shoe [kg], if the subject wears some and was weighed with them on, and not
# otherwise: the malleoli are 11 cm above the floor
# shoe_mass_kg = 0.3
# TODO: check the sex
# sex = "male"
"""


def test_lines_that_are_still_marked_are_one_note(tmp_path: Path) -> None:
    folder = tmp_path / "stride"
    shutil.copytree(reference_stride().parent, folder)
    path = folder / reference_stride().name
    assert "open_todos" not in {entry.code for entry in examined(path).findings}
    path.write_text(TODOS + path.read_text(encoding="utf-8"), encoding="utf-8")
    (note,) = [entry for entry in examined(path).findings if entry.code == "open_todos"]
    assert note.severity == "note" and note.where.file == path
    assert note.what == (
        "still marked TODO in the trial file: confirm the body mass with shoes [kg] (line 1); enter the mass of one "
        "shoe [kg], if the subject wears some and was weighed with them on, and not otherwise (line 3); check the sex "
        "(line 6)"
    )
