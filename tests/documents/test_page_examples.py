"""Examples of the pages that have no test of their own run as they stand; every command line they show exists."""

from __future__ import annotations

import contextlib
import re
import runpy
import shlex
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from b3d_files import MODEL, TrialOnDisk, walker, write_b3d
from command_line import typed
from document_pages import DOCS, PAGES, blocks, commands, site_module
from known_person import HEADS, known_trials, write_known_trial
from typer.main import get_command

import musclesolve as ms
from musclesolve.cli.app import app
from musclesolve.data import reference_stride
from musclesolve.laboratory.plotting.figure_names import FIGURE_NAMES

STUB = DOCS.parent / "musclesolve" / "laboratory" / "plotting" / "__init__.pyi"
NOT_FIGURES = {"save_figures", "current_style", "page_style"}
YOURS = {
    "moments.csv": {"knee_flexion": np.linspace(5.0, 60.0, 20)},
    "arms.csv": {"semitendinosus": np.full(20, 0.04), "biceps_femoris": np.full(20, 0.03)},
    "capacities.csv": {"semitendinosus": np.full(20, 600.0), "biceps_femoris": np.full(20, 800.0)},
}
"""The arrays at the end of docs/python.md: 15 of 20 moments are within reach."""


def names_left_by(page: str, folder, given: dict[str, str] | None = None, words: str = "") -> dict:
    """The names that the examples leave, run in a folder with files of ours in the place of the reader's.

    With words, a pattern, only the examples that have one of them.
    """
    matplotlib.use("agg")
    names: dict = {"__name__": "__main__"}
    with contextlib.chdir(folder):
        for block in filter(re.compile(words).search, blocks(DOCS / page, "python")):
            for theirs, ours in (given or {}).items():
                block = block.replace(theirs, ours)
            exec(compile(block, page, "exec"), names)
    return names


@pytest.mark.in_part(2)
@pytest.mark.parametrize(
    "page",
    [
        *("student.md", "python.md", "database_to_forces.md", "questions.md", "api.md", "muscles.md"),
        *("c_code.md", "static_optimization.md"),
    ],
)
def test_the_page_shows_what_its_examples_print(page, tmp_path, capsys):
    """A block ```text stands below the block that prints it; `python.md` ends with files of the reader."""
    time = pd.Index(np.linspace(0.0, 1.0, 20), name="time")
    for name, columns in YOURS.items():
        pd.DataFrame(columns, index=time).to_csv(tmp_path / name)
    left = names_left_by(page, tmp_path)
    shown, printed = "".join(blocks(DOCS / page, "text")), capsys.readouterr().out
    assert shown and [line.split() for line in shown.splitlines()] == [
        line.split() for line in printed.splitlines()
    ]
    if page == "python.md":
        assert left["solved"].solved.sum() == 15 and (tmp_path / "muscle_forces.csv").is_file()


def test_verify(tmp_path, capsys):
    """The model is an example of the repository."""
    model = "examples/opensim_model/leg.osim"
    left = names_left_by("verify.md", tmp_path, {model: (DOCS.parent / model).as_posix()})
    shown = "".join(blocks(DOCS / "verify.md", "text"))
    assert shown.split() == capsys.readouterr().out.split()
    assert left["found"].complete


def test_the_summary_of_the_first_result_is_that_of_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    line = ["run", str(reference_stride()), "-o", str(tmp_path / "out"), "--no-figures"]
    printed = [part.split() for part in typed(*line).output.splitlines()]
    (shown,) = [block for block in blocks(DOCS / "first_result.md", "") if block.startswith("in short ")]
    for quoted in shown.splitlines():
        if not quoted.startswith("optimality"):  # its digits are round-off
            assert quoted.split() in printed, quoted


def test_your_recording(tmp_path):
    left = names_left_by("your_recording.md", tmp_path)
    assert left["report"].ok
    assert float(np.abs(left["error"]).max()) < 10.0


@pytest.mark.thorough
def test_symbolic(tmp_path):
    left = names_left_by("symbolic.md", tmp_path)
    assert left["by_strength"].shape == (7, 43) and left["solver"].stats()["success"]
    np.testing.assert_allclose(left["program"].g.shape, left["moment"].shape)
    assert (tmp_path / "length.c").is_file()


