"""The command line: exit codes, one message instead of a traceback, files whole or not there."""

from __future__ import annotations

import signal
import weakref
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from command_line import typed
from matplotlib.figure import Figure
from matplotlib.image import imread
from stored_results import write_result
from synthetic_result import result, with_troubles
from typer.testing import CliRunner

import muscle_db
import musclesolve as ms
from musclesolve.cli import app as cli
from musclesolve.cli.options import Questions
from musclesolve.errors import InputError
from musclesolve.laboratory.plotting import figure_sets as save


@pytest.fixture(autouse=True)
def one_figure(monkeypatch):
    """Figures have tests of their own; one of them is enough to see that they are asked for."""
    monkeypatch.setattr(save, "FIGURES", {"ground_reaction": save.FIGURES["ground_reaction"]})


@pytest.fixture
def call():
    return typed


@pytest.fixture
def pipeline(monkeypatch):
    """In the place of the computation: answers with the given result and remembers its options."""

    def replace(answer):
        seen = {}

        def prepare(trial, progress, **options):
            seen.update(options, trial=trial)
            progress("muscle forces", 0.5)
            if isinstance(answer, BaseException):
                raise answer
            return SimpleNamespace(time=())

        def read_in_time_range(path, options):
            trial = SimpleNamespace(path=path, files={}, hashes={}, document=SimpleNamespace(content={}))
            return trial, options

        steps = {
            "read_in_time_range": read_in_time_range,
            "prepare": prepare,
            "findings_of": lambda body, trial: [],
            "shared_result": lambda body, *further: answer,
        }
        for name, step in steps.items():
            monkeypatch.setattr(f"musclesolve.studies.many_trials.one_trial.{name}", step)
        return seen

    return replace


def test_run_writes_result_and_figures_and_says_so(call, pipeline, tmp_path):
    options = pipeline(result())
    done = call("run", "walk.toml", "-o", tmp_path / "out", "--cost", "force_squared", "--side", "r")
    assert done.exit_code == 0, done.output
    assert str(options["trial"].path) == "walk.toml"
    assert (options["cost"], options["side"]) == ("force_squared", "r")
    assert "solver" not in options
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert "result.nc" in written
    assert all(name in done.output for name in written)
    assert "60 solved" in done.output


def test_the_result_of_another_trial_is_not_replaced(call, pipeline, tmp_path):
    (tmp_path / "walk.toml").touch()
    of_walk = result().assign_attrs(trial_file=str(tmp_path / "walk.toml"))
    options = pipeline(of_walk)
    out = tmp_path / "out"
    assert call("run", tmp_path / "walk.toml", "-o", out).exit_code == 0
    (out / "cutoff_and_noise.png").touch()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    options.clear()
    missing = call("run", tmp_path / "run.toml", "-o", out)
    assert missing.exit_code == 2 and "there is no such file" in missing.stderr
    (tmp_path / "run.toml").touch()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "walk.toml").touch()
    for other in (tmp_path / "run.toml", tmp_path / "other" / "walk.toml"):
        done = call("run", other, "-o", out)
        assert done.exit_code == 2 and not options
        assert "another trial" in done.stderr and "walk.toml" in done.stderr
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    # Its own result is replaced, and no figure stays that does not belong to the new one.
    assert call("run", tmp_path / "walk.toml", "-o", out).exit_code == 0
    assert not (out / "cutoff_and_noise.png").exists()
    (tmp_path / "walk.toml").unlink()  # moved
    assert call("run", tmp_path / "other" / "walk.toml", "-o", out).exit_code == 0


def test_frames_without_solution_exit_with_three(call, pipeline, tmp_path):
    pipeline(with_troubles(result()))
    done = call("run", "walk.toml", "-o", tmp_path)
    assert done.exit_code == 3
    assert "3 WITHOUT VALID SOLUTION" in done.output
    assert (tmp_path / "result.nc").is_file()


def test_bad_input_exits_with_two_and_one_message(call, pipeline, tmp_path):
    pipeline(InputError("no marker 'R.Heel'", file="walk.trc", where="line 4", remedy="map another one"))
    done = call("run", "walk.toml", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        "musclesolve: walk.trc, line 4: no marker 'R.Heel'",
        "  remedy: map another one",
    ]
    assert not (tmp_path / "out").exists()


def test_ctrl_c_exits_with_130_and_one_line(call, pipeline, tmp_path):
    pipeline(KeyboardInterrupt())
    done = call("run", "walk.toml", "-o", tmp_path / "out")
    assert done.exit_code == 130
    assert done.stderr == "musclesolve: stopped by Ctrl-C; nothing was written\n"
    assert not (tmp_path / "out").exists()


