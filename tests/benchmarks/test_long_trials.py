"""A revision is measured, and not the checkout from which the benchmark starts."""

from pathlib import Path

import pytest

from benchmarks.long_trials import ROOT, check_import, environment


def test_another_source_than_the_named_one_is_not_measured(tmp_path: Path) -> None:
    source = tmp_path / "revision"
    (source / "musclesolve").mkdir(parents=True)
    (source / "musclesolve" / "__init__.py").write_text("__file__ = '/elsewhere/musclesolve/__init__.py'\n")
    with pytest.raises(SystemExit, match="/elsewhere"):
        check_import(source, tmp_path)


def test_a_source_comes_before_the_folder_of_the_benchmark(tmp_path: Path) -> None:
    """Its processes start in a folder without the package, so that the path of the environment decides."""
    source = tmp_path / "revision"
    (source / "musclesolve").mkdir(parents=True)
    (source / "musclesolve" / "__init__.py").touch()
    check_import(source, tmp_path)
    assert environment(source)["PYTHONPATH"] == str(source) != str(ROOT)