@pytest.mark.thorough
def test_skeleton_and_motion_program(tmp_path):
    left = names_left_by("skeleton.md", tmp_path)
    assert left["contact"].joints == ("hip_r", "knee_r", "ankle_r") and (tmp_path / "dynamics.c").is_file()
    assert np.linalg.norm(left["on_shank"]) > 1000.0
    assert names_left_by("motion_program.md", tmp_path)["motion"].converged


@pytest.mark.thorough
def test_casadi(tmp_path):
    """On every seventh frame."""
    every, seventh = 'ms.leg_problem(ms.run(reference_stride()), "r")', ".frames(slice(None, None, 7))"
    window, early = "np.arange(10, 16)", "np.arange(2, 8)"
    text = (DOCS / "casadi.md").read_text(encoding="utf-8")
    assert every in text and window in text
    left = names_left_by("casadi.md", tmp_path, {every: every + seventh, window: early})
    assert left["solution"].solved.all() and left["quasi"].solved.all()
    expected = np.abs((left["slope"] * left["step"]).sum(axis=1) - left["by_difference"])
    assert expected.max() < 1e-12
    held, free = left["held"], left["free"]
    assert held.solved.all() and (held.gap <= 1e-9).all() and (held.cost >= 0.999999 * free.cost).all()
    assert held.constraint_value[:, 0].min() > -1e-8 and held.constraint_value[:, 1].max() == pytest.approx(
        400.0
    )
    assert left["informed"].solved.all() and left["informed"].cost.sum() > free.cost.sum()


def test_certificate(tmp_path):
    left = names_left_by("certificate.md", tmp_path)
    assert ms.Status(int(left["refused"].status)) is ms.Status.INFEASIBLE
    assert left["why"].sentence(0).startswith("elbow_flexion lacks 3.0 N m")
    assert left["helped"].reserve[0] == pytest.approx(3.0, rel=1e-2)


@pytest.mark.thorough
def test_running(tmp_path):
    left = names_left_by("running.md", tmp_path)
    assert len(left["flights"](left["run"], left["FootLoads"].from_trial(left["run"]))) > 1
    assert left["ran"].attrs["balance_limit"] == pytest.approx(0.57, abs=0.005)
    assert int(left["ran"].valid.sum()) == 2 * 141


@pytest.mark.thorough
def test_many_trials(tmp_path):
    """On one trial, in one process; the subject of the service is a small one."""
    _, motion = walker(tmp_path)
    write_b3d(tmp_path / "S03.b3d", [TrialOnDisk("walk", [motion], [0] * 80)], [MODEL], 12)
    page = (DOCS / "study.md").read_text(encoding="utf-8")
    assert '["trials", "extra/walk.toml"]' in page and "jobs=4" in page
    given = {'["trials", "extra/walk.toml"]': f"[{reference_stride().as_posix()!r}]", "jobs=4": "jobs=1"}
    left = names_left_by("study.md", tmp_path, given, r"run_many|unpack_b3d")
    assert left["trial"].reason == "" and (tmp_path / left["trial"].loads).is_file()
    assert [record.outcome for record in left["records"]] == ["computed"]
    assert left["records"][0].measures.contact["knee"] == pytest.approx(3.4, abs=0.1)


def test_opensim(recorded_walk, tmp_path):
    """On the recorded walk and the scaled model of its authors."""
    folder = recorded_walk / "reference"
    files = {
        "M.osim": "rajagopal_lai_uhlrich_2023_scaled.osim",
        "ik.mot": "opensim_ik.mot",
        "id.sto": "opensim_id.sto",
    }
    left = names_left_by(
        "opensim.md", tmp_path, {name: (folder / file).as_posix() for name, file in files.items()}
    )
    assert len(left["problem"].muscle) == 80 and bool(left["result"].valid.any())
    assert list(tmp_path.glob("walk*.sto"))


def test_the_first_result_of_opensim_models_is_that_of_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.chdir(tmp_path)
    script, line = [
        command.split()
        for command in blocks(DOCS / "opensim.md", "")[0].splitlines()
        if "leg" in command or "py" in command
    ]
    runpy.run_path(str(DOCS.parent / script[1]))
    line[line.index("--model") + 1] = str(DOCS.parent / "examples" / "opensim_model" / "leg.osim")
    printed = [part.split() for part in typed(*line[1:], "--no-figures").output.splitlines()]
    for quoted in blocks(DOCS / "opensim.md", "")[1].splitlines():
        assert quoted.split() in printed, quoted


