"""The trial file of a synthetic recording."""

from __future__ import annotations

from musclesolve.synthetic.recording.recording_options import RecordingOptions
from musclesolve.synthetic.stride.reference_stride import Stride

PLATES = """[[force]]
side = "r"
force = "right_force_"
point = "right_point_"
moment = "right_moment_"

[[force]]
side = "l"
force = "left_force_"
point = "left_point_"
moment = "left_moment_"
"""


def trial_text(stride: Stride, options: RecordingOptions) -> str:
    """The trial file."""
    subject, kind = stride.person.subject, "toml" if options.cameras else "trc"
    highest = max(max(entry["harmonics"]) for entry in stride.layout.series.values()) / stride.period
    content = (
        f"Noise of the markers: {options.noise_mm:g} mm. "
        f"The highest harmonic of the motion itself lies at {highest:.1f} Hz."
    )
    return f"""# {stride.about + _turning(options.turn_deg)}, right heel strike to right heel strike.
# It was not recorded: it follows from {stride.source} and the laws of motion (musclesolve.synthetic).

[subject]
name = "{subject.name}"
mass_kg = {subject.mass:g}
stature_m = {subject.stature:.2f}
sex = "{subject.sex}"

[laboratory]
forward = "{options.forward}"
up = "{options.up}"

[files]
markers = "walk.{kind}"
static = "static.{kind}"
forces = "forces.mot"

{_time(stride, options)}# {content}
[filter]
{_cutoff(options)}
unloaded_below_n = {options.unloaded_below:g}

{stride.muscles}{_mapping(stride, options)}

{PLATES}"""


def _turning(degrees: float) -> str:
    side = "left" if degrees > 0.0 else "right"
    return f", on a path that turns by {abs(degrees):g} degrees to the {side}" if degrees else ""


def _time(stride: Stride, options: RecordingOptions) -> str:
    """The time range: whole strides, or for the reader to find."""
    if options.steps is not None:
        return ""
    end = options.margin_s + options.strides * stride.period
    return f"[time]\nstart_s = {options.margin_s:.8f}\nend_s = {end:.8f}\n\n"


def _mapping(stride: Stride, options: RecordingOptions) -> str:
    """What the markers mean: the name of their set, or a mapping of every landmark to the marker of its name."""
    if options.marker_set is not None:
        return f'[markers]\nset = "{options.marker_set}"'
    return "[mapping]\n" + "\n".join(f'{name} = "{name}"' for name in stride.marker_names)


def _cutoff(options: RecordingOptions) -> str:
    own = options.force_cutoff_hz
    return _marker_cutoff(options) + ("" if own is None else f"\nforce_cutoff_hz = {own:g}")


def _marker_cutoff(options: RecordingOptions) -> str:
    if options.cutoff == "cross_validation":
        return 'method = "spline"\ncutoff_hz = "cross_validation"'
    if isinstance(options.cutoff, str):
        return f'cutoff_hz = "{options.cutoff}"'
    return f"cutoff_hz = {options.cutoff:g}"
