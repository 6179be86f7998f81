"""Make the bundled reference stride: `python tools/reference_stride/make_stride.py` (about a quarter of a minute).

A computed stride of level walking: Fourier series of all angles and of the pelvis' path stay as near to normative
curves (schwartz_2008.csv, upper_body.csv) as the laws of motion of this project's own model allow, while the feet
neither slip nor sink, the ground alone carries the body, its force acts under the foot and looks like the published
one, and joint moments look like measured ones (winter_1991.csv). One nonlinear least-squares problem (aims.py)
determines motion and forces together; the left side is the right side half a stride later. The subject is in
musclesolve/studies/synthetic/stride_subject.toml, which also evaluates what is found here; what the gait is meant to
be like in aims.toml, the series and how far they may leave the curves in series.toml. Nothing is random.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from aims import Problem
from bundle import write_bundle
from checks import all_checks, judge
from series import HERE, Plan
from solve import solve

from musclesolve.studies.synthetic.reference_stride import ReferenceStride

BUNDLE = HERE.parent.parent / "musclesolve" / "data" / "reference_stride"


def main() -> int:
    """Solve, judge, and write the recording if every check is kept; the exit code says whether."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=BUNDLE, help="folder of the recording")
    parser.add_argument(
        "--figure", type=Path, help="file of the picture of the stride, docs/reference_stride.png"
    )
    options = parser.parse_args()
    plan = Plan.load()
    stride = ReferenceStride(plan.layout, solve(Problem(plan)))
    judged = judge(plan, stride)
    checks = all_checks(judged)
    print(*checks, sep="\n")
    if options.figure:
        from figures import draw

        draw(judged, options.figure)
    if not all(check.kept for check in checks):
        print("A check is not kept; nothing was written.")
        return 1
    write_bundle(stride, options.output)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
