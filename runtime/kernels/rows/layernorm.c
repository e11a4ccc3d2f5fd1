#include "runtime/kernels/rows/layernorm.h"

#include "runtime/kernels/rows/layernorm_rows.h"
#include "runtime/kernels/simd/kernel.h"

#include <math.h>

/* Stages of a row: sum, sum of squares, normalize. */
enum { STAGES = 3 };

/* A row in progress. */
struct row {
    int64_t first; /* index of its first element */
    const float *z;
    float *sum;  /* z too, if it has to be made */
    float total; /* of z, then of squares */
    float mean, inverse_std;
};

/* Whether rows are made before they are summed. */
static inline bool makes_rows(const struct pdnn_layernorm *job) {
    return job->residual || job->stored != PDNN_STORED_F32;
}

/* Where a row of z is computed: in z or y where these are f32 and not streamed, else in the buffer. */
static inline float *workplace(const struct pdnn_layernorm *job, int64_t first, float *buffer) {
    const struct pdnn_layernorm_result *to = job->z.to && !job->z.bypass ? &job->z : &job->y;
    return pdnn_block_place(to->to, first, buffer, job->stored, to->bypass);
}

static inline void begin_row(const struct pdnn_layernorm *job, struct row *row, int64_t first,
                             float *buffer) {
    *row = (struct row){.first = first};
    if (makes_rows(job))
        row->z = row->sum = workplace(job, first, buffer);
    else
        row->z = (const float *)job->x + first;
}

/* n columns of z = x * mask + residual; z may be x or residual. */
PDNN_INLINE void add_columns(const struct pdnn_layernorm *job, const struct pdnn_mask *mask,
                             const struct row *row, int64_t begin, int64_t n) {
    const int64_t at = row->first + begin;
    float wide[2][PDNN_ROWS_BLOCK], factor[PDNN_ROWS_BLOCK], *z = row->sum + begin;
    const float *x = pdnn_block_read(job->x, at, n, wide[0], job->stored),
                *residual = pdnn_block_read(job->residual, at, n, wide[1], job->stored);
    if (job->percent) {
        pdnn_mask_factors(mask, at, factor, n);
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            z[i] = x[i] * factor[i] + residual[i];
    } else {
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            z[i] = x[i] + residual[i];
    }
    if (job->z.to)
        pdnn_block_write(job->z.to, at, z, n, job->stored, job->z.bypass);
}

PDNN_INLINE float sum_of(const float *z, int64_t n) {
    pdnn_floats chain[PDNN_CHAINS] = {{0}}, v;
    int64_t i = 0;
    for (; i + PDNN_CHAINS_STEP <= n; i += PDNN_CHAINS_STEP) {
        for (int k = 0; k < PDNN_CHAINS; k++) {
            pdnn_load(&v, z + i + k * PDNN_LANES);
            chain[k] += v;
        }
    }
    for (; i + PDNN_LANES <= n; i += PDNN_LANES) {
        pdnn_load(&v, z + i);
        chain[0] += v;
    }
    pdnn_load_part(&v, z + i, n - i);
    chain[1] += v;
    return pdnn_chains_total(chain);
}

/* Sum of squared distances from the mean. */
PDNN_INLINE float squares_of(const float *z, float mean, int64_t n) {
    pdnn_floats chain[PDNN_CHAINS] = {{0}}, v;
    int64_t i = 0;
    for (; i + PDNN_CHAINS_STEP <= n; i += PDNN_CHAINS_STEP) {
        for (int k = 0; k < PDNN_CHAINS; k++) {
            pdnn_load(&v, z + i + k * PDNN_LANES);
            v -= mean;
            chain[k] += v * v;
        }
    }
    for (; i + PDNN_LANES <= n; i += PDNN_LANES) {
        pdnn_load(&v, z + i);
        v -= mean;
        chain[0] += v * v;
    }
    pdnn_load_part(&v, z + i, n - i);
    pdnn_fill_part(&v, n - i, mean);
    v -= mean;
    chain[1] += v * v;
    return pdnn_chains_total(chain);
}

