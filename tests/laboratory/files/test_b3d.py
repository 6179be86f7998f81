"""B3D files: what was written is read, the real file as nimblephysics reads it, and damage is refused by its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from b3d_files import Pass, TrialOnDisk, write_b3d
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from thorough import examples

from musclesolve.errors import InputError
from musclesolve.laboratory import read_b3d
from musclesolve.laboratory.files import b3d
from musclesolve.laboratory.files.b3d import MISSING_FORCES, B3DSubject

FIELDS = {"position": 1, "velocity": 2, "acceleration": 3, "moment": 4}
BY_BODY = {"wrench": (5, 6), "point": (6, 3), "torque": (7, 3), "force": (8, 3)}


def some_file(path: Path, version: int = 4) -> tuple[Path, list[TrialOnDisk]]:
    """Two trials, the second processed once more, with random numbers."""
    rng = np.random.default_rng(1)
    trials = []
    for number, frames in ((1, 5), (2, 7)):
        passes = []
        for kind in range(number):
            fields = {k: rng.normal(size=(frames, 4)) for k in FIELDS.values()}
            fields |= {k: rng.normal(size=(frames, 2 * width)) for k, width in BY_BODY.values()}
            passes.append(Pass(kind, fields | {12: rng.normal(size=(frames, 6))}))
        sensors = {2: rng.normal(size=(frames, 9)), **{k: rng.normal(size=(frames, 6)) for k in (7, 8, 9)}}
        missing = rng.integers(0, len(MISSING_FORCES), frames).tolist()
        trials.append(TrialOnDisk(f"walk_{number}", passes, missing, 0.01 * number, "walk", sensors))
    stated = {"mass": 71.5, "stature": 1.82, "sex": "female", "age": 33}
    return write_b3d(path, trials, ["<one/>", "<two>\u00e9</two>"], 4, version=version, **stated), trials


def test_the_header_of_a_file_is_parsed_once_for_all_its_trials(tmp_path: Path) -> None:
    path, trials = some_file(tmp_path / "s.b3d")
    before = b3d._header.cache_info().misses
    for trial in trials:
        found = read_b3d(path, (trial.name,))
        assert [each.name for each in found.trials if len(each.passes[0].position)] == [trial.name]
    assert b3d._header.cache_info().misses == before + 1
    write_b3d(path, trials[:1], ["<other/>"], 4)
    assert read_b3d(path).models == ("<other/>",)


@pytest.mark.parametrize("version", [1, 4])
def test_what_was_written_is_read(version: int, tmp_path: Path) -> None:
    path, trials = some_file(tmp_path / "s.b3d", version)
    subject = read_b3d(path)
    assert (subject.version, subject.mass_kg, subject.stature_m, subject.sex, subject.age_years) == (
        version, 71.5, 1.82, "female", 33.0
    )  # fmt: skip
    assert subject.models == ("<one/>", "<two>\u00e9</two>") and subject.contact_bodies == (
        "calcn_r",
        "calcn_l",
    )
    for found, written in zip(subject.trials, trials, strict=True):
        frames = len(written.missing)
        assert (found.name, found.original_name) == (written.name, "walk")
        np.testing.assert_allclose(found.time, written.step * np.arange(frames), rtol=1e-15)
        np.testing.assert_array_equal(found.missing, written.missing)
        np.testing.assert_array_equal(found.plate_force.reshape(frames, -1), written.sensors[9])
        for one, fields in zip(found.passes, written.passes, strict=True):
            for name, number in FIELDS.items():
                np.testing.assert_array_equal(getattr(one, name), fields.fields[number])
            for name, (number, width) in BY_BODY.items():
                assert getattr(one, name).shape == (frames, 2, width)
                np.testing.assert_array_equal(getattr(one, name).reshape(frames, -1), fields.fields[number])
    assert [one.kind for one in subject.trials[1].passes] == ["kinematics", "dynamics"]


def test_what_is_not_stated_is_none(tmp_path: Path) -> None:
    subject = read_b3d(write_b3d(tmp_path / "s.b3d", [], [""], 4, sex="unknown"))
    assert (subject.mass_kg, subject.stature_m, subject.sex, subject.age_years) == (None,) * 4
    assert subject.trials == ()


def test_another_version_is_refused(tmp_path: Path) -> None:
    path, _ = some_file(tmp_path / "s.b3d", 5)
    with refused("unsupported", "version 5", "1 to 4"):
        read_b3d(path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "bad_format"),
        (b"time\tx\n0\t1\n", "bad_format"),
        (bytes(400), "bad_format"),
        ((90).to_bytes(8, "little") + b"\x08\x21", "truncated_file"),
        ((4).to_bytes(8, "little") + b"\xff\xff\xff\xff", "bad_format"),
        ((2).to_bytes(8, "little") + b"\x50\x00", "unsupported"),
    ],
)
def test_a_file_that_is_none(content: bytes, code: str, tmp_path: Path) -> None:
    path = tmp_path / "s.b3d"
    path.write_bytes(content)
    with refused(code, "s.b3d"):
        read_b3d(path)
    with refused("missing_file", "t.b3d"):
        read_b3d(tmp_path / "t.b3d")


def test_a_file_that_is_cut_names_the_trial(tmp_path: Path) -> None:
    path, _ = some_file(tmp_path / "s.b3d")
    raw = path.read_bytes()
    path.write_bytes(raw[:-3])
    with refused("truncated_file", "walk_2", "7", "6"):
        read_b3d(path)
    path.write_bytes(raw + b"more")
    with refused("bad_format", "4 bytes"):
        read_b3d(path)


@settings(max_examples=examples(150))
@given(place=st.integers(0, 10**6), byte=st.integers(0, 255), kept=st.integers(0, 10**6))
def test_any_damage_is_refused_properly_or_harmless(
    place: int, byte: int, kept: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path, _ = some_file(tmp_path_factory.mktemp("b3d") / "s.b3d")
    raw = bytearray(path.read_bytes())
    header = 8 + int.from_bytes(raw[:8], "little")
    raw[place % header] = byte
    path.write_bytes(bytes(raw[: max(kept % (2 * len(raw)), 1)]))
    try:
        assert isinstance(read_b3d(path), B3DSubject)
    except InputError as error:
        assert error.code in ("bad_format", "truncated_file", "unsupported")


def test_the_real_file_as_nimblephysics_reads_it(real: B3DSubject) -> None:
    """Numbers of nimblephysics 0.10.52.1 (SubjectOnDisk, readFrames), with which every array was equal bit by bit."""
    assert (real.version, real.mass_kg, real.stature_m, real.sex, real.age_years) == (
        4,
        68.0,
        1.7,
        "male",
        18.0,
    )
    assert (
        real.tags == ("healthy",)
        and real.notes == "Generated by AddBiomechanics"
        and real.coordinate_count == 33
    )
    assert real.contact_bodies == ("calcn_r", "calcn_l") and len(real.models) == 1
    assert real.models[0].startswith(
        '<?xml version="1.0" encoding="UTF-8" ?>\n<OpenSimDocument Version="40000">'
    )
    named = [(trial.name, trial.original_name, len(trial.time)) for trial in real.trials]
    assert named == [("walking2_segment_0", "walking2", 132), ("walking1_segment_0", "walking1", 131)]
    sums = [(12070.363234698889, 912.7416967099613, 150710.19730758408), (13351.662465018957, 904.609228275204,
        150470.30236751397)]  # fmt: skip
    for trial, (moment, position, wrench) in zip(real.trials, sums, strict=True):
        (only,) = trial.passes
        assert only.kind == "kinematics" and trial.time[1] == 0.01 and not trial.missing.any()
        assert only.moment.sum() == pytest.approx(moment, rel=1e-12)
        assert only.position.sum() == pytest.approx(position, rel=1e-12)
        assert only.wrench.sum() == pytest.approx(wrench, rel=1e-12)
        assert np.flatnonzero(~only.computed).tolist() == [0, len(trial.time) - 1]
        assert not only.force.any() and trial.plate_force.shape == (len(trial.time), 2, 3)
        # the wrenches are those of the plates, about the origin of the ground and in its axes
        force, point = trial.plate_force, trial.plate_point
        about = np.cross(point, force) + trial.plate_moment
        np.testing.assert_allclose(
            only.wrench.sum(axis=1), np.concatenate([about, force], axis=2).sum(axis=1), atol=0.6
        )
