#include "base/clock.h"
#include "base/units.h"
#include "base/visible.h"
#include "cli/job.h"
#include "runtime/protocol/visit.h"
#include "session/batch/scheduler_client.h"
#include "cli/print/output.h"
#include "cli/print/progress.h"
#include "cli/print/result_rows.h"
#include "session/join/join.h"
#include "session/predict.h"
#include "session/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char description[] =
    "Runs every instance of the specs and writes a result directory: results.csv with one row per instance, whatever "
    "happened to it; ops.csv with one row per instance and operator; and the journal, the measured roofs and the "
    "facts about the machine that the tables are made from.\n\n"
    "Each instance is visited several times, spread over the whole sweep, so that drift of the machine widens the "
    "intervals instead of favoring whatever ran first. A visit that crashes, hangs or runs out of memory sets the "
    "status of its row; the sweep goes on.\n\n"
    "Run again with the same directory, it resumes: visits already recorded are kept, and only missing ones run. Rows "
    "measured with --allow-slow are never visited without it, so that no row mixes the two.\n\n"
    "With --join, each process claims instances in DIR/leases, ten minutes of predicted work at a time at most, the "
    "longest first (with a budget or an end, in the order below), makes all visits to them, and writes a journal in a directory of its own in DIR/parts. Processes "
    "may come and go at any time. On one host, each takes cores that other sweeps have not, where threads leaves any. What a process leaves unfinished when it ends, others claim at once. What a dead one "
    "held is taken over by a process without work of its own: at once on the same host, elsewhere after "
    "--lease-expiry. One that finds nothing to claim ends with status 0.\n\n"
    "SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGXCPU end the sweep: the current visit is finished or dropped, "
    "and, without --join, the tables are written. More of them change nothing, except a second SIGINT, which drops the visit. "
    "limits.budget, counted from the start of the command, and a batch job's time end it in the same way. If they do "
    "not suffice for all instances, it begins those whose visits all seem to fit, spread over the spec or, with "
    "limits.reach=smallest, the shortest first; the others have the status interrupted, and the next run goes on with "
    "them.";

static const struct pdnn_option_def options[] = {
    {"output", 'o', "DIR",
     .help = "the result directory (default: NAME.results in the current directory, with the spec's name, or "
             "NAME.I-of-N.results for a shard; required for an ID)"},
    PDNN_OPTIONS_SHARD,
    PDNN_OPTIONS_MEASURE,
    PDNN_OPTION_LIBRARY,
    {"retry", .help = "visit instances again that failed in an earlier run"},
    {"join", .needs = "output", .excludes = "shard,retry",
     .help =
         "work on DIR together with any number of other processes, here or on other hosts, that run the same "
         "command; paradnn merge makes the tables"},
    {"lease-expiry", 0, "TIME", .kind = PDNN_OPTION_TIME, .needs = "join",
     .help =
         "with --join: after how long without a sign of life a process on another host counts as dead; the same for "
         "all that join (default: 2m)"},
    {"dry-run",
     .help =
         "say how many instances a sweep from the start would run, how long that takes on this machine, and what a "
         "budget reaches; read no earlier results, run and write nothing, but measure the roofs for two seconds if "
         "none are kept"},
    {"grace", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help =
         "how long the current visit may go on after a signal, such as 30s; a visit that would take longer is "
         "dropped at once (default: 1s)"},
    {"time-left", 0, "TIME", .kind = PDNN_OPTION_TIME,
     .help =
         "end within this time and start no visit that would not (default: what Slurm says in a job of it)"},
    {"quiet", 'q', .help = "print nothing but warnings and errors: no progress, no findings at the end"},
};

