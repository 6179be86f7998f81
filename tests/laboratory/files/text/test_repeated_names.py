"""A label that occurs twice: a note where nothing uses it, an error where the trial does, never the wrong numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from c3d_files import write_c3d
from examined import examined
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_trial import write_trial

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.laboratory import read_forces_table, read_markers
from musclesolve.laboratory.files.formats import convert
from musclesolve.tables import Markers, read_mot, read_trc, write_trc
from tests.support.refusals import refused

TIME = np.arange(5) / 100.0


def write_trc_labels(path: Path, labels: list[str], position: np.ndarray) -> Path:
    plain = [f"M{k}" for k in range(len(labels))]
    write_trc(path, Markers(TIME, tuple(plain), position, path))
    text = path.read_text(encoding="utf-8")
    return _with(path, text.replace("\t\t\t".join(plain), "\t\t\t".join(labels)))


def write_c3d_labels(path: Path, labels: list[str], position: np.ndarray) -> Path:
    return write_c3d(path, 100.0, labels, 1000.0 * position)


def write_csv_labels(path: Path, labels: list[str], position: np.ndarray) -> Path:
    header = ",".join(["time", *(f"{name}_{axis} [m]" for name in labels for axis in "xyz")])
    return _with(path, "\n".join([header, *_rows(position)]) + "\n")


def write_vicon_labels(path: Path, labels: list[str], position: np.ndarray) -> Path:
    lines = ["Trajectories", "100", ",," + ",".join(f"{name},," for name in labels)]
    lines += ["Frame,Sub Frame" + ",X,Y,Z" * len(labels), "," + ",m,m,m" * len(labels)]
    rows = (f"{k + 1},0,{row.partition(',')[2]}" for k, row in enumerate(_rows(position)))
    return _with(path, "\n".join([*lines, *rows]) + "\n")


def _rows(position: np.ndarray) -> list[str]:
    numbers = position.reshape(len(position), -1)
    return [f"{t:.2f}," + ",".join(map(repr, row)) for t, row in zip(TIME, numbers.tolist(), strict=True)]


def _with(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


FORMS: dict[str, tuple[str, Callable[[Path, list[str], np.ndarray], Path]]] = {
    "trc": ("m.trc", write_trc_labels),
    "c3d": ("m.c3d", write_c3d_labels),
    "csv": ("m.csv", write_csv_labels),
    "vicon": ("v.csv", write_vicon_labels),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "labels", [["A", "B", "A", "C"], ["A", "A", "A", "A"], ["P:A", "B", "B", "P:A"], ["C", "A", "B", "B"]]
)
def test_a_repeated_label_has_no_numbers_and_the_others_keep_theirs(
    tmp_path: Path, form: str, labels: list[str]
) -> None:
    position = np.random.default_rng(4).normal(size=(5, 4, 3))
    name, write = FORMS[form]
    found = read_markers(write(tmp_path / name, labels, position))
    twice = {label for label in labels if labels.count(label) > 1}
    assert tuple(n for n in found.names if n in labels) == tuple(dict.fromkeys(labels))
    assert set(found.repeated) == twice
    for label in labels:
        expected = np.nan if label in twice else position[:, labels.index(label)]
        np.testing.assert_allclose(found[label], np.broadcast_to(expected, (5, 3)), atol=2e-5)
        places = [k for k, other in enumerate(labels) if other == label and label in twice]
        for k, name in zip(places, [n for n in found.names if n.startswith(f"{label} (")], strict=True):
            np.testing.assert_allclose(found[name], position[:, k], atol=2e-5)
    assert len(found.notes) == 1 and all(f"'{label}'" in found.notes[0] for label in twice)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from(sorted(FORMS)), labels=st.lists(st.sampled_from("ABCDE"), min_size=1, max_size=8))
def test_any_labels(tmp_path: Path, form: str, labels: list[str]) -> None:
    position = np.arange(1.0, 1.0 + 15 * len(labels)).reshape(5, len(labels), 3)
    name, write = FORMS[form]
    found = read_markers(write(tmp_path / name, labels, position))
    for label in found.names:
        once = labels.count(label) < 2
        assert (label in found.repeated) is not once
        assert np.isfinite(found[label]).all() if once else np.isnan(found[label]).all()


def relabeled(path: Path, old: str, new: str) -> None:
    """Write another label into the line of names of a TRC file."""
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[3] = "\t".join(new if cell == old else cell for cell in lines[3].split("\t"))
    path.write_text("\n".join(lines), encoding="utf-8")


def with_extra(path: Path, *labels: str) -> None:
    """Add markers to a TRC file, which then get their labels."""
    markers = read_trc(path)
    names = [f"extra{k}" for k in range(len(labels))]
    extra = np.repeat(markers.position[:, :1], len(labels), axis=1) + 0.1
    position = np.concatenate([markers.position, extra], axis=1)
    write_trc(path, replace(markers, names=(*markers.names, *names), position=position))
    for name, label in zip(names, labels, strict=True):
        relabeled(path, name, label)


@pytest.mark.parametrize(
    ("form", "where"),
    [
        ("trc", "line 4, columns 3, 9 and 12"),
        ("csv", "line 1, columns 2, 8 and 11"),
        ("vicon", "line 3, columns 3, 9 and 12"),
        ("c3d", "POINT:LABELS, points 1, 3 and 4"),
    ],
)
def test_where_it_stands(tmp_path: Path, form: str, where: str) -> None:
    """Line, and numbers of the columns from one: of the first coordinate of a marker."""
    name, write = FORMS[form]
    apart = np.ones((5, 4, 3)) * np.arange(1.0, 5.0)[:, None]
    found = read_markers(write(tmp_path / name, ["A", "B", "A", "A"], apart))
    assert dict(found.repeated) == {"A": where}


def test_markers_of_one_label_and_one_landmark_are_the_first_that_has_places(tmp_path: Path) -> None:
    """A label without places, a measured marker and a computed one 15 mm beside it are one; distant ones are not."""
    position = np.ones((5, 6, 3)) * np.arange(1.0, 7.0)[:, None]
    position[:, 0] = np.nan
    position[:, 2] = position[:, 1] + [0.015, 0.0, 0.0]
    name, write = FORMS["c3d"]
    found = read_markers(write(tmp_path / name, ["A", "A", "A", "B", "C", "C"], position))
    assert [label for label in found.names if "(" not in label] == ["A", "B", "C"]
    np.testing.assert_allclose(found["A"], position[:, 1], atol=1e-6)
    assert set(found.repeated) == {"C"} and "C (point 5)" in found.names and "A (point 2)" not in found.names
    assert any("one landmark" in note and "'A'" in note for note in found.notes)


@pytest.mark.thorough
def test_a_trial_that_does_not_use_it_is_read_with_a_note(tmp_path: Path) -> None:
    plain = read_trial(write_trial(tmp_path))
    codes = examined(plain.path).codes
    for file in ("walk.trc", "static.trc"):
        with_extra(tmp_path / file, "GHOST", "GHOST", "EMG box", "EMG box")
    trial = read_trial(tmp_path / "trial.toml")
    assert len([note for note in trial.notes if "occurs twice: 'GHOST', 'EMG box'" in note]) == 2
    for name in plain.used_markers:
        np.testing.assert_allclose(trial.markers[name], plain.markers[name], atol=1e-7)
    assert examined(trial.path).codes == codes


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("file", "label"),
    [
        ("walk.trc", "RHEE"),
        ("static.trc", "RHEE"),
        ("static.trc", "RKNM"),
        ("walk.trc", "RTH1"),
        ("walk.trc", "LSHO"),
    ],
)
def test_a_trial_that_uses_it_is_refused_by_its_name(tmp_path: Path, file: str, label: str) -> None:
    path = write_trial(tmp_path)
    assert label in read_trc(tmp_path / file).names
    with_extra(tmp_path / file, label)
    with refused("duplicate_name", f"{file}, line 4", f"'{label}'"):
        read_trial(path)
    report = examined(path)
    assert any(f"'{label}' occurs twice" in finding.what for finding in report.of("error"))


def test_the_mapping_names_one_of_them_by_its_place(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    plain = read_trial(path)
    with_extra(tmp_path / "walk.trc", "LSHO")
    place = next(name for name in read_trc(tmp_path / "walk.trc").names if name.startswith("LSHO ("))
    with refused("duplicate_name", f"'{place}'"):
        read_trial(path)
    _with(path, path.read_text(encoding="utf-8").replace('"LSHO"', f'"{place}"'))
    np.testing.assert_allclose(read_trial(path).markers[place], plain.markers["LSHO"], atol=1e-7)


def test_a_marker_that_is_read_from_the_motion_alone_may_stand_twice_standing(tmp_path: Path) -> None:
    path = write_trial(tmp_path)
    with_extra(tmp_path / "static.trc", "LSHO")
    assert any("'LSHO'" in note for note in read_trial(path).notes)


def test_a_marker_of_a_set_by_another_name_is_used_too(tmp_path: Path) -> None:
    """The label of the file is an alias, behind the name of a person."""
    path = ms.studies.synthetic_recording(tmp_path / "walk", marker_set="plug_in_gait")
    file = read_trial(path).files["markers"]
    markers = read_trc(file)
    names = tuple("Jo:RHEEL" if name == "RHEE" else name for name in markers.names)
    write_trc(file, replace(markers, names=names))
    read_trial(path)
    with_extra(file, "Jo:RHEEL")
    with refused("duplicate_name", "'RHEE'"):
        read_trial(path)


def columns_twice(path: Path, name: str) -> None:
    """Add a column of a name that is there already to a MOT file."""
    lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    end = lines.index("endheader")
    head = [
        f"nColumns={int(line[9:]) + 1}" if line.startswith("nColumns=") else line for line in lines[: end + 1]
    ]
    rows = [lines[end + 1] + f"\t{name}", *(line + "\t7.5" for line in lines[end + 2 :])]
    path.write_text("\n".join([*head, *rows]) + "\n", encoding="utf-8")


def header_of(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return lines[lines.index("endheader") + 1].split("\t")


@pytest.mark.parametrize("form", ["mot", "csv"])
def test_columns_of_forces(tmp_path: Path, form: str) -> None:
    path = write_trial(tmp_path)
    plain = read_mot(tmp_path / "forces.mot")
    columns_twice(tmp_path / "forces.mot", "other")
    columns_twice(tmp_path / "forces.mot", "other")
    if form == "csv":
        lines = (tmp_path / "forces.mot").read_text(encoding="utf-8").split("endheader\n")[1]
        _with(tmp_path / "forces.csv", lines.replace("\t", ","))
        _with(path, path.read_text(encoding="utf-8").replace("forces.mot", "forces.csv"))
    table = read_forces_table(tmp_path / f"forces.{form}")
    assert list(table.repeated) == ["other"] and np.isnan(table["other"]).all()
    assert len([n for n in table.names if n.startswith("other (column ") and (table[n] == 7.5).all()]) == 2
    np.testing.assert_allclose(table.values[:, :-3], plain.values)
    assert any("'other'" in note for note in read_trial(path).notes)
    if form == "mot":
        columns_twice(tmp_path / "forces.mot", "r_vx")
        with refused("duplicate_name", "forces.mot", "'r_vx'"):
            read_trial(path)
        columns = [k + 1 for k, name in enumerate(header_of(tmp_path / "forces.mot")) if name == "r_vx"]
        with refused("duplicate_name", f"columns {columns[0]} and {columns[1]}"):
            read_trial(path)
        assert any("'r_vx' occurs twice" in finding.what for finding in examined(path).of("error"))


def test_convert_leaves_it_empty_and_says_so(tmp_path: Path) -> None:
    position = np.random.default_rng(4).normal(size=(5, 3, 3))
    notes = convert(
        write_c3d_labels(tmp_path / "a.c3d", ["Ann:A", "Ann:B", "Ann:A"], position), [tmp_path / "a.trc"]
    )
    assert any("occurs twice" in note for note in notes)
    found = read_trc(tmp_path / "a.trc")
    assert found.names == ("A", "A (point 1)", "A (point 3)", "B") and np.isnan(found["A"]).all()
    np.testing.assert_allclose(found["A (point 3)"], position[:, 2], atol=2e-5)