def test_ctrl_c_while_drawing_keeps_the_old_files_even_if_a_callback_swallows_it(
    call, pipeline, tmp_path, monkeypatch
):
    pipeline(result())
    assert call("run", "walk.toml", "-o", tmp_path).exit_code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def interrupted(data):
        thing = Figure.__new__(Figure)
        reference = weakref.ref(thing, lambda _: signal.raise_signal(signal.SIGINT))
        del thing
        assert reference() is None
        return Figure()

    monkeypatch.setattr(save, "FIGURES", {"ground_reaction": interrupted})
    done = call("run", "walk.toml", "-o", tmp_path, "--figures")
    assert done.exit_code == 130
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_fault_of_the_program_is_not_blamed_on_the_input(call, pipeline, tmp_path):
    pipeline(ZeroDivisionError())
    done = call("run", "walk.toml", "-o", tmp_path)
    assert isinstance(done.exception, ZeroDivisionError)


@pytest.mark.parametrize(
    "arguments", [["run"], ["run", "a.toml"], ["run", "a.toml", "-o", "x", "--side", "q"], ["walk"]]
)
def test_wrong_usage_exits_with_two(call, arguments):
    assert call(*arguments).exit_code == 2


@pytest.mark.thorough
def test_plot_draws_beside_the_result_or_where_told(call, tmp_path):
    write_result(result(), tmp_path / "result.nc")
    assert call("plot", tmp_path / "result.nc").exit_code == 0
    assert (tmp_path / "ground_reaction.png").is_file()
    assert call("plot", tmp_path / "result.nc", "-o", tmp_path / "again").exit_code == 0
    of_a_file = call("plot", tmp_path / "result.nc", "-o", tmp_path / "again.png")
    assert of_a_file.exit_code == 2 and not (tmp_path / "again.png").exists()
    # a figure, not an empty page; the same one wherever it is written
    drawn, again = (imread(folder / "ground_reaction.png") for folder in (tmp_path, tmp_path / "again"))
    np.testing.assert_array_equal(drawn, again)
    assert 0.5 < (drawn == 1.0).all(axis=2).mean() < 0.99


def test_plot_draws_for_a_paper(call, tmp_path):
    write_result(result(), tmp_path / "result.nc")
    (tmp_path / "ground_reaction.png").touch()
    asked = ("--figure", "ground_reaction", "--format", "svg", "--width", 85, "--font", 7, "--no-titles")
    assert call("plot", tmp_path / "result.nc", *asked).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"result.nc", "ground_reaction.svg"}
    svg = (tmp_path / "ground_reaction.svg").read_text(encoding="utf-8")
    assert f'width="{85 / 25.4 * 72:.3f}'[:12] in svg and "font-size: 7px" in svg
    assert call("plot", tmp_path / "result.nc", "--width", 5).exit_code == 2
    assert "did you mean" in call("plot", tmp_path / "result.nc", "--figure", "ground").stderr


def test_plot_says_which_variable_a_named_figure_lacks(call, tmp_path, monkeypatch):
    monkeypatch.setattr(
        save, "FIGURES", {"knee_contact_forces": save.drawings(save.RECORDING)["knee_contact_forces"]}
    )
    lacking = result().drop_vars(["knee_contact_medial", "knee_contact_lateral", "patellofemoral_force"])
    write_result(lacking, tmp_path / "result.nc")
    done = call("plot", tmp_path / "result.nc", "--figure", "knee_contact_forces")
    assert done.exit_code == 2
    assert "drawn from knee_contact_medial, which this result does not have" in done.stderr
    assert "compute the result with" in done.stderr


def test_plot_refuses_another_file(call, tmp_path):
    other = tmp_path / "other.nc"
    write_result(result().drop_vars("status"), other)
    done = call("plot", other)
    assert done.exit_code == 2
    assert "other.nc" in done.stderr
    assert "no status" in done.stderr


def test_plot_of_a_folder_is_told_apart_from_a_missing_file(call, tmp_path):
    assert "this is a folder" in call("plot", tmp_path).stderr
    assert "no such file" in call("plot", tmp_path / "result.nc").stderr


def test_the_version_can_be_asked_for(call):
    done = call("--version")
    assert done.exit_code == 0
    assert done.output == f"musclesolve {ms.__version__}\n"


