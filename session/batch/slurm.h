/* What is asked of Slurm, and what it answers: sbatch's job ids, and the longest array it takes. */
#ifndef SESSION_BATCH_SLURM_H
#define SESSION_BATCH_SLURM_H

#include "base/err.h"

#include <stddef.h>

enum { PDNN_SLURM_ID_TEXT = 24, PDNN_SLURM_CLUSTER_TEXT = 64 };

struct pdnn_slurm_job {
    char id[PDNN_SLURM_ID_TEXT];
    char cluster[PDNN_SLURM_CLUSTER_TEXT]; /* "" unless sbatch names one */
};

/* Sets *tasks to the most that one array may have, as scontrol says. PDNN_IO if it does not say;
 * PDNN_INVALID if it takes no arrays. */
enum pdnn_status pdnn_slurm_array_limit(size_t *tasks, struct pdnn_err *err);

/* Runs the sbatch command, which has --parsable. PDNN_INVALID with sbatch's own words if it refuses; PDNN_IO
 * if it cannot be run, or its answer is no job id. */
enum pdnn_status pdnn_slurm_submit(const char *const *command, struct pdnn_slurm_job *job,
                                   struct pdnn_err *err);

#endif
