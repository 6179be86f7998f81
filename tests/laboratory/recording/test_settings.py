"""A setting is stated once: its rules hold together, and docs, JSON Schema and options say what it says."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import runpy
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from command_line import typed
from typer.models import OptionInfo

from musclesolve.cli import app as cli
from musclesolve.laboratory.recording import command_settings as commands
from musclesolve.laboratory.recording import file_settings as other_files
from musclesolve.laboratory.recording import trial_settings as trial
from musclesolve.laboratory.recording.trial_settings import (
    ModelSettings,
    RecordedSettings,
    run_arguments,
    share_arguments,
)
from musclesolve.models import settings as of_models
from musclesolve.muscles import settings as of_muscles
from musclesolve.tables.settings import (
    KINDS,
    Setting,
    Settings,
    of_setting,
    schema_text,
    settings_of,
    tables_of,
)

ROOT = Path(__file__).parents[3]
CLASSES = [
    each
    for module in (trial, other_files, commands, of_models, of_muscles)
    for each in vars(module).values()
    if isinstance(each, type) and issubclass(each, Settings) and each.__module__ == module.__name__
]
STATED = [(each.__name__, key, setting) for each in CLASSES for key, setting in settings_of(each).items()]
SUFFIXES = {
    "kg": "kg",
    "m": "m",
    "mm": "mm",
    "hz": "Hz",
    "s": "s",
    "n": "N",
    "deg": "degrees",
    "years": "years",
}


def as_in_file(setting: Setting) -> Any:
    """The default of a setting as a file has it."""
    return list(setting.default) if isinstance(setting.default, tuple) else setting.default


@pytest.mark.parametrize(("name", "key", "setting"), STATED, ids=[f"{name}.{key}" for name, key, _ in STATED])
def test_the_rules_of_a_setting_hold_together(name: str, key: str, setting: Setting) -> None:
    assert setting.kind in KINDS and setting.about
    assert setting.default in (None, "", ()) or setting.problem(as_in_file(setting)) is None
    ending = key.rpartition("_")[2] if "_" in key else ""
    if ending in SUFFIXES and setting.kind in ("number", "whole"):
        assert setting.unit.split()[-1] in (SUFFIXES[ending], "deg", "deg/s")


@pytest.mark.parametrize(("name", "key", "setting"), STATED, ids=[f"{name}.{key}" for name, key, _ in STATED])
def test_the_line_that_a_remedy_proposes_can_be_pasted(name: str, key: str, setting: Setting) -> None:
    line = re.split(", (?:or|with) ", setting.line(key))[0]
    assert list(tomllib.loads(line)) == [key]


def test_a_value_at_fault_has_what_was_expected() -> None:
    stature = settings_of(trial.SubjectSettings)["stature_m"]
    assert stature.problem(1.8) is None
    assert stature.problem(183) is not None and stature.in_another_unit(183).endswith("write 1.83")
    assert stature.problem("tall") is not None and stature.problem(True) is not None
    assert settings_of(trial.FilterSettings)["cutoff_hz"].problem("cross_validation") is None


def test_settings_do_not_change_and_know_their_names() -> None:
    settings = RecordedSettings()
    other = settings.changed(muscles={"tendon": "elastic"})
    assert settings.muscles.tendon == "rigid" and other.muscles.tendon == "elastic"
    assert other != settings and pickle.loads(pickle.dumps(other)) == other
    with pytest.raises(AttributeError):
        settings.muscles = other.muscles  # type: ignore[misc]
    with pytest.raises(TypeError, match="'tendons'; did you mean 'tendon'"):
        settings.changed(muscles={"tendons": "elastic"})


def test_keywords_of_functions_name_each_setting_once() -> None:
    for file, arguments in ((RecordedSettings, run_arguments()), (ModelSettings, share_arguments())):
        assert len(set(arguments.values())) == len(arguments)
        assert all(key in tables_of(file)[table].settings for table, key in arguments.values())
    assert set(run_arguments()) >= {"cost", "solver", "least_activation", "emg_weight", "residual"}


@pytest.mark.parametrize("file", [RecordedSettings, ModelSettings])
def test_the_schema_for_editors_has_every_key(file: type[Settings]) -> None:
    schema = json.loads(schema_text(file))
    for name, table in tables_of(file).items():
        described = schema["properties"][name]
        described = described.get("items", described)
        assert set(described.get("properties", {})) == set(table.settings)
    cutoff = schema["properties"]["filter"]["properties"]["cutoff_hz"]["anyOf"]
    assert cutoff[0]["exclusiveMinimum"] == 0.0 and "enum" in cutoff[1]


@pytest.mark.parametrize(
    "words",
    [
        ("live", "no.toml", "--from", "replay", "--lag-ms", "nan"),
        ("live", "no.toml", "--from", "replay", "--plate", "x"),
        ("desk", "no", "--port", "70000"),
        ("run", "no.toml", "-o", "no", "--jobs", "0"),
        ("benchmark", "--frames", "0"),
        ("convert", "no.trc", "-o", "no.trc", "--units", "km"),
        ("init", "no", "--mass-kg", "0.5"),
    ],
)
def test_options_of_commands_have_the_ranges_of_their_settings(words: tuple[str, ...]) -> None:
    done = typed(*words)
    assert done.exit_code == 2 and words[-2] in done.output and words[-1] in done.output


def test_every_option_that_has_a_value_is_a_setting() -> None:
    about = {setting.about.replace("[", "\\[").lower() for _, _, setting in STATED}
    seen = 0
    for command in cli.app.registered_commands:
        assert command.callback is not None
        for name, parameter in inspect.signature(command.callback, eval_str=True).parameters.items():
            kind, option = get_args(parameter.annotation)
            if (
                isinstance(option, OptionInfo)
                and "Path" not in str(kind)
                and name not in ("questions", "gap")
            ):
                seen += 1
                text = str(option.help).lower()
                assert kind in (bool, bool | None) or text.startswith(tuple(about)), (command.name, name)
    assert seen > 100


def test_a_range_holds_for_every_number_of_a_table() -> None:
    gain = of_setting(settings_of(trial.PlateSettings)["vertical_gain"])
    assert gain["additionalProperties"] == {"type": "number", "minimum": 0.8, "maximum": 1.25}


def test_docs_have_the_tables_of_the_settings() -> None:
    written = runpy.run_path(str(ROOT / "tools" / "settings_tables.py"))["written"]
    for page in sorted((ROOT / "docs").rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert written(text) == text, f"{page.name}: run python tools/settings_tables.py"


def test_all_unknown_entries_of_a_list_are_named() -> None:
    asked = RecordedSettings.__tables__["questions"].settings["ask"]
    problem, expected = asked.problem(["margin", "margins", "contributons"]) or ("", "")
    assert "'margin'" in problem and "'contributons'" in problem and "'margins'" not in problem
    assert "margins" in expected
