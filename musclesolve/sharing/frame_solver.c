/* Force sharing of one frame: activations a of least cost under the joint moments, with a proof of the optimum.
 *
 *     minimize sum_i f_i(a_i)   subject to   A a = b,  lower <= a <= upper,   A = moment_arm * force_capacity
 *
 * @ABOUT@
 *
 * Include this file, or compile it by itself and declare @NAME@() and its result as they stand below.
 * C99 and <math.h> alone: no allocation, no global state, a bounded number of steps. @NAME@() may run in several
 * threads. It needs IEEE double precision as written: no -ffast-math. The workspace is on the stack (@STACK@ bytes).
 *
 * The method is Newton's on the dual. For multipliers l of the moments the Lagrangian separates, and each activation
 * follows from its pull p = A^T l as the minimum of f_i(a) - p_i a within the bounds; what remains are the moments
 * r(l) = b - A a(l), whose slope is -A H A^T with H = 1/f'' of the muscles between their bounds.
 *
 * A frame is MS_SOLVED only by its certificate, which is computed from the inputs and the result: each muscle
 * contributes phi_i = f_i(a_i) - p_i a_i - min_x (f_i(x) - p_i x) >= 0 to the gap, bounded from above by
 * (|f_i' - p_i| + e_i) |a_i - y_i| for any y_i beyond the minimum, with the round-off e_i of f' and p. No activations
 * within the bounds that produce the same moments cost less by more than the sum of all phi. It is MS_INFEASIBLE only
 * by a proof y with y . b > max y . A a over the bounds, beyond round-off.
 */

#include <float.h>
#include <math.h>

#if defined __FAST_MATH__ || defined __ASSOCIATIVE_MATH__ || (defined __FINITE_MATH_ONLY__ && __FINITE_MATH_ONLY__)
#error "the certificate needs IEEE arithmetic: compile without -ffast-math"
#endif
#ifdef MS_DOFS
#error "two solvers in one file: compile each by itself, and declare its function and its result"
#endif

#define MS_DOFS @DOFS@
#define MS_MUSCLES @MUSCLES@
#define MS_TERMS @TERMS@

@CONSTANTS@

enum { MS_QUADRATIC = 1, MS_CUBIC = 2, MS_SATURATION = 3, MS_SINGLE_POWER = 4 };
#define MS_FORM @FORM@

/* Terms of the cost: factor (c a)^exponent, or of saturation factor (1 - sqrt(1 - (c a)^2)), with c = fixed +
 * proportional * @FORCE@. */
static const double ms_exponent[MS_TERMS] = {@EXPONENTS@};
static const double ms_factor[MS_TERMS] = {@FACTORS@};
static const double ms_fixed[MS_TERMS][MS_MUSCLES] = {
@FIXED@
};
static const double ms_proportional[MS_TERMS][MS_MUSCLES] = {
@PROPORTIONAL@
};

/* Order of the arrays: @NAMES@ */

enum { MS_SOLVED = 0, MS_INFEASIBLE = 2, MS_MAX_ITERATIONS = 3, MS_INVALID_INPUT = 4 };

typedef struct {
    int status;              /* MS_SOLVED, MS_INFEASIBLE, MS_MAX_ITERATIONS, MS_INVALID_INPUT */
    int iterations;          /* steps of Newton's method, at most 2 * MS_MAX_STEPS + MS_MOST_WARM */
    double gap;              /* proved excess over the least cost of the moments produced, relative; NAN unless solved */
    double cost;             /* NAN unless solved */
    double cost_bound;       /* the least cost of the given moments is proved to be no lower; NAN unless solved */
    double moment_error;     /* largest miss of a moment over max(1 N m, |b|), of the activations given back */
    double proof[MS_DOFS];   /* y of an infeasible frame: its large entries mark the joints; else zero */
} @NAME@_result;

