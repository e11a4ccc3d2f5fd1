/* A short question to a program of the system, such as a scheduler's client: found in PATH, run to its end,
 * and what it printed. */
#ifndef SESSION_BATCH_SCHEDULER_CLIENT_H
#define SESSION_BATCH_SCHEDULER_CLIENT_H

#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

struct pdnn_answer {
    struct pdnn_str out, errors; /* what it printed; the first 64 KiB of each */
    int exit_status;             /* its own, or 128 plus the signal that ended it */
};

/* Runs the command, NULL-terminated, without input. PDNN_IO, with a message that names the program, if it
 * cannot be started or has not ended within patience_ns; it is killed then. Release *answer with
 * pdnn_answer_finish, also after a failure. */
enum pdnn_status pdnn_scheduler_ask(const char *const *command, uint64_t patience_ns,
                                    struct pdnn_answer *answer, struct pdnn_err *err);
void pdnn_answer_finish(struct pdnn_answer *answer);

/* How long this process may still run, as the batch system that started it says. */
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
