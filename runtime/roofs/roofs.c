#include "runtime/roofs/roofs.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "runtime/roofs/ladder.h"
#include "runtime/roofs/roof_job.h"
#include "runtime/kernels/roofs/chain.h"
#include "runtime/protocol/protocol.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    JOBS_MAX = 320,
    SINGLES_MAX = 64,
    STORES = 2,       /* regular and streaming stores */
    SMALL_DENSE = 16, /* arithmetic takes less than a tenth of the call */
};

/* Share of the time for all runs of GEMMs: to find the fastest of each, and twice a repetition, once to warm
 * the caches. */
static const double gemm_share = 0.4;
enum { GEMM_SEARCH = 12, GEMM_RUNS = GEMM_SEARCH + 2 * PDNN_ROOF_REPETITIONS_MIN };

/* For the probes alone: with nothing between them, reads would find part of the usual buffer in a large
 * cache. */
enum { PROBE_CACHE_BYTES = 64 << 20 };
static const double probe_seconds = 0.1;

struct bench {
    const struct pdnn_host *host;
    int64_t threads;
    struct pdnn_call_options options; /* of the backends */
    double seconds;
    uint64_t start_ns, deadline_ns;
    bool has_all; /* not the probes alone, which take their time to see the machine undisturbed */
    size_t n_jobs, n_others, n_singles; /* n_others: without the ladder's */
    struct pdnn_roof_job job[JOBS_MAX]; /* the ladder's are the last */
    struct pdnn_stream stream;          /* sized for the ladder's largest working set */
    struct pdnn_one_op_plan *single[SINGLES_MAX];
    struct pdnn_far_memory far; /* of the probes */
};

/* The pattern's name is in two parts. */
static struct pdnn_roof_job *add_job(struct bench *bench, const char *kind, const char *dtype,
                                     const char *first, const char *second) {
    struct pdnn_roof_job *job = &bench->job[bench->n_jobs++];
    snprintf(job->row.kind, sizeof job->row.kind, "%s", kind);
    snprintf(job->row.dtype, sizeof job->row.dtype, "%s", dtype);
    snprintf(job->row.pattern, sizeof job->row.pattern, "%s%.18s", first, second);
    job->row.threads = bench->threads;
    return job;
}

static void add_rung(struct bench *bench, uint64_t bytes, enum pdnn_stream_pattern pattern, size_t store) {
    static const char *const suffixes[STORES] = {"", "-streaming"};
    struct pdnn_roof_job *job =
        add_job(bench, "ladder", "", pdnn_stream_pattern_name(pattern), suffixes[store]);
    job->row.capacity_bytes = bytes;
    job->run = pdnn_roof_run_stream;
    job->stream = &bench->stream;
    job->pass = (struct pdnn_stream_job){.pattern = pattern,
                                         .threads = bench->threads,
                                         .bypass = store > 0,
                                         .slice_bytes = bytes / (uint64_t)bench->threads};
}

/* Reads store nothing, an update stores to lines that it has just read, and what caches hold easily is never
 * better written past them. */
static size_t kinds_of_stores(const struct bench *bench, enum pdnn_stream_pattern pattern, uint64_t bytes) {
    uint64_t largest = 0;
    for (size_t level = 0; level < PDNN_CACHE_LEVELS; level++) {
        uint64_t reported = pdnn_host_cache_bytes(bench->host, bench->threads, level);
        largest = reported > largest ? reported : largest;
    }
    bool is_plain = pattern == PDNN_STREAM_READ || pattern == PDNN_STREAM_UPDATE || bytes < largest / 4;
    return is_plain ? 1 : STORES;
}

/* Adds all patterns at all working sets, with each kind of store. */
static enum pdnn_status add_ladder(struct bench *bench, struct pdnn_err *err) {
    uint64_t sizes[PDNN_LADDER_POINTS];
    size_t count = pdnn_ladder_sizes(bench->host, bench->threads, sizes);
    enum pdnn_status status =
        pdnn_stream_create(&bench->stream, bench->threads, sizes[count - 1] / (uint64_t)bench->threads, err);
    if (status != PDNN_OK)
        return status;
    for (size_t point = 0; point < count; point++) {
        for (int pattern = 0; pattern < PDNN_STREAM_PATTERN_COUNT; pattern++) {
            for (size_t store = 0;
                 store < kinds_of_stores(bench, (enum pdnn_stream_pattern)pattern, sizes[point]); store++)
                add_rung(bench, sizes[point], (enum pdnn_stream_pattern)pattern, store);
        }
    }
    return PDNN_OK;
}