def test_elastic_tendons(tmp_path):
    left = names_left_by("elastic_tendons.md", tmp_path)
    assert 0.01 < left["solution"].tendon_strain.max() < 0.06 and not left["solution"].notes


@pytest.mark.thorough
def test_calibration(tmp_path):
    person = (("tendon_slack_length", HEADS, 0.97),)
    for number, trial in enumerate(known_trials("rigid", person, 0.02)):
        write_known_trial(tmp_path, trial, f"trial_{number + 1}.toml")
    left = names_left_by("calibration.md", tmp_path)
    assert left["done"].person.parameters
    assert left["done"].found.sizes["curve"] == 2


@pytest.mark.thorough
def test_live(tmp_path, capsys):
    left = names_left_by("live.md", tmp_path, {"walk.toml": reference_stride().as_posix()})
    printed = capsys.readouterr().out
    assert left["frame"].valid.all() and "soleus_r" in printed
    assert left["passed"].valid > 0  # how many depends on the machine


@pytest.mark.thorough
def test_gallery(tmp_path):
    """The block of Python; the command lines are run when the site is built."""
    names_left_by("gallery.md", tmp_path)
    assert {path.name for path in tmp_path.glob("*.png")} == {
        f"{name}.png"
        for name in (
            *("joint_moments", "force_sensitivity_map", "sensitivity_map", "own"),
            *("cost_shapes", "passive_moments"),
        )
    }


@pytest.mark.thorough  # `make docs` draws them
def test_the_figures_that_no_command_draws(tmp_path):
    site_module("places")
    site_module("page_figures").main(tmp_path)
    shown = {
        name for page in PAGES for name in re.findall(r"made: beside/(\S+)", page.read_text(encoding="utf-8"))
    }
    assert {path.name for path in tmp_path.glob("*.png")} == shown


def test_the_gallery_names_every_figure_and_makes_those_that_pages_show():
    site_module("places")
    made = site_module("made")
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    names = {line.split()[-1] for line in STUB.read_text(encoding="utf-8").splitlines() if " as " in line}
    files = {
        name
        for name, each in FIGURE_NAMES.items()
        if each.tab and not each.quantity and "results" not in each.of
    }
    for name in (names | files) - NOT_FIGURES:
        assert f"`{name}`" in text, name
    for page in PAGES:
        for file in made.shown_files(page.read_text(encoding="utf-8")):
            folder = file.rpartition("/")[0]
            written = rf"(-o|--figures) {folder}\b" if folder else rf'"{file}"|--figure {file}\b'
            assert re.search(written, text), file


def test_data_sets(tmp_path):
    make = runpy.run_path(str(DOCS.parent / "examples" / "study" / "make_study.py"))
    make["write_trials"](tmp_path / "subjects", subjects=2, trials=1)
    ms.studies.make_dataset(tmp_path / "subjects", tmp_path / "forces", jobs=1)
    given = {
        "S01_walking_1": "S01_free_trial_1",
        '["S01.b3d", "recordings"]': '"subjects"',
        'data.names("train")': "data.names(verdicts=None)",
        'keep=["force", "angle"], jobs=4': "jobs=1",
    }
    left = names_left_by("study.md", tmp_path, given, r"open_dataset|data\.frames|make_dataset")
    assert len(left["data"]) == 4 and left["rows"]["muscle_force soleus_r"].notna().all()
    assert left["trial"].sizes["time"] == 66


def test_every_page_with_examples_has_a_test():
    every = Path(__file__).parents[1].rglob("test_*.py")
    tests = "".join(file.read_text(encoding="utf-8") for file in every)
    assert all(page.name in tests for page in PAGES if blocks(page, "python"))


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda part: part.strip()[:50])
def test_the_command_line_of_a_page_exists(page, line):
    known = get_command(app).commands
    name, *words = shlex.split(line)[1:]
    options = {option for each in known[name].params for option in (*each.opts, *each.secondary_opts)}
    for word in words:
        option = word.split("=")[0]
        if option.startswith("-"):
            assert option in options or option == "--help", (page, line)
