"""What is made of files of the package is kept beside Python's bytecode, for exactly the text it was made of."""

from __future__ import annotations

import sys
import tomllib

import pytest

from muscle_db import loader, parsed_toml

TEXT = "a = [1, 2.5]\n[b]\nc = 'd'\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for bytecode, which Python writes."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path


def test_a_table_is_parsed_once_for_each_text(folder, monkeypatch):
    file = folder / "table.toml"
    first = parsed_toml.kept_toml(file, TEXT)
    assert first == tomllib.loads(TEXT)
    other = parsed_toml.kept_toml(file, "a = 3")
    assert other == {"a": 3}
    with monkeypatch.context() as without:
        without.setattr(parsed_toml.tomllib, "loads", None)
        assert parsed_toml.kept_toml(file, "a = 3") == other
    assert parsed_toml.kept_toml(file, TEXT) == first


@pytest.mark.parametrize("left", [0, 20, 32, 40])
def test_what_is_damaged_is_made_again(folder, left):
    file = folder / "table.toml"
    parsed_toml.kept_toml(file, TEXT)
    (place,) = (folder / "kept").rglob("table.toml.*")
    place.write_bytes(place.read_bytes()[:left])
    assert parsed_toml.kept_toml(file, TEXT) == tomllib.loads(TEXT)
    assert parsed_toml.read_kept(file, TEXT) == tomllib.loads(TEXT)


def test_nothing_is_kept_where_python_keeps_no_bytecode_or_the_value_is_of_another_kind(folder, monkeypatch):
    file = folder / "table.toml"
    parsed_toml.keep(file, TEXT, object())
    assert parsed_toml.read_kept(file, TEXT) is None
    (folder / "kept").write_text("a file in the place of the folder")
    assert parsed_toml.kept_toml(file, TEXT) == tomllib.loads(TEXT)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (folder / "kept").unlink()
    assert parsed_toml.kept_toml(file, TEXT) == tomllib.loads(TEXT) and not (folder / "kept").exists()


def test_a_set_from_the_kept_table_is_the_set_of_the_file(folder, monkeypatch):
    sets = []
    for _ in range(2):
        for cached in (loader._parsed, loader._root):
            cached.cache_clear()
        sets.append(loader.load("silva_2003_wrapped"))
        monkeypatch.setattr(parsed_toml.tomllib, "loads", None)  # not needed the second time
    assert sets[0] == sets[1]
    assert {each.name.partition(".cpython")[0] for each in (folder / "kept").rglob("*.pyc")} == {
        "silva_2003.toml",
        "silva_2003_wrapped.toml",
    }
