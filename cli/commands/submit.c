#define _POSIX_C_SOURCE 200809L
#include "base/paths/program.h"
#include "base/units.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "gen/spec.h"
#include "gen/expansion/walk.h"
#include "runtime/host/host.h"
#include "results/table/escape.h"
#include "session/join/shard.h"
#include "session/batch/submit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char description[] =
    "Starts a sweep on N nodes of a cluster: writes a job script for N workers, each of which joins DIR (sweep "
    "--join), and a second job that merges what they measured when all of them have ended, whatever their end. DIR "
    "must be in a file system that all nodes share. It gets the spec, and in jobs/ the scripts, the logs, and "
    "jobs.csv with the jobs' ids.\n\n"
    "With Slurm, both are submitted, the workers as a job array or, above the site's MaxArraySize, as several. A "
    "worker has a node of its own, or several for instances with ranks (--nodes). Slurm starts it again if the node "
    "fails, and it asks for that itself if its time runs out before the sweep is complete. What comes after -- is "
    "passed on to sbatch, for both jobs: a partition, an account, what a site asks for.\n\n"
    "With --scheduler none, it prints the command that starts the workers on the hosts after --, through ssh, or, for "
    "one worker, on this machine. On other schedulers, use sweep --shard auto/N in a job array. More workers can be "
    "submitted for the same DIR at any time, and after a failure the same command goes on with what is missing.";

static const struct pdnn_option_def options[] = {
    {"workers", 'n', "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = PDNN_SHARDS_MAX,
     .help = "the number of workers, each on nodes of its own (required)"},
    {"nodes", 0, "N", .kind = PDNN_OPTION_WHOLE, .least = 1, .most = PDNN_SHARDS_MAX,
     .help =
         "with Slurm: the nodes of each worker, over which mpirun spreads the ranks of an instance (default: 1)"},
    {"output", 'o', "DIR",
     .help =
         "the directory that the workers join (default: NAME.results in the current directory, with the spec's "
         "name; required for an ID)"},
    PDNN_OPTION_SET,
    {"scheduler", 0, "KIND", .choices = pdnn_schedulers,
     .help = "slurm (the default), or none for ssh or this machine"},
    {"time", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help =
         "the time limit of each worker's job, such as 4h (default: the scheduler's); outside of Slurm, which is "
         "asked, the workers know theirs only from this"},
    {"grace", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help = "how long a worker's current visit may go on after a signal (default: 30s)"},
    {"lease-expiry", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help = "when a worker that gives no sign of life is taken to be dead (default: 2m)"},
    {"program", 0, "COMMAND",
     .help =
         "the command that runs paradnn on a node, as a shell reads it, for example in a container (default: the "
         "path of this program)"},
    PDNN_OPTION_SLOW,
    PDNN_OPTION_NO_CACHE,
    {"dry-run", .help = "print the scripts and the commands, and write and submit nothing"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn submit sweeps/paper-fc.yaml --workers 16 --time 4h -- --partition=cpu",
     "sixteen nodes, four hours at a time; the tables are in paper-fc.results when they have ended"},
    {"paradnn submit sweeps/fc.yaml --workers 2 --scheduler none -- node1 node2",
     "two hosts without a scheduler: prints the command that starts the workers there"},
};

static const uint64_t second_ns = UINT64_C(1000000000);

/* What a job is made of. */
enum { NAME, DIRECTORY, PROGRAM, OPTIONS, TEXTS };

/* Nodes that no instance has a rank for would be idle. */
static enum pdnn_status check_nodes(const struct pdnn_spec *spec, size_t nodes, struct pdnn_err *err) {
    struct pdnn_walk walk = {0};
    struct pdnn_expanded item;
    int64_t ranks = 1;
    enum pdnn_status status = PDNN_OK;
    pdnn_walk_start(&walk, spec, 1, false);
    while (nodes > 1 && pdnn_walk_next(&walk, &item, &status, err))
        if (item.instance.setting[PDNN_SETTING_RANKS] > ranks)
            ranks = item.instance.setting[PDNN_SETTING_RANKS];
    pdnn_walk_finish(&walk);
    if (status == PDNN_OK && nodes > (size_t)ranks)
        status =
            pdnn_fail(err, PDNN_INVALID, "--nodes is %zu, but no instance has more than %" PRId64 " rank%s",
                      nodes, ranks, ranks == 1 ? "" : "s");
    return status;
}

