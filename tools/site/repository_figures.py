"""Writes the figures that pages show into docs/figures, small, for readers of the repository's pages without the site.

python tools/site/repository_figures.py            # runs the commands of docs/gallery.md: some minutes
python tools/site/repository_figures.py --links    # only the links in the pages

Below each `<!-- made: FILE.png -->` of a page stands a picture in Markdown, which the site replaces by the figure that
it makes itself.
"""

from __future__ import annotations

import re
import sys
from io import BytesIO

from made import SHOWN, made_files, shown_files
from PIL import Image
from places import ROOT

DOCS = ROOT / "docs"
FIGURES = DOCS / "figures"
WIDTH = 900
"""Of a figure at most [px]."""
COLORS = 64


def figure_name(made: str) -> str:
    """The name in docs/figures of a file that the commands of the gallery make."""
    return made.replace("/results", "").replace("/", "_")


def with_pictures(page: str) -> str:
    """The page with a picture in Markdown below each comment that names a figure."""
    return SHOWN.sub(_with_picture, page)


def _with_picture(shown: re.Match[str]) -> str:
    made, text = shown["file"], shown["text"]
    if not made.endswith(".png") or text.startswith("!["):
        return shown[0]
    label = made.rpartition("/")[2].removesuffix(".png")
    return f"<!-- made: {made} -->\n![{label}](figures/{figure_name(made)})\\\n{text}"


def small(figure: bytes) -> bytes:
    """A figure of few colors and no more than `WIDTH`."""
    image = Image.open(BytesIO(figure)).convert("RGB")
    if image.width > WIDTH:
        size = (WIDTH, round(image.height * WIDTH / image.width))
        image = image.resize(size, Image.Resampling.LANCZOS)
    image.quantize(COLORS, dither=Image.Dither.NONE).save(out := BytesIO(), "png", optimize=True)
    return out.getvalue()


def main(words: list[str]) -> None:
    """Write links and figures."""
    wanted: set[str] = set()
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        wanted |= {file for file in shown_files(text) if file.endswith(".png")}
        if (new := with_pictures(text)) != text:
            page.write_text(new, encoding="utf-8")
    if "--links" in words:
        return
    FIGURES.mkdir(exist_ok=True)
    for file in FIGURES.glob("*.png"):
        file.unlink()
    for made, figure in made_files(frozenset(wanted)).items():
        (target := FIGURES / figure_name(made)).write_bytes(small(figure))
        print(f"{target}: {target.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
