"""The page on elastic tendons has the sections of its command."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numpy as np
import xarray as xr
from document_pages import text_of

from benchmarks.elastic_tendons import published
from benchmarks.elastic_tendons.__main__ import PAGE, SECTIONS
from benchmarks.elastic_tendons.variants import stance


def test_every_section_is_computed_and_filled():
    found = re.findall(r"<!-- computed: (\w+) -->\n(.*?)<!-- end: (\w+) -->", text_of(PAGE), flags=re.DOTALL)
    assert {first for first, _, _ in found} == set(SECTIONS)
    for first, text, last in found:
        assert first == last and (text.count("|") > 10 or "png" in text), first


def test_every_published_value_has_a_source_and_a_measure():
    assert set(published.VALUES) == set(published.MEASURES)
    for name, record in published.VALUES.items():
        assert re.search(r"\(\d{4}\)", record["source"]), name
        assert {"value"} <= set(record) or "most" in record, name
        assert published.stated(record).endswith(f"({record['short']})")


def test_published_values_are_those_of_the_page():
    text = text_of(PAGE)
    file = Path(published.__file__).parent / "published.toml"
    for record in tomllib.loads(file.read_text(encoding="utf-8")).values():
        assert f"| {record['quantity']} | {published.stated(record)} |" in text


def test_the_stance_that_ends_within_the_record():
    found = xr.Dataset(
        {"event_time": ("event", [0.2, 1.0, 1.4, 0.8, 1.6])},
        {
            "time": np.linspace(0.45, 1.8, 136),
            "event_kind": ("event", ["heel_strike", "toe_off", "heel_strike", "heel_strike", "toe_off"]),
            "event_side": ("event", ["r", "r", "r", "l", "l"]),
        },
    )
    assert stance(found, "r") == (0.45, 1.0)
    assert stance(found, "l") == (0.8, 1.6)


def test_loaded_shortening_leaves_the_unloaded_part_out():
    muscle = xr.Dataset(
        {
            "muscle_force": ("time", [100.0, 900.0, 1000.0, 600.0, 100.0]),
            "fiber_velocity": ("time", [-9.0, 0.1, -0.02, -0.3, -0.8]),
        }
    )
    assert published.loaded_shortening(muscle) == 0.3