PDNN_INLINE void normalize_columns(const struct pdnn_layernorm *job, const struct row *row, int64_t begin,
                                   int64_t n) {
    const float *z = row->z + begin;
    const int64_t at = row->first + begin;
    float block[PDNN_ROWS_BLOCK], *to = pdnn_block_place(job->y.to, at, block, job->stored, job->y.bypass);
    float mean = row->mean, inverse_std = row->inverse_std;
    if (job->gamma) {
        const float *gamma = job->gamma + begin, *beta = job->beta + begin;
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] = (z[i] - mean) * inverse_std * gamma[i] + beta[i];
    } else {
#pragma omp simd
        for (int64_t i = 0; i < n; i++)
            to[i] = (z[i] - mean) * inverse_std;
    }
    pdnn_block_write(job->y.to, at, to, n, job->stored, job->y.bypass);
}

/* Runs each stage on its own row, a block of columns at a time; NULL: no row for the stage. */
PDNN_INLINE void run_stages(const struct pdnn_layernorm *job, struct row *const *stage, int64_t ahead) {
    const struct pdnn_mask mask = pdnn_mask_of(job->seed, job->percent);
    for (int64_t begin = 0; begin < job->H; begin += PDNN_ROWS_BLOCK) {
        int64_t n = pdnn_least(job->H - begin, PDNN_ROWS_BLOCK);
        if (stage[0]) {
            pdnn_fetch(job->x, ahead + begin, n, job->stored);
            pdnn_fetch(job->residual, ahead + begin, n, job->stored);
            if (job->residual)
                add_columns(job, &mask, stage[0], begin, n);
            else if (makes_rows(job))
                pdnn_block_read(job->x, stage[0]->first + begin, n, stage[0]->sum + begin, job->stored);
            stage[0]->total += sum_of(stage[0]->z + begin, n);
        }
        if (stage[1])
            stage[1]->total += squares_of(stage[1]->z + begin, stage[1]->mean, n);
        if (stage[2])
            normalize_columns(job, stage[2], begin, n);
    }
}

static inline void end_sum(const struct pdnn_layernorm *job, struct row *row) {
    row->mean = row->total / (float)job->H;
    row->total = 0;
}

static inline void end_squares(const struct pdnn_layernorm *job, struct row *row) {
    row->inverse_std = 1.0F / sqrtf(row->total / (float)job->H + job->epsilon);
    if (job->mean) {
        job->mean[row->first / job->H] = row->mean;
        job->inverse_std[row->first / job->H] = row->inverse_std;
    }
}

/* buffers: room for STAGES rows. */
static void forward_rows(const struct pdnn_layernorm *job, struct pdnn_span rows, float *buffers) {
    struct row ring[STAGES];
    for (int64_t turn = rows.begin; turn < rows.end + STAGES - 1; turn++) {
        struct row *stage[STAGES];
        for (int64_t k = 0; k < STAGES; k++)
            stage[k] = turn - k >= rows.begin && turn - k < rows.end ? &ring[(turn - k) % STAGES] : NULL;
        if (stage[0])
            begin_row(job, stage[0], turn * job->H, buffers + turn % STAGES * pdnn_whole_lines(job->H));
        run_stages(job, stage, pdnn_row_ahead(turn, rows.end, job->H));
        if (stage[0])
            end_sum(job, stage[0]);
        if (stage[1])
            end_squares(job, stage[1]);
    }
    pdnn_bypass_fence();
}

static void forward_part(void *work, int64_t index, int64_t parts) {
    const struct pdnn_layernorm *job = work;
    float *buffers = makes_rows(job) ? job->scratch + index * STAGES * pdnn_whole_lines(job->H) : NULL;
    forward_rows(job, pdnn_span_of(job->R, 1, index, parts), buffers);
}

PDNN_KERNEL_VALUE(int64_t, pdnn_layernorm_scratch, (int64_t H, int64_t threads), (H, threads)) {
    return threads * STAGES * pdnn_whole_lines(H);
}

PDNN_KERNEL(pdnn_layernorm_forward, (const struct pdnn_layernorm *job, int64_t threads), (job, threads)) {
    struct pdnn_layernorm copy = *job;
    const bool streams = pdnn_block_streams(job->H, job->stored);
    copy.y.bypass = job->y.bypass && streams;
    copy.z.bypass = job->z.bypass && streams;
    pdnn_team_run(threads, job->R * job->H, forward_part, &copy);
}
