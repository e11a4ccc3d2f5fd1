/* One roof being measured: what to run, how much of it makes a repetition, and the values so far.
 * Private to roofs.c. */
#ifndef RUNTIME_ROOFS_ROOF_JOB_H
#define RUNTIME_ROOFS_ROOF_JOB_H

#include "runtime/roofs/one_op_plan.h"
#include "runtime/protocol/roof_rows.h"
#include "runtime/kernels/roofs/peaks.h"
#include "runtime/measure/probe.h"
#include "runtime/kernels/roofs/stream.h"

enum { PDNN_ROOF_REPETITIONS_MIN = 5, PDNN_ROOF_REPETITIONS = 101 };

/* How work and time give the job's value. Of the last two it is the work itself: more is better, or less. */
enum pdnn_roof_rate { PDNN_RATE_WORK_PER_NS, PDNN_RATE_NS_PER_WORK, PDNN_RATE_IS_WORK, PDNN_RATE_IS_NS };

struct pdnn_roof_job {
    struct pdnn_roof_row row;
    enum pdnn_roof_rate rate;
    /* Runs `units` units and sets *work to the work done (FLOP, bytes, ops). Non-zero: the
     * library's error code. */
    int (*run)(struct pdnn_roof_job *job, uint64_t units, double *work);
    uint64_t units; /* per repetition; 0: calibrate */
    /* Operands of the run functions, borrowed. */
    const struct pdnn_stream *stream;
    struct pdnn_dram_buffer far; /* of the probe */
    size_t probed;               /* offset of its value in struct pdnn_probe_rates */
    struct pdnn_stream_job pass; /* of the stream; passes is set per run */
    const struct pdnn_peak *peak;
    const struct pdnn_one_op_plan *single;
    float result; /* of the last run; its kernel cannot know that nobody reads it */
    double value[PDNN_ROOF_REPETITIONS];
    size_t n_values;
};

/* Functions for `run`. */
int pdnn_roof_run_fma(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_peak(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_stream(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_single(struct pdnn_roof_job *job, uint64_t units, double *work);
int pdnn_roof_run_probe(struct pdnn_roof_job *job, uint64_t units, double *work);

/* Times one repetition. PDNN_INTERNAL when it fails. */
enum pdnn_status pdnn_roof_time(struct pdnn_roof_job *job, double *ns, double *work, struct pdnn_err *err);

/* Warms up and, unless it is already known, finds how many units make a repetition. */
enum pdnn_status pdnn_roof_calibrate(struct pdnn_roof_job *job, struct pdnn_err *err);

/* Takes one more value. */
enum pdnn_status pdnn_roof_repeat(struct pdnn_roof_job *job, struct pdnn_err *err);

/* Fills the row from the sorted values. Disturbances nearly always make a repetition slower, so the best ones
 * say most about the machine; its value is the second best, which more than one moment has reached. */
void pdnn_roof_summarize(struct pdnn_roof_job *job);

#endif