/* What the job runs, of which it takes ownership. */
static void run_single(struct bench *bench, struct pdnn_roof_job *job, struct pdnn_one_op_plan *single,
                       enum pdnn_roof_rate rate) {
    bench->single[bench->n_singles++] = single;
    job->single = single;
    job->rate = rate;
    job->run = pdnn_roof_run_single;
}

/* All singles together may take a quarter of the memory; the ladder has half, the probe the rest. Two sizes
 * are tried side by side. 0: no limit. */
static uint64_t single_limit(const struct bench *bench) {
    uint64_t all = bench->host->memory_limit_bytes / 4, held = 0;
    for (size_t i = 0; i < bench->n_singles; i++)
        held += bench->single[i]->plan.block_bytes;
    return !all ? 0 : held < all ? (all - held) / 2 : 1;
}

static enum pdnn_status add_gemm(struct bench *bench, const struct pdnn_backend_def *backend,
                                 enum pdnn_dtype dtype, double flop_max, struct pdnn_err *err) {
    struct pdnn_one_op_plan *single = NULL;
    enum pdnn_status status = pdnn_one_op_plan_create_gemm(backend, &bench->options, dtype, flop_max,
                                                           single_limit(bench), &single, err);
    if (status != PDNN_OK)
        return status == PDNN_UNSUPPORTED || status == PDNN_TOO_BIG ? PDNN_OK : status;
    struct pdnn_roof_job *job = add_job(bench, "compute", pdnn_dtype_name(dtype), "gemm-", backend->name);
    run_single(bench, job, single, PDNN_RATE_WORK_PER_NS);
    job->units = 1; /* large enough; already warmed up by two runs */
    return PDNN_OK;
}

/* Starts with FMA: its rate tells how large a GEMM fits the time budget. */
static enum pdnn_status add_compute(struct bench *bench, const struct pdnn_backend_def *const *backends,
                                    struct pdnn_err *err) {
    static const enum pdnn_dtype dtypes[] = {PDNN_F32, PDNN_BF16, PDNN_F16, PDNN_INT8};
    const size_t n_dtypes = sizeof dtypes / sizeof *dtypes;
    size_t tried = 1; /* plus one: few backends support more than f32, and the other dtypes are faster */
    double ns = 1, work = 0;
    struct pdnn_roof_job *fma = add_job(bench, "compute", "f32", "fma", "");
    fma->run = pdnn_roof_run_fma;
    enum pdnn_status status = pdnn_roof_calibrate(fma, err);
    if (status == PDNN_OK)
        status = pdnn_roof_time(fma, &ns, &work, err);
    for (const struct pdnn_peak *peak = pdnn_peaks; peak->dtype; peak++) {
        if (!peak->usable())
            continue;
        struct pdnn_roof_job *job = add_job(bench, "compute", peak->dtype, peak->instruction, "");
        job->peak = peak;
        job->run = pdnn_roof_run_peak;
    }
    for (size_t i = 0; backends[i]; i++)
        tried += !backends[i]->is_reference;
    double budget_ns = gemm_share * bench->seconds * 1e9 / (double)(GEMM_RUNS * tried);
    for (size_t i = 0; backends[i] && i < SINGLES_MAX / 8; i++) {
        for (size_t k = 0; status == PDNN_OK && !backends[i]->is_reference && k < n_dtypes; k++)
            status = add_gemm(bench, backends[i], dtypes[k], budget_ns * work / ns, err);
    }
    return status;
}

/* The cost of calling an op that has almost nothing to compute: a product of tiny matrices on the first
 * backend that supports it, with the fork and join of its threads if the library does one. */