typedef struct {
    double a[MS_DOFS][MS_MUSCLES];     /* A [N m per unit of activation] */
    double work[MS_DOFS][MS_MUSCLES];
    double schur[MS_DOFS][MS_DOFS];
    double c[MS_TERMS][MS_MUSCLES];
    double lower[MS_MUSCLES], upper[MS_MUSCLES], free_upper[MS_MUSCLES];
    double p0[MS_MUSCLES], p1[MS_MUSCLES], p2[MS_MUSCLES];
    double pull[MS_MUSCLES], best[MS_MUSCLES], inverse[MS_MUSCLES], inside[MS_MUSCLES];
    double curvature[MS_MUSCLES], secant[MS_MUSCLES];
    double slope[MS_MUSCLES], error[MS_MUSCLES], rise[MS_MUSCLES], point[MS_MUSCLES];
    double target[MS_DOFS], scale[MS_DOFS], multiplier[MS_DOFS], residual[MS_DOFS];
    double rhs[MS_DOFS], diagonal[MS_DOFS], trial[MS_DOFS];
} ms_work;

/* Four sums side by side, so that compilers may use vectors without changing the order of a sum. */
static double ms_dot(const double *x, const double *y)
{
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    int i = 0;
    for (; i + 4 <= MS_MUSCLES; i += 4) {
        s0 += x[i] * y[i];
        s1 += x[i + 1] * y[i + 1];
        s2 += x[i + 2] * y[i + 2];
        s3 += x[i + 3] * y[i + 3];
    }
    for (; i < MS_MUSCLES; i++) s0 += x[i] * y[i];
    return (s0 + s1) + (s2 + s3);
}

/* ---- the cost ---- */

static double ms_power(double x, double p)
{
    return p == 1.0 ? x : p == 2.0 ? x * x : p == 3.0 ? x * x * x : pow(x, p);
}

static double ms_cost(const ms_work *w, const double *a)
{
    double total = 0.0;
    for (int k = 0; k < MS_TERMS; k++) {
        double part = 0.0;
        for (int i = 0; i < MS_MUSCLES; i++) {
            double x = w->c[k][i] * a[i];
            if (MS_FORM == MS_SATURATION)
                part += x * x / (1.0 + sqrt(fmax((1.0 - x) * (1.0 + x), 0.0)));
            else
                part += ms_power(x, ms_exponent[k]);
        }
        total += ms_factor[k] * part;
    }
    return total;
}

static double ms_slope(const ms_work *w, int i, double a)
{
    double slope = 0.0;
    for (int k = 0; k < MS_TERMS; k++) {
        double c = w->c[k][i], x = c * a, p = ms_exponent[k];
        if (MS_FORM == MS_SATURATION)
            slope += ms_factor[k] * c * x / sqrt(fmax((1.0 - x) * (1.0 + x), 0.0));
        else
            slope += ms_factor[k] * p * c * (p == 1.0 ? 1.0 : ms_power(x, p - 1.0));
    }
    return slope;
}

/* ---- activations from multipliers ---- */

static double ms_flat(double q) { return q > 2.0 ? MS_FLAT_POWER : MS_FLAT; }

static int ms_prepare(ms_work *w)
{
    int lost = 0;
    double q = ms_exponent[0];
    for (int i = 0; i < MS_MUSCLES; i++) {
        int is_free = w->free_upper[i] - w->lower[i] > MS_NO_ROOM;
        double p0 = 0.0, p1 = 0.0, p2 = 0.0;
        if (MS_FORM == MS_QUADRATIC || MS_FORM == MS_CUBIC) {
            for (int k = 0; k < MS_TERMS; k++) {
                double f = ms_factor[k], c = w->c[k][i];
                if (ms_exponent[k] == 1.0) p0 += f * c;
                else if (ms_exponent[k] == 2.0) p1 += 2.0 * f * c * c;
                else p2 += 3.0 * f * c * c * c;
            }
            lost += is_free && !(p1 + p2 > 0.0);
            if (!is_free) p0 = 0.0, p1 = MS_STIFF, p2 = 0.0;
            if (MS_FORM == MS_QUADRATIC) p1 = 1.0 / p1;
        } else {
            double c = w->c[0][i], steep = MS_FORM == MS_SATURATION ? ms_factor[0] : ms_factor[0] * q;
            lost += is_free && !(steep * c > 0.0);
            p1 = is_free ? 1.0 / (steep * c) : 0.0;
            p2 = is_free ? 1.0 / c : 0.0;
            if (MS_FORM == MS_SINGLE_POWER) p0 = pow(ms_flat(q) * c, q - 1.0);
        }
        w->p0[i] = p0;
        w->p1[i] = p1;
        w->p2[i] = p2;
    }
    return lost == 0;
}