static const struct pdnn_help_row examples[] = {
    {"paradnn sweep sweeps/fc.yaml", "the main job: the tables are in fc.results afterwards"},
    {"paradnn sweep sweeps/paper-fc.yaml --set limits.budget=5m --dry-run",
     "how long it takes, and what five minutes reach"},
    {"paradnn sweep sweeps/fc.yaml --set run.threads=1 -o fc1.results", "the same on one thread"},
    {"paradnn sweep sweeps/paper-fc.yaml --shard auto/16",
     "in each of 16 tasks of a job array: a sixteenth of the sweep, in a directory of its own"},
    {"paradnn sweep sweeps/paper-fc.yaml -o fc --join",
     "in as many processes as there are nodes: all of them work on fc, a directory they share"},
};

/* If the machine was busy while the roofs or the sweep were measured, every placement
 * on the roofline is doubtful. */
static void warn_speed(double index) {
    static const double most = 1.5, least = 0.67;
    if (isnan(index) || (index >= least && index <= most))
        return;
    fprintf(
        stderr,
        "paradnn: the machine was %.0f %% %s while the roofs were measured than during the sweep; measure "
        "them on a quiet machine (paradnn ceilings -o FILE) and give them (--ceilings FILE)\n",
        index > 1 ? (1 - 1 / index) * 100 : (1 / index - 1) * 100, index > 1 ? "slower" : "faster");
}

/* Where the wall time went; a sweep is for the part in timed steps. */
static void append_wall(struct pdnn_str *out, const struct pdnn_session *session,
                        const struct pdnn_sweep_result *result, uint64_t roofs_ns) {
    const struct pdnn_visit_spent *spent = &result->spent;
    double wall = (double)(pdnn_clock_ns() - session->started_ns);
    double timed = (double)(spent->samples_ns + spent->stamped_ns);
    const struct {
        const char *name;
        uint64_t ns;
    } parts[] = {{"samples", spent->samples_ns},
                 {"stamped steps", spent->stamped_ns},
                 {"warm-up", spent->warmup_ns},
                 {"probes", spent->probe_ns},
                 {"choosing", spent->choose_ns},
                 {"other preparation", spent->prepare_ns - spent->choose_ns},
                 {"roofs", roofs_ns}};
    pdnn_str_printf(out, "%.1f s, %.0f %% in timed steps:", wall * 1e-9, 100 * timed / wall);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pdnn_str_printf(out, " %s %.1f s,", parts[i].name, (double)parts[i].ns * 1e-9);
        wall -= (double)parts[i].ns;
    }
    pdnn_str_printf(out, " other %.1f s\n", wall * 1e-9);
    pdnn_str_printf(out, "%zu visits, %.2f ms of the driver's own time each", result->visits,
                    (double)result->overhead_ns / (double)result->visits * 1e-6);
    if (result->workers_lost)
        pdnn_str_printf(out, ", %zu workers lost", result->workers_lost);
    pdnn_str_printf(out, "; choices: %" PRIu64 " measured, %" PRIu64 " from earlier processes\n",
                    spent->measured, spent->recalled);
}

/* "slowest: 1.2 GFLOP/s, 4 % of its roof (memory L3): nodes=128,batch=1". */
static void append_row(struct pdnn_str *out, const char *name, const struct pdnn_session *session,
                       const struct pdnn_extreme_row *row) {
    char label[PDNN_ID_TEXT];
    struct pdnn_instance instance;
    const bool is_known = pdnn_instance_parse(row->id, &instance, NULL) == PDNN_OK;
    const struct pdnn_placement *place = &row->place;
    char rate[PDNN_UNIT_TEXT];
    pdnn_str_printf(out, "%s: %s", name, pdnn_format_si(rate, place->gflops * 1e9, "FLOP/s"));
    if (place->pct_of_roof > PDNN_ABOVE_ROOF_PCT)
        pdnn_str_printf(out, ", above its roof");
    else if (!isnan(place->pct_of_roof))
        pdnn_str_printf(out, ", %.0f %% of its roof (%s%s%s)", place->pct_of_roof,
                        pdnn_bound_name(place->bound), place->bound & PDNN_BOUND_MEMORY ? " " : "",
                        place->bound & PDNN_BOUND_MEMORY ? place->roof_level : "");
    pdnn_str_printf(out, ": %s\n",
                    is_known ? pdnn_varying_label(&session->varying, &instance, label) : row->id);
}

