"""`musclesolve live --replay` writes a result as `run` does, and says how fast it was."""

from __future__ import annotations

import socket

import pytest
import xarray as xr
from command_line import typed

from musclesolve.apps.live.page import page_sink as live_page
from musclesolve.data import reference_stride


def call(*words: str):
    return typed("live", reference_stride(), *words)


def test_a_replay_writes_its_result(tmp_path):
    done = call("--replay", "--lag-ms", "50", "-o", str(tmp_path / "out"))
    assert done.exit_code == 0, done.output
    assert "frames a second" in done.output
    with xr.open_dataset(tmp_path / "out" / "result.nc") as result:
        assert result.attrs["live_lag_s"] == 0.05
        assert result["muscle_force"].sizes["muscle"] == 86 and bool(result["valid"].all())


def test_without_a_source_of_samples_nothing_begins(tmp_path):
    done = call("-o", str(tmp_path / "out"))
    assert done.exit_code == 2 and not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "stream", ["--to udp:localhost", "--to lsl:", "--to record:x", "--from replay:no.toml"]
)
def test_an_address_that_is_none_is_refused_before_anything_starts(monkeypatch, stream):
    started = []
    monkeypatch.setattr(live_page.LivePage, "__init__", lambda *args: started.append(args))
    source = [] if "--from" in stream else ["--from", "replay"]
    done = call(*source, *stream.split(), "--page", "--no-browser")
    assert done.exit_code == 2 and "remedy" in done.output and not started


def test_a_source_that_cannot_be_opened_is_refused_before_the_page_is_announced(served_here):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        done = call("--from", f"udp:127.0.0.1:{port}", "--page", "--no-browser", "--seconds", "1")
    assert done.exit_code == 2 and "remedy" in done.output and "token" not in done.output


def test_the_page_is_for_what_comes_in_real_time(tmp_path):
    replayed = call("--replay", "-o", str(tmp_path / "out"), "--page")
    assert replayed.exit_code == 2 and "--from" in replayed.output
    assert call("--from", "replay", "--no-browser").exit_code == 2
    assert not (tmp_path / "out").exists()


def test_settings_of_the_page_that_cannot_be_end_the_command(tmp_path, served_here):
    file = tmp_path / "page.json"
    file.write_text('{"value": "sum"}', encoding="utf-8")
    done = call("--from", "replay", "--page", "--no-browser", "--page-settings", str(file))
    assert done.exit_code == 2 and "peak" in done.output and "127.0.0.1" not in done.output
