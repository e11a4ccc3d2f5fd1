#include "runtime/core/roofs.h"

#include "base/rng.h"
#include "base/clock.h"
#include "runtime/facts/host.h"
#include "runtime/core/single.h"
#include "runtime/facts/stats.h"
#include "runtime/kernels/roofs/fma.h"
#include "runtime/kernels/roofs/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPETITIONS_MIN = 7,
    REPETITIONS_MAX = 101,
    JOBS_MAX = 64,
    JOB_NS = 2000000, /* one repetition, unless one unit takes longer; well within a time slice */
    SMALL_DENSE = 16, /* the arithmetic takes less than a tenth of the call */
};

/* The part of the time that all repetitions of all GEMMs may take. */
static const double gemm_share = 0.4;

/* What a job's work and time make of its value. */
enum rate { RATE_WORK_PER_NS, RATE_NS_PER_WORK, RATE_IS_WORK };

/* One row in the making. */
struct job {
    struct pdnn_ceiling row;
    enum rate rate;
    /* Does so many units, says in *work what that was (FLOP, bytes, ops). Non-zero: the library's code. */
    int (*run)(const struct job *job, uint64_t units, double *work);
    uint64_t units; /* of one repetition; 0: to be calibrated */
    const struct pdnn_stream *stream;
    enum pdnn_stream_pattern pattern;
    const struct pdnn_single *single;
    double value[REPETITIONS_MAX];
    size_t n_values;
};

struct bench {
    const struct pdnn_host *host;
    int64_t threads;
    double seconds;
    size_t n_jobs, n_streams, n_singles;
    struct job job[JOBS_MAX];
    struct pdnn_stream stream[PDNN_CACHE_LEVELS + 1];
    struct pdnn_single *single[JOBS_MAX];
};

static volatile float sink;

static int run_fma(const struct job *job, uint64_t units, double *work) {
    float result;
    *work = (double)pdnn_fma_run(job->row.threads, units, &result);
    sink = result;
    return 0;
}

/* Past the caches streaming stores are the faster ones: they do not read what they overwrite. */
static int run_stream(const struct job *job, uint64_t units, double *work) {
    const struct pdnn_stream_job pass = {.pattern = job->pattern,
                                         .threads = job->row.threads,
                                         .passes = units,
                                         .bypass = job->row.capacity_bytes == 0};
    float result;
    *work = (double)pdnn_stream_run(job->stream, &pass, &result);
    sink = result;
    return 0;
}

static int run_single(const struct job *job, uint64_t units, double *work) {
    int code = 0;
    for (uint64_t i = 0; i < units && code == 0; i++)
        code = pdnn_plan_run(&job->single->plan);
    bool counts_flop = job->rate == RATE_WORK_PER_NS;
    *work = (double)units * (counts_flop ? job->single->flop : (double)job->single->plan.program.n_steps);
    return code;
}

static int run_probe(const struct job *job, uint64_t units, double *work) {
    double gflops, gbs;
    (void)units;
    if (pdnn_probe(job->row.threads, &gflops, &gbs, NULL) != PDNN_OK)
        return -1;
    *work = strcmp(job->row.pattern, "fma") == 0 ? gflops : gbs;
    return 0;
}

static struct job *add_job(struct bench *bench, const char *kind, const char *pattern) {
    struct job *job = &bench->job[bench->n_jobs++];
    snprintf(job->row.kind, sizeof job->row.kind, "%s", kind);
    snprintf(job->row.pattern, sizeof job->row.pattern, "%s", pattern);
    job->row.threads = bench->threads;
    return job;
}

static enum pdnn_status time_job(const struct job *job, double *ns, double *work, struct pdnn_err *err) {
    uint64_t start = pdnn_clock_ns();
    int code = job->run(job, job->units, work);
    *ns = (double)(pdnn_clock_ns() - start) + 1;
    if (code)
        return pdnn_fail(err, PDNN_INTERNAL, "%s %s failed with code %d", job->row.kind, job->row.pattern,
                         code);
    return PDNN_OK;
}

