"""How Ipopt ends, in a sentence for each way. None of them is a certificate: that is computed from the numbers."""

from __future__ import annotations

_SENTENCES = {
    "Solve_Succeeded": "",
    "Solved_To_Acceptable_Level": "Ipopt stopped short of its tolerance",
    "Feasible_Point_Found": "Ipopt stopped at a feasible point that is no optimum",
    "Infeasible_Problem_Detected": (
        "Ipopt found no states that produce the moments: it stopped where the equations are missed least; "
        "that there are none is not proved"
    ),
    "Search_Direction_Becomes_Too_Small": "Ipopt stopped where round-off permits no further step",
    "Diverging_Iterates": "Ipopt stopped because the unknowns grow without limit",
    "User_Requested_Stop": "Ipopt was stopped",
    "Maximum_Iterations_Exceeded": "Ipopt ran out of iterations",
    "Maximum_CpuTime_Exceeded": "Ipopt ran out of time",
    "Maximum_WallTime_Exceeded": "Ipopt ran out of time",
    "Restoration_Failed": "Ipopt found no way back to states that satisfy the equations",
    "Error_In_Step_Computation": "Ipopt could not solve for a step",
    "Invalid_Number_Detected": "Ipopt met a number that is not finite",
    "Not_Enough_Degrees_Of_Freedom": "there are more equations than unknowns",
    "Insufficient_Memory": "Ipopt ran out of memory",
}


def sentence(status: str) -> str:
    """What to tell about a return status of Ipopt; empty where it claims an optimum."""
    return _SENTENCES.get(status, f"Ipopt ended with the status {status}")