static void append_bounds(struct pdnn_str *out, const struct pdnn_summary *summary) {
    const char *separator = "bound by ";
    for (int bound = PDNN_BOUND_UNKNOWN + 1; bound < PDNN_BOUND_COUNT; bound++) {
        if (!summary->bound[bound])
            continue;
        pdnn_str_printf(out, "%s%s: %zu", separator, pdnn_bound_name((enum pdnn_bound)bound),
                        summary->bound[bound]);
        separator = ", ";
    }
    pdnn_str_printf(out, "%snoisy: %zu of %zu", *separator == ',' ? "; " : "", summary->n_noisy,
                    summary->n_ok);
    separator = " (";
    for (size_t bit = 0; bit < PDNN_FLAG_COUNT; bit++) {
        char flag[PDNN_FLAGS_TEXT];
        if (!summary->noisy_flag[bit])
            continue;
        pdnn_str_printf(out, "%s%zu of them %s", separator, summary->noisy_flag[bit],
                        pdnn_flags_format(1u << bit, flag));
        separator = ", ";
    }
    pdnn_str_printf(out, "%s\n", *separator == ',' ? ")" : "");
}

static void append_findings(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep) {
    const struct pdnn_summary *summary = &sweep->sums.summary;
    const char *const names[PDNN_EXTREME_COUNT] = {
        [PDNN_EXTREME_FASTEST] = summary->n_ok > 1 ? "fastest" : "rate",
        [PDNN_EXTREME_SLOWEST] = "slowest",
        [PDNN_EXTREME_FARTHEST] = "farthest from its roof",
    };
    if (!summary->n_ok)
        return;
    if (summary->n_unusable)
        pdnn_str_printf(out, "unusable: %zu of %zu%s", summary->n_unusable, summary->n_ok,
                        summary->n_busy ? "" : "\n");
    if (summary->n_busy)
        pdnn_str_printf(out, "; the machine was busy in %zu of these\n", summary->n_busy);
    for (int i = 0; i < PDNN_EXTREME_COUNT; i++) {
        bool is_new = summary->row[i].found;
        for (int before = 0; before < i && is_new; before++)
            is_new = strcmp(summary->row[i].id, summary->row[before].id) != 0;
        if (is_new)
            append_row(out, names[i], sweep->session, &summary->row[i]);
    }
    append_bounds(out, summary);
}

/* More visits where noise is what stands out, else a look at the row farthest from its roof; and the picture
 * of all. */
static void append_next(struct pdnn_str *out, const struct pdnn_sweep_directory *sweep,
                        const struct pdnn_sweep_result *result) {
    const struct pdnn_summary *summary = &sweep->sums.summary;
    const struct pdnn_extreme_row *farthest = &summary->row[PDNN_EXTREME_FARTHEST];
    const char *path = sweep->request.path;
    char shard[PDNN_SHARD_TEXT];
    if (result->unfinished)
        pdnn_str_printf(out, "resume: run the same command again\n");
    else if (summary->n_noisy * 2 > summary->n_ok) {
        pdnn_next_append(out, "sweep */spec.yaml --set measure.rounds=", path);
        pdnn_str_printf(out, "%" PRId64, sweep->session->spec.measure.rounds * 2);
        if (*pdnn_shard_format(&sweep->session->shard, shard))
            pdnn_str_printf(out, " --shard %s", shard);
        pdnn_str_printf(out, " -o ");
        pdnn_word_append(out, path);
        pdnn_str_append(out, "\n", 1);
    } else if (farthest->found) {
        pdnn_next_append(out, "breakdown * --only id=", path);
        pdnn_word_append(out, farthest->id);
        pdnn_str_append(out, "\n", 1);
    }
    if (summary->n_ok)
        pdnn_next_append(out, "plot roofline *\n", path);
}