/* The least of three: one that was held up must not pass for a long one. */
static enum pdnn_status time_job_thrice(const struct job *job, double *ns, struct pdnn_err *err) {
    double least_ns = 0, one_ns = 0, work;
    for (int i = 0; i < 3; i++) {
        enum pdnn_status status = time_job(job, &one_ns, &work, err);
        if (status != PDNN_OK)
            return status;
        least_ns = i == 0 || one_ns < least_ns ? one_ns : least_ns;
    }
    *ns = least_ns;
    return PDNN_OK;
}

/* Warms up and finds how many units make one repetition, unless that is known. */
static enum pdnn_status calibrate(struct job *job, struct pdnn_err *err) {
    double ns = 0;
    if (job->units)
        return PDNN_OK;
    for (job->units = 1;;) {
        enum pdnn_status status = time_job_thrice(job, &ns, err);
        if (status != PDNN_OK || ns >= JOB_NS)
            return status;
        double more = JOB_NS / ns * 1.2;
        job->units = (uint64_t)((double)job->units * (more < 10 ? more : 10)) + 1;
    }
}

static enum pdnn_status repeat(struct job *job, struct pdnn_err *err) {
    double ns, work;
    enum pdnn_status status = time_job(job, &ns, &work, err);
    if (status != PDNN_OK)
        return status;
    const double value[] = {
        [RATE_WORK_PER_NS] = work / ns, [RATE_NS_PER_WORK] = ns / work, [RATE_IS_WORK] = work};
    job->value[job->n_values++] = value[job->rate];
    return PDNN_OK;
}

/* What a level holds for these threads together, cores taken in order. */
static uint64_t level_capacity(const struct bench *bench, size_t level) {
    int64_t sharing = bench->host->cache_cores[level] > 0 ? bench->host->cache_cores[level] : 1;
    return bench->host->cache_bytes[level] * (uint64_t)((bench->threads + sharing - 1) / sharing);
}

/* Three patterns over one stream whose slices together are working_set_bytes. */
static enum pdnn_status add_level(struct bench *bench, const char *name, uint64_t capacity_bytes,
                                  uint64_t working_set_bytes, struct pdnn_err *err) {
    struct pdnn_stream *stream = &bench->stream[bench->n_streams];
    enum pdnn_status status =
        pdnn_stream_create(stream, bench->threads, working_set_bytes / (uint64_t)bench->threads, err);
    if (status != PDNN_OK)
        return status;
    bench->n_streams++;
    for (int pattern = 0; pattern < PDNN_STREAM_PATTERN_COUNT; pattern++) {
        struct job *job =
            add_job(bench, "bandwidth", pdnn_stream_pattern_name((enum pdnn_stream_pattern)pattern));
        snprintf(job->row.level, sizeof job->row.level, "%s", name);
        job->row.capacity_bytes = capacity_bytes;
        job->run = run_stream;
        job->stream = stream;
        job->pattern = (enum pdnn_stream_pattern)pattern;
    }
    return PDNN_OK;
}

/* Working sets well inside a level and beyond the one before: half of a private cache, a quarter of the last,
 * which others may fill as well. A level no larger than that leaves no room between its neighbours and gets
 * no row. */
static enum pdnn_status add_levels(struct bench *bench, struct pdnn_err *err) {
    static const char *const names[PDNN_CACHE_LEVELS] = {"L1", "L2", "L3"};
    static const uint64_t parts[PDNN_CACHE_LEVELS] = {2, 2, 4};
    const uint64_t dram_min_bytes = UINT64_C(256) << 20;
    uint64_t inner = 0;
    for (size_t level = 0; level < PDNN_CACHE_LEVELS; level++) {
        uint64_t capacity = level_capacity(bench, level), set = capacity / parts[level];
        if (set <= inner)
            continue;
        enum pdnn_status status = add_level(bench, names[level], capacity, set, err);
        if (status != PDNN_OK)
            return status;
        inner = capacity;
    }
    uint64_t set = 4 * inner > dram_min_bytes ? 4 * inner : dram_min_bytes;
    uint64_t limit = bench->host->memory_limit_bytes / 2;
    return add_level(bench, "DRAM", 0, limit && limit < set ? limit : set, err);
}