/* From the root: a job starts elsewhere. */
static enum pdnn_status name_directory(const struct pdnn_arguments *arguments, const char *spec_name,
                                       struct pdnn_str *path, struct pdnn_err *err) {
    static const struct pdnn_shard whole = {0};
    const char *given = pdnn_argument(arguments, "output");
    char here[PATH_MAX];
    if (!given || *given != '/') {
        if (!getcwd(here, sizeof here))
            return pdnn_fail(err, PDNN_IO, "the current directory has no path: %s", strerror(errno));
        pdnn_str_printf(path, "%s/", strcmp(here, "/") == 0 ? "" : here);
    }
    return pdnn_cli_name_directory(arguments, spec_name, &whole, ".results", path, err);
}

/* The user's command, or this program's path. */
static enum pdnn_status name_program(const struct pdnn_arguments *arguments, struct pdnn_str *program,
                                     struct pdnn_err *err) {
    const char *given = pdnn_argument(arguments, "program");
    char path[PDNN_PROGRAM_TEXT];
    if (given && strpbrk(given, "\r\n"))
        return pdnn_fail(err, PDNN_INVALID, "--program is more than one line");
    if (given) {
        pdnn_str_printf(program, "%s", given);
        return PDNN_OK;
    }
    if (!pdnn_program_path(path))
        return pdnn_fail(err, PDNN_IO, "the path of this program is not known, give --program");
    pdnn_shell_quote(program, path);
    return PDNN_OK;
}

/* Slurm says how much time a job has left; elsewhere the workers are told. The reserve is for what a
 * scheduler does before the script starts. */
static void put_options(const struct pdnn_arguments *arguments, const struct pdnn_submit_request *request,
                        struct pdnn_str *out) {
    const uint64_t limit_ns = request->job.limit_ns, reserve_ns = 30 * second_ns,
                   expiry_ns = pdnn_argument_time(arguments, "lease-expiry", 0);
    pdnn_str_printf(out, "%s%s", pdnn_argument(arguments, "allow-slow") ? " --allow-slow" : "",
                    pdnn_argument(arguments, "no-cache") ? " --no-cache" : "");
    if (expiry_ns)
        pdnn_str_printf(out, " --lease-expiry %" PRIu64 "ms", expiry_ns / 1000000);
    if (limit_ns && request->scheduler != PDNN_SCHEDULER_SLURM)
        pdnn_str_printf(out, " --time-left %" PRIu64 "s",
                        (limit_ns > 2 * reserve_ns ? limit_ns - reserve_ns : limit_ns / 2) / second_ns);
}

/* Says how long it will take, by the same predictions as everywhere, and limits the workers to the instances.
 */
static enum pdnn_status predict(const struct pdnn_spec *spec, struct pdnn_job *job, struct pdnn_err *err) {
    struct pdnn_host host;
    struct pdnn_shard_deal deal;
    char alone[PDNN_DURATION_TEXT], together[PDNN_DURATION_TEXT];
    struct pdnn_shard shard = {0, (uint32_t)job->workers};
    if (pdnn_host_read(&host, err) != PDNN_OK ||
        pdnn_shard_deal(&shard, spec, host.threads_all, &deal, err) != PDNN_OK)
        return err->status;
    if (deal.count && deal.count < job->workers) {
        fprintf(stderr, "paradnn: --workers is %zu, but %zu are enough for as many instances\n", job->workers,
                deal.count);
        job->workers = deal.count;
    }
    fprintf(stderr, "instances: %zu, workers: %zu, predicted time: %s in all, %s each\n", deal.count,
            job->workers, pdnn_duration_format(alone, deal.seconds_all),
            pdnn_duration_format(together, deal.seconds));
    free(deal.mine);
    return PDNN_OK;
}

