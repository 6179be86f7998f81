"""The markers of a trial, loaded without its forces and settings, are those of the whole trial."""

from pathlib import Path

import numpy as np

from musclesolve.data import reference_stride
from musclesolve.laboratory.checks.case import load, load_markers


def test_the_markers_and_what_they_mean_are_those_of_the_whole_trial() -> None:
    (whole, _), (alone, findings) = load(reference_stride()), load_markers(reference_stride())
    assert whole is not None and alone is not None and not findings
    assert alone.trial.mapping == whole.trial.mapping
    for one, other in ((alone.trial.markers, whole.trial.markers), (alone.trial.static, whole.trial.static)):
        assert one is not None and other is not None and one.names == other.names
        np.testing.assert_array_equal(one.position, other.position)


def test_what_is_wrong_with_other_tables_is_not_looked_at(tmp_path: Path) -> None:
    for name in ("walk.trc", "static.trc"):
        (tmp_path / name).write_bytes((reference_stride().parent / name).read_bytes())
    path, text = tmp_path / "trial.toml", reference_stride().read_text()
    path.write_text(text.replace("cutoff_hz = 15", "cutoff_hz = -1").replace('forces = "forces.mot"', ""))
    case, findings = load_markers(path)
    assert case is not None and not findings
    path.write_text(text.replace('asis_r = "asis_r"', 'asis_r = "nowhere"'))
    _, findings = load_markers(path)
    assert [finding.where.field for finding in findings] == ["[mapping] asis_r"]
