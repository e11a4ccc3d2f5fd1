#include "runtime/kernels/rows/top_k.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

#include <math.h>
#include <stddef.h>

/* Rows up to ROOM wait in L1 to be streamed to memory. TILE rows are interleaved: while one waits for its
 * largest value, others proceed. */
enum { ROOM = 4096, ALIGNED = 4, TILE = 4 };

/* By halving: each lane with the one `step` lanes on. */
PDNN_INLINE float largest_of(const pdnn_floats *v) {
    pdnn_floats most = *v;
#pragma GCC unroll 4
    for (int step = PDNN_LANES / 2; step > 0; step /= 2) {
        pdnn_ints lanes;
#pragma GCC unroll 16
        for (int i = 0; i < PDNN_LANES; i++)
            lanes[i] = (i + step) % PDNN_LANES;
        const pdnn_floats other = __builtin_shuffle(most, lanes);
        pdnn_most(&most, &other);
    }
    return most[0];
}

/* The largest value of each row below its bound, or -infinity, becomes its bound. The rows follow each other.
 */
PDNN_INLINE void lower(const float *x, int64_t n, const int rows, float *bound) {
    const pdnn_floats lowest = (pdnn_floats){0} - INFINITY;
    pdnn_floats most[TILE] = {lowest, lowest, lowest, lowest}, v;
    int64_t i = 0;
    for (; i + PDNN_LANES <= n; i += PDNN_LANES) {
#pragma GCC unroll 4
        for (int k = 0; k < rows; k++) {
            const pdnn_floats bounds = (pdnn_floats){0} + bound[k];
            pdnn_load(&v, x + k * n + i);
            pdnn_select(&v, pdnn_above(&bounds, &v), &lowest);
            pdnn_most(&most[k], &v);
        }
    }
    for (int k = 0; k < rows; k++) {
        const pdnn_floats bounds = (pdnn_floats){0} + bound[k];
        if (i < n) {
            pdnn_load_part(&v, x + k * n + i, n - i);
            pdnn_fill_part(&v, n - i, -INFINITY);
            pdnn_select(&v, pdnn_above(&bounds, &v), &lowest);
            pdnn_most(&most[k], &v);
        }
    }
#pragma GCC unroll 4
    for (int k = 0; k < rows; k++)
        bound[k] = largest_of(&most[k]);
}

/* Some values are equal, or no numbers: keeps what is above the lowest of the k, and the first of those that
 * equal it. */
static void keep_first(const float *x, float *y, int64_t n, int64_t k) {
    float bound = INFINITY;
    int64_t above = 0, last = -1;
    for (;;) {
        int32_t equal = 0;
#pragma omp simd reduction(+ : equal)
        for (int64_t i = 0; i < n; i++)
            equal += x[i] == bound;
        if (above + equal >= k || bound == -INFINITY)
            break;
        above += equal;
        lower(x, n, 1, &bound);
    }
    for (int64_t i = 0; i < n && above < k; i++) {
        last = x[i] == bound ? i : last;
        above += x[i] == bound;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] > bound) | (x[i] != x[i]) | ((x[i] == bound) & (i <= last)) ? x[i] : -INFINITY;
}

/* The bound is the k-th of the values, if all differ. */
static void keep(const float *x, float *y, int64_t n, int64_t k, float bound) {
    int32_t kept = 0;
#pragma omp simd reduction(+ : kept)
    for (int64_t i = 0; i < n; i++)
        kept += !(x[i] < bound);
    if (kept != (int32_t)k) {
        keep_first(x, y, n, k);
        return;
    }
#pragma omp simd
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] < bound ? -INFINITY : x[i];
}

PDNN_INLINE void run_rows(const struct pdnn_top_k *job, int64_t first, const int rows, float *room) {
    const int64_t C = job->C;
    const float *x = job->x + first * C;
    float bound[TILE] = {INFINITY, INFINITY, INFINITY, INFINITY}, *y = job->y + first * C;
    for (int64_t i = 0; i < job->k; i++)
        lower(x, C, rows, bound);
    for (int k = 0; k < rows; k++) {
        keep(x + k * C, room ? room : y + k * C, C, job->k, bound[k]);
        if (room)
            pdnn_bypass_copy(y + k * C, room, C);
    }
}

static void part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_top_k *job = work;
    struct pdnn_span span = pdnn_span_of(job->R, 1, index, parts);
    const bool bypass = job->bypass && job->C % ALIGNED == 0 && job->C <= ROOM;
    float room[ROOM], *waits = bypass ? room : NULL;
    int64_t r = span.begin;
    for (; r + TILE <= span.end; r += TILE)
        run_rows(job, r, TILE, waits);
    for (; r < span.end; r++)
        run_rows(job, r, 1, waits);
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_top_k_run, (const struct pdnn_top_k *job, int64_t threads), (job, threads)) {
    struct pdnn_top_k copy = *job;
    pdnn_team_run(threads, job->R * job->C * (job->k + 1), part, &copy);
}
