"""The sources of error: described, changeable in a trial file and by argument, refused where they cannot be."""

from __future__ import annotations

from dataclasses import replace

import pytest
from package_tables import trial_tables
from refusals import refused

import musclesolve as ms
from musclesolve import read_trial
from musclesolve.data import reference_stride
from musclesolve.laboratory import Trial
from musclesolve.laboratory.forces import prepare
from musclesolve.laboratory.trial.dependent_settings import error_keys
from musclesolve.studies.uncertainty.replay import sources, standard_deviations


@pytest.fixture(scope="module")
def trial() -> Trial:
    return read_trial(reference_stride())


def test_only_a_table_of_deviations_is_taken() -> None:
    assert standard_deviations({}) == standard_deviations({}, {})
    for number in (0, [], "", False):
        with refused("bad_type", "standard deviations"):
            standard_deviations({}, number)  # type: ignore[arg-type]


def test_a_trial_file_knows_every_source() -> None:
    keys = trial_tables()["uncertainty"].settings
    assert list(keys) == [source.key for source in sources().values()]
    assert all(keys[source.key].maximum > source.sd > 0.0 for source in sources().values())


def test_every_source_says_what_errs_and_where_its_number_comes_from() -> None:
    for source in sources().values():
        assert source.about and source.label
        assert "Assumed" in source.source or any(year in source.source for year in ("19", "20"))


def test_the_argument_wins_over_the_trial_file_and_that_over_the_usual(trial: Trial) -> None:
    own = trial.with_settings(uncertainty={"segment_mass": 0.3, "hip_center_mm": 2.0})
    found = standard_deviations(own.settings.uncertainty.stated, {"segment_mass": 0.0})
    assert found["segment_mass"] == 0.0
    assert found["hip_center"] == pytest.approx(0.002)
    assert found["marker_placement"] == pytest.approx(1e-3 * sources()["marker_placement"].sd)


def test_a_body_has_the_standard_deviations_of_its_trial(trial: Trial) -> None:
    own = {key: 0.0 for key in error_keys("recording")} | {"segment_mass": 0.3}
    short = replace(trial.with_settings(uncertainty=own), time_range=(0.6, 0.65))
    found = ms.studies.uncertainty(prepare(short, side="r"), 2, jobs=1, contributions=False)
    assert float(found["standard_deviation"].sel(source="segment_mass")) == 0.3
    assert float(found["standard_deviation"].sum()) == pytest.approx(0.3)


def test_a_trial_file_gives_standard_deviations(tmp_path) -> None:
    folder = reference_stride().parent
    text = reference_stride().read_text(encoding="utf-8")
    for name in ("walk.trc", "static.trc", "forces.mot"):
        text = text.replace(f'"{name}"', f'"{(folder / name).as_posix()}"')
    file = tmp_path / "trial.toml"
    file.write_text(text + "\n[uncertainty]\nmarker_placement_mm = 2\n", encoding="utf-8")
    assert read_trial(file).settings.uncertainty.stated == {"marker_placement_mm": 2.0}
    file.write_text(text + "\n[uncertainty]\nmarker_placement = 2\n", encoding="utf-8")
    with pytest.raises(ms.InputError, match="marker_placement"):
        read_trial(file)


@pytest.mark.parametrize(
    ("key", "sd"),
    [("marker_placement", 2.0), ("segment_mass", -0.1), ("segment_mass", "much"), ("strength", 2)],
)
def test_what_cannot_be_is_refused(trial: Trial, key: str, sd: object) -> None:
    with pytest.raises(ms.InputError, match=key):
        standard_deviations(trial.settings.uncertainty.stated, {key: sd})  # type: ignore[dict-item]


def test_deviations_have_keys(trial: Trial) -> None:
    with refused("bad_type", "3"):
        standard_deviations(trial.settings.uncertainty.stated, 3)  # type: ignore[arg-type]
