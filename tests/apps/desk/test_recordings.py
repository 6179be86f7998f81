"""Each recording is read once, until its file changes."""

from pathlib import Path

import numpy as np
import pytest

from musclesolve.apps.desk.steps.files_step import described
from musclesolve.apps.desk.work_folder import Recordings
from musclesolve.data import reference_stride
from musclesolve.errors import InputError
from musclesolve.laboratory.draft.folder_contents import folder_contents

HEADER = "PathFileType\t4\t(X/Y/Z)\tx.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n100\t100\t2\t1\tmm\n"


def written(path: Path, height: int) -> Path:
    rows = "".join(f"{k + 1}\t{k / 100:.2f}\t0\t{height}\t0\n" for k in range(2))
    path.write_text(f"{HEADER}Frame#\tTime\tA\t\t\n\t\tX1\tY1\tZ1\n\n{rows}")
    return path


def test_a_file_is_read_again_only_where_it_has_changed(tmp_path: Path) -> None:
    recordings, path = Recordings(), written(tmp_path / "x.trc", 900)
    assert not recordings.known(path)
    first = recordings.markers(path)
    assert recordings.known(path)
    assert recordings.markers(path) is first
    written(path, 1000)
    assert not recordings.known(path)
    np.testing.assert_allclose(recordings.markers(path)["A"][:, 1], 1.0)


def test_what_is_refused_is_refused_until_the_file_changes(tmp_path: Path) -> None:
    recordings, path = Recordings(), tmp_path / "x.trc"
    for _ in range(2):
        with pytest.raises(InputError):
            recordings.markers(path)
        assert recordings.known(path)
    written(path, 900)
    assert recordings.markers(path).names == ("A",)


def test_files_are_described_and_one_that_was_cut_off_is_called_so(tmp_path: Path) -> None:
    for name in ("walk.trc", "forces.mot"):
        (tmp_path / name).write_bytes((reference_stride().parent / name).read_bytes())
    before = {row["file"]: row["what"] for row in described(folder_contents(tmp_path))}
    assert "markers, " in before["walk.trc"] and "forces of 2 plates" in before["forces.mot"]
    path = tmp_path / "walk.trc"
    path.write_text("\n".join(path.read_text().splitlines()[:60]) + "\n")
    after = {row["file"]: row["what"] for row in described(folder_contents(tmp_path))}
    assert "header" not in before["walk.trc"] and "header" in after["walk.trc"]
    assert after["forces.mot"] == before["forces.mot"]
