"""Files that Windows saved as "Unicode", and names that are nearly right."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from muscle_db.regular_file import RECORDING
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.errors import InputError
from musclesolve.tables.text_file import hash_of, read_lines
from tests.support.refusals import refused


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_utf_16_is_read(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "walk.trc"
    path.write_bytes(("\ufeff" * (encoding != "utf-16") + "PathFileType\t4\n").encode(encoding))
    assert read_lines(path) == ["PathFileType\t4", ""]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["walk.trc", "forces.mot", "trial.toml"])
def test_utf_16_is_read_without_a_byte_order_mark(tmp_path: Path, encoding: str, name: str) -> None:
    stride = Path(reference_stride())
    for file in stride.parent.glob("*.*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    wide = tmp_path / (stride.name if name == "trial.toml" else name)
    wide.write_bytes(wide.read_text(encoding="utf-8").encode(encoding))
    trial = read_trial(tmp_path / stride.name)
    assert np.array_equal(trial.markers.position, read_trial(stride).markers.position)


def test_other_binary_files_are_not(tmp_path: Path) -> None:
    (tmp_path / "walk.trc").write_bytes(b"P\0K")
    with refused("bad_format", "walk.trc"):
        read_lines(tmp_path / "walk.trc")


def test_only_what_could_be_meant_is_suggested(tmp_path: Path) -> None:
    for name in ("walk.py", "walk.nc", "walks.trc"):
        (tmp_path / name).touch()
    with pytest.raises(InputError) as refusal:
        read_lines(tmp_path / "walk.c3d")
    assert "did you mean 'walks.trc'?" in str(refusal.value)
    with pytest.raises(InputError) as refusal:
        read_lines(tmp_path / "walks_grf.mot")  # a TRC file has no forces
    assert "did you mean" not in str(refusal.value)
    with pytest.raises(InputError) as refusal:
        read_lines(tmp_path / "walk2.nc")
    assert "walk.nc" in str(refusal.value)
    with pytest.raises(InputError) as refusal:
        read_lines(tmp_path / "a.trc")  # like "walks.trc" by its ending alone
    assert "did you mean" not in str(refusal.value)


def test_a_result_that_is_larger_than_any_recording_has_a_hash(tmp_path: Path, monkeypatch) -> None:
    """Without one it would be the same as a missing file, and as another one of this size."""
    (tmp_path / "study.nc").touch()
    os.truncate(tmp_path / "study.nc", RECORDING + 1)
    monkeypatch.setattr(hashlib, "file_digest", lambda file, name: hashlib.new(name))
    assert hash_of(tmp_path / "study.nc") and not hash_of(tmp_path / "walk.nc")
