"""Figures of solutions and comparisons of arrays: every curve is a curve of the solution."""

import numpy as np
import pytest
import xarray as xr
from refusals import refused

import musclesolve as ms
from musclesolve.laboratory.plotting.page.sheet import native

TIME = np.linspace(0.0, 1.0, 25)
BEND = 0.4 - 0.2 * np.cos(2.0 * np.pi * TIME)


@pytest.fixture(scope="module")
def squat():
    angles = {"knee_flexion_r": 2.0 * BEND, "knee_flexion_l": 2.0 * BEND}
    moments = {"knee_flexion_r": -80.0 * BEND, "knee_flexion_l": -60.0 * BEND}
    return ms.pose_problem(angles, None, moments, muscles="silva_2003", time=TIME)


@pytest.fixture(scope="module")
def comparison(squat):
    return ms.compare(squat, ["stress_cubed", "force_squared"])


@pytest.mark.parametrize(
    ("draw", "field"), [(ms.plotting.activations, "activation"), (ms.plotting.muscle_forces, "force")]
)
def test_panels_of_muscles_show_the_solution(squat, draw, field):
    solution = ms.solve(squat)
    drawn = [line.get_ydata() for axes in draw(solution).panels.flat for line in axes.get_lines()]
    expected = getattr(solution, field)
    for column in expected.T:
        assert any(len(each) == len(TIME) and np.allclose(each, column) for each in drawn)


def test_axis_is_time_or_frame(squat):
    assert "time [s]" in all_texts(ms.plotting.activations(ms.solve(squat)))
    assert "frame" in all_texts(ms.plotting.activations(ms.solve(squat.with_arrays(time=None))))


def all_texts(sheet):
    from matplotlib.text import Text

    return [text.get_text() for text in sheet.findobj(Text)]


def test_groups_have_the_names_of_muscle_sets(squat):
    data = ms.solve(squat).to_dataset(squat)
    assert "quadriceps femoris" in all_texts(ms.plotting.function_groups(data))
    with refused("missing_argument", "max_isometric_force"):
        ms.plotting.function_groups(ms.solve(squat))


@pytest.mark.in_part(2)
@pytest.mark.parametrize("draw", [ms.plotting.compare_activations, ms.plotting.compare_muscle_forces])
@pytest.mark.parametrize("side", ["r", "l", None])
def test_costs_are_side_by_side(comparison, draw, side):
    texts = all_texts(draw(comparison, side))
    assert {"stress_cubed", "force_squared"} <= set(texts)


def test_what_is_no_comparison_and_no_average_is_told_what_makes_one(squat):
    for name, maker in (("compare_activations", "of compare"), ("average_activations", "of average_cycles")):
        with refused("bad_result", maker):
            getattr(ms.plotting, name)(ms.solve(squat).to_dataset())


def test_group_forces_are_sums(comparison):
    sheet = ms.plotting.compare_group_forces(comparison, "l")
    drawn = [line.get_ydata() for axes in sheet.panels.flat for line in axes.get_lines()]
    quadriceps = [name for name in comparison["muscle"].values if name.startswith(("vastus", "rectus"))]
    own = [name for name in quadriceps if name.endswith("_l")]
    total = comparison["muscle_force"].sel(cost="stress_cubed", muscle=own).sum("muscle")
    assert any(len(each) == len(TIME) and np.allclose(each, total) for each in drawn)


def test_pairs_of_costs_and_solvers_have_a_curve_each(squat):
    both = ms.compare(squat, ["stress_cubed"], solvers=["batch", "slsqp"])
    assert {"batch", "slsqp"} <= set(all_texts(ms.plotting.compare_activations(both)))


def test_certificates_are_below_the_tolerance(squat, comparison):
    for data in (ms.solve(squat), comparison):
        for axes in ms.plotting.certificates(data).panels.flat:
            *drawn, limit = axes.get_lines()
            assert drawn and all((each.get_ydata() <= limit.get_ydata()[0]).all() for each in drawn)


def test_a_single_frame_has_no_curve(squat):
    with refused("too_few_frames", "pose_activations"):
        ms.plotting.activations(ms.solve(squat.frames(np.array([0]))))


@pytest.mark.thorough
def test_one_pose_has_a_mark_for_each_muscle_and_cost(squat):
    pose = squat.frames(np.array([20]))
    compared = ms.compare(pose, ["stress_cubed", "force_squared"], solvers=["batch", "ipopt"])
    drawn = [line for axes in ms.plotting.pose_activations(compared).panels.flat for line in axes.get_lines()]
    solution = ms.solve(pose, "force_squared").activation[0]
    assert len(drawn) == 2 * 4 and {line.get_label() for line in drawn} >= {"force_squared, batch"}
    shown = np.concatenate([line.get_xdata() for line in drawn if line.get_label() == "force_squared, batch"])
    np.testing.assert_allclose(np.sort(shown), np.sort(solution))
    alone = ms.plotting.pose_activations(ms.solve(squat), frame=20)
    assert sum(len(line.get_xdata()) for axes in alone.panels.flat for line in axes.get_lines()) == len(
        solution
    )


def test_what_a_figure_cannot_draw_is_refused(squat, comparison):
    with refused("bad_result", "this is <Solution of 25 frames"):
        ms.plotting.joint_moments(ms.solve(squat))
    for draw in (ms.plotting.joint_moments, ms.plotting.certificates, ms.plotting.pose_activations):
        with refused("bad_result", f"ms.plotting.{draw.__name__}(result, ...)"):
            draw(xr.Dataset())
        with refused("bad_result", "this is None"):
            draw(None)
    for draw in (ms.plotting.activations, ms.plotting.muscle_forces, ms.plotting.reserves):
        with refused("bad_result", "several costs"):
            draw(comparison)
    assert ms.plotting.activations(comparison.sel(cost="stress_cubed")).panels.size


def test_only_a_name_that_the_dataset_lacks_is_its_fault():
    def muscle_forces_of(result: xr.Dataset, name: str) -> object:
        ways = {"attribute": lambda: result.attrs["cost"], "label": lambda: result.sel(muscle="psoas_r")}
        return ways[name]() if name in ways else {"muscle_force": result}[name][name]

    draw, data = native(muscle_forces_of), xr.Dataset(coords={"muscle": ["soleus_r"]})
    for name, absent in (("muscle_force", "muscle_force"), ("attribute", "cost"), ("label", "muscle")):
        with refused("bad_result", absent):
            draw(data, name)
    with refused("bad_result", "muscle_force"):  # an attribute of this name is no variable
        draw(data.assign_attrs(muscle_force="N"), "muscle_force")
    for name in ("soleus", "soleus_r", "muscle"):
        with pytest.raises(KeyError, match=name):
            draw(data, name)
