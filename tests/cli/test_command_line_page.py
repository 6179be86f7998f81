"""docs/command_line.md lists every command, exit code and key of the JSON documents."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer
from document_pages import commands
from said import run_document
from synthetic_result import result

from musclesolve.cli import app as cli
from musclesolve.cli.printing import KEYS
from musclesolve.laboratory.results.facts import Facts
from musclesolve.laboratory.results.result_facts import leg_document

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(cli.app).commands


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_line(name):
    table = TEXT.split("## Exit codes")[0]
    assert re.search(rf"^\|.*`{name}\b.*\|.*\|$", table, flags=re.M)


def test_every_command_that_a_message_page_or_docstring_names_exists():
    """`musclesolve WORD` in backticks or quotes, and the lines of code of pages."""
    call = re.compile(r"""(?:[`"'$]|-m) ?musclesolve ([a-z][\w-]*)""")
    folders = ("musclesolve", "muscle_db", "docs", "examples", "tools", "packaging", "benchmarks")
    files = [*ROOT.glob("*.md"), *(file for folder in folders for file in (ROOT / folder).rglob("*"))]
    texts = (".md", ".toml", ".py", ".html", ".js")
    named = {
        (str(file.relative_to(ROOT)), word)
        for file in files
        if file.suffix in texts and "node_modules" not in file.parts
        for word in call.findall(file.read_text(encoding="utf-8", errors="replace"))
    }
    named |= {
        (page, word) for page, line in commands() for word in re.findall(r"musclesolve ([a-z][\w-]*)", line)
    }
    assert len(named) > 50
    assert sorted((file, word) for file, word in named if word not in COMMANDS) == []


def test_every_exit_code_has_a_line():
    listed = re.findall(r"^\| (\d+) \|", TEXT.split("## What is printed")[0], flags=re.M)
    assert [int(code) for code in listed] == list(cli.EXIT_CODES)


def test_every_key_is_there():
    keys = [*run_document(result()), *leg_document(Facts(result()).legs["r"]), *KEYS]
    assert [key for key in keys if f"`{key}`" not in TEXT] == []


def test_the_commands_that_print_json_and_those_that_can_be_quiet_are_named():
    named = set(re.findall(r"`([\w-]+)`", re.search(r"`--json` \((.*?)\)", TEXT, flags=re.S).group(1)))
    assert named == {name for name, each in COMMANDS.items() if "json" in {p.name for p in each.params}}
