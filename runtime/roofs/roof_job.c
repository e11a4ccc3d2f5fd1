#include "runtime/roofs/roof_job.h"

#include "base/clock.h"
#include "base/stats.h"
#include "runtime/kernels/roofs/fma.h"

#include <math.h>
#include <string.h>

/* Duration of one repetition, unless a single unit takes longer: well within a scheduler time slice. Streams
 * get less because there are many of them. */
enum { JOB_NS = 2000000, STREAM_NS = 700000 };

/* Minimum part of one thread's slice. */
enum { PART_BYTES = 2 << 20 };

int pdnn_roof_run_fma(struct pdnn_roof_job *job, uint64_t units, double *work) {
    *work = (double)pdnn_fma_run(job->row.threads, units, &job->result);
    return 0;
}

int pdnn_roof_run_peak(struct pdnn_roof_job *job, uint64_t units, double *work) {
    *work = (double)pdnn_peak_run(job->peak, job->row.threads, units, &job->result);
    return 0;
}

/* When the working set is too large for one repetition, each repetition streams the next part, so that all of
 * the set passes before a part comes again. */
int pdnn_roof_run_stream(struct pdnn_roof_job *job, uint64_t units, double *work) {
    job->pass.passes = units;
    *work = (double)pdnn_stream_run(job->stream, &job->pass, &job->result);
    job->pass.part++;
    return 0;
}

int pdnn_roof_run_single(struct pdnn_roof_job *job, uint64_t units, double *work) {
    int code = 0;
    for (uint64_t i = 0; i < units && code == 0; i++)
        code = pdnn_plan_run(&job->single->plan);
    bool counts_flop = job->rate == PDNN_RATE_WORK_PER_NS;
    *work = (double)units * (counts_flop ? job->single->flop : (double)job->single->plan.program.n_calls);
    return code;
}

int pdnn_roof_run_probe(struct pdnn_roof_job *job, uint64_t units, double *work) {
    struct pdnn_probe_rates rates;
    (void)units;
    if (pdnn_probe(&job->far, &rates, NULL) != PDNN_OK)
        return -1;
    *work = *(const double *)((const char *)&rates + job->probed);
    return 0;
}

enum pdnn_status pdnn_roof_time(struct pdnn_roof_job *job, double *ns, double *work, struct pdnn_err *err) {
    uint64_t start = pdnn_clock_ns();
    int code = job->run(job, job->units, work);
    *ns = (double)(pdnn_clock_ns() - start) + 1;
    if (code)
        return pdnn_fail(err, PDNN_INTERNAL, "%s %s failed with code %d", job->row.kind, job->row.pattern,
                         code);
    return PDNN_OK;
}

/* Minimum of three: a run that was interrupted must not pass for a long one. One that twice takes as long as
 * several repetitions is not worth a third look. */
static enum pdnn_status time_thrice(struct pdnn_roof_job *job, double long_ns, double *ns,
                                    struct pdnn_err *err) {
    double least_ns = 0, one_ns = 0, work;
    for (int i = 0; i < 3 && (i < 2 || least_ns < 4 * long_ns); i++) {
        enum pdnn_status status = pdnn_roof_time(job, &one_ns, &work, err);
        if (status != PDNN_OK)
            return status;
        least_ns = i == 0 || one_ns < least_ns ? one_ns : least_ns;
    }
    *ns = least_ns;
    return PDNN_OK;
}

/* Of a pass that takes longer than a repetition, a part is one. Parts have a minimum size, so that an
 * interrupted pass is not cut into tiny ones. */
static void cut(struct pdnn_roof_job *job, double ns) {
    uint64_t most = job->pass.slice_bytes / PART_BYTES;
    uint64_t parts = ns < (double)most * STREAM_NS ? (uint64_t)(ns / STREAM_NS) : most;
    if (parts > 1)
        job->pass.parts = parts;
}

/* Units are added until they really take the time of a repetition: starting the threads can take many times
 * as long as one of them. */
enum pdnn_status pdnn_roof_calibrate(struct pdnn_roof_job *job, struct pdnn_err *err) {
    double ns = 0, least_ns = job->stream ? STREAM_NS : JOB_NS;
    if (job->units)
        return PDNN_OK;
    for (job->units = 1;;) {
        enum pdnn_status status = time_thrice(job, least_ns, &ns, err);
        if (status != PDNN_OK)
            return status;
        if (ns >= least_ns)
            break;
        double more = least_ns / ns * 1.2;
        job->units = (uint64_t)((double)job->units * (more < 10 ? more : 10)) + 1;
    }
    if (job->stream && job->units == 1)
        cut(job, ns);
    return PDNN_OK;
}

/* How many runs of a unit put the caches into the state that this job would find if it ran alone; where it is
 * cut into parts, beginning with the one that returns to the part it is at. What earlier jobs left must go:
 * the very part that comes next may be there. All caches together hold a quarter of the stream at most. */
static uint64_t runs_before(struct pdnn_roof_job *job) {
    uint64_t parts = job->pass.parts;
    if (parts < 2)
        return job->stream || job->single;
    uint64_t part_bytes = job->pass.slice_bytes / parts, held = job->stream->slice_bytes / 4 / part_bytes + 1;
    uint64_t before = held < parts ? held : parts - 1;
    job->pass.part += parts - before;
    return before;
}

enum pdnn_status pdnn_roof_repeat(struct pdnn_roof_job *job, struct pdnn_err *err) {
    double ns, work;
    int code = 0;
    for (uint64_t before = runs_before(job); before > 0 && code == 0; before--)
        code = job->run(job, 1, &work);
    if (code)
        return pdnn_fail(err, PDNN_INTERNAL, "%s %s failed with code %d", job->row.kind, job->row.pattern,
                         code);
    enum pdnn_status status = pdnn_roof_time(job, &ns, &work, err);
    if (status != PDNN_OK)
        return status;
    const double value[] = {[PDNN_RATE_WORK_PER_NS] = work / ns,
                            [PDNN_RATE_NS_PER_WORK] = ns / work,
                            [PDNN_RATE_IS_WORK] = work,
                            [PDNN_RATE_IS_NS] = work};
    job->value[job->n_values++] = value[job->rate];
    return PDNN_OK;
}

void pdnn_roof_summarize(struct pdnn_roof_job *job) {
    job->row.median = pdnn_median(job->value, job->n_values);
    job->row.low = job->value[0];
    job->row.high = job->value[job->n_values - 1];
    const size_t second = job->n_values > 1;
    const bool is_least = job->rate == PDNN_RATE_NS_PER_WORK || job->rate == PDNN_RATE_IS_NS;
    job->row.value = job->value[is_least ? second : job->n_values - 1 - second];
    job->row.repetitions = (int64_t)job->n_values;
}