static void ms_activations(ms_work *w)
{
    double q = ms_exponent[0];
    for (int i = 0; i < MS_MUSCLES; i++) {
        double best;
        if (MS_FORM == MS_QUADRATIC) {
            best = (w->pull[i] - w->p0[i]) * w->p1[i];
        } else if (MS_FORM == MS_CUBIC) {
            double over = w->pull[i] - w->p0[i];
            double root = sqrt(w->p1[i] * w->p1[i] + 4.0 * w->p2[i] * fmax(over, 0.0));
            w->secant[i] = 2.0 / fmax(w->p1[i] + root, 2.0 * MS_FLAT * w->p2[i]);
            w->curvature[i] = 1.0 / fmax(root, 2.0 * MS_FLAT * w->p2[i]);
            best = 2.0 * over / fmax(w->p1[i] + root, 1e-300);
        } else if (MS_FORM == MS_SATURATION) {
            double y = fmin(fmax(w->pull[i] * w->p1[i], -MS_STIFF), MS_STIFF), rest = 1.0 / sqrt(1.0 + y * y);
            w->secant[i] = rest * w->p1[i] * w->p2[i];
            w->curvature[i] = rest * rest * w->secant[i];
            best = y * rest * w->p2[i];
        } else {
            double power = 1.0 / (q - 1.0), y = fmax(w->pull[i] * w->p1[i], 0.0), x = pow(y, power);
            double flat = w->p2[i] > 0.0 ? ms_flat(q) / w->p2[i] : 1.0;
            w->secant[i] = w->p1[i] * w->p2[i] * fmax(x, flat) / fmax(y, w->p0[i]);
            w->curvature[i] = w->secant[i] * power;
            best = x * w->p2[i];
        }
        best = best > w->lower[i] ? best : w->lower[i]; /* comparisons, so that NaN becomes the lower bound */
        w->best[i] = best < w->free_upper[i] ? best : w->free_upper[i];
    }
}

static void ms_evaluate(ms_work *w, const double *multiplier)
{
    for (int i = 0; i < MS_MUSCLES; i++) w->pull[i] = 0.0;
    for (int r = 0; r < MS_DOFS; r++)
        for (int i = 0; i < MS_MUSCLES; i++) w->pull[i] += multiplier[r] * w->a[r][i];
    ms_activations(w);
    for (int r = 0; r < MS_DOFS; r++) w->residual[r] = w->target[r] - ms_dot(w->a[r], w->best);
}

/* ---- Newton's step ---- */

static void ms_curvatures(ms_work *w, int first, double miss)
{
    double q = ms_exponent[0];
    int flat = MS_FORM == MS_SINGLE_POWER && q > 2.0;
    double held = fmin(miss, 1.0) * (flat ? MS_HELD_POWER : MS_HELD);
    double share = flat ? MS_SECANT_SHARE_POWER : MS_SECANT_SHARE;
    double part = flat || MS_FORM == MS_CUBIC ? fmin(share * miss, 1.0) : 0.0;
    for (int i = 0; i < MS_MUSCLES; i++) {
        int is_free = w->best[i] > w->lower[i] && w->best[i] < w->free_upper[i];
        double here;
        if (first) { /* 1/f'' at an activation of MS_FIRST_ACTIVATION */
            here = w->p1[i];
            if (MS_FORM == MS_CUBIC) here = 1.0 / (w->p1[i] + MS_FIRST_ACTIVATION * w->p2[i]);
            if (MS_FORM == MS_SATURATION) here *= w->p2[i];
            if (MS_FORM == MS_SINGLE_POWER)
                here *= w->p2[i] * (w->p2[i] > 0.0 ? pow(MS_FIRST_ACTIVATION / w->p2[i], 2.0 - q) : 1.0);
            is_free = 1;
        } else if (MS_FORM == MS_QUADRATIC) {
            here = is_free ? w->p1[i] : held * w->p1[i];
        } else {
            double mixed = w->curvature[i] + part * (w->secant[i] - w->curvature[i]);
            here = is_free ? mixed : held * w->curvature[i];
        }
        w->inverse[i] = here;
        w->inside[i] = is_free ? 1.0 : 0.0;
    }
}

