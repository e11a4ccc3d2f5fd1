#include "base/visible.h"
#include "cli/job.h"
#include "cli/print/output.h"
#include "cli/args/registry.h"
#include "cli/print/instance_result.h"
#include "cli/launcher.h"
#include "session/session.h"
#include "cli/commands/run_vary.h"
#include "results/rows/aggregate.h"
#include "results/store/results.h"
#include "results/store/tables.h"

#include <inttypes.h>

static const char *const paragraphs[] = {
    "Visits each instance a few times and prints its time per step with an interval, "
    "where it stands against the machine's roofs, and one row per group of identical operators: "
    "time, share of the step, rates, bound, and the implementation that ran.",
    "The roofs are measured first, which takes about three seconds, unless --ceilings names a file or those "
    "kept from an earlier run still hold (see paradnn ceilings). "
    "With --format csv the rows are those of ops.csv.",
    "With --vary, one model runs at many values of a hyper-parameter that does not change its weights, "
    "such as the sequence length or the minibatch. "
    "All values share the weights, the optimizer state and one block of memory, sized for the largest. "
    "Each is prepared once, and at most 64 are kept prepared. "
    "The table has one row per value; with --format csv the rows are those of results.csv.",
    NULL,
};

static const struct pdnn_option_def options[] = {
    {"rounds", 'r', "N", NULL, false,
     "visit each instance N times, up to four times as often while its interval is wide (default: 3)"},
    {"vary", 0, "KEY=LIST", NULL, false,
     "run one ID at each of these values of a hyper-parameter, in one process with shared weights; "
     "LIST is as in a spec: 10,20,50 or '{from: 10, to: 90, plus: 40}'"},
    PDNN_OPTION_SET,
    PDNN_OPTION_CEILINGS,
    PDNN_OPTION_SLOW,
    PDNN_OPTION_NO_CACHE,
    PDNN_OPTION_TABLE,
};

static const struct pdnn_example examples[] = {
    {"paradnn run fc/layers=8,nodes=1024,batch=64", "where the time of one model goes"},
    {"paradnn run rnn/hidden=512 --vary length=10,20,50", "the same weights at three lengths"},
};

enum { ROOF_SECONDS = 3, ROUNDS_MAX = 10000 };

struct run {
    struct pdnn_cli_job job;
    struct pdnn_visits known;
    size_t visits; /* of all tasks */
    struct pdnn_vary vary;
    bool varies;
    struct pdnn_visit_set set; /* as of the last visit */
};

static enum pdnn_status keep_visit(void *user, size_t task, const struct pdnn_visit *visit,
                                   struct pdnn_err *err) {
    struct run *run = user;
    (void)err;
    if (visit->set.block_bytes)
        run->set = visit->set;
    pdnn_visits_add(&run->known, run->job.session.tasks[task].id, visit);
    return PDNN_OK;
}

static void show(void *user, const struct pdnn_sweep_progress *progress) {
    struct run *run = user;
    pdnn_progress_show_visits(&run->job.bar, progress);
}

static enum pdnn_status get_ceilings(struct run *run, struct pdnn_err *err) {
    const char *path = run->job.request.ceilings_file;
    if (!path)
        return pdnn_session_measure_ceilings(&run->job.session, ROOF_SECONDS, err);
    if (pdnn_cli_job_ceilings(&run->job, err) != PDNN_OK)
        return err->status;
    pdnn_session_warn_ceilings(&run->job.session, path);
    return PDNN_OK;
}

static enum pdnn_status visit_all(struct run *run, struct pdnn_err *err) {
    run->job.bar.preface = run->job.session.common;
    struct pdnn_session *session = &run->job.session;
    struct pdnn_sweep_rules rules = pdnn_session_rules(session);
    const struct pdnn_sweep_hooks hooks = {run, keep_visit, show};
    struct pdnn_sweep_result result = {0};
    if (run->vary.largest)
        snprintf(rules.request.largest, sizeof rules.request.largest, "%s", run->vary.largest);
    rules.request.allow_slow = run->job.request.allow_slow;
    enum pdnn_status status =
        pdnn_sweep_run(&session->host, session->tasks, session->n_tasks, &rules, &hooks, &result, err);
    run->job.hooks.ended(run->job.hooks.user);
    pdnn_session_note_end(session, &result);
    run->visits = result.visits;
    return status;
}

/* The rows of all instances and of their ops, and, for people, what is printed of them. */
struct reported {
    bool for_people;
    struct pdnn_str text;
    struct pdnn_arena arena;
    struct pdnn_table results, ops;
};

/* Of an instance whose ops begin with that row. */
static void report_row(struct reported *reported, const struct pdnn_result *row, size_t first_op) {
    char reason[PDNN_VISIBLE_TEXT];
    if (reported->for_people)
        pdnn_report_instance(&reported->text, row, &reported->ops, first_op);
    else if (pdnn_result_outcome(row) != PDNN_OUTCOME_OK)
        fprintf(stderr, "paradnn: %s: %s: %s\n", pdnn_result_text(row, PDNN_RESULT_ID),
                pdnn_result_text(row, PDNN_RESULT_STATUS),
                pdnn_visible(reason, pdnn_result_text(row, PDNN_RESULT_REASON)));
}

