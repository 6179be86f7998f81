"""Check gives a report whatever the files contain, and it reports an error whenever the analysis would refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from synthetic_trial import write_trial
from thorough import examples
from trial_copy import TrialCopy

import musclesolve as ms
from musclesolve._util.arrays import long_enough, time_spans
from musclesolve.laboratory.checks.case import case_of, load
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.results.judgement import Report

STRIDE = Path(ms.__file__).with_name("data") / "reference_stride" / "trial.toml"
FILES = ("walk.trc", "static.trc", "forces.mot", "trial.toml")


@pytest.fixture(scope="module")
def gliding(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a trial, small enough to be spoiled often."""
    folder = tmp_path_factory.mktemp("gliding")
    write_trial(folder)
    return {name: (folder / name).read_bytes() for name in FILES}


def refusal(trial: Path) -> ms.InputError | None:
    """Return the reason for which the analysis would refuse a trial; None if it would not."""
    try:
        prepare(trial)
    except ms.InputError as error:
        return error
    return None


def examined(files: dict[str, bytes], folder: Path) -> Report:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    report = ms.check(folder / "trial.toml")
    assert not report.ok or refusal(folder / "trial.toml") is None
    # No check fails by itself, whatever it is given.
    assert "check_failed" not in report.codes, str(report)
    return report


@settings(max_examples=examples(12), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(FILES),
    start=st.floats(0.0, 1.0),
    length=st.integers(0, 400),
    filling=st.binary(max_size=40),
)
def test_spoiled_files_are_reported(
    gliding: dict[str, bytes], tmp_path: Path, name: str, start: float, length: int, filling: bytes
) -> None:
    whole = gliding[name]
    at = int(start * len(whole))
    examined(gliding | {name: whole[:at] + filling + whole[at + length :]}, tmp_path)


@settings(max_examples=examples(9), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 1.0), size=st.sampled_from([1e-9, 0.1, 1e3, 1e12]))
def test_spoiled_numbers_are_reported(
    gliding: dict[str, bytes], tmp_path: Path, seed: int, share: float, size: float
) -> None:
    rng = np.random.default_rng(seed)
    name = ("walk.trc", "static.trc", "forces.mot")[seed % 3]
    lines = gliding[name].decode().splitlines()
    for k in range(10, len(lines)):
        cells = lines[k].split("\t")
        for column in range(2, len(cells)):
            if rng.random() < 0.3 * share:
                cells[column] = (
                    f"{size * rng.normal():.5f}" if rng.random() < 0.8 else ("0" if "m" in name[-3:] else "")
                )
        lines[k] = "\t".join(cells)
    examined(gliding | {name: ("\n".join(lines) + "\n").encode()}, tmp_path)


def test_feet_that_are_never_seen_fail_no_check(gliding: dict[str, bytes], tmp_path: Path) -> None:
    lines = gliding["walk.trc"].decode().splitlines()
    names = lines[3].split("\t")
    hidden = [k + axis for k, name in enumerate(names) if name[1:] in ("HEE", "TOE") for axis in range(3)]
    for row in range(5, len(lines)):
        cells = lines[row].split("\t")
        lines[row] = "\t".join("" if k in hidden else cell for k, cell in enumerate(cells))
    assert hidden
    examined(gliding | {"walk.trc": ("\n".join(lines) + "\n").encode()}, tmp_path)


@pytest.mark.every_pair
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("content", [b"", b"\0\1", b"PathFileType", b"[", b"endheader\ntime\n1\n2\n"])
def test_files_of_nonsense_are_reported(
    gliding: dict[str, bytes], tmp_path: Path, name: str, content: bytes
) -> None:
    report = examined(gliding | {name: content}, tmp_path)
    assert not report.ok
    assert any(f.where.file is not None and f.where.file.name == name for f in report.of("error"))


def test_missing_files_are_reported_together(gliding: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "trial.toml").write_bytes(gliding["trial.toml"])
    report = ms.check(tmp_path / "trial.toml")
    assert [f.code for f in report.findings] == ["unreadable"] * 3
    assert not ms.check(tmp_path / "no.toml").ok


