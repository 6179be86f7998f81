"""Every help ends with examples that the parser takes, and with the exit codes; commands stand by purpose."""

from __future__ import annotations

import json
import shlex

import pytest
import typer
from command_line import typed

import musclesolve as ms
from musclesolve.cli import app as cli
from musclesolve.cli.app import EXIT_CODES, examples
from musclesolve.sharing.cost.cost_registry import REGISTRY as COSTS

COMMANDS = typer.main.get_command(cli.app).commands
LINES = [(name, line) for name, lines in examples().items() for line in lines]
QUICK = [line for name, line in LINES if name in ("list", "synthesize") and "person.toml" not in line]


def call(*words: str, **environment: str):
    return typed(*words, env=environment)


def test_every_command_has_examples():
    assert {name for name in COMMANDS if not examples().get(name)} == set()
    assert {line.split()[1] for line in examples()["musclesolve"]} > {"demo", "desk", "init", "run", "share"}


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_every_help_is_shorter_than_a_screen_and_the_rest_is_one_option_away(name):
    words = [name] if name else []
    brief = call(*words, "--help", COLUMNS="80", TERM="dumb").output
    whole = call(*words, "--help-all", COLUMNS="160", TERM="dumb").output
    assert len(brief.splitlines()) <= 40
    assert (
        all(line in whole for line in examples()[name or "musclesolve"])
        and "--help-all explains" not in whole
    )
    names = (
        COMMANDS if not name else {opt for each in COMMANDS[name].params for opt in each.opts if "--" in opt}
    )
    assert all(each in whole for each in names)
    assert ("--help-all explains" in brief) or all(each in brief for each in names)


@pytest.mark.parametrize(("name", "line"), LINES, ids=[line for _, line in LINES])
def test_the_parser_takes_the_example(name, line):
    program, command, *words = shlex.split(line, comments=False)
    assert program == "musclesolve" and name in (command, "musclesolve")
    context = COMMANDS[command].make_context(command, list(words))
    for cost in context.params.get("cost") or ():
        assert cost in COSTS or isinstance(context.params["cost"], str)
    assert len(line) < 100


@pytest.mark.in_part(2)
@pytest.mark.parametrize("line", QUICK)
def test_examples_that_need_no_file_run(line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call(*shlex.split(line)[1:])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("width", ["40", "80", "200"])
@pytest.mark.parametrize("name", ["run", "compare", "list"])
def test_the_help_shows_them_in_whole_lines_that_can_be_copied(name, width):
    done = call(name, "--help", COLUMNS=width, TERM="dumb")
    shown = done.output.splitlines()
    assert done.exit_code == 0
    first = list(examples()[name].items())[:3]
    assert all(f"  {line}" in shown and f"  # {meaning}" in shown for line, meaning in first)
    assert shown.index("Examples:") > max((k for k, line in enumerate(shown) if "╰─" in line), default=0)


def test_the_help_has_the_options_of_the_examples_and_names_the_others():
    shown, whole = (call("share", option, COLUMNS="100").output for option in ("--help", "--help-all"))
    assert len(shown.splitlines()) < 42 < len(whole.splitlines())
    lines = shown.partition("More options")[0]
    assert all(option in lines for option in ("--model", "--loads", "--tendon", "--help"))
    assert "--cutoff-hz" in shown and "--cutoff-hz" not in lines
    assert "--cutoff-hz" in whole and "More options" not in whole


def test_all_commands_stand_by_purpose_and_the_exit_codes_below():
    done = call("--help-all", COLUMNS="100", TERM="dumb")
    places = [done.output.index(panel) for panel in cli.PANELS]
    assert places == sorted(places)
    assert all(f"  {code:<5} {meaning}" in done.output for code, meaning in EXIT_CODES.items())
    brief = call(COLUMNS="100", TERM="dumb").output
    assert call("--help", COLUMNS="100", TERM="dumb").output.rstrip() == brief.rstrip()
    usual = [panel for panel in cli.PANELS if panel != cli.OF_DEVELOPERS]
    assert [panel for panel in cli.PANELS if f"  {panel}: " in brief] == usual
    assert "synthesize" in done.output and "synthesize" not in brief


def test_typer_without_rich_prints_them_too(monkeypatch):
    monkeypatch.setattr("typer.core.HAS_RICH", False)
    done = call("list", "--help")
    assert done.output.index("Usage:") < done.output.index("Examples:\n")
    assert "musclesolve list muscles soleus" in done.output


@pytest.mark.parametrize(
    ("name", "default"), [("costs", "knee_sparing_activation"), ("solvers", "batch"), ("figures", None)]
)
def test_lists_have_the_names_of_the_program_and_mark_the_default(name, default):
    rows = json.loads(call("list", name, "--json").output)[name]
    shown = call("list", name).output
    assert all(row["name"] in shown for row in rows)
    if default:
        assert {row["name"] for row in rows} == set(getattr(ms, name)())
        assert [row["name"] for row in rows if row["default"]] == [
            default
        ] and f"{default} (default)" in shown


def test_an_option_that_may_be_repeated_shows_one_value():
    shown = call("compare", "--help", COLUMNS="140").output
    assert "by one option for each" in shown and "list[" not in shown.partition("Options")[2]