static void ms_factorize(ms_work *w)
{
    double largest = 0.0;
    for (int j = 0; j < MS_DOFS; j++) {
        for (int i = 0; i < MS_MUSCLES; i++) w->point[i] = w->a[j][i] * w->inverse[i];
        for (int r = 0; r <= j; r++) w->schur[j][r] = ms_dot(w->point, w->a[r]);
    }
    for (int j = 0; j < MS_DOFS; j++) largest = fmax(largest, w->schur[j][j]);
    for (int j = 0; j < MS_DOFS; j++) {
        double diagonal = w->schur[j][j];
        if (diagonal <= MS_EMPTY_ROW * largest) diagonal = largest > 0.0 ? MS_EMPTY_PIVOT * largest : 1.0;
        w->diagonal[j] = 1.0 / sqrt(diagonal);
    }
    for (int j = 0; j < MS_DOFS; j++)
        for (int i = 0; i <= j; i++) w->schur[j][i] *= w->diagonal[j] * w->diagonal[i];
    largest = 0.0;
    for (int j = 0; j < MS_DOFS; j++) {
        double pivot = w->schur[j][j];
        for (int i = 0; i < j; i++) pivot -= w->schur[j][i] * w->schur[j][i];
        if (pivot < 0.0) pivot = 0.0;
        w->schur[j][j] = 1.0 / sqrt(pivot + MS_RIDGE);
        largest = fmax(largest, w->schur[j][j]);
        for (int r = j + 1; r < MS_DOFS; r++) {
            double entry = w->schur[r][j];
            for (int i = 0; i < j; i++) entry -= w->schur[r][i] * w->schur[j][i];
            w->schur[r][j] = entry * w->schur[j][j];
        }
    }
    if (!(largest > MS_POOR)) return;
    for (int j = 0; j < MS_DOFS; j++) { /* rows that nearly depend on each other: Gram-Schmidt keeps their digits */
        double *here = w->work[j], sum;
        for (int i = 0; i < MS_MUSCLES; i++) here[i] = w->a[j][i] * w->diagonal[j] * sqrt(w->inverse[i]);
        for (int r = 0; r < j; r++) {
            double along = ms_dot(w->work[r], here);
            w->schur[j][r] = along;
            for (int i = 0; i < MS_MUSCLES; i++) here[i] -= along * w->work[r][i];
        }
        sum = ms_dot(here, here);
        w->schur[j][j] = 1.0 / sqrt(sum > MS_DEPENDENT ? sum : MS_RIDGE);
        for (int i = 0; i < MS_MUSCLES; i++) here[i] *= w->schur[j][j];
    }
}

static void ms_substitute(ms_work *w)
{
    double *x = w->rhs;
    for (int j = 0; j < MS_DOFS; j++) {
        double entry = w->residual[j] * w->diagonal[j];
        for (int i = 0; i < j; i++) entry -= w->schur[j][i] * x[i];
        x[j] = entry * w->schur[j][j];
    }
    for (int j = MS_DOFS - 1; j >= 0; j--) {
        double entry = x[j];
        for (int i = j + 1; i < MS_DOFS; i++) entry -= w->schur[i][j] * x[i];
        x[j] = entry * w->schur[j][j];
    }
    for (int j = 0; j < MS_DOFS; j++) x[j] *= w->diagonal[j];
}

static int ms_is_near(ms_work *w)
{
    double size = 0.0, smaller = 1.0, largest = 0.0;
    const double *bend = MS_FORM == MS_QUADRATIC ? w->p1 : w->curvature;
    int changed = 0, far = 0;
    ms_substitute(w);
    for (int r = 0; r < MS_DOFS; r++) size += w->rhs[r] * w->residual[r];
    for (int i = 0; i < MS_MUSCLES; i++) {
        int is_free = w->best[i] > w->lower[i] && w->best[i] < w->free_upper[i];
        largest = fmax(largest, w->best[i]);
        changed += is_free != (w->inside[i] > 0.0);
        if (is_free) smaller = fmax(smaller, w->inverse[i] / bend[i]);
    }
    for (int i = 0; i < MS_MUSCLES; i++)
        far += size * smaller * w->inside[i] * bend[i] > MS_NEAR * MS_NEAR * largest * largest;
    return changed == 0 && far == 0;
}

static int ms_is_rounded(const ms_work *w)
{
    int beyond = 0;
    for (int r = 0; r < MS_DOFS; r++) {
        double size = fabs(w->target[r]);
        for (int i = 0; i < MS_MUSCLES; i++) size += fabs(w->a[r][i]) * w->best[i];
        beyond += fabs(w->residual[r]) > MS_OF_ROUND_OFF * size;
    }
    return beyond == 0;
}