def test_all_faults_of_a_trial_file_are_reported_at_once(gliding: dict[str, bytes], tmp_path: Path) -> None:
    text = gliding["trial.toml"].decode()
    for old, new in (
        ("mass_kg = 70.0", "mass_kg = -1"),
        ("cutoff_hz", "cutof_hz"),
        ('toe_r = "RTOE"', 'toe_r = "RTEO"'),
        ('heel_l = "LHEE"', "heel_l = 3"),
        ("start_s = 0.6", "start_s = 60"),
    ):
        text = text.replace(old, new)
    report = examined(gliding | {"trial.toml": text.encode()}, tmp_path)
    fields = {f.where.field for f in report.of("error")}
    assert {
        "[subject] mass_kg",
        "[filter] cutof_hz",
        "[mapping] toe_r",
        "[mapping] heel_l",
        "[time] start_s",
    } <= fields


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ('[filter]\norder = 1\ncutoff_hz = "residual_analysis"', "[filter] order"),
        ('[consistency]\nmethod = "none"\nderivatives = "fit"', "[consistency] derivatives"),
    ],
)
def test_settings_that_rule_each_other_out_hide_no_other_fault(
    gliding: dict[str, bytes], tmp_path: Path, setting: str, field: str
) -> None:
    text = gliding["trial.toml"].decode().replace('toe_r = "RTOE"', 'toe_r = "RTEO"')
    before, _, rest = text.partition("[filter]")
    after = rest[rest.index("\n[") :] if setting.startswith("[filter]") else f"\n[filter]{rest}"
    report = examined(gliding | {"trial.toml": f"{before}{setting}{after}".encode()}, tmp_path)
    assert {field, "[mapping] toe_r"} <= {f.where.field for f in report.of("error")}, str(report)


def test_without_forces_the_markers_are_examined(gliding: dict[str, bytes], tmp_path: Path) -> None:
    text = (
        gliding["trial.toml"].decode().replace('forces = "forces.mot"', "").replace('up = "+y"', 'up = "+z"')
    )
    report = examined(gliding | {"trial.toml": text.encode()}, tmp_path)
    assert {"trial_file", "up_axis"} <= set(report.codes)


def test_a_misspelt_marker_set_is_found_with_the_nearest_name(
    gliding: dict[str, bytes], tmp_path: Path
) -> None:
    text = gliding["trial.toml"].decode() + '\n[markers]\nset = "plugin_gait"\n'
    report = examined(gliding | {"trial.toml": text.encode()}, tmp_path)
    (found,) = [each for each in report.findings if each.severity == "error"]
    assert found.where.field == "[markers] set" and "'plug_in_gait'" in found.remedy


def never_seen(copy: TrialCopy, marker: str) -> None:
    copy.move(marker, slice(None), np.nan)


def held_throughout(copy: TrialCopy, marker: str) -> None:
    position = copy.walk.position.copy()
    position[:, copy.walk.names.index(marker)] = copy.walk[marker][0]
    copy.put(position)


def on_its_neighbor_throughout(copy: TrialCopy, marker: str) -> None:
    names, position = copy.walk.names, copy.walk.position.copy()
    position[:, names.index(marker)] = position[:, names.index(marker) - 1]
    copy.put(position)


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    ("spoil", "part"),
    [
        *((spoil, "toe") for spoil in (never_seen, held_throughout, on_its_neighbor_throughout)),
        (held_throughout, "ankle_lateral"),
        (on_its_neighbor_throughout, "metatarsal_5"),
        (never_seen, "shoulder"),
    ],
)
def test_a_marker_that_is_useless_throughout_is_reported(
    spoil: Callable[[TrialCopy, str], None], part: str, tmp_path: Path
) -> None:
    copy = TrialCopy(STRIDE)
    marker = copy.marker(f"{part}_r")
    spoil(copy, marker)
    trial = copy.write(tmp_path)
    report = ms.check(trial)
    # What is lost above the hips is completed: a warning.
    severity = "warning" if (spoil, part) == (never_seen, "shoulder") else "error"
    sentences = [(*f.where.markers, f.what, f.remedy) for f in report.of(severity)]
    assert any(marker in text for each in sentences for text in each), str(report)
    assert refusal(trial) is None or not report.ok


