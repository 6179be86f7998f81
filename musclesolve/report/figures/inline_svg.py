"""A matplotlib figure as compact SVG inside a page, with selectable text and unique ids."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from musclesolve.plotting.page.page_style import PageStyle, page_style

PAGE = PageStyle(width_mm=200.0, font_pt=8.0)

_HEAD = re.compile(r"^.*?(?=<svg)", re.DOTALL)
_DROPPED = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->|<defs>\s*</defs>", re.DOTALL)
_OPENING = re.compile(r"<svg[^>]*viewBox=\"(?P<box>[^\"]+)\"[^>]*>", re.DOTALL)
_ID = re.compile(r' id="([^"]+)"')
_USED = re.compile(r'(?:url\(#|href="#)([^")]+)')
_DECIMALS = re.compile(r"-?\d*\.\d+")
_DATA = re.compile(r' (d|points|style|transform|x|y|width|height|x1|y1|x2|y2)="([^"]*)"', re.DOTALL)
_FONT = re.compile(r"font-family: [^;\"]*;? ?")
_SHORT_FONT = re.compile(r"font: ?(?:(italic|bold) )?([\d.]+)px [^;\"]*")
_GROUP = re.compile(r"<g( [^>]*)?>|</g>")
_BLANKS = re.compile(r"\s*\n\s*")


def inline_svg(draw: Callable[[], Figure], key: str, label: str, style: PageStyle = PAGE) -> str:
    """Draw a figure for a page.

    Args:
        draw: makes the figure.
        key: prefix of the ids, its own for each figure of a page.
        label: what the figure shows, for those who do not see it.
        style: width and text of the figure.
    """
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": key, "path.simplify": True}
    memory = io.StringIO()
    with mpl.rc_context(settings), page_style(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        draw().savefig(memory, format="svg", metadata={"Date": None})
    return compact(memory.getvalue(), key, label)


def compact(svg: str, key: str, label: str) -> str:
    """Remove head, metadata and unused ids; round numbers to a tenth of a point; let ids begin with the key."""
    from markupsafe import escape

    svg = _DROPPED.sub("", _HEAD.sub("", svg, count=1))
    used = set(_USED.findall(svg))
    svg = _ID.sub(lambda found: f' id="{key}-{found[1]}"' if found[1] in used else "", svg)
    svg = (
        svg.replace("xlink:href", "href")
        .replace('href="#', f'href="#{key}-')
        .replace("url(#", f"url(#{key}-")
    )
    svg = _DATA.sub(lambda found: f' {found[1]}="{_shorter(found[1], found[2])}"', svg)
    opening = f'<svg viewBox="{{}}" role="img" aria-label="{escape(label)}">'
    svg = _OPENING.sub(lambda found: opening.replace("{}", found["box"]), svg, count=1)
    return _without_bare_groups(_BLANKS.sub("", svg).strip())


def _without_bare_groups(svg: str) -> str:
    """Remove groups without attributes, which draw nothing."""
    kept: list[bool] = []

    def shown(found: re.Match[str]) -> str:
        if found[0] == "</g>":
            return found[0] if kept.pop() else ""
        kept.append(bool(found[1]))
        return found[0] if found[1] else ""

    return _GROUP.sub(shown, svg)


def _shorter(name: str, value: str) -> str:
    """Shorten the value of an attribute."""
    if name == "style":
        value = _SHORT_FONT.sub(lambda found: _font(found[1], found[2]), _FONT.sub("", value))
        return value.replace(": ", ":").replace("; ", ";")
    value = _DECIMALS.sub(lambda found: f"{round(float(found[0]), 1) + 0.0:g}", " ".join(value.split()))
    return re.sub(r" ?([MLCQzH]) ?", r"\1", value) if name == "d" else value


def _font(shape: str | None, size: str) -> str:
    """Size and shape of a font; its family is the same for all figures of the page."""
    extra = {"italic": ";font-style:italic", "bold": ";font-weight:bold"}.get(shape or "", "")
    return f"font-size:{size}px{extra}"
