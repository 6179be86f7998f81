"""Variants of the recorded walk side by side give what each gives alone."""

from __future__ import annotations

import numpy as np

import musclesolve as ms


def test_variants_give_what_each_gives_alone(recorded_walk_trial, tmp_path):
    text = recorded_walk_trial.path.read_text(encoding="utf-8").replace("end_s = 1.80", "end_s = 0.80")
    for name, old, new in (
        ("cubed", "", ""),
        ("squared", "stress_cubed", "force_squared"),
        ("mistyped", '"R.ASIS"', '"R.ASIZ"'),
    ):
        (tmp_path / f"{name}.toml").write_text(text.replace(old, new) if old else text, encoding="utf-8")
    found = ms.run_many(tmp_path, tmp_path / "out", side="r", jobs=2, figures=False)
    assert {record.name: record.outcome for record in found} == {
        "cubed": "computed",
        "mistyped": "refused",
        "squared": "computed",
    }
    results = {name: ms.read_result(tmp_path / "out" / name / "result.nc") for name in ("cubed", "squared")}
    assert [result.attrs["cost"] for result in results.values()] == ["stress_cubed", "force_squared"]
    assert not np.allclose(results["cubed"].activation, results["squared"].activation, atol=1e-3)
    alone = ms.run(tmp_path / "cubed.toml", side="r")
    np.testing.assert_allclose(results["cubed"].muscle_force, alone.muscle_force, rtol=1e-6, atol=1e-4)
