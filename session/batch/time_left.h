/* How long this process may still run, as the batch system that started it says. */
#ifndef SESSION_BATCH_TIME_LEFT_H
#define SESSION_BATCH_TIME_LEFT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_time_left {
    bool known;
    uint64_t ns;
    const char *source; /* if known: "SLURM_JOB_END_TIME", "squeue" */
};

/* Reads SLURM_JOB_END_TIME, which newer versions of Slurm set. In a job of an older one, asks squeue once and
 * waits for it for ten seconds. Not known outside of a job and in one without a limit. PDNN_IO if squeue does
 * not say it. */
enum pdnn_status pdnn_time_left(struct pdnn_time_left *left, struct pdnn_err *err);

/* Parses what `squeue -o %L` prints: [DAYS-][[HOURS:]MINUTES:]SECONDS, or a word where there is no limit.
 * False if it is neither. */
bool pdnn_time_left_parse(const char *text, struct pdnn_time_left *left);

#endif
