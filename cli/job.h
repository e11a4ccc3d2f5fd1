/* What commands begin with. Those that measure: a session as the arguments say, and for those that write one,
 * the result directory with what it is opened with; those that look at results: a selection of them. An
 * option that a command has no row for is not given. */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include "cli/args/options.h"
#include "cli/print/progress.h"
#include "results/compare/compared.h"
#include "results/query/gaps.h"
#include "results/query/shares.h"
#include "results/whatif/distribution.h"
#include "results/whatif/hardware.h"
#include "session/directory.h"

struct pdnn_cli_job {
    const struct pdnn_arguments *arguments;
    struct pdnn_progress bar;
    struct pdnn_session_hooks hooks;
    struct pdnn_session session;
    struct pdnn_sweep_request request; /* the rest of it is the command's */
    struct pdnn_sweep_directory directory;
    const char **sets; /* what overrides the spec: --set, and what was added */
    size_t n_sets;
    const char **set_by; /* the options that the last of these stand for: "--vary batch=1,16" */
    size_t n_set_by;
    struct pdnn_arena arena;
    struct pdnn_str path;
};

/* Says what becomes of the variables that the libraries read which are about to run: those of the backends of
 * the session's open instances; of all where roofs are measured, or for NULL. */
void pdnn_cli_tell(const struct pdnn_session *session, bool has_roofs);

/* Reads --set, --library, --no-cache, --quiet, --ceilings, --allow-slow and --retry. Always release *job,
 * which must stay where it is, with pdnn_cli_job_finish. */
void pdnn_cli_job_begin(struct pdnn_cli_job *job, const struct pdnn_arguments *arguments);
/* After work in a directory, sets whether some of its instances failed. */
void pdnn_cli_job_finish(struct pdnn_cli_job *job);

/* If the option is given, sets a key of the spec as --set does, after those of the user, to this value or,
 * where it is NULL, the option's. What is wrong with it is told of the option. */
void pdnn_cli_job_set(struct pdnn_cli_job *job, const char *option, const char *key, const char *value);

/* The same before those of the user, who may override it: "limits.time=10m", which is borrowed. */
void pdnn_cli_job_default(struct pdnn_cli_job *job, const char *set);

/* Opens the session on the operands, or the shard of them that --shard and --shard-base say, and reads the
 * roofs of --ceilings. */
enum pdnn_status pdnn_cli_job_open(struct pdnn_cli_job *job, struct pdnn_err *err);

/* What follows where the session was opened otherwise: loads the libraries and reads those roofs or, if that
 * failed, says of which option. */
enum pdnn_status pdnn_cli_job_opened(struct pdnn_cli_job *job, enum pdnn_status status, struct pdnn_err *err);

/* Warns of what those roofs lack, or measures roofs where there are none. */
enum pdnn_status pdnn_cli_job_roofs(struct pdnn_cli_job *job, struct pdnn_err *err);

/* A launcher (mpirun, srun) may have started this process together with others. All of them work, but what
 * one starts on all nodes, instances with ranks, is left to the first of them: *is_left is true for all
 * others if the session has such instances, and that is said on stderr. A shard is a sweep of its own, whose
 * ranks nobody else starts. PDNN_INVALID for the first one if the others are on hosts that it cannot learn.
 */
enum pdnn_status pdnn_cli_job_leave(const struct pdnn_session *session, bool *is_left, struct pdnn_err *err);

/* Names the directory, announces the sweep to others (is_joined: pdnn_session_announce), and finds the facts
 * of environment.yaml. */
enum pdnn_status pdnn_cli_job_direct(struct pdnn_cli_job *job, const char *suffix, bool is_joined,
                                     struct pdnn_err *err);

/* The same of one that is not joined, and opens the directory. */
enum pdnn_status pdnn_cli_job_directory(struct pdnn_cli_job *job, const char *suffix, struct pdnn_err *err);

/* Says on stderr what is open, if that is more than a tenth, and what it confounds (results/query/gaps.h). */
void pdnn_cli_tell_gaps(const struct pdnn_gaps *gaps, const struct pdnn_selection *selection);

/* The same of the pairs of each comparison, behind "C: " where there are several. */
void pdnn_cli_tell_pair_gaps(const struct pdnn_comparisons *comparisons);

/* Opens the first n result directories of the operands, says what is open, with the rows that --only selects,
 * and ops.csv of each unless readers is NULL. Both are {0} at first and the caller's to close, also after a
 * failure. */
enum pdnn_status pdnn_cli_select(const struct pdnn_arguments *arguments, size_t n,
                                 struct pdnn_selection *selection, struct pdnn_ops_reader **readers,
                                 struct pdnn_err *err);

/* What PDNN_OPTIONS_DISTRIBUTION say. */
struct pdnn_distribution_request pdnn_cli_distribution(const struct pdnn_arguments *arguments);

/* What PDNN_OPTIONS_HARDWARE say. */
struct pdnn_hardware_request pdnn_cli_hardware(const struct pdnn_arguments *arguments);

/* Appends --output, or the spec's name, the shard and the suffix. PDNN_INVALID: there is no name. */
enum pdnn_status pdnn_cli_name_directory(const struct pdnn_arguments *arguments, const char *spec_name,
                                         const struct pdnn_shard *shard, const char *suffix,
                                         struct pdnn_str *name, struct pdnn_err *err);

#endif
