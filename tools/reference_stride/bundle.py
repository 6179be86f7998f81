"""Files of the stride in the package: the coefficients of the stride, and the recording made from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from musclesolve.studies.synthetic.reference_stride import WRENCH, ReferenceStride, read_stride
from musclesolve.studies.synthetic.synthetic_recording import synthetic_recording

HEADER = """# The reference stride as coefficients: level walking of musclesolve/studies/synthetic/stride_subject.toml.
#
# Made by tools/reference_stride/make_stride.py; do not edit. musclesolve.studies.synthetic.reference_stride() reads it.
# Series: a0, then a_k and b_k of every harmonic k: a0 + sum a_k cos(2 pi k phase) + b_k sin(2 pi k phase);
# angles [rad], pelvis [m]. The phase is 0 at right heel strike; sided series are half a stride later on the left.
# Ground: cubic B-splines over the stance of the right foot, force in body weights and moment about the ball of the foot
# in body weight meters; what they miss of the balance is shared between the feet when the stride is evaluated.
# Model: human_model of this package for that person (segments after de Leva 1996), {dofs} degrees of freedom.
"""


def write_bundle(stride: ReferenceStride, folder: Path) -> None:
    """Write coefficients.toml and the recording into a folder."""
    timing = stride.person.settings["timing"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "coefficients.toml").write_text(coefficient_text(stride), encoding="utf-8")
    written = read_stride(folder / "coefficients.toml")
    synthetic_recording(folder, written, truth=False, **recording_options(timing))


def recording_options(timing: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the bundled recording: at the rate of the thesis, little filtered."""
    return {
        "marker_rate_hz": timing["marker_rate_hz"],
        "force_rate_hz": timing["force_rate_hz"],
        "margin_s": timing["padding"] / timing["marker_rate_hz"],
        "standing_frames": 12,
        "cutoff_hz": timing["cutoff_hz"],
        "unloaded_below_n": 1.0,
        "decimals": 3,
    }


def coefficient_text(stride: ReferenceStride) -> str:
    """The file of coefficients."""
    layout = stride.layout
    values = {name: stride.coefficients[part].tolist() for name, part in layout.slices.items()}
    lines = [HEADER.format(dofs=len(stride.model.topology.dof_names))]
    lines += [f"speed_m_s = {values['speed'][0]:.10g}", f"right_ball_m = {_list(values['place'])}", ""]
    for name, entry in layout.series.items():
        lines.append(f"[series.{name}]")
        if entry.get("sided"):
            lines.append("sided = true")
        if "moves" in entry:
            lines.append("moves = { " + ", ".join(f"{k} = {v!r}" for k, v in entry["moves"].items()) + " }")
        lines += [f"harmonics = {entry['harmonics']}", f"coefficients = {_list(values[name])}", ""]
    lines.append("[head]")
    lines += [
        f"{name} = {{ " + ", ".join(f"{k} = {v!r}" for k, v in sources.items()) + " }"
        for name, sources in layout.head.items()
    ]
    lines += ["", "[ground]", f"onset = {layout.onset}"]
    lines += [f"{name} = {_list(values[name])}" for name in WRENCH]
    return "\n".join(lines) + "\n"


def _list(numbers: list[float]) -> str:
    # Ten digits are 1e-10 rad or m; the balance holds for any coefficients.
    return "[" + ", ".join(f"{number:.10g}" for number in numbers) + "]"
