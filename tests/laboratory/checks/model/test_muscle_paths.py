"""A path that jumps: a warning with muscle, time and newtons where forces are wrong, else a note of the result."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from forearm_model import MODEL, MUSCLE, save_forearm
from measured_model import measured_model
from recorded_data import recorded

import musclesolve as ms
from musclesolve.laboratory.checks.model import muscle_paths
from musclesolve.laboratory.checks.model.examine import findings_of_body
from musclesolve.laboratory.results.finding import Finding
from musclesolve.laboratory.results.judgement import judge_findings
from musclesolve.muscles.muscle_state import MuscleState

TIME = np.linspace(0.0, 2.0, 201)
ANGLE = 0.6 - 0.35 * np.cos(np.pi * TIME)
MOTION = {"time": TIME, "flexion": ANGLE}
CONDITIONAL = """<ConditionalPathPoint name="beside"><socket_parent_frame>/bodyset/forearm</socket_parent_frame>
<location>{x} -0.02 0</location><socket_coordinate>/jointset/elbow/flexion</socket_coordinate><range>0.6 3</range>
</ConditionalPathPoint>"""


def save_jumping(folder: Path, x: float) -> Path:
    """The forearm whose biceps goes over a further point, beside its path, beyond 0.6 rad."""
    biceps = MUSCLE.format(name="biceps", x=0.04)
    end = biceps.index('<PathPoint name="biceps-2"')
    biceps = biceps[:end] + CONDITIONAL.format(x=x) + biceps[end:]
    path = folder / "jumping.osim"
    path.write_text(MODEL.format(muscles=biceps + MUSCLE.format(name="triceps", x=-0.02)), encoding="utf-8")
    return path


def jumps(model: Path) -> list[Finding]:
    found = findings_of_body(measured_model(model, MOTION, loads="none"))
    return [each for each in found if each.code == "path_jump"]


def test_a_smooth_path_has_no_finding(tmp_path: Path) -> None:
    assert jumps(save_forearm(tmp_path)) == []


def test_a_jump_is_a_warning_of_the_verdict_with_muscle_time_and_newtons(tmp_path: Path) -> None:
    """The force behind the jump differs from the force of the same moment on the old path by what is said."""
    model = save_jumping(tmp_path, 0.16)
    (found,) = jumps(model)
    assert found.severity == "warning" and "the path of biceps jumps at " in found.what
    assert judge_findings([found]).verdict == "with_care"
    frame = int(np.flatnonzero(ANGLE > 0.6)[0])
    assert found.where.times[0] == pytest.approx((TIME[frame - 1], TIME[frame]))
    assert found.cost is not None and found.cost.unit == "N" and found.cost.of == "biceps"
    jumping = ms.share_model(model, MOTION, loads="none")["muscle_force"].sel(muscle="biceps")
    steady = ms.share_model(save_forearm(tmp_path), MOTION, loads="none")["muscle_force"].sel(muscle="biceps")
    there = [frame, int(np.flatnonzero(ANGLE > 0.6)[-1]) + 1]  # the first jump, and the jump back
    change = [abs(float((jumping - steady)[at])) for at in (there[0], there[1] - 1)]
    assert any(found.cost.size == pytest.approx(each, rel=0.1) for each in change)
    assert " N at biceps" in found.sentence and f"jumps at {TIME[frame]:.3f} s" in found.what


def test_a_jump_that_hardly_changes_a_force_is_a_note_of_the_result_alone(tmp_path: Path) -> None:
    model = save_jumping(tmp_path, 0.08)
    assert jumps(model) == []
    notes = ms.share_model(model, MOTION, loads="none").attrs["notes"]
    assert any("Paths of muscles jump" in note for note in notes)


def test_a_path_of_a_model_that_slips_over_a_wrap_object_is_named() -> None:
    files = ("r25_cyl_4.osim", "r25_deep_ik.mot", "r25_deep_id.sto")
    found = findings_of_body(measured_model(*(recorded(f"unusual_models/{name}") for name in files)))
    (jump,) = [each for each in found if each.code == "path_jump"]
    assert jump.severity == "warning" and "right vas int jumps" in jump.what and "by 67 mm" in jump.what


def test_a_path_that_flips_for_one_frame_leaps_twice_and_goes_on_as_before(tmp_path: Path) -> None:
    """Both jumps have the whole leap; the frame of the flip has a change of force, the frame behind it none."""
    body = measured_model(save_forearm(tmp_path), MOTION, loads="none")
    state, flip = body.whole.state, 100
    k = list(state.parameters.names).index("biceps")
    length, arm = state.musculotendon_length.copy(), state.moment_arm.copy()
    length[flip, k] += 0.01
    arm[flip, :, k] -= 0.05
    flipped = MuscleState.from_lengths(state.parameters, length, state.musculotendon_velocity, arm)
    body = replace(body, whole=replace(body.whole, state=flipped))
    there, back = found = list(muscle_paths._jumps(body))
    assert (there.frame, back.frame) == (flip - 1, flip)
    assert [there.arm, back.arm] == pytest.approx([0.05, 0.05], abs=1e-3)
    seen = []

    def shared_forces(body: object, frames: np.ndarray, state: MuscleState | None = None) -> np.ndarray:
        seen.append((flipped if state is None else state).moment_arm)
        return np.zeros((len(frames), 2))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(muscle_paths, "shared_forces", shared_forces)
        muscle_paths._force_changes(body, found, found)
    np.testing.assert_allclose(seen[1][:, :, k], state.moment_arm[[flip, flip + 1], :, k], atol=1e-3)


def test_jumps_that_are_not_judged_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The path jumps forth and back; one of the two is judged."""
    monkeypatch.setattr(muscle_paths, "MOST_JUMPS", 1)
    (found,) = jumps(save_jumping(tmp_path, 0.16))
    assert "1 further jump not judged" in found.what