/* Farkas ratio of the multipliers: how far they prove that the moments are out of reach. */
static double ms_farkas(const ms_work *w)
{
    double required = 0.0, size = 0.0, reach = 0.0, ratio;
    for (int r = 0; r < MS_DOFS; r++) {
        required += w->multiplier[r] * w->target[r];
        size += fabs(w->multiplier[r]) * w->scale[r];
    }
    for (int i = 0; i < MS_MUSCLES; i++) reach += fmax(w->lower[i] * w->pull[i], w->free_upper[i] * w->pull[i]);
    ratio = (required - reach) / size;
    return fabs(ratio) < INFINITY ? ratio : -INFINITY;
}

static int ms_newton(ms_work *w, int cold, int *iterations)
{
    int steps = 0, first = 0, rescalings = MS_MOST_RESCALINGS;
    double last = INFINITY, q = ms_exponent[0];
    ms_evaluate(w, w->multiplier);
    for (;;) {
        double miss = 0.0, total = 0.0, required = 0.0, before = 0.0, length = 1.0;
        for (int r = 0; r < MS_DOFS; r++) {
            double part = fabs(w->residual[r]) / w->scale[r];
            miss = fmax(miss, part);
            total += part;
            required += fabs(w->target[r]) / w->scale[r];
        }
        *iterations = steps;
        if (!(total < INFINITY)) return MS_MAX_ITERATIONS;
        if (miss <= MS_TIGHT && (steps == first + MS_MAX_STEPS || (steps > first && ms_is_near(w)))) return MS_SOLVED;
        if (miss <= MS_TIGHT && miss > 0.1 * last && ms_is_rounded(w)) return MS_SOLVED;
        last = miss;
        if (!cold && ((total > required && steps == 0) || steps == MS_MOST_WARM)) {
            cold = 1; /* worse than no activation at all, or of no help */
            first = steps;
            rescalings = MS_MOST_RESCALINGS;
            last = INFINITY;
            for (int r = 0; r < MS_DOFS; r++) w->multiplier[r] = 0.0;
            ms_evaluate(w, w->multiplier);
            continue;
        }
        if (rescalings > 0 && q > 2.0 && (MS_FORM == MS_SINGLE_POWER || MS_FORM == MS_CUBIC)) {
            double wanted = 0.0, done = 0.0, ratio; /* a(t l) = t^(1/(q-1)) a(l) of a power alone */
            for (int r = 0; r < MS_DOFS; r++) {
                wanted += w->multiplier[r] * w->target[r];
                done += w->multiplier[r] * (w->target[r] - w->residual[r]);
            }
            ratio = wanted > 0.0 && done > 0.0 ? wanted / done : 1.0;
            if (ratio < MS_SHORT || ratio > MS_LONG_BY) {
                rescalings--;
                for (int r = 0; r < MS_DOFS; r++) w->multiplier[r] *= pow(ratio, q - 1.0);
                ms_evaluate(w, w->multiplier);
                continue;
            }
        }
        if (steps >= first + MS_PROOF_FROM && ms_farkas(w) > MS_TOLERANCE) return MS_INFEASIBLE;
        if (steps == first + MS_MAX_STEPS) return MS_MAX_ITERATIONS;
        ms_curvatures(w, cold && steps == first, miss);
        ms_factorize(w);
        ms_substitute(w);
        for (int r = 0; r < MS_DOFS; r++) before += w->rhs[r] * w->residual[r];
        for (int trial = 0; trial < MS_MAX_TRIALS; trial++) { /* secants of the slope along the step */
            double after = 0.0;
            for (int r = 0; r < MS_DOFS; r++) w->trial[r] = w->multiplier[r] + length * w->rhs[r];
            ms_evaluate(w, w->trial);
            for (int r = 0; r < MS_DOFS; r++) after += w->rhs[r] * w->residual[r];
            if (!(after < -MS_TOO_FAR * before)) break;
            length *= fmax(before / (before - after), MS_SHORTEST_STEP);
        }
        for (int r = 0; r < MS_DOFS; r++) w->multiplier[r] = w->trial[r];
        steps++;
    }
}

/* ---- the certificate ---- */

