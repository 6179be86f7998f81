"""The Newton system of a motion, compiled: a chain in time for each muscle, coupled by the moments of each frame.

For the changes dc_i (T) of the spline coefficients of each muscle and dlambda (T, m) of the multipliers it is

    H_i dc_i - Z^T A_i^T dlambda = r_i,      sum_i A_i Z dc_i + C dlambda = b,

with H_i a symmetric band of half-width 3 (three coefficients count in a frame, and activation limits join two frames),
A_i the moments of a muscle by its tendon coordinate and C the compliance of reserves. Eliminating dc gives

    S dlambda = b - sum_i A_i Z H_i^-1 r_i,      S = sum_i A_i (Z H_i^-1 Z^T) A_i^T + C.

Each H_i is factored as a band (chain.py). S couples all frames, but a tendon forgets: its blocks fall off within some
tens of frames. Those up to a reach are computed exactly, from the entries of H_i^-1 next to the diagonal, and factored
as a band (coupling.py); they precondition conjugate gradients with the whole S, whose products cost a pass through the
chains. All of it grows in proportion to the number of frames.
"""