@pytest.mark.parametrize("heading", ["F0 [N]", "L0 [mm]", "LT [mm]", "pennation [deg]"])
def test_the_list_of_muscles_has_its_units(call, heading):
    assert heading in call("list", "muscles").output


@pytest.mark.parametrize("heading", ["forward [mm]", "left [mm]", "up [mm]"])
def test_the_path_of_a_muscle_has_its_units(call, heading):
    assert heading in call("list", "muscles", "vas_lat").output


def test_muscles_lists_all(call):
    done = call("list", "muscles")
    assert done.exit_code == 0
    assert "43 muscles" in done.output
    assert "gluteus_medius_anterior" in done.output


def test_muscles_shows_every_set(call):
    listed = call("list", "muscles").output
    for name in muscle_db.available():
        done = call("list", "muscles", "--database", name)
        assert done.exit_code == 0
        assert name in listed and f"{name}: {len(muscle_db.load(name))} muscles" in done.output
    assert "Creative Commons" in call("list", "muscles", "--database", "gait2392").output


def test_a_muscle_in_full_has_its_wraps_and_what_moves(call):
    wrapped = call("list", "muscles", "gasmed", "--database", "rajagopal_2023").output
    assert all(part in wrapped for part in ("gasmed_at_condyles", "cylinder", "femur_gliding", "radius [mm]"))
    assert "0.5506" in wrapped
    moved = call("list", "muscles", "rect_fem", "--database", "gait2392").output
    assert "knee_flexion, -20 to 150 deg" in moved


def test_one_muscle_by_either_name_with_its_deviations(call):
    source = ("--database", "silva_2003")
    done = call("list", "muscles", "vastus_medialis", *source)
    assert done.exit_code == 0
    assert call("list", "muscles", "vas_med", *source).output == done.output
    assert "1294 N" in done.output
    assert "deviates" in done.output
    assert "as printed" in call("list", "muscles", "soleus", *source).output


def test_an_unknown_muscle_exits_with_two_and_the_nearest_name(call):
    done = call("list", "muscles", "solus")
    assert done.exit_code == 2
    assert "soleus" in done.stderr


def test_the_remedy_of_an_unknown_name_is_a_set_of_nearly_this_name_or_a_command(call):
    assert "did you mean 'silva_2003'" in call("list", "muscles", "silvia_2003").stderr
    assert "`musclesolve list muscles --database gait2392_hip`" in call("list", "muscles", "zzqq").stderr


def commands():
    return typer.main.get_command(cli.app).commands


@pytest.mark.in_part(2)
@pytest.mark.parametrize("name", commands())
def test_help_shows_every_text_whole(name):
    wide = {"COLUMNS": "400", "TERM": "dumb"}
    shown = " ".join(typed(name, "--help-all", env=wide).output.split())
    command = commands()[name]
    texts = [command.help, *(parameter.help for parameter in command.params)]
    for text in texts:
        assert " ".join(text.replace("\\[", "[").split()) in shown


def test_what_was_typed_in_brackets_is_shown_again(call):
    assert "[mm]" in call("run", "a.toml", "-o", "x", "--side", "[mm]").output
    assert "[mm]" in call("list", "muscles", "[mm]").stderr
    assert "[mm].toml" in call("check", "[mm].toml").output


def test_an_empty_name_after_the_option_of_the_output_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = typed("synthesize", "-o", "")
    assert ended.exit_code == 2
    assert "-o is empty" in ended.output
    assert not list(tmp_path.iterdir())


def test_an_option_of_questions_may_be_repeated():
    answered = []
    app = typer.Typer()

    @app.command()
    def ask(questions: Questions = None) -> None:
        answered.extend(questions or ())

    for words in ((), ("--questions", "margins,what-if", "--questions", "contributions")):
        assert CliRunner().invoke(app, words).exit_code == 0
    assert answered == ["margins", "what_if", "contributions"]
    assert CliRunner().invoke(app, ["--questions", "weather"]).exit_code == 2


def test_without_the_option_of_the_output_a_command_writes_into_results(
    call, pipeline, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    pipeline(result())
    assert call("run", "walk.toml").exit_code == 0
    assert (tmp_path / "results" / "walk" / "result.nc").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["why"], "is none of contributions, margins, what-if"),
        (["contributions", "--side", "r"], "--side is for margins and what-if"),
        (["what-if"], "needs a scenario"),
    ],
)
def test_a_question_has_its_options(call, words, said):
    done = call("ask", words[0], "trial.toml", *words[1:])
    assert done.exit_code == 2 and said in " ".join(done.output.replace("│", " ").split())