/* Sum of (|g - p| + e) |a - y| with y beyond the minimum of f(x) - p x; `other`: on the side that only e allows. */
static double ms_side(ms_work *w, const double *a, int other)
{
    double reach = 2.0, total = 0.0;
    for (int trial = 0; trial < MS_TRIALS; trial++) {
        int short_of = 0;
        total = 0.0;
        for (int i = 0; i < MS_MUSCLES; i++) {
            double miss = w->slope[i] - w->pull[i], e = w->error[i], push = other ? e - fabs(miss) : e + fabs(miss);
            double step = push > 0.0 ? fmax(reach * (push / w->rise[i]), MS_CLOSE * a[i]) : 0.0;
            int downward = (miss > 0.0) != other, beyond;
            double y = downward ? a[i] - step : a[i] + step, end = downward ? w->lower[i] : w->upper[i], there;
            double distance;
            y = y < w->lower[i] ? w->lower[i] : y;
            y = y > w->upper[i] ? w->upper[i] : y;
            there = ms_slope(w, i, y) - w->pull[i];
            beyond = downward ? there <= -e : there >= e;
            short_of += !beyond && y != end && push > 0.0;
            distance = beyond ? fabs(a[i] - y) : fabs(a[i] - end);
            if (push > 0.0 && distance > 0.0) total += push * distance;
        }
        if (short_of == 0) break;
        reach *= MS_FARTHER;
    }
    return total;
}

static int ms_certify(ms_work *w, const double *a, @NAME@_result *result)
{
    double excess = 0.0, unit = 0.0, miss_cost = 0.0, rounding = 0.0, shift = 0.0, missed = 0.0, q = 2.0, value, whole;
    double least_power = INFINITY;
    int outside = 0;
    for (int i = 0; i < MS_MUSCLES; i++) w->pull[i] = w->error[i] = 0.0;
    for (int r = 0; r < MS_DOFS; r++) {
        double produced = 0.0, sums = 0.0, miss;
        for (int i = 0; i < MS_MUSCLES; i++) {
            double entry = w->a[r][i], part = w->multiplier[r] * entry;
            produced += entry * a[i];
            sums += fabs(entry) * a[i];
            w->pull[i] += part;
            w->error[i] += fabs(part);
        }
        miss = produced - w->target[r];
        sums += fabs(w->target[r]);
        rounding += (MS_MUSCLES + MS_DOFS + 3.0) * MS_ROUNDING * fabs(w->multiplier[r]) * sums;
        miss_cost += w->multiplier[r] * miss;
        missed = fmax(missed, fabs(miss) / fmax(1.0, fabs(w->target[r])));
        if (!(fabs(miss) < INFINITY)) missed = INFINITY;
    }
    shift = rounding + miss_cost;
    for (int k = 0; k < MS_TERMS; k++) {
        q = fmax(q, ms_exponent[k]);
        if (!(MS_FORM != MS_SATURATION && ms_exponent[k] == 2.0)) least_power = fmin(least_power, ms_exponent[k] - 1.0);
    }
    for (int i = 0; i < MS_MUSCLES; i++) {
        double rise = 0.0;
        w->slope[i] = ms_slope(w, i, a[i]);
        for (int k = 0; k < MS_TERMS; k++)
            if (MS_FORM != MS_SATURATION && ms_exponent[k] == 2.0) rise += 2.0 * ms_factor[k] * w->c[k][i] * w->c[k][i];
        if (least_power < INFINITY && a[i] > 0.0) rise += least_power * fabs(w->slope[i]) / a[i];
        w->rise[i] = rise;
        w->error[i] *= (MS_DOFS + 3.0) * MS_ROUNDING;
        w->error[i] += (q + 4.0) * MS_ROUNDING * fabs(w->slope[i]);
        if (a[i] > 0.0 && w->slope[i] < INFINITY) unit += fabs(w->slope[i]) * a[i];
        if (a[i] > w->lower[i] && fabs(w->slope[i]) < DBL_MIN) excess += DBL_MIN * (w->upper[i] - w->lower[i]);
        outside += !(a[i] >= w->lower[i] && a[i] <= w->upper[i]);
    }
    excess += ms_side(w, a, 0) + ms_side(w, a, 1);
    miss_cost = fabs(miss_cost) + rounding;
    if (excess > MS_GAP * unit || miss_cost > MS_TOLERANCE * unit) { /* slopes that cancel: the least unit */
        double rounded = 0.0;
        for (int i = 0; i < MS_MUSCLES; i++) {
            double slope = fabs(ms_slope(w, i, w->lower[i]));
            if (slope < INFINITY) rounded += MS_ROUNDING * slope * a[i];
        }
        unit = fmax(unit, rounded);
    }
    result->moment_error = missed;
    if (outside > 0 || !(excess <= MS_GAP * unit) || !(missed <= MS_TOLERANCE) || !(miss_cost <= MS_TOLERANCE * unit))
        return 0;
    value = ms_cost(w, a);
    whole = value - (MS_MUSCLES + q + 4.0) * MS_ROUNDING * fabs(value);
    result->gap = excess > 0.0 ? excess / unit : excess;
    result->cost = value;
    result->cost_bound = whole - excess - shift;
    return 1;
}

