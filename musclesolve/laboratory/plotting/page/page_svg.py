"""A figure as an SVG within a page of HTML: what matplotlib draws, in few characters, with what `values.js` reads.

Letters stay letters, in the font of the page. Panels and curves carry attributes from which a script finds the values
under the pointer: a panel its box and the ends of its axes, a curve its name. Colors are attributes, too, so that rules
of the page (`dark_colors.py`) can replace them.
"""

import io
import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from musclesolve._util.collection import uncollected
from musclesolve.laboratory.plotting.page.page_style import RULES, PageStyle, current_style, page_style

if TYPE_CHECKING:
    from musclesolve.laboratory.plotting.page.drawn_sheet import DrawnSheet

STEP = 0.1
"""Resolution of coordinates [points]: half of it is 0.1 % of the height of the lowest panels."""
PLACES = ("d", "x", "y", "width", "height", "transform")
"""Attributes whose numbers are coordinates."""
LEFT_OUT = {
    "id": None,
    "clip-rule": None,
    "font-family": None,
    "font-size": f"{RULES['font_pt'].default:g}px",
    "stroke-dashoffset": "0",
    "stroke-linecap": "butt",
    "stroke-linejoin": "round",
    "stroke-width": "1",
    "text-anchor": "start",
}
"""Attributes that the SVG states once for all, or that have this value unless stated; None: whatever the value."""
_NUMBER, _UNTURNED = re.compile(r"-?\d+\.\d+"), re.compile(r"rotate\(-?0 ")
_CURVED = re.compile("[CQS]")


def page_svg(draw: Callable[[], Any], key: str, label: str) -> str:
    """A figure for a page; norms are as in the style in force.

    Args:
        draw: draws the figure, a function of this package.
        key: of the figure in its page; its names in the SVG follow from it.
        label: says what the figure is, for those who do not see it.
    """
    import matplotlib as mpl

    style, memory = current_style(), io.BytesIO()
    with page_style(PageStyle(titled=False, norms=style.norms, norm_file=style.norm_file)), uncollected():
        figure: DrawnSheet = draw()
    figure.patch.set_visible(False)
    names = _named(figure)
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": key}
    with warnings.catch_warnings(), mpl.rc_context(settings), uncollected():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(memory, format="svg", metadata={"Date": None})
    attributes = {name: attributes() for name, attributes in names.items()}
    root = ElementTree.fromstring(memory.getvalue())
    inner = "".join(_text(part, attributes) for part in root if _tag(part) in ("g", "defs"))
    width, height = (f"{72.0 * length:.1f}" for length in figure.get_size_inches())
    whole = {
        "viewBox": f"0 0 {width} {height}",
        "fill": "currentColor",
        "font-size": LEFT_OUT["font-size"],
        "role": "img",
        "aria-label": label,
        "data-across": figure.across,
    }
    return f"<svg{_stated(whole)}>{inner}</svg>"


def _named(figure: "DrawnSheet") -> dict[str, Callable[[], dict[str, str]]]:
    """Name the panels and curves of a figure in its SVG: name -> attributes, which are known when it is drawn."""
    names = dict[str, Callable[[], dict[str, str]]]()
    for number, axes in enumerate(figure.axes):
        axes.set_gid(f"panel{number}")
        names[f"panel{number}"] = partial(_panel, axes, figure)
        for place, line in enumerate(axes.lines):
            label, x = str(line.get_label()), np.asarray(line.get_xdata(), float)
            along = np.diff(x[np.isfinite(x)])
            if (
                label.startswith("_")
                or line.get_transform() != axes.transData
                or not along.size
                or along.min() < 0.0
            ):
                continue
            line.set_gid(f"curve{number}.{place}")
            names[f"curve{number}.{place}"] = partial(dict, {"data-of": label})
    return names


def _panel(axes: Any, figure: "DrawnSheet") -> dict[str, str]:
    """Box of a panel (left, top, width and height [points]), and ends of its axes."""
    left, low, wide, high = axes.get_position().bounds
    size = 72.0 * figure.get_size_inches()
    box = np.array([left, 1.0 - low - high, wide, high]) * np.tile(size, 2)
    ends = {"x": axes.get_xlim(), "y": axes.get_ylim()}
    shown = {"data-box": " ".join(f"{length:.1f}" for length in box)}
    return shown | {f"data-{axis}": " ".join(f"{end:.7g}" for end in pair) for axis, pair in ends.items()}


def _text(part: Any, attributes: Mapping[str, Mapping[str, str]]) -> str:
    """An element of an SVG of matplotlib with what is in it, without namespaces, styles, needless groups and digits."""
    tag, own, name = _tag(part), dict[str, str](), part.get("id", "")
    given = {key.rpartition("}")[2]: value for key, value in part.items()}
    pairs = (pair.split(":", 1) for pair in given.pop("style", "").split(";") if pair.strip())
    for key, value in (given | {key.strip(): value.strip() for key, value in pairs}).items():
        if key == "d" and not _CURVED.search(value):
            value = _steps(value)
        elif key in PLACES:
            value = _NUMBER.sub(_rounded, value)
        if LEFT_OUT.get(key, "") not in (None, value) and not (key == "transform" and _UNTURNED.match(value)):
            own[key] = value
    if tag != "g" and name:
        own["id"] = name
    own |= attributes.get(name, {})
    inner = escape(part.text or "", quote=False) if tag in ("text", "tspan") else ""
    inner += "".join(_text(child, attributes) for child in part)
    if tag == "g" and not own:
        return inner
    return f"<{tag}{_stated(own)}>{inner}</{tag}>" if inner else f"<{tag}{_stated(own)}/>"


def _stated(attributes: Mapping[str, Any]) -> str:
    return "".join(f' {key}="{escape(str(value))}"' for key, value in attributes.items())


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found.group()) / STEP) * STEP:g}"


def _steps(path: str) -> str:
    """A path of straight lines in relative steps: "M x y L x y z" becomes "Mx yldx dyz"."""
    drawn = []
    for part in path.split("M")[1:]:
        corners, end, _ = part.partition("z")
        points = np.array(corners.replace("L", " ").split(), float).reshape(-1, 2)
        whole = np.rint(points / STEP).astype(int)  # sums of rounded steps do not drift
        (x, y), *steps = (STEP * np.diff(whole, axis=0, prepend=0)).tolist()
        text = "".join(f"{dx:+g}{dy:+g}" for dx, dy in steps)
        drawn.append(f"M{x:g} {y:g}{text and 'l' + text}{end}")
    return "".join(drawn)


def _tag(part: Any) -> str:
    return str(part.tag).rpartition("}")[2]
