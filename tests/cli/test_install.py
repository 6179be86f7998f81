"""`musclesolve install`: what is there is named, what cannot be built is one message, and no error where optional."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from musclesolve.cli.app import app
from musclesolve.sharing.solver import build_cyipopt


def call(*words: str):
    return CliRunner().invoke(app, ["install", *words])


def test_a_solver_that_is_there_is_named_with_its_version():
    done = call("slsqp")
    assert done.exit_code == 0 and f"scipy {version('scipy')}" in done.output


def test_an_unknown_solver_is_refused():
    done = call("ipot")
    assert done.exit_code == 2 and "did you mean 'ipopt'" in done.output


@pytest.mark.parametrize(("words", "code"), [((), 2), (("--optional",), 0)])
def test_a_machine_without_compiler(monkeypatch, words, code):
    """cyipopt is there or not: its self test fails, and it cannot be built anew."""
    monkeypatch.setattr(build_cyipopt, "self_test", lambda: None)
    monkeypatch.setenv("CC", "no_such_compiler")
    done = call("cyipopt", *words)
    assert done.exit_code == code and "no_such_compiler" in done.output


def test_the_reason_is_the_line_of_pip_that_names_the_fault():
    lines = (
        "Collecting cyipopt",
        "  × Building wheel",
        "  error: subprocess-exited",
        "  ╰─> fatal error: IpStdCInterface.h",
    )
    printed = "\n".join(lines)
    assert build_cyipopt.reason(printed) == "fatal error: IpStdCInterface.h"
