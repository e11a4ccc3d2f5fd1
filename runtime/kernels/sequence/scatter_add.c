#include "runtime/kernels/sequence/scatter_add.h"

#include "runtime/kernels/simd/bypass.h"
#include "runtime/kernels/simd/lanes.h"
#include "runtime/kernels/simd/team.h"

/* Sums of COLUMNS at a time, since rounding grows with the additions; that many wait in L1 to be streamed. */
enum { COLUMNS = 1024, CHAINS = 4, STEP = CHAINS * PDNN_LANES, ALIGNED = 4 };

/* to = gate * dy; returns the sum of dy * x. */
PDNN_INLINE float columns(const float *dy, const float *x, float gate, float *to, int64_t n) {
    pdnn_floats sum[CHAINS] = {{0}}, u, v;
    int64_t i = 0;
    for (; i + STEP <= n; i += STEP) {
        for (int k = 0; k < CHAINS; k++) {
            pdnn_load(&u, dy + i + k * PDNN_LANES);
            pdnn_load(&v, x + i + k * PDNN_LANES);
            sum[k] += u * v;
            u *= gate;
            pdnn_store(to + i + k * PDNN_LANES, &u);
        }
    }
    sum[0] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    float total = pdnn_sum(&sum[0]);
    for (; i < n; i++) {
        total += dy[i] * x[i];
        to[i] = gate * dy[i];
    }
    return total;
}

static void part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_scatter_add *job = work;
    struct pdnn_span rows = pdnn_span_of(job->R, 1, index, parts);
    const bool bypass = job->bypass && job->C % ALIGNED == 0;
    float room[COLUMNS];
    for (int64_t r = rows.begin; r < rows.end; r++) {
        const float *dy = job->dy + job->plan[r] * job->C, *x = job->x + r * job->C;
        float total = 0;
        for (int64_t begin = 0; begin < job->C; begin += COLUMNS) {
            int64_t n = pdnn_least(COLUMNS, job->C - begin);
            float *to = job->dx + r * job->C + begin;
            total += columns(dy + begin, x + begin, job->gate[r], bypass ? room : to, n);
            if (bypass)
                pdnn_bypass_copy(to, room, n);
        }
        job->dgate[r] = total;
    }
    pdnn_bypass_fence();
}

PDNN_KERNEL(pdnn_scatter_add_backward, (const struct pdnn_scatter_add *job, int64_t threads),
            (job, threads)) {
    struct pdnn_scatter_add copy = *job;
    pdnn_team_run(threads, job->R * job->C, part, &copy);
}
