"""musclesolve synthesize says what it wrote, and spares recordings that are none of its own."""

from __future__ import annotations

from pathlib import Path

from command_line import typed


def call(*arguments: str) -> tuple[int, str]:
    done = typed(*arguments)
    return done.exit_code, " ".join(done.output.split())


def synthesize(folder: Path, *options: str) -> tuple[int, str]:
    return call("synthesize", "-o", str(folder), "--marker-rate-hz", "30", *options)


def test_every_file_and_next_step_is_named(tmp_path: Path) -> None:
    code, said = synthesize(tmp_path, "--margin-s", "0.3")
    assert code == 0, said
    assert f"musclesolve check {tmp_path / 'trial.toml'}" in said
    assert all(path.name in said for path in tmp_path.iterdir())


def test_a_recording_without_truth_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "walk.trc").write_text("mine")
    code, said = synthesize(tmp_path)
    assert code == 2 and "another recording: walk.trc" in said
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_synthetic_recording_is_made_again(tmp_path: Path) -> None:
    assert synthesize(tmp_path)[0] == 0
    before = (tmp_path / "walk.trc").read_bytes()
    assert synthesize(tmp_path, "--noise-mm", "1")[0] == 0
    assert (tmp_path / "walk.trc").read_bytes() != before