/* Takes the single over. */
static void add_single(struct bench *bench, struct pdnn_single *single, const char *kind, enum rate rate) {
    struct job *job = add_job(bench, kind, "op");
    bench->single[bench->n_singles++] = single;
    job->single = single;
    job->rate = rate;
    job->run = run_single;
}

/* The oracle is slow by intention; it is no roof. */
static bool is_tried(const struct pdnn_backend_def *backend) {
    return strcmp(backend->name, "reference") != 0;
}

static enum pdnn_status add_gemm(struct bench *bench, const struct pdnn_backend_def *backend,
                                 enum pdnn_dtype dtype, double flop_max, struct pdnn_err *err) {
    struct pdnn_single *single = NULL;
    enum pdnn_status status = pdnn_single_create_gemm(backend, bench->threads, dtype, flop_max,
                                                      bench->host->memory_limit_bytes / 2, &single, err);
    if (status != PDNN_OK)
        return status == PDNN_UNSUPPORTED || status == PDNN_TOO_BIG ? PDNN_OK : status;
    add_single(bench, single, "compute", RATE_WORK_PER_NS);
    struct job *job = &bench->job[bench->n_jobs - 1];
    snprintf(job->row.pattern, sizeof job->row.pattern, "gemm-%.18s", backend->name);
    snprintf(job->row.dtype, sizeof job->row.dtype, "%s", pdnn_dtype_name(dtype));
    job->units = 1; /* large enough, and run twice already */
    return PDNN_OK;
}

/* FMA first: its rate tells how large a GEMM fits the time. */
static enum pdnn_status add_compute(struct bench *bench, const struct pdnn_backend_def *const *backends,
                                    struct pdnn_err *err) {
    static const enum pdnn_dtype dtypes[] = {PDNN_F32, PDNN_BF16, PDNN_F16, PDNN_INT8};
    const size_t n_dtypes = sizeof dtypes / sizeof *dtypes;
    size_t tried = 1; /* few backends have more than f32, and that is faster */
    double ns = 1, work = 0;
    struct job *fma = add_job(bench, "compute", "fma");
    snprintf(fma->row.dtype, sizeof fma->row.dtype, "f32");
    fma->run = run_fma;
    enum pdnn_status status = calibrate(fma, err);
    if (status == PDNN_OK)
        status = time_job(fma, &ns, &work, err);
    for (size_t i = 0; backends[i]; i++)
        tried += is_tried(backends[i]);
    double budget_ns = gemm_share * bench->seconds * 1e9 / (double)(REPETITIONS_MIN * (tried ? tried : 1));
    for (size_t i = 0; backends[i] && i < JOBS_MAX / 4; i++) {
        for (size_t k = 0; status == PDNN_OK && is_tried(backends[i]) && k < n_dtypes; k++)
            status = add_gemm(bench, backends[i], dtypes[k], budget_ns * work / ns, err);
    }
    return status;
}

/* What calling an op costs that has next to nothing to do: a product of tiny matrices through the first
 * backend that has it, its threads started and joined where the library does that. */
static enum pdnn_status add_overhead(struct bench *bench, const struct pdnn_backend_def *const *backends,
                                     struct pdnn_err *err) {
    for (size_t i = 0; backends[i]; i++) {
        struct pdnn_single *single = NULL;
        if (!is_tried(backends[i]))
            continue;
        enum pdnn_status status =
            pdnn_single_create_dense(backends[i], bench->threads, PDNN_F32, SMALL_DENSE, 0, &single, err);
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status == PDNN_OK)
            add_single(bench, single, "overhead", RATE_NS_PER_WORK);
        return status;
    }
    return PDNN_OK;
}