/* Adds the rows of all tasks. */
static enum pdnn_status aggregate(const struct run *run, struct reported *reported, struct pdnn_err *err) {
    const struct pdnn_session *session = &run->job.session;
    struct pdnn_arena arena = {0};
    struct pdnn_scatter pool = {0};
    pdnn_aggregate_pool(&run->known, &pool);
    enum pdnn_status status = PDNN_OK;
    for (size_t i = 0; i < session->n_tasks && status == PDNN_OK; i++) {
        const struct pdnn_instance_visits of = pdnn_visits_of(&run->known, session->tasks[i].id);
        const struct pdnn_aggregate_input input = {
            .id = session->tasks[i].id,
            .visits = of.visit,
            .ops = of.ops,
            .n_visits = of.count,
            .outcome = session->rows[i].outcome,
            .reason = session->rows[i].reason,
            .pool = pool,
            .precision = session->spec.measure.precision,
            .ceilings = session->ceilings,
            .host = session->host.name,
            .totals = session->rows[i].has_totals ? &session->rows[i].totals : NULL,
        };
        size_t first_op = reported->ops.n_rows;
        status = pdnn_aggregate(&input, &arena, &reported->results, &reported->ops, err);
        const struct pdnn_result row = pdnn_result_of(&reported->results, i);
        if (status == PDNN_OK && !run->varies)
            report_row(reported, &row, first_op);
    }
    pdnn_arena_finish(&arena);
    return status;
}

/* Hyper-parameters are told only of one varied model. */
static void init_tables(const struct run *run, struct reported *reported) {
    const struct pdnn_family_def *const *family =
        run->job.session.n_tasks ? &run->job.session.tasks[0].instance.family : NULL;
    const struct pdnn_table_def def = pdnn_results_def(family, family ? 1 : 0, &reported->arena);
    pdnn_table_init(&reported->results, &def);
    pdnn_table_init(&reported->ops, &pdnn_ops_def);
}

static enum pdnn_status report(const struct run *run, const struct pdnn_arguments *arguments,
                               bool *some_failed, struct pdnn_err *err) {
    size_t counts[PDNN_OUTCOME_COUNT] = {0};
    struct reported reported = {.for_people = pdnn_wants_text(arguments)};
    init_tables(run, &reported);
    enum pdnn_status status = aggregate(run, &reported, err);
    struct pdnn_result row = pdnn_result_of(&reported.results, 0);
    for (; status == PDNN_OK && row.row < reported.results.n_rows; row.row++)
        counts[pdnn_result_outcome(&row)]++;
    *some_failed = pdnn_session_has_failed(counts);
    if (status == PDNN_OK && run->varies)
        pdnn_vary_report(&run->vary, &reported.results, &run->set, arguments);
    else if (status == PDNN_OK && reported.for_people)
        pdnn_text_print(&reported.text, false);
    else if (status == PDNN_OK)
        pdnn_table_print(&reported.ops, NULL, arguments);
    pdnn_str_finish(&reported.text);
    pdnn_table_finish(&reported.results);
    pdnn_table_finish(&reported.ops);
    pdnn_arena_finish(&reported.arena);
    return status;
}

/* Opens the session on the named spec, or on all values of the varied model. */
static enum pdnn_status open_session(struct run *run, const struct pdnn_arguments *arguments,
                                     struct pdnn_err *err) {
    const char *vary = pdnn_argument(arguments, "vary");
    struct pdnn_cli_job *job = &run->job;
    int64_t rounds = 3;
    if (pdnn_argument_number(arguments, "rounds", 1, ROUNDS_MAX, &rounds, err) != PDNN_OK)
        return err->status;
    pdnn_cli_job_default(job, pdnn_arena_printf(&job->arena, "measure.rounds=%" PRId64, rounds));
    /* Longer than in a sweep, where one slow instance must not hold up the others. */
    pdnn_cli_job_default(job, "limits.time=10m");
    run->varies = vary != NULL;
    if (!vary)
        return pdnn_session_open(&job->session, arguments->operands, arguments->n_operands, job->sets,
                                 job->n_sets, err);
    if (arguments->n_operands != 1)
        return pdnn_fail(err, PDNN_INVALID, "--vary takes one ID, %zu are given", arguments->n_operands);
    enum pdnn_status status = pdnn_vary_read(&run->vary, vary, arguments->operands[0], err);
    if (status == PDNN_OK)
        status =
            pdnn_session_open(&job->session, run->vary.ids, run->vary.count, job->sets, job->n_sets, err);
    return status == PDNN_OK ? pdnn_vary_check(&run->vary, &job->session, err) : status;
}

static enum pdnn_status run_instances(const struct pdnn_arguments *arguments, bool *some_failed,
                                      struct pdnn_err *err) {
    struct run run = {.visits = 0};
    struct pdnn_err cause = {0};
    bool is_left = false;
    enum pdnn_status status = pdnn_cli_job_begin(&run.job, arguments, err);
    if (status == PDNN_OK)
        status = open_session(&run, arguments, err);
    if (status == PDNN_OK)
        status = pdnn_launcher_leave(&run.job.session, &is_left, err);
    if (status == PDNN_OK && !is_left)
        status = get_ceilings(&run, err);
    if (status == PDNN_OK && !is_left)
        status = visit_all(&run, err);
    /* After a signal, what was measured so far is still reported. */
    if (!is_left && (status == PDNN_OK || (status == PDNN_INTERRUPTED && run.visits))) {
        enum pdnn_status printed = report(&run, arguments, some_failed, &cause);
        status = printed == PDNN_OK ? status : pdnn_fail(err, printed, "%s", cause.text);
    }
    pdnn_visits_finish(&run.known);
    pdnn_vary_finish(&run.vary);
    pdnn_cli_job_finish(&run.job);
    return status;
}

const struct pdnn_command_def pdnn_command_run = {
    .name = "run",
    .summary = "Runs single instances and shows where their time goes.",
    .operands = "ID|SPEC...",
    PDNN_COMMAND_TEXTS,
    .resolves_threads = true,
    .run = run_instances,
};
