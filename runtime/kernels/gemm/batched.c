#include "runtime/kernels/gemm/batched.h"

#include "runtime/kernels/gemm/batched_loops.h"
#include "runtime/kernels/simd/kernel.h"

/* Up to FEW rows, packing b costs more than it saves. Threads then share heads or, with heads side by side,
 * lines of b, which are whole rows of memory, GRAIN at a time. In the tiled kernel threads share whole
 * matrices if those divide evenly or there are at least SHARES per thread, else rows, LEAST_ROWS at a time.
 * WEIGHT multiply-adds count as one element when deciding whether the work is enough for all threads. */
enum { FEW = 3, GRAIN = 16, SHARES = 8, LEAST_ROWS = 24, WEIGHT = 16 };

PDNN_KERNEL_VALUE(int64_t, pdnn_batched_scratch_floats, (int64_t threads), (threads)) {
    return threads * PDNN_BATCHED_THREAD_FLOATS;
}

static bool is_few(int64_t M, bool a_transposed) {
    return M <= FEW && !a_transposed;
}

/* A line of b gives one column of the result (b transposed) or one term of every column. */
static int64_t count_lines(const struct pdnn_batched_job *job) {
    return job->b_place.transposed ? job->N : job->K;
}

static void tiles_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    int64_t matrices = job->B * job->h;
    bool is_even = matrices % parts == 0 || matrices >= SHARES * parts;
    struct pdnn_span rows = pdnn_span_of(matrices * job->M, is_even ? job->M : LEAST_ROWS, index, parts);
    if (rows.begin < rows.end)
        PDNN_HERE(pdnn_batched_tiles)(job, rows, job->scratch + index * PDNN_BATCHED_THREAD_FLOATS);
}

/* Splits by heads: some heads of some sequences, all lines of each. */
static void few_heads_part(void *state, int64_t index, int64_t parts) {
    const struct pdnn_batched_job *job = state;
    struct pdnn_span units = pdnn_span_of(job->B * job->h, 1, index, parts);
    for (int64_t unit = units.begin; unit < units.end;) {
        int64_t sequence = unit / job->h, first = unit % job->h;
        const struct pdnn_batched_few few = {
            .job = job,
            .sequence = sequence,
            .heads = {first, pdnn_least(job->h, first + units.end - unit)},
            .lines = {0, count_lines(job)},
            .y = job->y + pdnn_batched_at(&job->y_place, sequence, 0),
            .y_place = job->y_place,
        };
        PDNN_HERE(pdnn_batched_few)(&few);
        unit += few.heads.end - few.heads.begin;
    }
}

/* Splits by lines of all sequences. If a part starts inside a sequence and lines are terms of a sum, its
 * share of that sequence goes to the thread's scratch as (M, h, N) and is added afterwards. */
struct few_lines {
    const struct pdnn_batched_job *job;
    int64_t parts; /* parts actually run */
};

static struct pdnn_span lines_of(const struct pdnn_batched_job *job, int64_t index, int64_t parts) {
    return pdnn_span_of(job->B * count_lines(job), GRAIN, index, parts);
}

static bool has_rest(const struct pdnn_batched_job *job, struct pdnn_span lines) {
    return !job->b_place.transposed && lines.begin < lines.end && lines.begin % count_lines(job) != 0;
}

static void few_lines_part(void *state, int64_t index, int64_t parts) {
    struct few_lines *work = state;
    const struct pdnn_batched_job *job = work->job;
    struct pdnn_span mine = lines_of(job, index, parts);
    int64_t all = count_lines(job);
    bool rest = has_rest(job, mine);
    if (index == 0)
        work->parts = parts;
    for (int64_t at = mine.begin; at < mine.end; rest = false) {
        int64_t sequence = at / all, first = at % all;
        struct pdnn_batched_few few = {
            .job = job,
            .sequence = sequence,
            .heads = {0, job->h},
            .lines = {first, pdnn_least(all, first + mine.end - at)},
            .y = job->y + pdnn_batched_at(&job->y_place, sequence, 0),
            .y_place = job->y_place,
        };
        if (rest) {
            few.y = job->scratch + index * PDNN_BATCHED_THREAD_FLOATS;
            few.y_place = (struct pdnn_batched_place){.head_stride = job->N, .row_stride = job->h * job->N};
        }
        PDNN_HERE(pdnn_batched_few)(&few);
        at += few.lines.end - few.lines.begin;
    }
}

static void add_rest(const struct pdnn_batched_job *job, int64_t sequence, const float *rest) {
    for (int64_t i = 0; i < job->M * job->h; i++, rest += job->N) {
        int64_t m = i / job->h, head = i % job->h;
        float *y = job->y + pdnn_batched_at(&job->y_place, sequence, head) + m * job->y_place.row_stride;
        for (int64_t n = 0; n < job->N; n++)
            y[n] += rest[n];
    }
}

static void run_few_lines(const struct pdnn_batched_job *job, int64_t elements, int64_t threads) {
    struct few_lines work = {job, 0};
    pdnn_team_run(threads, elements, few_lines_part, &work);
    for (int64_t index = 1; index < work.parts; index++) {
        struct pdnn_span lines = lines_of(job, index, work.parts);
        if (has_rest(job, lines))
            add_rest(job, lines.begin / count_lines(job), job->scratch + index * PDNN_BATCHED_THREAD_FLOATS);
    }
}

PDNN_KERNEL(pdnn_batched_run, (const struct pdnn_batched_job *job, int64_t threads), (job, threads)) {
    struct pdnn_batched_job work = *job;
    int64_t elements = job->B * job->h * job->M * job->N * job->K / WEIGHT;
    bool few = is_few(job->M, job->a_place.transposed);
    bool by_lines = job->b_place.head_stride < job->b_place.row_stride &&
                    job->M * job->h * job->N <= PDNN_BATCHED_THREAD_FLOATS;
    if (few && by_lines)
        run_few_lines(job, elements, threads);
    else
        pdnn_team_run(threads, elements, few ? few_heads_part : tiles_part, &work);
}