/* A proof that no activations within the bounds miss the moments by as little as a certificate allows. */
static int ms_prove(const ms_work *w, double *proof)
{
    double largest = 0.0, margin = 0.0, size = 0.0, allowed = 0.0;
    for (int r = 0; r < MS_DOFS; r++) {
        largest = fmax(largest, fabs(w->multiplier[r]));
        margin += w->multiplier[r] * w->target[r];
        size += fabs(w->multiplier[r] * w->target[r]);
        allowed += MS_TOLERANCE * fabs(w->multiplier[r]) * fmax(1.0, fabs(w->target[r]));
    }
    for (int i = 0; i < MS_MUSCLES; i++) {
        double pull = 0.0, sums = 0.0;
        for (int r = 0; r < MS_DOFS; r++) {
            pull += w->multiplier[r] * w->a[r][i];
            sums += fabs(w->multiplier[r] * w->a[r][i]);
        }
        margin -= fmax(w->lower[i] * pull, w->upper[i] * pull);
        size += fmax(fabs(w->lower[i]), fabs(w->upper[i])) * sums;
    }
    if (!(margin > (MS_DOFS + MS_MUSCLES + 3.0) * MS_ROUNDING * size && margin > allowed && margin < INFINITY)) return 0;
    for (int r = 0; r < MS_DOFS; r++) proof[r] = w->multiplier[r] / largest;
    return 1;
}

/* ---- one frame ---- */

static int ms_load(ms_work *w, const double *moment, const double *moment_arm, const double *force_capacity,
                   const double *fiber_force_capacity, const double *lower, const double *upper)
{
    int wrong = 0, idle;
    double most = 0.0;
    for (int i = 0; i < MS_MUSCLES; i++) {
        double end = upper[i];
        wrong += !(force_capacity[i] >= 0.0 && force_capacity[i] < MS_HUGE);
        wrong += !(fiber_force_capacity[i] >= 0.0 && fiber_force_capacity[i] < MS_HUGE);
        wrong += !(lower[i] >= 0.0 && lower[i] < MS_HUGE && fabs(upper[i]) < MS_HUGE);
        for (int k = 0; k < MS_TERMS; k++) {
            w->c[k][i] = ms_fixed[k][i] + ms_proportional[k][i] * @FORCE@[i];
            if (MS_FORM == MS_SATURATION && w->c[k][i] > 0.0) end = fmin(end, MS_END / w->c[k][i]);
        }
        w->lower[i] = lower[i];
        w->upper[i] = end;
    }
    for (int r = 0; r < MS_DOFS; r++) {
        w->target[r] = moment[r];
        wrong += !(fabs(moment[r]) < MS_HUGE);
        for (int i = 0; i < MS_MUSCLES; i++) {
            double arm = moment_arm[r * MS_MUSCLES + i];
            w->a[r][i] = arm * force_capacity[i];
            wrong += !(fabs(arm) < MS_HUGE && fabs(w->a[r][i]) < MS_HUGE);
            most = fmax(most, fabs(w->a[r][i]));
        }
    }
    for (int i = 0; i < MS_MUSCLES; i++) { /* idle muscles stay at rest */
        double entry = 0.0;
        for (int r = 0; r < MS_DOFS; r++) entry = fmax(entry, fabs(w->a[r][i]));
        idle = entry <= MS_IDLE * most;
        w->free_upper[i] = idle ? w->lower[i] : w->upper[i];
    }
    for (int r = 0; r < MS_DOFS; r++) {
        double strength = 0.0;
        for (int i = 0; i < MS_MUSCLES; i++) strength += fabs(w->a[r][i]);
        w->scale[r] = fmax(1.0, fabs(moment[r]));
        if (strength > 0.0) w->scale[r] = fmin(w->scale[r], strength);
    }
    return wrong == 0;
}