static enum pdnn_status add_overhead(struct bench *bench, const struct pdnn_backend_def *const *backends,
                                     struct pdnn_err *err) {
    const struct pdnn_one_op_plan_dense small = {PDNN_F32, PDNN_FORWARD, SMALL_DENSE};
    for (size_t i = 0; backends[i]; i++) {
        struct pdnn_one_op_plan *single = NULL;
        if (backends[i]->is_reference)
            continue;
        enum pdnn_status status =
            pdnn_one_op_plan_create_dense(backends[i], &bench->options, &small, 0, &single, err);
        if (status == PDNN_UNSUPPORTED)
            continue;
        if (status == PDNN_OK)
            run_single(bench, add_job(bench, "overhead", "", "op", ""), single, PDNN_RATE_NS_PER_WORK);
        return status;
    }
    return PDNN_OK;
}

/* cache_bytes: of the caches that the reads must miss; 0: the usual. What this processor or a single thread
 * does not have is left out. */
static void add_probes(struct bench *bench, uint64_t cache_bytes) {
    const struct {
        const char *pattern;
        size_t offset;
        enum pdnn_roof_rate rate;
        bool is_there;
    } probes[] = {
        {"fma", offsetof(struct pdnn_probe_rates, gflops), PDNN_RATE_IS_WORK, true},
        {"read", offsetof(struct pdnn_probe_rates, gbs), PDNN_RATE_IS_WORK, true},
        {"clock", offsetof(struct pdnn_probe_rates, clock_ghz), PDNN_RATE_IS_WORK, pdnn_chain_ghz(1, 0) > 0},
        {"handoff", offsetof(struct pdnn_probe_rates, handoff_ns), PDNN_RATE_IS_NS, bench->threads > 1}};
    for (size_t i = 0; i < sizeof probes / sizeof *probes; i++) {
        if (!probes[i].is_there)
            continue;
        struct pdnn_roof_job *job = add_job(bench, "probe", "", probes[i].pattern, "");
        job->probed = probes[i].offset;
        job->rate = probes[i].rate;
        job->units = 1;
        job->run = pdnn_roof_run_probe;
        job->far = (struct pdnn_dram_buffer){.threads = bench->threads,
                                             .cache_bytes = cache_bytes,
                                             .limit_bytes = bench->host->memory_limit_bytes,
                                             .memory = &bench->far};
    }
}

