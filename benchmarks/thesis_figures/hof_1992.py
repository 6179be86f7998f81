"""Hof (1992): his explicit moment term by term, and the center of pressure beside the center of mass."""

from __future__ import annotations

import numpy as np

from benchmarks.thesis_figures.drawing import COLORS, Finding, key, over_cycle, panels
from benchmarks.thesis_figures.study import SAGITTAL, Study
from benchmarks.timing import rms
from musclesolve._util.arrays import Array
from musclesolve._util.center_of_pressure import center_of_pressure
from musclesolve.dynamics.inverse.explicit_moment import center_of_pressure_from_motion, intersegmental_moment
from musclesolve.dynamics.inverse.newton_euler import segment_motion
from musclesolve.laboratory.plotting.page.sheet import heading

ARMS = ("upper_arm", "forearm", "hand")
FOOT = 0.1
"""How far in front of the middle of the feet the toes are, about [m]."""


def terms_of(study: Study, joint: str) -> dict[str, Array]:
    """The terms of (7) about the axis of a joint of the right leg over the cycle, (K,) [N m] by name."""
    recorded, dof = study.recorded, SAGITTAL[joint]
    model, motion = recorded.model, recorded.motion
    segments = segment_motion(model, motion)
    moment = intersegmental_moment(model, motion, segments, recorded.wrenches, dof)
    about = moment.about(model.tree.axes(motion.q)[:, model.joint(dof)])
    return {
        "1 ground force": study.of_cycle(about["ground"] + about["free_moment"]),
        "2 weights": study.of_cycle(about["gravity"]),
        "3 accelerations": study.of_cycle(about["linear"]),
        "4 angular momentum": study.of_cycle(about["angular"]),
    }


def explicit_moment(study: Study) -> Finding:
    """Equation 7 with figure 1: four terms at ankle, knee and hip, and what is missed without some of them."""
    figure, axes = panels(study, "Explicit moment of Hof (1992), term by term", 3, 1, 0.8)
    sentences = []
    for number, (panel, joint) in enumerate(zip(axes[:, 0], SAGITTAL, strict=True)):
        terms = terms_of(study, joint)
        whole = np.sum(list(terms.values()), axis=0)
        panel.plot(study.percent, whole, color="black", linewidth=1.5, label="sum")
        for color, (name, values) in zip(COLORS, terms.items(), strict=False):
            panel.plot(study.percent, values, color=color, linewidth=1.0, label=name)
        heading(panel, SAGITTAL[joint].removesuffix("_r").replace("_", " ") + " positive")
        over_cycle(panel, study, "[N m]", labeled=number == 2)
        if joint == "ankle":
            key(panel, loc="lower right")
        ground, weights, _, angular = terms.values()
        on = study.stance
        sentences.append(
            f"{joint}: in stance the ground force alone misses {share((whole - ground)[on], whole[on])}, with the "
            f"weights {share((whole - ground - weights)[on], whole[on])}; angular momentum is "
            f"{share(angular, whole)} over the cycle"
        )
    return Finding(figure, f"Root mean squares over that of the sum. {'. '.join(sentences)}.")


def share(part: Array, whole: Array) -> str:
    """Root mean square of a part over the root mean square of the whole."""
    return f"{100.0 * rms(part) / rms(whole):.1f} %"


def pressure_and_mass(study: Study) -> Finding:
    """Equation 12 with figure 2: center of pressure by plates and by the motion, less the center of mass."""
    recorded = study.recorded
    model, motion = recorded.model, recorded.motion
    segments = segment_motion(model, motion)
    force = np.sum([wrench.force for wrench in recorded.wrenches], axis=0)
    moment = np.sum([wrench.moment for wrench in recorded.wrenches], axis=0)
    mass = model.mass.mass
    center = np.einsum("b,tbx->tx", mass, segments.center) / mass.sum()
    places = {
        "by the plates": study.of_cycle(center_of_pressure(force, moment) - center),
        "from the motion (12)": study.of_cycle(center_of_pressure_from_motion(model, segments) - center),
    }
    figure, axes = panels(study, "Center of pressure less center of mass (Hof 1992)", 2, 1, 0.55)
    for number, (panel, direction) in enumerate(zip(axes[:, 0], ("forward", "to the left"), strict=True)):
        for color, (name, place) in zip(COLORS, places.items(), strict=False):
            style = "-" if name == "by the plates" else "--"
            panel.plot(study.percent, 1000.0 * place[:, number], style, color=color, label=name)
        heading(panel, direction)
        over_cycle(panel, study, "[mm]", labeled=number == 1)
    key(axes[0, 0])
    plates, from_motion = (place[:, :2] for place in places.values())
    apart = np.linalg.norm(plates - from_motion, axis=1)
    far = np.linalg.norm(plates, axis=1)
    return Finding(
        figure,
        f"The motion gives the center of pressure of the plates to {1000 * rms(apart):.1f} mm rms "
        f"({1000 * apart.max():.1f} at most). From the vertical through the center of mass it is "
        f"{1000 * rms(far):.0f} mm away (rms, {1000 * far.max():.0f} at most). Standing, an acceleration of both "
        f"arms by {arm_acceleration(study):.0f} m/s2 moves it {1000 * FOOT:.0f} mm (10).",
    )


def arm_acceleration(study: Study) -> float:
    """Forward acceleration of both hanging arms that shifts the center of pressure by `FOOT`, from (10), [m/s2]."""
    model = study.recorded.model
    arms = np.array([model.body(f"{part}_{side}") for part in ARMS for side in "rl"])
    height = model.mass.center[arms, 2] - model.standing[: model.topology.point_count, 2].min()
    weight = model.mass.total * np.linalg.norm(model.gravity)
    return float(FOOT * weight / (model.mass.mass[arms] @ height))
