"""Figures and pages of the present program, made by the commands of a page when the site is built.

Every section of docs/gallery.md is run as it stands, in a folder with a copy of examples/: its lines that begin with
`musclesolve` or `python`, and its blocks of Python; blocks of TOML, which begin with `# NAME.toml`, are written. No
section needs files of another one: two processes share them, each `python tools/site/made.py FOLDER`.

A comment `<!-- made: FILE -->` above a paragraph shows a file that the commands write: a figure above the paragraph,
a page below it, or in its place where the paragraph is a picture for readers without the site.
"""

from __future__ import annotations

import contextlib
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from html import escape
from pathlib import Path

from places import ROOT

GALLERY = ROOT / "docs" / "gallery.md"
FOLDER = "made"
"""Where the files are in the site."""
BLOCK = re.compile(r"^```(python|toml|)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"^<!-- made: (?P<file>\S+) -->\n(?P<text>(?:.+\n?)+)", flags=re.MULTILINE)
IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\([^)]+\)\\?\n?")
PROCESSES = 2
DPI = 120
"""Of the figures of the site: half as long to draw as those of the commands, which have 200."""


def sections() -> dict[str, str]:
    """The sections of the gallery that make something, by their headings."""
    parts = re.split(r"^## (.+)\n", GALLERY.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {title: text for title, text in zip(parts[1::2], parts[2::2], strict=True) if BLOCK.search(text)}


@cache
def made_files(wanted: frozenset[str]) -> dict[str, bytes]:
    """The content of the files that the pages show, by their paths in the folder of the commands.

    Raises:
        RuntimeError: a section ends with an error, or none writes a file that a page shows.
    """
    surroundings = {
        **os.environ,
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
    }
    with tempfile.TemporaryDirectory() as name:
        shutil.copytree(ROOT / "examples", Path(name, "examples"))
        call = [sys.executable, __file__, name]
        with ThreadPoolExecutor(PROCESSES) as pool:
            begun = [
                pool.submit(subprocess.run, call, env=surroundings, capture_output=True, text=True)
                for _ in range(PROCESSES)
            ]
        for ended in (process.result() for process in begun):
            if ended.returncode:
                raise RuntimeError(
                    f"a command of docs/gallery.md failed:\n{ended.stdout}\n{ended.stderr[-3000:]}"
                )
        if missing := sorted(file for file in wanted if not Path(name, file).is_file()):
            raise RuntimeError(f"no command of docs/gallery.md writes {', '.join(missing)}")
        return {file: Path(name, file).read_bytes() for file in wanted}


def run_sections() -> None:
    """Run the sections that no other process has begun, in the current folder."""
    for number, title in enumerate(sections()):
        try:
            Path(f"begun_{number}").touch(exist_ok=False)
        except FileExistsError:
            continue
        run_section(title)


def run_section(title: str) -> None:
    """Run the blocks of a section in the current folder and process.

    Raises:
        SystemExit: a command ends with another exit code than 0.
    """
    from musclesolve.laboratory.plotting.page.page_style import SAVED

    SAVED["png"]["dpi"] = DPI
    names: dict[str, object] = {"__name__": "__main__"}
    for language, body in BLOCK.findall(sections()[title]):
        if language == "toml":
            Path(body.split(maxsplit=2)[1]).write_text(body, encoding="utf-8")
            continue
        if language == "python":
            exec(compile(body, f"{title} of the gallery", "exec"), names)
            continue
        for line in body.splitlines():
            words = shlex.split(line, comments=True)
            print(line, flush=True)
            if words and words[0] in ("musclesolve", "python"):
                _call(*words)


def _call(program: str, *words: str) -> None:
    """One line, as the shell would run it."""
    from musclesolve.cli.app import app

    if program == "python":
        script = Path(words[0])
        sys.argv = list(words)
        runpy.run_path(str(script if script.exists() else ROOT / script), run_name="__main__")
        return
    try:
        app(list(words))
    except SystemExit as ended:
        if ended.code not in (None, 0):
            raise


def shown_files(markdown: str) -> set[str]:
    """The files that a page shows."""
    return {shown["file"] for shown in SHOWN.finditer(markdown)}


def with_made(markdown: str) -> str:
    """The page with its figures above their paragraphs, and its pages in frames."""
    return SHOWN.sub(lambda shown: _element(shown["file"], shown["text"].rstrip("\n")) + "\n", markdown)


def _first_words(text: str) -> str:
    """Return the name or the first sentence of a paragraph without its marks: links and code would break the tag."""
    plain = re.sub(r"[`*]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    return " ".join(re.split(r":|\.\s", plain, maxsplit=1)[0].split())


def _element(file: str, text: str) -> str:
    source, image = f"{FOLDER}/{file}", IMAGE.search(text)
    rest = IMAGE.sub("", text).strip()
    label = escape(image["alt"] if image else _first_words(text))
    if file.endswith(".html"):
        frame = f'<iframe class="made" src="{source}" title="{label}" loading="lazy"></iframe>'
        return f"{frame}\n\n{rest}" if image else f"{rest}\n\n{frame}"
    figure = f'<a href="{source}"><img src="{source}" alt="{label}" loading="lazy"></a>'
    return f'<div class="made" markdown="1">\n\n{figure}\n\n{rest}\n\n</div>'


if __name__ == "__main__":
    with contextlib.chdir(sys.argv[1]):
        run_sections()