/* Prints the text, unless --quiet is given, and finishes it. */
/* On a terminal: the first rows of the table that was written. */
static void append_first_rows(struct pdnn_str *out, const char *path) {
    enum { SHOWN = 8 };
    struct pdnn_selection selection;
    struct pdnn_row_list rows = {0};
    if (!pdnn_terminal_width(STDOUT_FILENO) ||
        pdnn_selection_read(&selection, &path, 1, NULL, 0, &(struct pdnn_err){0}) != PDNN_OK)
        return;
    const size_t count = selection.count + selection.left_out;
    for (size_t i = 0; i < count && i < SHOWN; i++)
        pdnn_rows_add(&rows, i);
    pdnn_str_append(out, "\n", 1);
    pdnn_result_rows_append(out, &selection, &rows);
    if (count > SHOWN)
        pdnn_str_printf(out, "and %zu more rows\n", count - SHOWN);
    pdnn_str_append(out, "\n", 1);
    pdnn_rows_finish(&rows);
    pdnn_selection_close(&selection);
}

static void say(const struct pdnn_cli_job *job, struct pdnn_str *text) {
    if (!job->bar.quiet)
        pdnn_console_say(pdnn_str_text(text));
    pdnn_str_finish(text);
}

/* Runs the sweep in its directory and says where the wall time went; the instances by status; the fastest,
 * the slowest and the one farthest from its roof; what bounds them, and how many are noisy and why; the
 * first rows; where the tables are; commands to run next. Of a sweep without tables only what it took. */
static enum pdnn_status sweep_alone(struct pdnn_cli_job *job, struct pdnn_err *err) {
    struct pdnn_sweep_directory *sweep = &job->directory;
    struct pdnn_sweep_result result = {0};
    struct pdnn_str text = {0};
    char shown[PDNN_VISIBLE_TEXT];
    if (pdnn_cli_job_directory(job, ".results", err) != PDNN_OK)
        return err->status;
    enum pdnn_status status = pdnn_sweep_directory_run(sweep, &result, err);
    const char *path = pdnn_visible(shown, sweep->request.path);
    if (result.visits)
        append_wall(&text, sweep->session, &result, sweep->roofs_ns);
    if (sweep->written) {
        pdnn_tally_append(&text, &sweep->sums.tally);
        pdnn_str_printf(&text, "%s%s\n", result.out_of_time ? "; " : "",
                        result.out_of_time ? pdnn_session_end_text(sweep->session) : "");
        append_findings(&text, sweep);
        if (!job->bar.quiet)
            append_first_rows(&text, sweep->request.path);
        pdnn_str_printf(&text, "tables: %s/results.csv, %s/ops.csv\n", path, path);
        append_next(&text, sweep, &result);
    }
    say(job, &text);
    if (sweep->written)
        warn_speed(sweep->sums.speed_index);
    return status;
}

static void append_here(struct pdnn_str *out, const struct pdnn_join_request *request,
                        const struct pdnn_join_result *result) {
    char shown[PDNN_VISIBLE_TEXT];
    pdnn_str_printf(out, "part: %s/parts/%s\n", pdnn_visible(shown, request->sweep.path), result->part);
    pdnn_str_printf(out, "here: %zu visits in %zu lease%s; finished ", result->sweep.visits, result->leases,
                    result->leases == 1 ? "" : "s");
    pdnn_outcomes_append(out, result->counts);
    if (result->lost)
        pdnn_str_printf(out, "; %zu lease%s taken over by others", result->lost,
                        result->lost == 1 ? "" : "s");
    if (result->sweep.out_of_time)
        pdnn_str_printf(out, "; %s", pdnn_session_end_text(request->sweep.session));
    pdnn_str_printf(out, "\n");
    if (result->sweep.visits)
        append_wall(out, request->sweep.session, &result->sweep, result->roofs_ns);
}

