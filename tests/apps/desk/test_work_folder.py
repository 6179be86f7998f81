"""Uploads to the desk: plain names of recordings, counted bytes, archives that lead nowhere else."""

from __future__ import annotations

import io
import os
import signal
import stat
import sys
import zipfile

import pytest
from refusals import refused

from musclesolve.apps.desk import server, work_folder
from musclesolve.apps.desk.work_folder import LONGEST_NAME, MOST_FILES, WorkFolder, checked_name


@pytest.fixture
def folder(tmp_path):
    return WorkFolder(tmp_path / "recordings")


def content(tmp_path, data=b"content"):
    path = tmp_path / "part"
    path.write_bytes(data)
    return path


def archive(tmp_path, entries):
    path = tmp_path / "part.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in entries:
            packed.writestr(name, data)
    return path


def test_a_misspelt_folder_is_no_new_one(tmp_path):
    (tmp_path / "recordings").mkdir()
    with refused("missing_file", str(tmp_path / "recordings")):
        WorkFolder(tmp_path / "recordngs")
    assert not (tmp_path / "recordngs").exists()
    for name in ("recordings2", "walks"):
        assert WorkFolder(tmp_path / name).path.is_dir()
    with refused("not_writable", "inside"):
        WorkFolder(tmp_path / "new" / "inside")


@pytest.mark.parametrize(("used", "killed"), [(False, False), (True, False), (False, True)])
def test_a_new_folder_that_stays_empty_is_not_left_behind(tmp_path, monkeypatch, used, killed):
    """As of a name that was not meant; uvicorn raises SIGTERM once more when it has ended."""
    folder = tmp_path / "walks"

    async def served(*_, **__):
        assert folder.is_dir()
        if used:
            (folder / "walk.trc").touch()
        if killed:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(server.uvicorn.Server, "serve", served)
    server.serve(folder, 0, opens=False, announce=lambda address: None)
    assert folder.exists() == used


@pytest.mark.parametrize("name", ["walk.trc", "Gehen 1.C3D", "Gang-ü.mot", "a.b.sto", "trial.toml"])
def test_recordings_are_brought(folder, tmp_path, name):
    assert folder.bring(name, content(tmp_path)) == [name]
    assert (folder.path / name).read_bytes() == b"content"
    assert folder.bring(name, content(tmp_path)) == [name]  # the same once more


@pytest.mark.parametrize(
    "name",
    [
        "../walk.trc",
        "..\\walk.trc",
        "/etc/walk.trc",
        "C:walk.trc",
        "folder/walk.trc",
        "<img src=x onerror=alert(1)>.trc",
        "walk\n.trc",
        "walk\0.trc",
        "walk\u202e.trc",
        " walk.trc",
        ".trc.",
        "",
        "walk.exe",
        "walk.html",
        "walk",
        "w" * LONGEST_NAME + ".trc",
    ],
)
def test_other_names_are_refused(folder, tmp_path, name):
    with refused("bad_name"):
        folder.bring(name, content(tmp_path))
    assert list(folder.path.iterdir()) == []
    with refused("bad_name"):
        checked_name(name)


def test_another_file_of_the_name_is_kept(folder, tmp_path):
    folder.bring("walk.trc", content(tmp_path))
    with refused("occupied_folder", "walk.trc"):
        folder.bring("walk.trc", content(tmp_path, b"other"))
    assert (folder.path / "walk.trc").read_bytes() == b"content"


def test_what_is_too_large_is_refused(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(work_folder, "LARGEST", 1000)
    folder.bring("small.trc", content(tmp_path, bytes(1000)))
    with refused("too_large", "large.trc"):
        folder.bring("large.trc", content(tmp_path, bytes(1001)))


def test_recordings_of_an_archive_are_brought_without_its_folders(folder, tmp_path):
    entries = [("s1/walk.trc", "w"), ("s1/notes.pdf", "n"), ("s1/", ""), ("__MACOSX/._walk.trc", "m")]
    assert folder.bring("s1.zip", archive(tmp_path, entries)) == ["walk.trc"]
    assert [path.name for path in folder.path.iterdir()] == ["walk.trc"]


def link():
    entry = zipfile.ZipInfo("walk.trc")
    entry.external_attr = (stat.S_IFLNK | 0o777) << 16
    return entry


@pytest.mark.parametrize(
    "entries",
    [
        [("walk.trc", "w"), ("../out.trc", "o")],
        [("a/../../out.trc", "o")],
        [("/tmp/out.trc", "o")],
        [("..\\out.trc", "o")],
        [(link(), "/etc/passwd")],
        [("a/walk.trc", "1"), ("b/walk.trc", "2")],
        [(f"{k}.trc", "w") for k in range(MOST_FILES + 1)],
    ],
)
def test_archives_that_lead_elsewhere_are_refused_whole(folder, tmp_path, entries):
    with refused("bad_archive", "s1.zip"):
        folder.bring("s1.zip", archive(tmp_path, entries))
    assert list(folder.path.iterdir()) == []


def test_an_archive_that_unpacks_to_more_is_refused_before_it_is_unpacked(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(work_folder, "LARGEST", 1 << 20)
    small = archive(tmp_path, [("zeros.trc", bytes(8 << 20))])
    assert small.stat().st_size < 1 << 17
    monkeypatch.setattr(zipfile.ZipFile, "open", None)
    with refused("too_large", "zeros.zip"):
        folder.bring("zeros.zip", small)
    assert list(folder.path.iterdir()) == []


def test_an_archive_that_states_a_smaller_size_is_refused(folder, tmp_path):
    path = archive(tmp_path, [("walk.trc", bytes(5000))])
    data = bytearray(path.read_bytes())
    for place in (data.find(b"PK\1\2") + 24, 22):  # sizes in the directory and in the entry
        data[place : place + 4] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    with refused("bad_archive"):
        folder.bring("lying.zip", path)
    with refused("bad_archive"):
        folder.bring("none.zip", content(tmp_path, b"PK no archive"))
    assert list(folder.path.iterdir()) == []


@pytest.mark.parametrize("name", ["../secret.html", "/etc/passwd", "..", "", ".", "a/../../x.png", "x\0.png"])
def test_paths_outside_are_refused(folder, name):
    with refused("bad_path"):
        folder.inside(name)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_that_lead_outside_are_refused(folder, tmp_path):
    (tmp_path / "secret.html").write_text("secret", encoding="utf-8")
    os.symlink(tmp_path / "secret.html", folder.path / "report.html")
    with refused("bad_path"):
        folder.inside("report.html")


def test_a_file_instead_of_a_folder_is_refused(tmp_path):
    with refused("not_writable", "part"):
        WorkFolder(content(tmp_path))


def test_archives_of_any_bytes_are_refused_or_brought(folder, tmp_path):
    good = io.BytesIO()
    with zipfile.ZipFile(good, "w") as packed:
        packed.writestr("walk.trc", "w" * 100)
    for place in range(0, len(good.getvalue()), 3):
        data = bytearray(good.getvalue())
        data[place] ^= 0xFF
        try:
            folder.bring("s.zip", content(tmp_path, bytes(data)))
        except work_folder.InputError:
            pass
        assert all(path.suffix == ".trc" or path.name.startswith(".") for path in folder.path.iterdir())
        for path in folder.path.iterdir():
            path.unlink()
