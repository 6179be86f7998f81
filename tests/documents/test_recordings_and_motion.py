"""The examples of docs/recordings.md and docs/motion.md run as they stand and show what the text says."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import numpy as np
import pytest
from package_tables import package_table, trial_tables

from musclesolve.laboratory import marker_sets

DOCS = Path(__file__).parents[2] / "docs"
TRIAL_FILE = (DOCS / "trial_file.md").read_text(encoding="utf-8")


def names_left_by(document: str, folder: Path) -> dict:
    text = (DOCS / document).read_text(encoding="utf-8")
    names: dict = {}
    with contextlib.chdir(folder):
        for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
            exec(compile(block, document, "exec"), names)
    return names


@pytest.fixture(scope="module")
def recordings(tmp_path_factory) -> dict:
    return names_left_by("recordings.md", tmp_path_factory.mktemp("recordings"))


@pytest.fixture(scope="module")
def motion(tmp_path_factory) -> dict:
    return names_left_by("motion.md", tmp_path_factory.mktemp("motion"))


@pytest.mark.thorough
def test_cameras_give_the_markers_back(recordings) -> None:
    error = np.linalg.norm(recordings["found"].position - recordings["truth"], axis=-1)
    assert np.sqrt((error**2).mean()) == pytest.approx(
        float(np.sqrt((recordings["found"].expected_error ** 2).mean())), rel=0.3
    )


def test_the_gap_is_filled(recordings) -> None:
    assert [gap.marker for gap in recordings["trial"].gaps if gap.filled] == ["knee_lateral_r"]


@pytest.mark.thorough
def test_the_noise_of_the_example_is_found(motion) -> None:
    assert motion["found"].noise == pytest.approx(0.001, rel=0.2)


def test_the_example_stride_is_one_of_its_cadence(motion) -> None:
    assert float(motion["result"].cadence[0]) == pytest.approx(110.8, rel=0.02)
    assert len(motion["heel_strikes"]) >= 2
    assert float(np.abs(motion["hip"]).max()) < 1.5


def test_every_table_of_a_trial_file_is_documented() -> None:
    for name, rules in trial_tables().items():
        heading = f"[[{name}]]" if rules.one_per else f"[{name}]"
        assert heading in TRIAL_FILE, heading


def test_every_marker_set_is_named() -> None:
    text = (DOCS / "recordings.md").read_text(encoding="utf-8")
    assert all(name in text for name in marker_sets())


def test_every_code_of_check_is_described() -> None:
    assert all(finding["about"] for finding in package_table("laboratory/results/findings.toml").values())
