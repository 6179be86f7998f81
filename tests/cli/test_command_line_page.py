"""docs/command_line.md lists every command, exit code and key of the JSON documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from said import run_document
from synthetic_result import result

from musclesolve.cli import app as cli
from musclesolve.cli.printing import KEYS
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.result_facts import leg_document

TEXT = (Path(__file__).parents[2] / "docs" / "command_line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(cli.app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_line(name):
    table = TEXT.split("## Exit codes")[0]
    assert re.search(rf"^\|.*`{name}\b.*\|.*\|$", table, flags=re.M)


def test_every_exit_code_has_a_line():
    listed = re.findall(r"^\| (\d+) \|", TEXT.split("## What is printed")[0], flags=re.M)
    assert [int(code) for code in listed] == list(cli.EXIT_CODES)


def test_every_key_is_there():
    keys = [*run_document(result()), *leg_document(Facts(result()).legs["r"]), *KEYS]
    assert [key for key in keys if f"`{key}`" not in TEXT] == []


def test_the_commands_that_print_json_and_those_that_can_be_quiet_are_named():
    named = set(re.findall(r"`([\w-]+)`", re.search(r"`--json` \((.*?)\)", TEXT, flags=re.S).group(1)))
    assert named == {name for name, each in COMMANDS.items() if "json" in {p.name for p in each.params}}
