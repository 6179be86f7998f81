"""The command `report`: where the page goes, and what is refused."""

from __future__ import annotations

import pytest
from command_line import typed
from refusals import refused
from report_inputs import small, written

from musclesolve.laboratory.report.page import write_report


@pytest.fixture
def result(tmp_path, monkeypatch):
    """A small result; no figure is drawn."""
    monkeypatch.setattr("musclesolve.laboratory.report.sections.figures_of", lambda data, kind: {})
    return written(small(), tmp_path, "result.nc")


@pytest.fixture
def call():
    return lambda *arguments: typed("report", *arguments)


def test_the_page_goes_beside_the_result(call, result):
    done = call(result)
    assert done.exit_code == 0, done.output
    page = result.parent / "report.html"
    assert "report.html" in done.output
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_the_page_goes_where_it_is_told(call, result):
    refusal = call(result, "-o", result.parent / "mine.pdf")
    assert refusal.exit_code == 2 and "plot --format pdf" in refusal.output
    assert call(result, "-o", result.parent / "sub" / "mine.html").exit_code == 0
    assert call(result, "-o", result.parent / "sub").exit_code == 0
    named, usual = (
        (result.parent / "sub" / name).read_text(encoding="utf-8") for name in ("mine.html", "report.html")
    )
    assert ">In short<" in named and len(named) == len(usual)


def test_a_recording_that_changed_is_named_at_the_top_and_on_the_terminal(call, result):
    trial = result.parent / "walk.toml"
    trial.write_text("# another trial file", encoding="utf-8")
    changed = written(small(trial_file=str(trial)), result.parent, "changed.nc")
    done = call(changed)
    said = " ".join(done.output.split())
    assert done.exit_code == 0 and "has changed since it was analyzed (walk.toml)" in said
    page = (result.parent / "report.html").read_text(encoding="utf-8")
    short = page.partition(">In short<")[2].partition('#t1-s-limits">Limits</a>.')[0]
    assert "has changed since it was analyzed (walk.toml)" in short
    drawn = typed("picture", changed, "-o", result.parent / "p.html")
    assert drawn.exit_code == 0, drawn.output
    assert "has changed since it was analyzed (walk.toml)" in " ".join(drawn.output.split())
    # nothing is said of one that is not at hand
    assert "has changed" not in call(result).output


def test_files_left_out_are_printed(call, result):
    (result.parent / "broken.nc").write_bytes(b"nothing")
    done = call(result, result.parent / "broken.nc")
    assert done.exit_code == 0 and "broken.nc" in done.output


def test_what_cannot_be_is_refused_and_nothing_is_written(result):
    before = sorted(result.parent.iterdir())
    with refused("bad_value"):
        write_report([result], result.parent / "page.pdf")
    with refused("missing_file"):
        write_report([result.parent / "none.nc"])
    with refused("bad_format"):
        (result.parent / "a.html").write_bytes(b"no result")
        write_report([result.parent / "a.html"], result.parent / "a.html")
    assert sorted(result.parent.iterdir()) == sorted([*before, result.parent / "a.html"])


def test_a_page_does_not_replace_what_it_is_made_of(result):
    other = written(small(), result.parent, "named.html")
    with refused("occupied_folder"):
        write_report([other], other)


def test_an_interrupted_report_leaves_nothing(result, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("musclesolve.laboratory.report.page.headline", stop)
    with pytest.raises(KeyboardInterrupt):
        write_report([result])
    assert not (result.parent / "report.html").exists()
