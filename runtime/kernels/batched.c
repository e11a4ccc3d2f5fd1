#include "runtime/kernels/batched.h"

#include "runtime/kernels/batched_loops.h"
#include "runtime/kernels/clones.h"
#include "runtime/kernels/tiles.h"

/* Up to FEW rows, packing costs more than it saves. Threads share whole matrices where there are SHARES for
 * each, else rows, LEAST_ROWS at once. Multiply-adds count as a WEIGHT-th of an element when it is asked
 * whether there is enough to do for all threads. */
enum { FEW = 3, SHARES = 8, LEAST_ROWS = 24, WEIGHT = 16 };

int64_t pdnn_batched_scratch_floats(int64_t threads) {
    return threads * PDNN_BATCHED_THREAD_FLOATS;
}

static bool is_few(int64_t M, bool a_transposed) {
    return M <= FEW && !a_transposed;
}

const char *pdnn_batched_name(int64_t M, bool a_transposed) {
    return is_few(M, a_transposed) ? pdnn_clone_name() : pdnn_tiles_name();
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void tiles_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    int64_t matrices = job->B * job->h;
    bool is_even = matrices % parts == 0 || matrices >= SHARES * parts;
    struct pdnn_span rows = pdnn_span_of(matrices * job->M, is_even ? job->M : LEAST_ROWS, index, parts);
    if (rows.begin < rows.end)
        pdnn_batched_tiles(job, rows, job->scratch + index * PDNN_BATCHED_THREAD_FLOATS);
}

static void few_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    struct pdnn_span units = pdnn_span_of(job->B * job->h, 1, index, parts);
    for (int64_t unit = units.begin; unit < units.end;) {
        int64_t sequence = unit / job->h, first = unit % job->h;
        struct pdnn_span heads = {first, least(job->h, first + units.end - unit)};
        pdnn_batched_few(job, sequence, heads);
        unit += heads.end - heads.begin;
    }
}

void pdnn_batched_run(const struct pdnn_batched_job *job, int64_t threads) {
    struct pdnn_batched_job work = *job;
    int64_t multiply_adds = job->B * job->h * job->M * job->N * job->K;
    pdnn_team_run(threads, multiply_adds / WEIGHT,
                  is_few(job->M, job->a_place.transposed) ? few_part : tiles_part, &work);
}
