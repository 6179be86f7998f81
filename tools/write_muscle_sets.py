"""Write the muscle sets `gait2392` and `rajagopal_2023` of muscle_db from public OpenSim models.

    python tools/write_muscle_sets.py FOLDER

FOLDER holds the files named below, as the opensim-models repository distributes them (Models/Gait2392_Simbody,
Models/RajagopalLaiUhlrich2023). What the files do not state in a usable form, source, stature and license, stands here.
Their passive strains are calibrated in the same run, as `python tools/calibrate_passive.py FILE.toml` does for one set.
"""

from __future__ import annotations

import sys
from pathlib import Path

import calibrate_passive
import numpy as np

from muscle_db.toml_text import to_toml
from musclesolve.models.opensim.muscle_set import (
    CENTER_RANGE,
    GlidingKnee,
    NeutralLeg,
    SetDescription,
    muscle_set,
)
from musclesolve.models.opensim.read_model import read_osim

TARGET = Path(__file__).resolve().parents[1] / "muscle_db"

MODELS = {
    "gait2392.osim": SetDescription(
        name="gait2392",
        stature=1.80,
        # R.ASIS, L.ASIS to V.Sacral of hamner_2010.osim, whose pelvis is that of gait2392, which has no markers
        pelvis_depth=0.1803,
        source=(
            "OpenSim model gait2392: Delp S.L., Loan J.P., Hoy M.G., Zajac F.E., Topp E.L., Rosen J.M., Thelen D.G., "
            "Anderson F.C., Seth A.; Delp et al. (1990), IEEE Trans Biomed Eng 37:757-767; knee of Yamaguchi and Zajac "
            "(1989), J Biomech 22:1-10; Anderson and Pandy (1999), Comput Methods Biomech Biomed Eng 2:201-231; "
            "Anderson and Pandy (2001), J Biomech Eng 123:381-390"
        ),
        license=(
            "Creative Commons Attribution 3.0 (CC BY 3.0), http://creativecommons.org/licenses/by/3.0/, as the model "
            "file states; changed: right leg only, converted as the remarks at the top of this file say"
        ),
    ),
    "rajagopal_lai_uhlrich_2023.osim": SetDescription(
        name="rajagopal_2023",
        # The model file states no stature. The muscles of the 2016 model have 7089 cm^3 a leg (F0 L0 / 60 N/cm^2), 97 %
        # of what Handsfield et al. (2014) give for its 75.3 kg and 1.70 m; the rest are muscles that it leaves out.
        stature=1.70,
        pelvis_depth=0.1654,  # RASI, LASI to RPSI, LPSI of the file
        source=(
            "OpenSim model RajagopalLaiUhlrich2023: Rajagopal A., Dembia C.L., DeMers M.S., Delp D.D., Hicks J.L., "
            "Delp S.L. (2016), IEEE Trans Biomed Eng 63:2068-2079; Lai A.K.M., Arnold A.S., Wakeling J.M. (2017), Ann "
            "Biomed Eng 45:2762-2774; Uhlrich S.D., Jackson R.W., Seth A., Kolesar J.A., Delp S.L. (2022), Sci Rep "
            "12:9842; fiber damping by P. van den Bos"
        ),
        license="the model file states no license; cite its authors",
    ),
}

HEADER = """\
Muscles of the right leg of an OpenSim model ({file}), written by tools/write_muscle_sets.py: change that, not this.

Units: N, m; degrees where the key or a remark says so; max_shortening_velocity in optimal fiber lengths per second;
passive: fiber strains at which passive force begins and at which it equals max_isometric_force.
Positions are forward, left, up in frames parallel to each other with all coordinates of the model zero; their origins:
that of the model's pelvis, hip, knee and ankle center. Talus, calcaneus and toes are one foot.
The knee of the model glides, the skeleton's is a hinge. Its center is the sagittal point that the tibia moves least
from between 0 and 100 deg of flexion ({glide:.1f} mm at most), laterally the origin of the model's knee joint. What is
left is in the frames: tibial points of muscles from above the knee are on `tibia_gliding`, femoral points of muscles
from the femur to the foot on `femur_gliding`, so every musculotendon length is that of the model. A frame moves a
point p of the bone to translation + R(rotation vector) p; natural cubic splines between the angles, straight beyond.
{more}"""

MORE = {
    "gait2392": (
        "Moving points are the patella's part of the quadriceps, with the gliding of the knee in one.\n"
        "tendon_strain: strain of a tendon at max_isometric_force, FmaxTendonStrain of the model."
    ),
    "rajagopal_2023": "Wrap objects: columns of `axes` are their own x, y, z; the axis of a cylinder is z.",
}


def main(folder: Path) -> None:
    """Write both sets."""
    for file, about in MODELS.items():
        model = read_osim(folder / file)
        knee = GlidingKnee(NeutralLeg(model, about.bodies))
        shift = knee.gliding(knee.leg.bodies.tibia, CENTER_RANGE)[1]
        glide = 1e3 * float(np.linalg.norm(shift, axis=1).max())
        header = HEADER.format(file=file, glide=glide, more=MORE[about.name])
        target = TARGET / f"{about.name}.toml"
        database = muscle_set(model, about)
        target.write_text(to_toml(database, header), encoding="utf-8")
        print(f"{target}: glide at the knee center up to {glide:.2f} mm")
        calibrate_passive.main(target)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