static void append_all(struct pdnn_str *out, const struct pdnn_join_request *request,
                       const struct pdnn_join_result *result) {
    pdnn_str_printf(out, "%s%zu of %zu instances are done",
                    *result->part ? "" : "nothing to do: ", result->done, result->instances);
    if (result->held)
        pdnn_str_printf(out, ", %zu are being measured by %zu other%s", result->held, result->n_holders,
                        result->n_holders == 1 ? "" : "s");
    if (result->free)
        pdnn_str_printf(out, ", %zu are left to claim", result->free);
    pdnn_str_printf(out, "\n");
    if (result->done != result->instances && result->free)
        pdnn_str_printf(out, "resume: run the same command again, anywhere\n");
    else
        pdnn_next_append(out, result->done == result->instances ? "merge * -o *\n" : "status *\n",
                         request->sweep.path);
}

/* The same together with others. */
static enum pdnn_status join_others(struct pdnn_cli_job *job, struct pdnn_err *err) {
    struct pdnn_join_request request = {.expiry_ns = pdnn_argument_time(job->arguments, "lease-expiry", 0)};
    struct pdnn_join_result result = {.part = ""};
    struct pdnn_str text = {0};
    if (pdnn_cli_job_direct(job, ".results", true, err) != PDNN_OK)
        return err->status;
    request.sweep = job->request;
    enum pdnn_status status = pdnn_join_run(&request, &result, err);
    if (*result.part)
        append_here(&text, &request, &result);
    if (status == PDNN_OK || status == PDNN_INTERRUPTED)
        append_all(&text, &request, &result);
    say(job, &text);
    /* A process that came too late to measure anything has not failed. */
    result.counts[PDNN_OUTCOME_OK]++;
    *job->arguments->some_failed = pdnn_session_has_failed(result.counts);
    return status;
}

/* And what keeps the first of each kind from running, but for what the user left out. Returns the number of
 * those to run. */
static size_t print_counts(const struct pdnn_session *session) {
    size_t counts[PDNN_OUTCOME_COUNT] = {0}, n_closed = 0;
    const char *reasons[PDNN_OUTCOME_COUNT] = {NULL};
    for (size_t i = session->n_tasks; i-- > 0;)
        if (session->tasks[i].closed) {
            n_closed++;
            counts[session->rows[i].outcome]++;
            reasons[session->rows[i].outcome] = session->rows[i].reason;
        }
    fprintf(stderr, "%zu instances: %zu to run", session->n_tasks, session->n_tasks - n_closed);
    for (int i = 0; i < PDNN_OUTCOME_COUNT; i++) {
        const bool is_told = counts[i] && i != PDNN_OUTCOME_FILTERED;
        if (counts[i])
            fprintf(stderr, ", %zu %s%s%s%s", counts[i], pdnn_outcome_name((enum pdnn_outcome)i),
                    is_told ? " (" : "", is_told ? reasons[i] : "", is_told ? ")" : "");
    }
    fputc('\n', stderr);
    return session->n_tasks - n_closed;
}

/* The budget, or the time left, counts from here: the time that this command took does not count. */
static void print_reach(struct pdnn_session *session, size_t n_open) {
    char duration[PDNN_DURATION_TEXT];
    uint64_t now_ns = pdnn_clock_ns();
    session->started_ns = now_ns;
    const struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    if (!rules.deadline_ns)
        return;
    uint64_t left_ns = rules.deadline_ns > now_ns ? rules.deadline_ns - now_ns : 0;
    size_t reached = pdnn_sweep_reach(session->tasks, session->n_tasks, &rules, left_ns);
    fprintf(stderr, "within %s: all visits to about %zu of the %zu instances, %s\n",
            pdnn_duration_format(duration, (double)left_ns * 1e-9), reached, n_open,
            reached == n_open                    ? "which is all of them"
            : rules.reach == PDNN_REACH_SMALLEST ? "the shortest first"
                                                 : "spread over the spec");
}

