"""Compiled parts of `knee`: the lever, and the loads from the pulls of the quadriceps."""

from math import cos, sin, sqrt
from pathlib import Path

from numba import types

from musclesolve._util.compiled_code import compiled, on_disk, types_of


@compiled
def set_lever(ligament, table, flexion, segment, motion, force, moment):
    """Compute force and moment (3,) per newton meter in one pose: `PatellarLever.from_flexion`.

    ligament (2,): arm and distance to the left [m]; table: flexions and leans (k,) [rad]; segment: up and left (3,);
    motion: spin and velocity (3,).
    """
    flexions, leans = table
    up, left = segment
    spin, velocity = motion
    arm, beside, last, k = ligament[0], ligament[1], flexions.size - 1, 0
    angle = min(max(flexion, flexions[0]), flexions[last])
    while k < last - 1 and flexions[k + 1] <= angle:
        k += 1
    share = (angle - flexions[k]) / (flexions[k + 1] - flexions[k])
    lean = leans[k] + share * (leans[k + 1] - leans[k])
    rate = sqrt(spin[0] ** 2 + spin[1] ** 2 + spin[2] ** 2)
    if spin[0] * left[0] + spin[1] * left[1] + spin[2] * left[2] < 0.0:
        rate = -rate  # of flexion
    raised = (up[0] * spin[0] + up[1] * spin[1] + up[2] * spin[2]) / (rate * rate)
    size = 0.0
    for x in range(3):
        size += (up[x] - raised * spin[x]) ** 2
    size = sqrt(size)
    distance = arm
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        # straight = (up - (up . axis) axis) / size with axis = spin / rate, and so axis x straight = axis x up / size
        force[x] = cos(lean) * (up[x] - raised * spin[x]) / size
        force[x] += sin(lean) * (spin[y] * up[z] - spin[z] * up[y]) / (rate * size)
        distance += velocity[x] * force[x] / rate
    for x in range(3):
        y, z = (x + 1) % 3, (x + 2) % 3
        across = (spin[y] * force[z] - spin[z] * force[y]) / rate
        moment[x] = (beside * across - distance * spin[x] / rate) / (arm * rate)
    for x in range(3):
        force[x] /= arm * rate


def patellar_lever(ligament, table, flexion, segment, motion, force, moment):
    """Compute force and moment (T, 3) per newton meter (`PatellarLever`); segment: up, left; motion: spin, velocity."""
    up, left = segment
    spin, velocity = motion
    for t in range(flexion.size):
        pose, moved = (up[t], left[t]), (spin[t], velocity[t])
        set_lever(ligament, table, flexion[t], pose, moved, force[t], moment[t])


def pull_through_ligaments(knees, table, motion, heads, arm, across, about, lever):
    """Put the patellar ligaments of hinged knees (K,) in place of the heads (h,) of the quadriceps, of n muscles.

    knees: degree of freedom, place among J joints, place among the moment arms (K,), ligament (K, 2); table: flexions
    and leans (k,) [rad]; motion: coordinates (T, D), axes (T, A, 3) of the joints, rotations (T, K, 3, 3) of the
    shanks; arm (T, m, n); across, about (T, J + K, n, 3): loads of the joints, which are changed, then the pulls of the
    muscles at the patella, which are replaced by the force of the femur on the patella; lever (3, 3): for work.
    """
    dof, joint, row, ligament = knees
    coordinates, axes, rotation = motion
    force, moment, still = lever[0], lever[1], lever[2]
    for x in range(3):
        still[x] = 0.0
    for t in range(coordinates.shape[0]):
        for k in range(dof.size):
            flexion, segment = coordinates[t, dof[k]], (rotation[t, k, :, 2], rotation[t, k, :, 1])
            set_lever(ligament[k], table, flexion, segment, (axes[t, dof[k]], still), force, moment)
            j, patella, head = joint[k], across.shape[1] - dof.size + k, 0
            for n in range(arm.shape[2]):
                if head < heads.size and heads[head] == n:
                    head += 1
                    for x in range(3):
                        across[t, j, n, x] = arm[t, row[k], n] * force[x]
                        about[t, j, n, x] = arm[t, row[k], n] * moment[x]
                        across[t, patella, n, x] -= across[t, j, n, x]
                else:
                    for x in range(3):
                        across[t, patella, n, x] = 0.0


_PAIR, _TABLES = types.UniTuple(types_of("r1")[0], 2), types.UniTuple(types_of("r2")[0], 2)

_on_disk = on_disk("compiling the patella for this machine, once (a few seconds)", Path(__file__))
LEVER = _on_disk(patellar_lever, "r1?", _PAIR, "r1?", _TABLES, _TABLES, "r2 r2")
THROUGH = _on_disk(
    pull_through_ligaments,
    *(types.Tuple(types_of("i1 i1 i1 r2")), _PAIR, types.Tuple(types_of("r2 r3 r4")), "i1? r3? r4 r4 r2"),
)
