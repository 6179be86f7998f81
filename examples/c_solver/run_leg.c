/* Frames from standard input, each as doubles: moments, moment arms row by row, force capacities at the tendon and
 * along the fibers, lower and upper bounds. Standard output has, for each, status, best time [s] of ROUNDS calls and
 * activations. leg.c is the code that c_solver.py writes. */

#include <stdio.h>
#include <time.h>

#include "leg.c"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    static double in[MS_DOFS + MS_DOFS * MS_MUSCLES + 4 * MS_MUSCLES], out[2 + MS_MUSCLES], force[MS_MUSCLES];
    const double *arm = in + MS_DOFS, *tendon = arm + MS_DOFS * MS_MUSCLES, *fiber = tendon + MS_MUSCLES;
    const double *lower = fiber + MS_MUSCLES, *upper = lower + MS_MUSCLES;
    double multiplier[MS_DOFS] = {0.0}, before[MS_DOFS];
    leg_result result;
    while (fread(in, sizeof in, 1, stdin) == 1) {
        for (int r = 0; r < MS_DOFS; r++) before[r] = multiplier[r];
        out[1] = 1.0;
        for (int k = 0; k < ROUNDS; k++) {
            double start;
            for (int r = 0; r < MS_DOFS; r++) multiplier[r] = before[r]; /* of the frame before */
            start = now();
            leg(in, arm, tendon, fiber, lower, upper, multiplier, out + 2, force, &result);
            out[1] = fmin(out[1], now() - start);
        }
        out[0] = result.status;
        fwrite(out, sizeof out, 1, stdout);
    }
    return 0;
}