def test_runs_of_a_mask() -> None:
    mask = np.array([1, 1, 0, 1, 0, 0, 1, 1, 1], bool)
    time = np.arange(9) / 10.0
    assert time_spans(mask, time) == ((0.0, 0.1), (0.3, 0.3), (0.6, 0.8))
    assert long_enough(mask, 2).tolist() == [True, True, False, False, False, False, True, True, True]


def without_lines(text: str, *lines: str) -> str:
    """The text without all lines that begin like this."""
    assert all(f"\n{line}" in text for line in lines)
    return "".join(row for row in text.splitlines(keepends=True) if not row.startswith(lines))


FORCES = (["side"], ["force ="], ["point"], ["[[force]]", "side", "force =", "point", "moment"], ["forces"])
TIME = ["[time]", "start_s", "end_s"]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Codes of the notes on the stride as it is, and of remarks."""
    files = {name: STRIDE.with_name(name).read_bytes() for name in FILES}
    return {"remark", *(each.code for each in examined(files, tmp_path_factory.mktemp("stride")).of("note"))}


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "lines",
    [
        *([*TIME, *lines] for lines in (*FORCES, ["heel_r"])),
        *FORCES,
        *(["mass_kg"], ["stature_m"], ["sex"], ["markers"], ["heel_r"], ["knee_lateral_l"]),
        *(["forward"], ["up"], ["[laboratory]", "forward", "up"]),
    ],
    ids=str,
)
def test_what_is_missing_is_one_finding_and_what_is_due_to_it_none(
    lines: list[str], usual: set[str], tmp_path: Path
) -> None:
    files = {name: STRIDE.with_name(name).read_bytes() for name in FILES}
    text = without_lines(files["trial.toml"].decode(), *lines)
    found = examined(files | {"trial.toml": text.encode()}, tmp_path).findings
    assert [each.severity for each in found if each.severity != "note"] == ["error"], found
    assert {each.code for each in found if each.severity == "note"} <= usual, found
    assert not any("plate" in each.what for each in found[1:]), found


@pytest.mark.parametrize("side", ["r", "l"])
def test_one_plate_without_a_foot_is_one_finding(side: str, usual: set[str], tmp_path: Path) -> None:
    """The other plate is examined; no foot is said to stand beside the plates, and no mass is doubted."""
    files = {name: STRIDE.with_name(name).read_bytes() for name in FILES}
    for text in (files["trial.toml"].decode(), without_lines(files["trial.toml"].decode(), *TIME)):
        own = text.replace(f'side = "{side}"\n', "", 1).encode()
        found = examined(files | {"trial.toml": own}, tmp_path).findings
        assert [(each.code, each.severity) for each in found if each.code not in usual] == [
            ("trial_file", "error")
        ]
        assert "'side' is missing" in found[0].what and not any("plate" in each.what for each in found[1:])


@pytest.mark.parametrize("key", ["forward", "up"])
def test_axes_that_are_not_stated_are_shown(key: str, gliding: dict[str, bytes], tmp_path: Path) -> None:
    """As the remedy, not as a contradiction with what nobody stated; the other axis stays what it is."""
    text = without_lines(gliding["trial.toml"].decode(), key)
    found = examined(gliding | {"trial.toml": text.encode()}, tmp_path)
    assert not {"up_axis", "walking_direction"} & set(found.codes)
    shown = [each.remedy for each in found.of("note") if each.code == "up_axis"]
    assert shown == ([] if key == "forward" else ['write up = "+y" in [laboratory]'])


def test_landmarks_of_a_missing_cluster_are_not_reported_beside_it(
    gliding: dict[str, bytes], tmp_path: Path
) -> None:
    text = without_lines(gliding["trial.toml"].decode(), "thigh_r = ")
    found = examined(gliding | {"trial.toml": text.encode()}, tmp_path)
    assert [str(each.where.field) for each in found.of("error") if each.code == "mapping"] == [
        "[carried] RKNM"
    ]


def test_a_recording_and_its_file_have_the_same_facts_where_forces_are_predicted(tmp_path: Path) -> None:
    write_trial(tmp_path)
    path = tmp_path / "trial.toml"
    tables = path.read_text().split("[[force]]")[0].replace('"forces.mot"', '"predicted"')
    path.write_text(tables)
    (case, _), read = load(path), ms.read_trial(path)
    assert case is not None and case.unknown == case_of(read).unknown == frozenset()