/* Prints on stderr, and writes no result directory. */
static enum pdnn_status dry_run(struct pdnn_cli_job *job, struct pdnn_err *err) {
    struct pdnn_session *session = &job->session;
    struct pdnn_estimate estimate = {.spec = &session->spec, .roof_rows = session->roof_rows};
    struct pdnn_str text = {0};
    const size_t n_open = print_counts(session);
    if (pdnn_cli_job_roofs(job, err) != PDNN_OK)
        return err->status;
    for (size_t i = 0; i < session->n_tasks; i++)
        if (!session->tasks[i].closed)
            pdnn_estimate_add(&estimate, &session->tasks[i].instance, &session->rows[i].totals);
    if (n_open) {
        pdnn_estimate_format(&estimate, &text);
        fprintf(stderr, "%s\n", pdnn_str_text(&text));
        pdnn_session_predict(session);
        print_reach(session, n_open);
    }
    pdnn_str_finish(&text);
    return PDNN_OK;
}

/* The time left is --time-left, or what the batch system says. If it does not, *cause says why. */
static void set_times(const struct pdnn_arguments *arguments, struct pdnn_session *session,
                      struct pdnn_time_left *left, struct pdnn_err *cause) {
    const uint64_t now_ns = pdnn_clock_ns();
    *left = (struct pdnn_time_left){.known = pdnn_argument(arguments, "time-left"),
                                    .source = "--time-left",
                                    .ns = pdnn_argument_time(arguments, "time-left", 0)};
    session->grace_ns = pdnn_argument_time(arguments, "grace", 0);
    if (!left->known)
        pdnn_time_left(left, cause);
    if (left->known)
        session->deadline_ns = left->ns < UINT64_MAX - now_ns ? now_ns + left->ns : UINT64_MAX;
}

static void tell_times(const struct pdnn_session *session, const struct pdnn_time_left *left,
                       const struct pdnn_err *cause) {
    char duration[PDNN_DURATION_TEXT], note[PDNN_DURATION_TEXT + 64];
    snprintf(note, sizeof note, "time left: %s (%s)", pdnn_duration_format(duration, (double)left->ns * 1e-9),
             left->source);
    if (cause->status != PDNN_OK)
        pdnn_session_warn(session, "the time left is not known: %s; give --time-left", cause->text);
    else if (left->known)
        session->hooks->note(session->hooks->user, note);
}

static enum pdnn_status run_job(struct pdnn_cli_job *job, const struct pdnn_arguments *arguments,
                                struct pdnn_err *err) {
    bool is_left = false;
    struct pdnn_time_left left;
    struct pdnn_err cause = {0};
    pdnn_cli_job_begin(job, arguments);
    set_times(arguments, &job->session, &left, &cause);
    if (pdnn_cli_job_open(job, err) != PDNN_OK)
        return err->status;
    tell_times(&job->session, &left, &cause);
    if (pdnn_argument(arguments, "dry-run"))
        return dry_run(job, err);
    if (pdnn_cli_job_leave(&job->session, &is_left, err) != PDNN_OK)
        return err->status;
    if (is_left)
        return PDNN_OK;
    return pdnn_argument(arguments, "join") ? join_others(job, err) : sweep_alone(job, err);
}

static enum pdnn_status run(const struct pdnn_arguments *arguments, struct pdnn_err *err) {
    struct pdnn_cli_job job;
    enum pdnn_status status = run_job(&job, arguments, err);
    pdnn_cli_job_finish(&job);
    return status;
}

PDNN_COMMAND(sweep, PDNN_COMMANDS_FIRST, "SPEC...", "Runs all instances of specs and writes their tables.",
             .run = run, .prints_nothing = true);
