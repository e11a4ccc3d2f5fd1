/* The scripts of batch jobs, as text: a worker for each scheduler, and the merge. The templates are in
 * session/batch/jobs. Nothing here runs or writes anything. */
#ifndef SESSION_BATCH_JOB_SCRIPT_H
#define SESSION_BATCH_JOB_SCRIPT_H

#include "base/str.h"

#include <stddef.h>
#include <stdint.h>

struct pdnn_job {
    const char *name;      /* of the jobs */
    const char *directory; /* the sweep's, absolute */
    const char *program;   /* the command that runs paradnn on a node, as a shell reads it */
    const char *options;   /* for each worker's sweep, each after a space, as a shell reads them; or "" */
    size_t workers;
    size_t nodes; /* of each worker */
    uint64_t grace_ns;
    uint64_t limit_ns;         /* of a job; 0: the scheduler's */
    uint64_t warning_ns;       /* how long before its end Slurm warns a job */
    const char *const *passed; /* options of the user's for sbatch, or the hosts for `none` */
    size_t n_passed;
};

enum pdnn_scheduler { PDNN_SCHEDULER_SLURM, PDNN_SCHEDULER_NONE, PDNN_SCHEDULER_COUNT };

/* Their names in this order, NULL-terminated. */
extern const char *const pdnn_schedulers[];

/* Append the script of the workers, directives included, and that of the merge. */
void pdnn_job_worker_script(const struct pdnn_job *job, enum pdnn_scheduler scheduler, struct pdnn_str *out);
void pdnn_job_merge_script(const struct pdnn_job *job, struct pdnn_str *out);

/* Appends the command that runs the workers without a scheduler, on the hosts that the user passed, and then
 * the merge. */
void pdnn_job_command(const struct pdnn_job *job, struct pdnn_str *out);

/* What the build makes of session/batch/jobs. */
extern const char pdnn_job_text_slurm[], pdnn_job_text_none[], pdnn_job_text_merge[];

#endif
