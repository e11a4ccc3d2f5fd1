/* Batch jobs for a sweep: the directory that its workers join, the scripts in it, and with Slurm the jobs
 * themselves. */
#ifndef SESSION_BATCH_SUBMIT_H
#define SESSION_BATCH_SUBMIT_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
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

/* A request that pdnn_submit_check accepts. All pointers are borrowed. */
struct pdnn_submit_request {
    struct pdnn_job job;
    enum pdnn_scheduler scheduler;
    const char *spec_text; /* what spec.yaml gets (gen/spec.h) */
    bool dry;              /* nothing is written or submitted, only said */
};

enum { PDNN_SUBMIT_JOBS = 65 }; /* arrays, and the merge */

struct pdnn_submitted {
    char id[24];
    char cluster[64]; /* "" unless sbatch names one */
    size_t tasks;     /* of an array; 0: the merge */
};

struct pdnn_submission {
    struct pdnn_submitted jobs[PDNN_SUBMIT_JOBS]; /* what Slurm has accepted, also after a failure */
    size_t n_jobs;
    struct pdnn_str text; /* what remains for the user to run, or in a dry run all scripts and commands */
};

/* PDNN_INVALID if what the user passes on is submit's to decide, not as many hosts as workers, or workers of
 * several nodes for a scheduler that cannot have them. */
enum pdnn_status pdnn_submit_check(const struct pdnn_submit_request *request, struct pdnn_err *err);

/* Creates the directory unless it is there with the same spec, writes jobs/worker.sh and jobs/merge.sh, and
 * with Slurm submits them: arrays no longer than the site allows, and a merge that starts when all of their
 * tasks have ended, whatever their end. Each accepted job is recorded in jobs/jobs.csv at once. The text is
 * for the caller to finish, also after a failure. PDNN_INVALID: the directory is another
 * sweep's, or Slurm refused. */
enum pdnn_status pdnn_submit(const struct pdnn_submit_request *request, struct pdnn_submission *submission,
                             struct pdnn_err *err);

/* What the build makes of session/batch/jobs. */
extern const char pdnn_job_text_slurm[], pdnn_job_text_none[], pdnn_job_text_merge[];

#endif