/* What runs is said although a later job was refused. */
static enum pdnn_status submit(const struct pdnn_submit_request *request, struct pdnn_err *err) {
    struct pdnn_submission submission;
    struct pdnn_str text = {0}, next = {0};
    enum pdnn_status status = pdnn_submit(request, &submission, err);
    for (size_t i = 0; i < submission.n_jobs && !request->dry; i++) {
        const struct pdnn_submitted *made = &submission.jobs[i];
        pdnn_str_printf(&text, "%s%s%s: ", made->id, *made->cluster ? " on " : "", made->cluster);
        if (made->tasks)
            pdnn_str_printf(&text, "%zu worker%s\n", made->tasks, made->tasks == 1 ? "" : "s");
        else
            pdnn_str_printf(&text, "merge, when all of them have ended\n");
    }
    if (status == PDNN_OK)
        pdnn_str_printf(&text, "%s", pdnn_str_text(&submission.text));
    pdnn_text_print(&text, true);
    if (status == PDNN_OK && !request->dry)
        pdnn_next_append(&next, "status *\n", request->job.directory);
    fputs(pdnn_str_text(&next), stderr);
    pdnn_str_finish(&next);
    pdnn_str_finish(&submission.text);
    return status;
}

static enum pdnn_status prepare(const struct pdnn_arguments *arguments, struct pdnn_submit_request *request,
                                struct pdnn_spec *spec, struct pdnn_str text[TEXTS], struct pdnn_err *err) {
    struct pdnn_job *job = &request->job;
    size_t n_sets;
    const char *const *sets = pdnn_argument_all(arguments, "set", &n_sets);
    if (!job->workers)
        return pdnn_fail(err, PDNN_INVALID, "submit: --workers is missing");
    if (name_program(arguments, &text[PROGRAM], err) != PDNN_OK ||
        pdnn_spec_load(arguments->operands, arguments->n_operands, sets, n_sets, spec, err) != PDNN_OK)
        return err->status;
    pdnn_tell_spec(spec);
    put_options(arguments, request, &text[OPTIONS]);
    if (name_directory(arguments, spec->name, &text[DIRECTORY], err) != PDNN_OK ||
        pdnn_submit_check(request, err) != PDNN_OK || check_nodes(spec, job->nodes, err) != PDNN_OK ||
        predict(spec, job, err) != PDNN_OK)
        return err->status;
    pdnn_str_printf(&text[NAME], "paradnn%s%s", spec->name ? "-" : "", spec->name ? spec->name : "");
    /* Late enough to lose little, and so early that the signal comes before a worker stops of its own because
     * no visit fits: a visit takes limits.time at most. */
    job->warning_ns =
        60 * second_ns + (job->grace_ns > spec->limits.time_ns ? job->grace_ns : spec->limits.time_ns);
    if (job->limit_ns && job->warning_ns > job->limit_ns / 4)
        job->warning_ns = job->limit_ns / 4;
    job->name = pdnn_str_text(&text[NAME]);
    job->directory = pdnn_str_text(&text[DIRECTORY]);
    job->program = pdnn_str_text(&text[PROGRAM]);
    job->options = pdnn_str_text(&text[OPTIONS]);
    request->spec_text = spec->text;
    return PDNN_OK;
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_submit_request request = {
        .scheduler = (enum pdnn_scheduler)pdnn_argument_choice(arguments, "scheduler", PDNN_SCHEDULER_SLURM),
        .dry = pdnn_argument(arguments, "dry-run"),
        .job = {.workers = (size_t)pdnn_argument_whole(arguments, "workers", 0),
                .nodes = (size_t)pdnn_argument_whole(arguments, "nodes", 1),
                .passed = arguments->rest,
                .n_passed = arguments->n_rest,
                .limit_ns = pdnn_argument_time(arguments, "time", 0),
                .grace_ns = pdnn_argument_time(arguments, "grace", 30 * second_ns)}};
    struct pdnn_spec spec = {0};
    struct pdnn_str text[TEXTS] = {{0}};
    enum pdnn_status status = prepare(arguments, &request, &spec, text, err);
    if (status == PDNN_OK)
        status = submit(&request, err);
    pdnn_spec_finish(&spec);
    for (size_t i = 0; i < TEXTS; i++)
        pdnn_str_finish(&text[i]);
    return status;
}

PDNN_COMMAND(submit, PDNN_COMMANDS_FILES, "SPEC...", "Runs a sweep on the nodes of a cluster, as batch jobs.",
             .run = run, .rest = "SBATCH_OPTION|HOST...");