static void shuffle(size_t *order, size_t count, struct pdnn_rng *rng) {
    for (size_t i = count; i > 1; i--) {
        size_t other = (size_t)pdnn_rng_below(rng, i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* Where the limit is over before all have run a few times, the ladder is left out: what took most of the
 * time. Runs rounds over all jobs in random order until the time is over, so that each job's repetitions are
 * spread over all of it: the machine's speed drifts, and a neighbour can hold it down for a while, so that
 * repetitions which agree say little. */
static enum pdnn_status run_rounds(struct bench *bench, void (*progress)(void *, double), void *user,
                                   struct pdnn_err *err) {
    struct pdnn_rng rng = {1, 0};
    size_t order[JOBS_MAX], least = PDNN_ROOF_REPETITIONS_MIN * bench->n_jobs;
    for (size_t i = 0; i < bench->n_jobs; i++)
        order[i] = i;
    for (size_t done = 0; done < PDNN_ROOF_REPETITIONS * bench->n_jobs; done++) {
        if (done % bench->n_jobs == 0)
            shuffle(order, bench->n_jobs, &rng);
        const uint64_t now_ns = pdnn_clock_ns();
        double time_done = (double)(now_ns - bench->start_ns) / (bench->seconds * 1e9);
        if (progress)
            progress(user, fmin(1, fmin(time_done, (double)done / (double)least)));
        if (done >= least && (time_done >= 1 || now_ns >= bench->deadline_ns))
            return PDNN_OK;
        if (now_ns >= bench->deadline_ns && bench->n_jobs > bench->n_others) {
            bench->n_jobs = bench->n_others;
            return run_rounds(bench, NULL, NULL, err);
        }
        enum pdnn_status status = pdnn_roof_repeat(&bench->job[order[done % bench->n_jobs]], err);
        if (status != PDNN_OK)
            return status;
    }
    return PDNN_OK;
}

/* The roofs of the ladder's levels come after its rows. */
static enum pdnn_status add_rows(struct bench *bench, struct pdnn_roof_rows *roof_rows,
                                 struct pdnn_err *err) {
    struct pdnn_roof_row *row = roof_rows->row + roof_rows->count;
    size_t first = 0, count = bench->n_jobs;
    if (count + PDNN_LADDER_ROOFS > PDNN_ROOF_ROWS_MAX - roof_rows->count)
        return pdnn_fail(err, PDNN_OVERFLOW, "more than %d rows of roofs", PDNN_ROOF_ROWS_MAX);
    for (size_t i = 0; i < bench->n_jobs; i++) {
        pdnn_roof_summarize(&bench->job[i]);
        row[i] = bench->job[i].row;
        first += !bench->job[i].stream;
    }
    if (first < count)
        count += pdnn_ladder_roofs(bench->host, bench->threads, row + first, count - first, row + count);
    roof_rows->count += count;
    return PDNN_OK;
}

static void destroy(struct bench *bench) {
    pdnn_stream_destroy(&bench->stream);
    pdnn_stream_destroy(&bench->far.stream);
    for (size_t i = 0; i < bench->n_singles; i++)
        pdnn_one_op_plan_destroy(bench->single[i]);
    free(bench);
}

/* The same pattern at a smaller working set, which comes before; NULL: there is none. */
static const struct pdnn_roof_job *smaller(const struct bench *bench, const struct pdnn_roof_job *job) {
    const struct pdnn_roof_job *other = job;
    while (job->stream && other-- > bench->job)
        if (other->stream && strcmp(other->row.pattern, job->row.pattern) == 0)
            return other;
    return NULL;
}

/* On a busy machine that takes longer than the rounds: once that shows, a smaller working set says how many
 * passes over this one take as long. */
static enum pdnn_status calibrate(struct bench *bench, struct pdnn_err *err) {
    enum { LATE = 4 };
    const uint64_t hurry_ns = bench->start_ns + (uint64_t)(LATE * bench->seconds * 1e9);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < bench->n_jobs && status == PDNN_OK; i++) {
        struct pdnn_roof_job *job = &bench->job[i];
        const struct pdnn_roof_job *other = pdnn_clock_ns() >= hurry_ns ? smaller(bench, job) : NULL;
        if (other)
            job->units = 1 + other->units * other->pass.slice_bytes / job->pass.slice_bytes;
        else
            status = pdnn_roof_calibrate(job, err);
    }
    return status;
}

enum pdnn_status pdnn_roof_rows_measure(const struct pdnn_host *host,
                                        const struct pdnn_backend_def *const *backends,
                                        const struct pdnn_roofs_request *request,
                                        void (*progress)(void *user, double fraction), void *user,
                                        struct pdnn_roof_rows *roof_rows, struct pdnn_err *err) {
    struct bench *bench = pdnn_alloc(1, sizeof *bench);
    bench->host = host;
    bench->threads = request->threads;
    bench->options = pdnn_call_options(host, bench->threads, 0);
    bench->has_all = request->seconds > 0;
    bench->seconds = bench->has_all ? request->seconds : probe_seconds;
    bench->start_ns = pdnn_clock_ns();
    bench->deadline_ns = bench->start_ns + (uint64_t)(request->limit_seconds * 1e9);
    enum pdnn_status status = PDNN_OK;
    if (bench->has_all)
        status = add_compute(bench, backends, err);
    if (bench->has_all && status == PDNN_OK)
        status = add_overhead(bench, backends, err);
    add_probes(bench, bench->has_all ? 0 : (uint64_t)bench->threads * PROBE_CACHE_BYTES);
    bench->n_others = bench->n_jobs;
    /* On a busy machine, its memory alone takes several times as long as all before. */
    if (bench->has_all && status == PDNN_OK &&
        4 * (pdnn_clock_ns() - bench->start_ns) < bench->deadline_ns - bench->start_ns)
        status = add_ladder(bench, err);
    if (status == PDNN_OK)
        status = calibrate(bench, err);
    if (status == PDNN_OK)
        status = run_rounds(bench, bench->has_all ? progress : NULL, user, err);
    if (status == PDNN_OK)
        status = add_rows(bench, roof_rows, err);
    destroy(bench);
    return status;
}