/* Solve one frame.
 *
 * moment          [MS_DOFS] moments that the contractile elements must produce [N m]
 * moment_arm      [MS_DOFS][MS_MUSCLES] row by row [m], positive when tension increases the coordinate
 * force_capacity  [MS_MUSCLES] tendon force of the contractile element at activation 1 [N]
 * fiber_force_capacity  [MS_MUSCLES] the same along the fibers, which costs of forces count [N]; a null pointer:
 *                 force_capacity
 * lower, upper    [MS_MUSCLES] bounds of the activations, 0 <= lower
 * multiplier      [MS_DOFS] in: of the frame before, or zeros or NANs for a cold start; out: d cost / d moment of a
 *                 solved frame, else zeros
 * activation      [MS_MUSCLES] out. Of a frame that is not MS_SOLVED it is no optimum: within the bounds, with the
 *                 miss result->moment_error; zeros of MS_INVALID_INPUT
 * force           [MS_MUSCLES] out: force_capacity * activation [N]
 *
 * Returns result->status.
 */
int @NAME@(const double *moment, const double *moment_arm, const double *force_capacity,
    const double *fiber_force_capacity, const double *lower, const double *upper, double *multiplier, double *activation, double *force, @NAME@_result *result)
{
    ms_work work, *w = &work;
    int claim = MS_MAX_ITERATIONS, warm = 0, finite = 1, empty = 0, steps = 0, ready;
    result->iterations = 0;
    result->gap = result->cost = result->cost_bound = result->moment_error = NAN;
    for (int r = 0; r < MS_DOFS; r++) result->proof[r] = 0.0;
    for (int r = 0; r < MS_DOFS; r++) {
        finite = finite && fabs(multiplier[r]) < INFINITY;
        warm = warm || multiplier[r] != 0.0;
    }
    warm = warm && finite;
    if (!ms_load(w, moment, moment_arm, force_capacity,
                 fiber_force_capacity ? fiber_force_capacity : force_capacity, lower, upper)) {
        for (int i = 0; i < MS_MUSCLES; i++) activation[i] = force[i] = 0.0;
        for (int r = 0; r < MS_DOFS; r++) multiplier[r] = 0.0;
        return result->status = MS_INVALID_INPUT;
    }
    for (int i = 0; i < MS_MUSCLES; i++) {
        empty += w->lower[i] > w->upper[i];
        w->best[i] = w->lower[i];
    }
    ready = !empty && ms_prepare(w);
    if (empty) claim = MS_INFEASIBLE; /* a lower bound above its upper bound is a proof of its own */
    for (int attempt = warm ? 0 : 1; ready && attempt < 2; attempt++) {
        for (int r = 0; r < MS_DOFS; r++) w->multiplier[r] = attempt == 0 ? multiplier[r] : 0.0;
        claim = ms_newton(w, attempt > 0, &steps);
        result->iterations += steps;
        if (claim == MS_INFEASIBLE && ms_prove(w, result->proof)) break;
        if (claim != MS_MAX_ITERATIONS) claim = ms_certify(w, w->best, result) ? MS_SOLVED : MS_MAX_ITERATIONS;
        if (claim == MS_SOLVED) break;
    }
    if (claim != MS_SOLVED) { /* the miss of what is given back */
        result->moment_error = 0.0;
        for (int r = 0; r < MS_DOFS; r++) {
            double miss = -w->target[r];
            for (int i = 0; i < MS_MUSCLES; i++) miss += w->a[r][i] * w->best[i];
            result->moment_error = fmax(result->moment_error, fabs(miss) / fmax(1.0, fabs(w->target[r])));
        }
    }
    for (int i = 0; i < MS_MUSCLES; i++) {
        activation[i] = w->best[i];
        force[i] = force_capacity[i] * activation[i];
    }
    for (int r = 0; r < MS_DOFS; r++) multiplier[r] = claim == MS_SOLVED ? w->multiplier[r] : 0.0;
    return result->status = claim;
}
