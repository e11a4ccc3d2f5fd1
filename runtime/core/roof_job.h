/* One roof in the making: what runs, how much of it is a repetition, and the repetitions. Private to
 * roofs.c. */
#ifndef RUNTIME_CORE_ROOF_JOB_H
#define RUNTIME_CORE_ROOF_JOB_H

#include "runtime/core/single.h"
#include "runtime/facts/ceilings.h"
#include "runtime/kernels/roofs/peaks.h"
#include "runtime/kernels/roofs/stream.h"

enum { PDNN_ROOF_REPETITIONS = 101 };

/* What a job's work and time make of its value. */
enum pdnn_roof_rate { PDNN_RATE_WORK_PER_NS, PDNN_RATE_NS_PER_WORK, PDNN_RATE_IS_WORK };

struct pdnn_roof_job {
    struct pdnn_ceiling row;
    enum pdnn_roof_rate rate;
    /* Does so many units, says in *work what that was (FLOP, bytes, ops). Non-zero: the library's code. */
    int (*run)(struct pdnn_roof_job *job, uint64_t units, double *work);
    uint64_t units; /* of one repetition; 0: to be calibrated */
    /* What the run functions work on, borrowed. */
    const struct pdnn_stream *stream;
    struct pdnn_stream_job pass; /* of the stream, but for how many */
    const struct pdnn_peak *peak;
    const struct pdnn_single *single;
    double value[PDNN_ROOF_REPETITIONS];
    size_t n_values;
};

/* Values of run. */
int pdnn_roof_run_fma(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_peak(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_stream(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_single(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_probe(struct pdnn_roof_job *job, uint64_t units, double *work);

/* Runs it once. PDNN_INTERNAL where it fails. */
enum pdnn_status pdnn_roof_time(struct pdnn_roof_job *job, double *ns, double *work, struct pdnn_err *err);

/* Warms up and finds how many units make one repetition, unless that is known. */
enum pdnn_status pdnn_roof_calibrate(struct pdnn_roof_job *job, struct pdnn_err *err);

/* One more value. */
enum pdnn_status pdnn_roof_repeat(struct pdnn_roof_job *job, struct pdnn_err *err);

/* Fills the row from the values, which are sorted: whatever disturbs a repetition makes it slower, so the
 * best one says most about the machine. */
void pdnn_roof_summarize(struct pdnn_roof_job *job);

#endif