static void add_probes(struct bench *bench) {
    static const char *const patterns[] = {"fma", "read"};
    for (size_t i = 0; i < 2; i++) {
        struct job *job = add_job(bench, "probe", patterns[i]);
        job->rate = RATE_IS_WORK;
        job->units = 1;
        job->run = run_probe;
    }
}

static void shuffle(size_t *order, size_t count, struct pdnn_rng *rng) {
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)pdnn_rng_below(rng, i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

static double least(double a, double b) {
    return a < b ? a : b;
}

/* Rounds over all jobs in random order, so that the repetitions of each are spread over the time: the machine
 * wanders. */
static enum pdnn_status run_rounds(struct bench *bench, uint64_t start_ns, void (*progress)(void *, double),
                                   void *user, struct pdnn_err *err) {
    struct pdnn_rng rng = {1, 0};
    size_t order[JOBS_MAX];
    for (size_t i = 0; i < bench->n_jobs; i++)
        order[i] = i;
    for (size_t round = 0; round < REPETITIONS_MAX; round++) {
        shuffle(order, bench->n_jobs, &rng);
        for (size_t i = 0; i < bench->n_jobs; i++) {
            enum pdnn_status status = repeat(&bench->job[order[i]], err);
            if (status != PDNN_OK)
                return status;
            double time_done = (double)(pdnn_clock_ns() - start_ns) / (bench->seconds * 1e9);
            double jobs_done =
                (double)(round * bench->n_jobs + i + 1) / (double)(REPETITIONS_MIN * bench->n_jobs);
            if (progress)
                progress(user, least(1, least(time_done, jobs_done)));
            if (round >= REPETITIONS_MIN && time_done >= 1)
                return PDNN_OK;
        }
    }
    return PDNN_OK;
}

static enum pdnn_status add_rows(struct bench *bench, struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    if (bench->n_jobs > PDNN_CEILINGS_MAX - ceilings->count)
        return pdnn_fail(err, PDNN_OVERFLOW, "more than %d ceilings", PDNN_CEILINGS_MAX);
    for (size_t i = 0; i < bench->n_jobs; i++) {
        struct job *job = &bench->job[i];
        job->row.value = pdnn_median(job->value, job->n_values);
        job->row.low = job->value[0];
        job->row.high = job->value[job->n_values - 1];
        job->row.repetitions = (int64_t)job->n_values;
        ceilings->row[ceilings->count++] = job->row;
    }
    return PDNN_OK;
}

static void destroy(struct bench *bench) {
    for (size_t i = 0; i < bench->n_streams; i++)
        pdnn_stream_destroy(&bench->stream[i]);
    for (size_t i = 0; i < bench->n_singles; i++)
        pdnn_single_destroy(bench->single[i]);
    free(bench);
}

enum pdnn_status pdnn_ceilings_measure(const struct pdnn_host *host,
                                       const struct pdnn_backend_def *const *backends, int64_t threads,
                                       double seconds, void (*progress)(void *user, double fraction),
                                       void *user, struct pdnn_ceilings *ceilings, struct pdnn_err *err) {
    uint64_t start_ns = pdnn_clock_ns();
    struct bench *bench = calloc(1, sizeof *bench);
    if (!bench)
        return pdnn_fail(err, PDNN_NO_MEMORY, "out of memory for the ceilings");
    bench->host = host;
    bench->threads = threads;
    bench->seconds = seconds;
    enum pdnn_status status = add_compute(bench, backends, err);
    if (status == PDNN_OK)
        status = add_levels(bench, err);
    if (status == PDNN_OK)
        status = add_overhead(bench, backends, err);
    if (status == PDNN_OK)
        add_probes(bench);
    for (size_t i = 0; status == PDNN_OK && i < bench->n_jobs; i++)
        status = calibrate(&bench->job[i], err);
    if (status == PDNN_OK)
        status = run_rounds(bench, start_ns, progress, user, err);
    if (status == PDNN_OK)
        status = add_rows(bench, ceilings, err);
    destroy(bench);
    return status;
}
