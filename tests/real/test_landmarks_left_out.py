"""The mapping of the recorded walk without a landmark: a result, or a message that says what is missing."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from examined import examined
from thorough import some

import musclesolve as ms

REPOSITORY = Path(__file__).resolve().parents[2]
TEXT = (REPOSITORY / "tests" / "real" / "rajagopal_walk.toml").read_text(encoding="utf-8")
LANDMARKS = re.findall(r"(?m)^(\w+) = ", TEXT.partition("[mapping]")[2].partition("\n[")[0])
PELVIS = [name for name in LANDMARKS if name.startswith(("asis", "psis", "hip_center"))]
NOT_NEEDED = (*PELVIS, "metatarsal", "shoulder", "elbow", "wrist")
"""The file maps hip centers and a cluster of the pelvis, either of which stands for its spines."""


def without(text: str, names: tuple[str, ...]) -> str:
    """A trial file without lines of its mapping, and with few frames."""
    before, mapping, after = re.split(r"(\[mapping\][^\[]*)", text, maxsplit=1)
    kept = [line for line in mapping.split("\n") if line.partition(" ")[0] not in names]
    short = before.replace("end_s = 1.80", "end_s = 0.60")
    assert short != before and len(kept) == len(mapping.split("\n")) - len(names)
    return short + "\n".join(kept) + after


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "names",
    some([*((name,) for name in LANDMARKS), *combinations(PELVIS, 2), tuple(PELVIS)], 6),
    ids="+".join,
)
def test_every_landmark_left_out(recorded_walk_text: str, tmp_path: Path, names: tuple[str, ...]) -> None:
    """Check and run agree: what one takes the other takes."""
    path = tmp_path / "trial.toml"
    path.write_text(without(recorded_walk_text, names), encoding="utf-8")
    report = examined(path)
    assert "check_failed" not in report.codes
    try:
        result = ms.run(ms.read_trial(path))
    except ms.InputError as refused:
        assert refused.code in ("missing_key", "missing_marker") and refused.file == path
        assert refused.expected and refused.remedy
        assert any(each.severity == "error" and each.where.file == path for each in report.findings)
        assert not names[0].startswith(NOT_NEEDED) or {"hip_center_r", "hip_center_l"} & {*names}
    else:
        assert not [each for each in report.findings if each.severity == "error"]
        assert result["valid"].all()
