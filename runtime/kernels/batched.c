#include "runtime/kernels/batched.h"

#include "runtime/kernels/batched_loops.h"

/* Up to FEW rows, packing costs more than it saves. Matrices are divided among threads by rows where there
 * are fewer than SHARES for each, down to LEAST_ROWS. Multiply-adds count as a WEIGHT-th of an element when
 * it is asked whether there is enough to do for all threads. */
enum { FEW = 3, SHARES = 8, LEAST_ROWS = 24, WEIGHT = 16 };

struct work {
    const struct pdnn_batched_job *job;
    int64_t row_blocks; /* of each matrix */
};

int64_t pdnn_batched_scratch_floats(int64_t threads) {
    return threads * PDNN_BATCHED_THREAD_FLOATS;
}

static bool is_few(const struct pdnn_batched_job *job) {
    return job->M <= FEW && !job->a_place.transposed;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t row_blocks_of(const struct pdnn_batched_job *job, int64_t parts) {
    int64_t matrices = job->B * job->h, most = job->M / LEAST_ROWS;
    if (matrices % parts == 0 || matrices >= SHARES * parts || most < 1)
        return 1;
    return least(most, (SHARES * parts + matrices - 1) / matrices);
}

static void tiles_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct pdnn_batched_job *job = work->job;
    struct pdnn_span units = pdnn_span_of(job->B * job->h * work->row_blocks, 1, index, parts);
    float *scratch = job->scratch + index * PDNN_BATCHED_THREAD_FLOATS;
    for (int64_t unit = units.begin; unit < units.end;) {
        int64_t matrix = unit / work->row_blocks, first = unit % work->row_blocks;
        int64_t last = least(work->row_blocks, first + units.end - unit);
        struct pdnn_span rows = {job->M * first / work->row_blocks, job->M * last / work->row_blocks};
        pdnn_batched_tiles(job, matrix / job->h, matrix % job->h, rows, scratch);
        unit += last - first;
    }
}

static void few_part(void *state, int64_t index, int64_t parts) {
    const struct work *work = state;
    const struct pdnn_batched_job *job = work->job;
    struct pdnn_span units = pdnn_span_of(job->B * job->h, 1, index, parts);
    for (int64_t unit = units.begin; unit < units.end;) {
        int64_t sequence = unit / job->h, first = unit % job->h;
        struct pdnn_span heads = {first, least(job->h, first + units.end - unit)};
        pdnn_batched_few(job, sequence, heads);
        unit += heads.end - heads.begin;
    }
}

void pdnn_batched_run(const struct pdnn_batched_job *job, int64_t threads) {
    struct work work = {job, row_blocks_of(job, threads)};
    int64_t multiply_adds = job->B * job->h * job->M * job->N * job->K;
    pdnn_team_run(threads, multiply_adds / WEIGHT, is_few(job) ? few_part : tiles_part, &work);
}
